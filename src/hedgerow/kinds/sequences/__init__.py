"""Sequences: records that are items in order, such as click paths."""

"""Kinds of data, one folder each, with the same names in each."""

"""Graphs: who is linked to whom."""

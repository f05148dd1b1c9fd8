"""Sequences from a Markov chain of variable order, with private lengths."""

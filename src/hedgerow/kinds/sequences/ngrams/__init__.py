"""Noisy counts of n-grams: a kind that is only published, with sequences."""

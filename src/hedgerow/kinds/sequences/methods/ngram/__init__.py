"""Variable-length n-grams."""

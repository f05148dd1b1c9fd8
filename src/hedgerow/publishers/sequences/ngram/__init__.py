"""Variable-length n-grams: the paper's method, corrected, and the exploration that n-gram methods share."""

"""Noisy prefix trees: the paper's method, corrected, and the parts that other prefix trees share with it."""

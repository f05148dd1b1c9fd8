"""A Markov chain of noisy n-grams."""

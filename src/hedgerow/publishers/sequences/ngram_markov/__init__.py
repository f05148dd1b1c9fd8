"""Variable-length n-grams, from which a Markov chain of variable order writes sequences."""

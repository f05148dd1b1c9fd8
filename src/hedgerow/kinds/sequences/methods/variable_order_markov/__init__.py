"""A Markov chain whose order varies with the counts."""

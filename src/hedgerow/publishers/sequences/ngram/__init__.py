"""Variable-length n-grams: the method of the paper, corrected, and the exploration tree that `ngram_markov` shares."""

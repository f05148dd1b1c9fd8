"""The raked histogram: a noisy count of every itemset, fitted to the counts of items, pairs and triples."""

"""The raked histogram: every itemset of a few items, fitted to the counts of small queries."""

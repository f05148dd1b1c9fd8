"""Noisy prefix trees: the method of the paper, corrected, and the parts that `continued_prefix_tree` shares."""

"""Noisy prefix trees whose sequences go on where the tree stops."""

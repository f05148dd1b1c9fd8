"""Noisy prefix trees whose sequences are continued by a Markov model where the tree ends."""

"""Noisy sums of blocks in a Haar basis."""

"""Differentially private sums of blocks at several sizes, combined in the Haar basis."""

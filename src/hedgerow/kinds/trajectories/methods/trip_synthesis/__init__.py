"""Trips drawn from noisy margins."""

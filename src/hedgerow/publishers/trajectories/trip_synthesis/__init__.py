"""Synthesis of timed trajectories from low-dimensional noisy tables, with bridges between first and last visits."""

"""Methods for trajectories."""

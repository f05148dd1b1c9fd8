"""Methods that publish trajectories."""

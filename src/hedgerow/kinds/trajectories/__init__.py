"""Trajectories: records of visits to places at times."""

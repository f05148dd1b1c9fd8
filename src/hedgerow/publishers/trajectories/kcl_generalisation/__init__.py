"""(K,C)_L-privacy of trajectories by generalisation: coarser places and times, at one level or at several."""

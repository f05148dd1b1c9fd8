"""(K,C)_L-privacy of trajectories by suppression in batches and re-insertion: ours."""

"""(K,C)_L-privacy of trajectories by local and global suppression, as the paper has it, corrected."""

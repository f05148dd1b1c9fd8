"""(K,C)_L-privacy by coarser places and times."""

"""DiffPart: sets, partitioned top-down along a taxonomy."""

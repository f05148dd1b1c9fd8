"""DiffPart: top-down partitioning of sets by a taxonomy."""

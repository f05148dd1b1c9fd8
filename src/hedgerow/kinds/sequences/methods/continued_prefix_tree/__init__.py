"""A prefix tree whose paths are continued by transitions."""

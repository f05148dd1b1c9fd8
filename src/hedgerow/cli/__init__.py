"""The command line: one file a command; the work is done elsewhere."""

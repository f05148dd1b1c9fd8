"""The command line: one file per command; the work itself is in `hedgerow.jobs`."""

"""The work of each command, as the command line and others have it done: one file each."""

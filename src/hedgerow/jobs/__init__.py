"""The work behind the commands, one file per job."""

"""What measures of several kinds share; those of one kind are in `hedgerow.kinds.<kind>.measures`."""

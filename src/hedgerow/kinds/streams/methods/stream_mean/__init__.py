"""The mean of a stream, from a sample."""

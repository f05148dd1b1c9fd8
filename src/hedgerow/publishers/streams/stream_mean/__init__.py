"""The running mean of a stream, published while few of its events are read."""

"""Methods for streams."""

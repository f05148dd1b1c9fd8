"""Methods for matrices."""

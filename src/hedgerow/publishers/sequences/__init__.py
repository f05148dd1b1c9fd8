"""Methods for sequences."""

"""Methods for networks."""

"""Methods for nested records."""

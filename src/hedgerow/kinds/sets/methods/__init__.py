"""Methods that publish sets."""

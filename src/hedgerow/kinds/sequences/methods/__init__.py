"""Methods that publish sequences."""

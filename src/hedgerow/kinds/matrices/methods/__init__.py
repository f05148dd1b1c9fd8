"""Methods that publish matrices, and what several of them share."""

"""Methods that publish graphs, and what several of them share."""

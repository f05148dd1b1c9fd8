"""Methods that publish streams, and what several of them share."""

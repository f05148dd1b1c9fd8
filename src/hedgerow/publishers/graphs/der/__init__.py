"""DER: graphs, by density-based exploration and reconstruction of the adjacency matrix."""

"""Degree-corrected blocks: graphs, by noisy degrees and noisy counts of edges between blocks of vertices."""

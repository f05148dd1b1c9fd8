"""Sets from noisy counts of items, pairs and sizes."""

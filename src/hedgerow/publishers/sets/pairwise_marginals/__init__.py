"""Sets by their sizes, items and pairs: noisy marginals, and records drawn from the model that fits them."""

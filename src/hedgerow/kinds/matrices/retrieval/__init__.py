"""Inner products of noisy vectors: what receivers compute from releases of `private-retrieval`."""

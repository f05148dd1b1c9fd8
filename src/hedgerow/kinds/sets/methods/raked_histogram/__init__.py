"""All sets over a few items, raked to small marginals."""

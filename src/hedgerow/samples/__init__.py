"""Generated data sets, the same every time: for demos, tests and benchmarks."""

from hedgerow.samples.shopping import shopping_baskets

__all__ = ["shopping_baskets"]

"""Generated data sets, the same every time: for demos, tests and benchmarks."""

from hedgerow.samples.messages import messages
from hedgerow.samples.shopping import shopping_baskets

__all__ = ["messages", "shopping_baskets"]

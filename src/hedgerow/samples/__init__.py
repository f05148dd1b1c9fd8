"""Generated records as plain values, the same every time, for demos, tests and benchmarks.

They are of no kind: data that is generated as a data set of its kind stands with the kind.
"""

from hedgerow.samples.messages import messages
from hedgerow.samples.shopping import shopping_baskets

__all__ = ["messages", "shopping_baskets"]

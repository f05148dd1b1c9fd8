"""How sets are read and written."""

from hedgerow.data import Sets
from hedgerow.io.lists import list_codec

__all__ = ["CODEC"]

CODEC = list_codec(Sets)

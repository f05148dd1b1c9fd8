"""How sequences are read and written."""

from hedgerow.data import Sequences
from hedgerow.io.lists import list_codec

__all__ = ["CODEC"]

CODEC = list_codec(Sequences)

"""How sequences are read and written."""

from __future__ import annotations

from hedgerow.formats.list_codec import list_codec
from hedgerow.kinds.sequences.data import Sequences

CODEC = list_codec(Sequences)

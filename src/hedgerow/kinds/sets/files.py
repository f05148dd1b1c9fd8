"""How sets are read and written."""

from __future__ import annotations

from hedgerow.formats.list_codec import list_codec
from hedgerow.kinds.sets.data import Sets

CODEC = list_codec(Sets)

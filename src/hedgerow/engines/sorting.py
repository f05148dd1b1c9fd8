"""Sort rows by several columns: values where they fit into a word, indices where they do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.engines.base import Codes

__all__ = ["sorted_order"]

_KEY_BITS = 63


def sorted_order(keys: Sequence[Codes]) -> NDArray[np.intp]:
    """Return the row numbers in ascending order of `keys`, the first key first, stable.

    Sorting values is several times faster than sorting indices: where the keys and the row number
    fit into one int64 they are packed into it and sorted as numbers.
    """
    rows = len(keys[0])
    if rows == 0:
        return np.zeros(0, np.intp)
    lows = [int(key.min()) for key in keys]
    widths = [(int(key.max()) - low).bit_length() for key, low in zip(keys, lows, strict=True)]
    row_bits = (rows - 1).bit_length()
    if sum(widths) + row_bits > _KEY_BITS:
        return np.lexsort(tuple(reversed(keys)))
    packed = np.zeros(rows, np.int64)
    for key, low, width in zip(keys, lows, widths, strict=True):
        packed = (packed << width) | (key.astype(np.int64) - low)
    packed = (packed << row_bits) | np.arange(rows, dtype=np.int64)
    packed.sort()
    return (packed & ((1 << row_bits) - 1)).astype(np.intp)

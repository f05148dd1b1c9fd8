"""Sort rows by several columns, packed into one int64 per row where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Codes

#: bits of a packed key, and of a word of flags
_KEY_BITS, _BITS = 63, 62
_PAIR = 2
#: longer lists are compared as bytes
_LONG = 256


def sorted_order(keys: Sequence[Codes]) -> NDArray[np.intp]:
    """Return the row numbers in ascending order of `keys`, the first key first, stable.

    Sorting values is several times faster than sorting indices: where the keys and the row number
    fit into one int64 they are packed into it and sorted as numbers.
    """
    rows = len(keys[0])
    if rows == 0:
        return np.zeros(0, np.intp)
    row_bits = (rows - 1).bit_length()
    word = _Word.of(keys, _KEY_BITS - row_bits)
    if word is None:
        return np.lexsort(tuple(reversed(keys)))
    packed = word.pack(keys)
    if _ascending(packed):
        return np.arange(rows)
    packed = (packed << row_bits) | np.arange(rows, dtype=np.int64)
    packed.sort()
    return (packed & ((1 << row_bits) - 1)).astype(np.intp)


def order_of_lists(lists: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the order of lists of codes, one per row, by their first code, then the next; stable.

    Long lists are few and are compared as bytes: sorting by columns would need millions of columns.
    """
    count, size = lists.shape
    if count == 1:
        return np.zeros(1, np.intp)
    if size <= _LONG:
        return sorted_order(list(lists.T))
    texts = [row.astype(">u8").tobytes() for row in lists]  # no code is negative
    return np.array(sorted(range(count), key=texts.__getitem__), np.intp)


def distinct_rows(keys: Sequence[Codes]) -> list[Codes]:
    """Return each combination of `keys` once, in ascending order."""
    word = _Word.of(keys, _KEY_BITS) if len(keys[0]) else None
    if word is None:
        order = sorted_order(keys)
        new = np.ones(len(order), np.bool_)
        new[1:] = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
        return [key[order[new]] for key in keys]
    if len(keys) == _PAIR and keys[1].min() >= 0 and keys[1].max() < _BITS and _ascending(keys[0]):
        return _distinct_bits(*keys)
    packed = word.pack(keys)
    if not _ascending(packed):
        packed.sort()
    new = np.ones(len(packed), np.bool_)
    np.not_equal(packed[1:], packed[:-1], out=new[1:])
    return word.unpack(packed[new])


def _distinct_bits(first: Codes, second: Codes) -> list[Codes]:
    """Avoid sorting if the first key ascends and the second is a small number.

    The second keys of a run are collected as bits of one word, which drops repeats.
    """
    starts = np.flatnonzero(np.concatenate(([True], first[1:] != first[:-1])))
    words = np.bitwise_or.reduceat(np.int64(1) << second.astype(np.int64, copy=False), starts)
    sizes = np.bitwise_count(words)
    place = np.cumsum(sizes, dtype=np.int64) - sizes
    values = np.empty(int(sizes.sum(dtype=np.int64)), second.dtype)
    for bit in range(int(second.max()) + 1):
        having = np.flatnonzero(words >> bit & 1)
        values[place[having]] = bit
        place[having] += 1
    return [np.repeat(first[starts], sizes), values]


class _Word(NamedTuple):
    """How columns are packed into one int64: the minimum of each, and the bits of the rest."""

    lows: list[int]
    widths: list[int]
    types: list[np.dtype[np.integer]]

    @classmethod
    def of(cls, keys: Sequence[Codes], bits: int) -> _Word | None:
        lows, widths, left = list[int](), list[int](), bits
        for key in keys:
            lows.append(int(key.min()))
            widths.append((int(key.max()) - lows[-1]).bit_length())
            left -= widths[-1]
            if left < 0:  # the other keys need not be read
                return None
        return cls(lows, widths, [key.dtype for key in keys])

    def pack(self, keys: Sequence[Codes]) -> NDArray[np.int64]:
        packed = np.zeros(len(keys[0]), np.int64)
        for key, low, width in zip(keys, self.lows, self.widths, strict=True):
            packed <<= width
            packed |= key.astype(np.int64, copy=False) - low
        return packed

    def unpack(self, packed: NDArray[np.int64]) -> list[Codes]:
        keys: list[Codes] = []
        for low, width, kind in zip(reversed(self.lows), reversed(self.widths), reversed(self.types), strict=True):
            keys.append(((packed & ((1 << width) - 1)) + low).astype(kind, copy=False))
            packed = packed >> width
        return keys[::-1]


def _ascending(key: Codes) -> bool:
    return bool(np.all(key[1:] >= key[:-1]))

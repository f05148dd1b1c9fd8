"""An order of rows that depends on their content alone, and that says nothing about where they were.

Rows are ordered by a hash of their numbers: sorting one number per row is many times faster than comparing rows of
numbers, of which many may be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["hash_rows", "order_rows"]

Positions: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float64]

_HALF = np.uint64(32)
_WEYL, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
#: rows that are compared as a whole at a time
_CHUNK = 2**12


def order_rows(before: Sequence[NDArray[Any]], numbers: Floats, after: Sequence[NDArray[Any]] = ()) -> Positions:
    """Return the row numbers in the order of the columns `before`, of the hash of numbers, and of the columns `after`.

    Different rows of equal hash are sorted by the first column in which they differ.

    Examples
    --------
    >>> rows = np.array([[2.0, 5.0], [1.0, 9.0], [2.0, 4.0]])
    >>> rows[order_rows([], rows)].tolist() == rows[::-1][order_rows([], rows[::-1])].tolist()
    True
    """
    ties = _Ties(len(numbers))
    for column in before:
        ties.split(column[ties.order[ties.tied]])
    if len(ties.tied):
        ties.split(hash_rows(numbers)[ties.order[ties.tied]])
    for column in after:
        ties.split(column[ties.order[ties.tied]])
    while len(ties.tied):
        first = _first_difference(ties, numbers)
        if first is None:
            break
        ties.split(numbers[ties.order[ties.tied], first])
    return ties.order


def hash_rows(numbers: Floats) -> NDArray[np.uint64]:
    """Return 64 bits per row that depend on all of its numbers."""
    hashes = np.empty(len(numbers), np.uint64)
    factors = _factors(numbers.shape[1])
    for begin in range(0, len(numbers), _CHUNK):
        bits = np.ascontiguousarray(numbers[begin : begin + _CHUNK]).view(np.uint64)
        # whole numbers differ in their leading bits only, which a product would lose
        folded = bits ^ (bits >> _HALF)
        folded *= factors
        own = np.add.reduce(folded, axis=1)
        hashes[begin : begin + _CHUNK] = own ^ (own >> _HALF)
    return hashes


def _factors(columns: int) -> NDArray[np.uint64]:
    """Return an odd factor per column, all fixed: the steps of a Weyl sequence, mixed."""
    steps = np.arange(1, columns + 1, dtype=np.uint64) * _WEYL
    steps = (steps ^ (steps >> np.uint64(30))) * _MIX
    return (steps ^ (steps >> np.uint64(27))) | np.uint64(1)


class _Ties:
    """An order of rows so far, the places of rows that are tied in it, and the number of the group of each of them."""

    def __init__(self, rows: int) -> None:
        self.order: Positions = np.arange(rows)
        self.tied: Positions = np.arange(rows)
        self.group: Positions = np.zeros(rows, np.intp)

    def split(self, cells: NDArray[Any]) -> None:
        """Sort each group by these cells of its rows, and split it."""
        if not len(self.tied):
            return
        one = self.group[0] == self.group[-1]
        moved = np.argsort(cells, kind="stable") if one else np.lexsort((cells, self.group))
        self.order[self.tied] = self.order[self.tied][moved]
        cells = cells[moved]
        starts = np.ones(len(cells) + 1, np.bool_)
        starts[1:-1] = (cells[1:] != cells[:-1]) | (self.group[1:] != self.group[:-1])
        self.keep(~(starts[:-1] & starts[1:]), np.cumsum(starts[:-1], dtype=np.intp))

    def keep(self, which: NDArray[np.bool_], group: Positions) -> None:
        """Go on with some of the tied rows, in these groups."""
        self.tied, self.group = self.tied[which], group[which]


def _first_difference(ties: _Ties, numbers: Floats) -> Positions | None:
    """Return the first column in which the rows of each group differ, for each row; leave out groups of equal rows."""
    columns = numbers.shape[1]
    rows = ties.order[ties.tied]
    differs = np.full(len(rows), columns, np.intp)  # where a row differs from the one before it
    for begin in range(1, len(rows), _CHUNK):
        some = numbers[rows[begin - 1 : begin + _CHUNK]]
        unequal = some[1:] != some[:-1]
        differs[begin : begin + _CHUNK] = np.where(unequal.any(1), unequal.argmax(1), columns)
    starts = np.append(True, ties.group[1:] != ties.group[:-1])
    differs[starts] = columns
    number = np.cumsum(starts) - 1
    first = np.minimum.reduceat(differs, np.flatnonzero(starts))[number]
    ties.keep(first < columns, number)
    first = first[first < columns]
    return first if len(first) else None

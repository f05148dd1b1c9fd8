"""Regions of an adjacency matrix, and the rules that count edges in them.

A cell of the matrix is a pair of vertices `i < j`, in row `i` and column `j`. A region is a rectangle of rows
`[top, bottom)` and columns `[left, right)`, without the cells on and below the diagonal. A row of a frontier is an
edge: the list of its two ends, the smaller one first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers.rows import Rows, Rule
from hedgerow.numerics.arrays import Integers
from hedgerow.numerics.vertex_pairs import rank_pairs, unrank_pairs


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions, one per entry of each array.

    Examples
    --------
    >>> whole = Regions.whole(8)
    >>> whole.cells.tolist(), whole.quadrants(np.array([3]), np.array([5])).cells.tolist()
    ([28], [9, 9, 1, 9])
    """

    top: Integers
    bottom: Integers
    left: Integers
    right: Integers

    @classmethod
    def whole(cls, vertices: int) -> Regions:
        """The whole matrix, as one region."""
        zero, end = np.zeros(1, np.int64), np.full(1, vertices, np.int64)
        return cls(zero, end, zero, end)

    @classmethod
    def concatenate(cls, parts: list[Regions]) -> Regions:
        """Put regions together."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def __len__(self) -> int:
        return len(self.top)

    def __getitem__(self, at: Any) -> Regions:
        """Return the regions at these positions."""
        return Regions(self.top[at], self.bottom[at], self.left[at], self.right[at])

    @property
    def cells(self) -> Integers:
        """The number of cells of each region."""
        return count_cells(self.top, self.bottom, self.left, self.right)

    def quadrants(self, row: Integers, column: Integers) -> Regions:
        """Split each region before a row and a column: its upper left, upper right, lower left and lower right part."""
        top = np.stack((self.top, self.top, row, row), axis=1)
        bottom = np.stack((row, row, self.bottom, self.bottom), axis=1)
        left = np.stack((self.left, column, self.left, column), axis=1)
        right = np.stack((column, self.right, column, self.right), axis=1)
        return Regions(top.ravel(), bottom.ravel(), left.ravel(), right.ravel())

    def rank(self, row: Integers, column: Integers) -> Integers:
        """Number one cell of each region, row by row from 0.

        Rows above the first column are complete. From there on the region is the beginning of a triangle.
        """
        complete = row < self.left
        corner = np.maximum(self.top, self.left)
        inner = (row - self.top) * (self.right - self.left) + column - self.left
        # rows of the other case are not used: their numbers are only kept within bounds
        i, j = np.where(complete, 0, row - corner), np.where(complete, 1, column - corner)
        return np.where(complete, inner, self._complete_cells() + rank_pairs(i, j, self.right - corner))

    def unrank(self, ranks: Integers) -> tuple[Integers, Integers]:
        """Return the row and the column of one cell of each region, given its number.

        Examples
        --------
        >>> region = Regions(*(np.full(8, bound) for bound in (1, 4, 2, 5)))
        >>> row, column = region.unrank(np.arange(8))
        >>> region.cells[0].item(), region.rank(row, column)[:6].tolist()
        (6, [0, 1, 2, 3, 4, 5])
        """
        before, width = self._complete_cells(), np.maximum(1, self.right - self.left)
        complete = ranks < before
        corner = np.maximum(self.top, self.left)
        i, j = unrank_pairs(np.where(complete, 0, ranks - before), np.maximum(2, self.right - corner))
        row = np.where(complete, self.top + ranks // width, corner + i)
        return row, np.where(complete, self.left + ranks % width, corner + j)

    def _complete_cells(self) -> Integers:
        return np.maximum(0, np.minimum(self.bottom, self.left) - self.top) * (self.right - self.left)


def count_cells(top: Integers, bottom: Integers, left: Integers, right: Integers) -> Integers:
    """Count the cells of regions in closed form."""
    return _corner(bottom, right) - _corner(top, right) - _corner(bottom, left) + _corner(top, left)


def _corner(rows: Integers, columns: Integers) -> Integers:
    """Count the cells with `i < rows`, `j < columns` and `i < j`."""
    both = np.minimum(rows, columns)
    return both * columns - both * (both + 1) // 2


def _ends(rows: Rows) -> tuple[Integers, Integers]:
    symbols = rows.lists.symbols
    return symbols[rows.at].astype(np.int64), symbols[rows.at + 1].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Quadrant(Rule):
    """The part of its region that holds an edge, in the order of `Regions.quadrants`; each cell has a split point."""

    row: Integers
    column: Integers

    @property
    def size(self) -> int:
        """Four parts."""
        return 4

    def encode(self, rows: Rows) -> NDArray[np.int8]:
        """Compare both ends with the split point."""
        i, j = _ends(rows)
        below = (i >= self.row[rows.cell]).astype(np.int8)
        return 2 * below + (j >= self.column[rows.cell])


@dataclass(frozen=True, eq=False)
class LatticeBin(Rule):
    r"""The bin of an edge on a lattice that divides rows and columns of its region into parts.

    Each cell has its region and the number of parts, `bins`. If there are fewer rows than parts, each row is a part.
    With $d = \min(bins, rows)$, part $t$ of the rows starts at `top` + floor(t rows / d). The code is
    `row * width + column`, `width` being the greatest number of parts.
    """

    regions: Regions
    bins: Integers

    @property
    def width(self) -> int:
        """The greatest number of parts."""
        return int(self.bins.max(initial=1))

    @property
    def size(self) -> int:
        """All bins."""
        return self.width**2

    def encode(self, rows: Rows) -> Integers:
        """Find the bins of both ends."""
        i, j = _ends(rows)
        mine = self.regions
        row = _bin(i, mine.top, mine.bottom, self.bins, rows.cell)
        return row * self.width + _bin(j, mine.left, mine.right, self.bins, rows.cell)


def _bin(end: Integers, low: Integers, high: Integers, bins: Integers, cell: NDArray[Any]) -> Integers:
    # the number of t >= 1 with floor(t L / d) <= y is ceil((y + 1) d / L) - 1
    length = high - low
    return ((end - low[cell] + 1) * np.minimum(bins, length)[cell] - 1) // length[cell]


@dataclass(frozen=True, eq=False)
class Position(Rule):
    """The number of an edge among the cells of its region; each cell has its region."""

    regions: Regions

    @property
    def size(self) -> int:
        """The cells of the largest region."""
        return int(self.regions.cells.max(initial=1))

    def encode(self, rows: Rows) -> Integers:
        """Number the edge."""
        return self.regions[rows.cell].rank(*_ends(rows))

"""Regions of an adjacency matrix: rectangles of rows and columns, of which the cells above the diagonal count.

A cell of the matrix is a pair of vertices `i < j`, in row `i` and column `j`. A region is a rectangle of rows
`[top, bottom)` and columns `[left, right)`, without the cells on and below the diagonal. All of this is geometry: no
region knows which of its cells are edges.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from hedgerow.numerics.arrays import Flags, Integers
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

    def __getitem__(self, at: Integers | Flags | slice | list[int]) -> Regions:
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

r"""Split points of regions: public candidates, and the score of each.

The score of a split point is the difference between the greatest and the least density of the parts. Every part that
has cells has at least $s$ of them, so one edge moves one density, and the score, by at most $1 / s$. Scores are whole
numbers of $1 / (s \, units)$: $\lfloor ones \cdot s \cdot units / cells \rfloor$ moves by at most `units`, since $s
\cdot units / cells \le units$ is added before rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers import Regions
from hedgerow.frontiers.regions import count_cells

__all__ = ["IMPOSSIBLE", "UNITS", "SplitPoints"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: how finely scores are rounded: one edge moves a score by at most this much
UNITS = 16
#: the score of a split point that is not allowed: no edge changes it, and unless the share is below about 1e-15 it is
#: never chosen; if it is, parts without cells are dropped and the others are checked again before they are split
IMPOSSIBLE = -(1 << 59)
_LOW_BITS = 16


@dataclass(frozen=True, eq=False)
class SplitPoints:
    """The candidates of each region: up to `grid` rows and as many columns, evenly spaced; all if there are fewer."""

    regions: Regions
    grid: int
    least: int

    @property
    def rows(self) -> Integers:
        """The candidate rows of each region, one row of the array per region."""
        return _spread(self.regions.top, self.regions.bottom, self.grid)

    @property
    def columns(self) -> Integers:
        """The candidate columns of each region."""
        return _spread(self.regions.left, self.regions.right, self.grid)

    def cells(self) -> Integers:
        """Count the cells of the four parts of each candidate: part, region, row, column."""
        bounds = self.regions
        top, bottom, left, right = (
            edge[:, None, None] for edge in (bounds.top, bounds.bottom, bounds.left, bounds.right)
        )
        row, column = self.rows[:, :, None], self.columns[:, None, :]
        parts = ((top, row, left, column), (top, row, column, right), (row, bottom, left, column))
        cells = [count_cells(*part) for part in parts]
        return np.stack((*cells, bounds.cells[:, None, None] - sum(cells)))

    def allowed(self, cells: Integers) -> Flags:
        """Check that the parts that have cells are large, at least two, and that the candidate is inside."""
        inside = (self.rows > self.regions.top[:, None])[:, :, None] & (self.columns > self.regions.left[:, None])[
            :, None
        ]
        large = ((cells == 0) | (cells >= self.least)).all(axis=0)
        return inside & large & ((cells > 0).sum(axis=0) > 1)

    def scores(self, bins: Integers) -> Integers:
        """Score all candidates, given the number of edges in each bin of the lattice between candidates."""
        cells = self.cells()
        above = np.cumsum(np.cumsum(bins, axis=1), axis=2)
        upper_left = above[:, :-1, :-1]
        upper, left, all_ones = above[:, :-1, -1:], above[:, -1:, :-1], above[:, -1:, -1:]
        ones = (upper_left, upper - upper_left, left - upper_left, all_ones - upper - left + upper_left)
        greatest = np.full(cells.shape[1:], -1, np.int64)
        smallest = np.full(cells.shape[1:], np.iinfo(np.int64).max)
        for part, part_cells in zip(ones, cells, strict=True):
            density = _density(part, np.maximum(1, part_cells), self.least * UNITS)
            greatest = np.maximum(greatest, np.where(part_cells > 0, density, -1))
            smallest = np.minimum(smallest, np.where(part_cells > 0, density, smallest))
        scores = np.where(self.allowed(cells), greatest - smallest, IMPOSSIBLE)
        return scores.reshape(len(self.regions), -1)

    def at(self, chosen: Integers) -> tuple[Integers, Integers]:
        """Return the row and the column of one candidate per region, given its number."""
        row, column = np.divmod(chosen, self.columns.shape[1])
        number = np.arange(len(self.regions))
        return self.rows[number, row], self.columns[number, column]


def _spread(low: Integers, high: Integers, grid: int) -> Integers:
    """Place `grid` positions evenly, or all positions if there are fewer; those that are missing are `low`."""
    length = high - low
    parts = np.minimum(grid + 1, length)[:, None]
    steps = np.arange(1, grid + 1)
    return low[:, None] + np.where(steps < parts, steps * length[:, None] // np.maximum(1, parts), 0)


def _density(ones: Integers, cells: Integers, scale: int) -> Integers:
    """Return `ones * scale // cells`, by long division: the product could exceed int64.

    Exact if `scale` and `cells` are below 2**46, the number of pairs of 11 million vertices; a domain has fewer.
    """
    high, low = ones >> _LOW_BITS, ones & ((1 << _LOW_BITS) - 1)
    whole, rest = np.divmod(high * scale, cells)
    return (whole << _LOW_BITS) + ((rest << _LOW_BITS) + low * scale) // cells

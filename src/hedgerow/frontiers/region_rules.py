"""Rules that count edges in regions of an adjacency matrix. A row is an edge: the list of its ends, smaller first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers.rows import Rows, Rule
from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.numerics.arrays import Integers


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

"""Work on many rows in tiles: a coefficient depends on nearby rows only.

A tile starts at a multiple of $2^L$ rows, so that its pairs of rows are those of the whole matrix. Filters longer than
two taps also need rows before and after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.matrices.column_statistics import ColumnStatistics
from hedgerow.publishers.matrices.rows import row_items
from hedgerow.publishers.matrices.wavelet.filters import Filters

__all__ = ["RowBlock", "Tile", "each_tile"]

Floats: TypeAlias = NDArray[np.float64]

#: cells of a tile: it stays in the cache of the processor
_CELLS = 2**17


class RowBlock(NamedTuple):
    """Some columns of rows in some order: read from one array, written to another.

    With `statistics`, what is read are z-scores, and what is written are z-scores too.
    """

    source: Floats
    target: Floats
    order: NDArray[np.intp]
    columns: slice
    statistics: ColumnStatistics | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return len(self.order), self.columns.stop - self.columns.start

    def read(self, begin: int, end: int) -> Floats:
        """Return rows in this order."""
        rows = row_items(self.source, self.columns)[self.order[begin:end]]
        values = rows.view(np.float64).reshape(end - begin, self.shape[1])
        if self.statistics is not None:
            values -= self.statistics.mean[self.columns]
            values /= self.statistics.scale[self.columns]
        return values

    def write(self, begin: int, values: Floats) -> None:
        """Put rows where they were."""
        if self.statistics is not None:
            values = values * self.statistics.scale[self.columns] + self.statistics.mean[self.columns]
        rows = row_items(np.ascontiguousarray(values), slice(0, self.shape[1]))
        row_items(self.target, self.columns)[self.order[begin : begin + len(values)]] = rows


class Tile(NamedTuple):
    """Rows `begin` to `end`, with `before` rows ahead of them and some behind; `last` if they are the last."""

    values: Floats
    begin: int
    end: int
    before: int
    last: bool

    @property
    def own(self) -> slice:
        """Where the rows themselves are among those of the tile."""
        return slice(self.before, self.before + self.end - self.begin)

    def coefficients(self, level: int) -> slice:
        """Which coefficients of a level, the finest being 1, belong to the rows of the tile."""
        size = 2**level
        return slice(self.before // size, None if self.last else (self.before + self.end - self.begin) // size)


def each_tile(block: RowBlock, filters: Filters, level: int, *, every: int = 1) -> Iterator[Tile]:
    """Yield the tiles of a block, or only one of so many."""
    rows, columns = block.shape
    size = 2**level
    around = 0 if filters.is_haar else size * len(filters.low)
    step = max(size * max(1, _CELLS // (size * columns)), 4 * around)
    for begin in range(0, rows, step * every):
        end = min(rows, begin + step)
        before = min(begin, around)
        values = block.read(begin - before, min(rows, end + around))
        yield Tile(values, begin, end, before, last=end == rows)

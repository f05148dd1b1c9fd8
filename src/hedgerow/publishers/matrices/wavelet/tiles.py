"""Work on many rows in tiles: a coefficient depends on nearby rows only.

A tile starts at a multiple of $2^L$ rows, so that its pairs of rows are those of the whole matrix. Filters longer than
two taps also need rows before and after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.matrices.wavelet.filters import Filters

__all__ = ["Tile", "each_tile"]

Floats: TypeAlias = NDArray[np.float64]

#: cells of a tile: it stays in the cache of the processor
_CELLS = 2**17


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


def each_tile(values: Floats, filters: Filters, level: int) -> Iterator[Tile]:
    """Yield tiles; the rows that were yielded may be replaced before the next tile is asked for."""
    rows, columns = values.shape
    size = 2**level
    around = 0 if filters.is_haar else size * len(filters.low)
    step = max(size * max(1, _CELLS // (size * max(1, columns))), 4 * around)
    previous = values[:0]
    for begin in range(0, rows, step):
        end = min(rows, begin + step)
        stop = min(rows, end + around)
        tile = np.concatenate((previous, values[begin:stop]))
        if around:
            # kept before these rows are replaced: the next tile needs them as they were
            following = tile[len(previous) + max(0, end - begin - around) : len(previous) + end - begin].copy()
        else:
            following = previous
        yield Tile(tile, begin, end, len(previous), last=end == rows)
        previous = following

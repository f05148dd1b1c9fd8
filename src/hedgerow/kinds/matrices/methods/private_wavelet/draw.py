"""Bins of the columns, from declared bounds only, and rows that are drawn at random points of their cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ParameterError
from hedgerow.numerics.arrays import Integers
from hedgerow.numerics.haar import pad

#: columns and cells that are counted at most, and the cells that bins are chosen for
MOST_COLUMNS, MOST_CELLS, USUAL_CELLS = 8, 1 << 22, 1 << 16
#: numbers that are published at most: eight bytes each
_MOST_NUMBERS = 1 << 28


@dataclass(frozen=True)
class Bins:
    """The bins of all columns: `widths` steps each, of lattices of `points` points."""

    widths: tuple[int, ...]
    points: tuple[int, ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many bins each column has."""
        return tuple(-(-points // width) for points, width in zip(self.points, self.widths, strict=True))

    def draw(self, counts: Integers, coins: np.random.Generator) -> Integers:
        """Return so many rows per cell, each at a random point of its cell, in steps above the lower bounds."""
        rows = int(counts.sum())
        if rows * len(self.widths) > _MOST_NUMBERS:
            msg = f"about {rows:.2g} rows would be published, more than fit in memory; give a larger epsilon"
            raise ParameterError(msg)
        cells = np.repeat(np.arange(counts.size), counts.ravel())
        codes = np.empty((rows, len(self.widths)), np.int64)
        for number, bins in enumerate(np.unravel_index(cells, counts.shape)):
            width, points = self.widths[number], self.points[number]
            first = bins * width
            codes[:, number] = first + coins.integers(0, np.minimum(width, points - first)) if width > 1 else first
        return codes


def choose_bins(axes: Sequence[NumberAxis], bins: int) -> Bins:
    """Choose bins of equal widths, at most `bins` per column; with 0, as many as are usual for so many columns.

    Examples
    --------
    >>> axis = NumberAxis.between(0, 99, 1)
    >>> choose_bins([axis, axis], 0).lengths, choose_bins([axis], 10).lengths, choose_bins([axis] * 4, 0).lengths
    ((100, 100), (10,), (15, 15, 15, 15))
    """
    if len(axes) > MOST_COLUMNS:
        msg = (
            f"rows of at most {MOST_COLUMNS} columns are counted; the domain declares {len(axes)}; declare those that "
            "matter together, or publish several releases and divide epsilon"
        )
        raise ParameterError(msg)
    points = tuple(axis.steps + 1 for axis in axes)
    most = bins or 1 << (USUAL_CELLS.bit_length() - 1) // len(axes)
    chosen = Bins(tuple(-(-number // most) for number in points), points)
    cells = math.prod(map(pad, chosen.lengths))
    if cells > MOST_CELLS:
        msg = (
            f"{bins} bins per column are {cells:,} cells, with bins padded to powers of two, and at most "
            f"{MOST_CELLS:,} are counted; give fewer bins, or declare fewer columns"
        )
        raise ParameterError(msg)
    return chosen

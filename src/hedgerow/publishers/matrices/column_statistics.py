"""Means and standard deviations of columns: taken from the original, and restored after a distortion."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import NotSatisfied
from hedgerow.publishers.matrices.rows import BLOCK

__all__ = ["ColumnStatistics", "restore"]

Floats: TypeAlias = NDArray[np.float64]

#: a standard deviation below this share of the largest number is rounding
_ROUNDING = 1e-13


class ColumnStatistics(NamedTuple):
    """The mean and the standard deviation (with n - 1) of each column; a constant column has exactly 0."""

    mean: Floats
    deviation: Floats

    @property
    def scale(self) -> Floats:
        """What z-scores are divided by: the deviation, or 1 in a constant column."""
        return np.where(self.deviation > 0, self.deviation, 1.0)

    @classmethod
    def of(cls, values: Floats) -> ColumnStatistics:
        """Compute them in two passes over blocks of rows."""
        rows = len(values)
        starts = range(0, rows, BLOCK)
        mean = sum((values[at : at + BLOCK].sum(0) for at in starts), np.zeros(values.shape[1])) / rows
        squares = np.zeros(values.shape[1])
        largest = np.abs(mean)
        for at in starts:
            centred = values[at : at + BLOCK] - mean
            squares += np.einsum("ij,ij->j", centred, centred)
        deviation = np.sqrt(squares / max(1, rows - 1))
        return cls(mean, np.where(deviation > _ROUNDING * largest, deviation, 0.0))


def restore(values: Floats, wanted: ColumnStatistics) -> None:
    r"""Give columns their original means and standard deviations again, in place.

    $A^{**}_{ij} = \mu_j + (A^*_{ij} - \mu^*_j) \sigma_j / \sigma^*_j$: of all columns with these statistics, the one
    closest to $A^*$.
    """
    now = ColumnStatistics.of(values)
    if np.any((now.deviation == 0) & (wanted.deviation > 0)):
        msg = (
            "the distortion made a column constant, so that its standard deviation cannot be kept; distort less, or "
            "publish without normalisation"
        )
        raise NotSatisfied(msg)
    factor = wanted.deviation / np.where(now.deviation > 0, now.deviation, 1.0)
    for at in range(0, len(values), BLOCK):
        block = values[at : at + BLOCK]
        block -= now.mean
        block *= factor
        block += wanted.mean

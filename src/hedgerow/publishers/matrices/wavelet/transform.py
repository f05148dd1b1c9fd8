"""The two-dimensional wavelet transform of rows and columns, level by level, and its inverse.

At its ends a matrix is continued by its mirror image (half-sample symmetric), as PyWavelets does by default.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.matrices.wavelet.filters import Filters

__all__ = ["Bands", "Pyramid", "decompose", "reconstruct"]

Floats: TypeAlias = NDArray[np.float64]


class Bands(NamedTuple):
    """The detail coefficients of a level: differences of rows, of columns, and of both."""

    rows: Floats
    columns: Floats
    both: Floats


class Pyramid(NamedTuple):
    """The approximation that is left, the bands of each level, the finest first, and the sizes before each level."""

    approximation: Floats
    bands: list[Bands]
    shapes: list[tuple[int, int]]


def decompose(values: Floats, filters: Filters, level: int) -> Pyramid:
    """Split a matrix into an approximation and the bands of so many levels."""
    bands: list[Bands] = []
    shapes: list[tuple[int, int]] = []
    split = _split_haar if filters.is_haar else _split
    for _ in range(level):
        shapes.append((values.shape[0], values.shape[1]))
        values, own = split(values, filters)
        bands.append(own)
    return Pyramid(values, bands, shapes)


def reconstruct(pyramid: Pyramid, filters: Filters) -> Floats:
    """Put a matrix together again."""
    values = pyramid.approximation
    join = _join_haar if filters.is_haar else _join
    for bands, (rows, columns) in zip(reversed(pyramid.bands), reversed(pyramid.shapes), strict=True):
        values = join(values[: bands.rows.shape[0], : bands.rows.shape[1]], bands, filters)[:rows, :columns]
    return values


def _split_haar(values: Floats, filters: Filters) -> tuple[Floats, Bands]:
    """Split by sums and differences of pairs; the factors of both directions together are one half, which is exact."""
    del filters
    rows, columns = values.shape
    if rows % 2 or columns % 2:
        even = np.empty((rows + rows % 2, columns + columns % 2))
        even[:rows, :columns] = values
        even[rows:, :columns], even[:, columns:] = values[-1:], even[:, columns - 1 : columns]
        values, (rows, columns) = even, even.shape
    shape = (rows // 2, columns // 2)
    low, high = values[0::2] + values[1::2], values[0::2] - values[1::2]
    # pairs of columns are neighbours in memory: one long row is faster than many short ones
    left, right = low.ravel()[0::2], low.ravel()[1::2]
    approximation, across = left + right, left - right
    left, right = high.ravel()[0::2], high.ravel()[1::2]
    down, both = left + right, left - right
    for band in (approximation, across, down, both):
        np.multiply(band, 0.5, out=band)
    return approximation.reshape(shape), Bands(down.reshape(shape), across.reshape(shape), both.reshape(shape))


def _join_haar(approximation: Floats, bands: Bands, filters: Filters) -> Floats:
    del filters
    rows, columns = approximation.shape
    low, high = np.empty((rows, 2 * columns)), np.empty((rows, 2 * columns))
    for pair, first, second in ((low, approximation, bands.columns), (high, bands.rows, bands.both)):
        np.add(first, second, out=pair[:, 0::2])
        np.subtract(first, second, out=pair[:, 1::2])
        np.multiply(pair, 0.5, out=pair)
    values = np.empty((2 * rows, 2 * columns))
    np.add(low, high, out=values[0::2])
    np.subtract(low, high, out=values[1::2])
    return values


def _split(values: Floats, filters: Filters) -> tuple[Floats, Bands]:
    low, high = _analyse(values, filters)
    (approximation, across), (down, both) = (_analyse(np.ascontiguousarray(part.T), filters) for part in (low, high))
    approximation, across, down, both = (np.ascontiguousarray(part.T) for part in (approximation, across, down, both))
    return approximation, Bands(down, across, both)


def _join(approximation: Floats, bands: Bands, filters: Filters) -> Floats:
    low = _synthesise(approximation.T, bands.columns.T, filters)
    high = _synthesise(bands.rows.T, bands.both.T, filters)
    return _synthesise(np.ascontiguousarray(low.T), np.ascontiguousarray(high.T), filters)


def _analyse(values: Floats, filters: Filters) -> tuple[Floats, Floats]:
    """Filter along the first axis, and keep every second result."""
    taps, size = len(filters.low), len(values)
    kept = (size + taps - 1) // 2
    extended = np.pad(values, ((taps - 2, 2 * kept - size), (0, 0)), "symmetric")
    results = np.zeros((2, kept, values.shape[1]))
    for result, taps_of in zip(results, (filters.low, filters.high), strict=True):
        for at, tap in enumerate(reversed(taps_of)):
            np.add(result, tap * extended[at : at + 2 * kept : 2], out=result)
    return results[0], results[1]


def _synthesise(low: Floats, high: Floats, filters: Filters) -> Floats:
    """Undo `_analyse`; the result may have one row more than there was."""
    half = len(filters.low) // 2
    size = len(low) - half + 1
    values = np.zeros((2 * size, low.shape[1]))
    for part, taps_of in ((low, filters.low), (high, filters.high)):
        reverse = taps_of[::-1]
        for at in range(half):
            source = part[half - 1 - at : half - 1 - at + size]
            values[0::2] += reverse[2 * at] * source
            values[1::2] += reverse[2 * at + 1] * source
    return values

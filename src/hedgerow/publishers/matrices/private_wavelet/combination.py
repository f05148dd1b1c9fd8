"""Sums of blocks, and what they tell about every cell together: the least-squares estimate, in the Haar basis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.matrices.private_wavelet.haar import node_classes, transform, undo
from hedgerow.publishers.matrices.private_wavelet.noise_shares import Grid, class_precisions, pad, precisions

__all__ = ["add_up_blocks", "blocks_in_use", "combine", "padded"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def padded(values: Integers) -> Integers:
    """Fill every axis up with zeros, to a power of two."""
    return np.pad(values, [(0, pad(length) - length) for length in values.shape])


def add_up_blocks(values: Integers, sizes: tuple[int, ...]) -> Integers:
    """Return the sums of all blocks of these sizes.

    Examples
    --------
    >>> add_up_blocks(np.array([[1, 2], [3, 4]]), (1, 2)).tolist()
    [[3], [7]]
    """
    for axis, size in enumerate(sizes):
        length = values.shape[axis] // size
        values = values.reshape(*values.shape[:axis], length, size, *values.shape[axis + 1 :]).sum(axis + 1)
    return values


def blocks_in_use(lengths: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[slice, ...]:
    """Return where the blocks are that have a cell: the others are padding, and empty.

    Examples
    --------
    >>> blocks_in_use((5, 8), (2, 4))
    (slice(None, 3, None), slice(None, 2, None))
    """
    return tuple(slice(-(-length // size)) for length, size in zip(lengths, sizes, strict=True))


def combine(grids: tuple[Grid, ...], answers: Sequence[Integers], lengths: tuple[int, ...]) -> Floats:
    """Return the least-squares estimate of every cell from noisy sums of blocks, one array per grid.

    A coefficient is the mean of what the grids say about it, weighted by their precision: see `noise_shares`.

    Examples
    --------
    >>> halves = Grid((2,), 1)
    >>> combine((Grid((1,), 1), halves), [np.array([3, 1, 0, 0]), np.array([6, 0])], (4,)).round(2).tolist()
    [3.67, 1.67, 0.0, 0.0]
    """
    total = sum(grid.weight for grid in grids)
    precision = precisions(grids, lengths)
    coefficients = np.zeros([pad(length) for length in lengths])
    for grid, noisy in zip(grids, answers, strict=True):
        weights = (grid.weight / total) ** 2 * class_precisions(grid.sizes, lengths) / precision
        classes = np.ix_(*(node_classes(length) for length in noisy.shape))
        coarse = tuple(slice(length) for length in noisy.shape)  # coefficients of large nodes are first
        coefficients[coarse] += weights[classes] * transform(noisy)
    return undo(coefficients)

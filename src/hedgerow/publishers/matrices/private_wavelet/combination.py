"""Sums of blocks, and what they tell about every cell together: the least-squares estimate, in the Haar basis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.matrices.private_wavelet.noise_shares import Grid, class_precisions, precisions
from hedgerow.steps.haar import node_classes, node_sizes, pad, transform, undo

__all__ = ["add_up_blocks", "blocks_in_use", "combine", "padded", "share_within_bounds"]

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


def combine(
    grids: tuple[Grid, ...], answers: Sequence[Integers], lengths: tuple[int, ...], kept: Floats | None = None
) -> Floats:
    """Return the least-squares estimate of every cell from noisy sums of blocks, one array per grid.

    A coefficient is the mean of what the grids say about it, weighted by their precision: see `noise_shares`. With
    `kept`, of every class of coefficients only that share is kept.

    Examples
    --------
    >>> halves = Grid((2,), 1)
    >>> combine((Grid((1,), 1), halves), [np.array([3, 1, 0, 0]), np.array([6, 0])], (4,)).round(2).tolist()
    [3.67, 1.67, 0.0, 0.0]
    """
    total = sum(grid.weight for grid in grids)
    precision = precisions(grids, lengths) / (1 if kept is None else kept)
    coefficients = np.zeros([pad(length) for length in lengths])
    for grid, noisy in zip(grids, answers, strict=True):
        weights = (grid.weight / total) ** 2 * class_precisions(grid.sizes, lengths) / precision
        classes = np.ix_(*(node_classes(length) for length in noisy.shape))
        coarse = tuple(slice(length) for length in noisy.shape)  # coefficients of large nodes are first
        coefficients[coarse] += weights[classes] * transform(noisy)
    return undo(coefficients)


def share_within_bounds(grids: tuple[Grid, ...], length: int, epsilon: float) -> Floats:
    r"""Return the share of each class of coefficients to keep if numbers are between public bounds.

    In units of the distance $\Delta$ of the bounds, a coefficient of a node of $s$ numbers is between $-s / 2$ and
    $s / 2$. If all of that is equally likely, its variance is $s^2 / 12$ and that of its noise $2 / (\varepsilon^2 P)$;
    the best linear estimate keeps this share of it. Coefficients of large nodes stay as they are; those of small ones,
    which noise hides, nearly vanish. The sum is kept.

    Examples
    --------
    >>> share_within_bounds((Grid((1,), 1),), 64, 1.0).round(2).tolist()
    [1.0, 0.73, 0.57, 0.4, 0.25, 0.14, 0.08]
    """
    nodes = node_sizes(pad(length)).astype(np.float64)
    spread = nodes**2 / 12
    kept = spread / (spread + 2 / (epsilon**2 * precisions(grids, (length,))))
    kept[0] = 1.0
    return kept

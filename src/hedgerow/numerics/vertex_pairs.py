"""Numbers of unordered pairs of vertices: the cells of the upper triangle of an adjacency matrix, row by row."""

from __future__ import annotations

import numpy as np

from hedgerow.numerics.arrays import Codes, Integers


def count_pairs(vertices: int) -> int:
    """Count the pairs of different vertices."""
    return vertices * (vertices - 1) // 2


def rank_pairs(first: Codes, second: Codes, vertices: int | Integers) -> Integers:
    """Number the pairs `(first, second)`, `first < second`: (0, 1), (0, 2), ... (1, 2), ...

    Examples
    --------
    >>> rank_pairs(np.array([0, 0, 1]), np.array([1, 3, 2]), 4).tolist()
    [0, 2, 3]
    """
    first = first.astype(np.int64)
    return first * (2 * vertices - first - 3) // 2 + second - 1


def unrank_pairs(ranks: Integers, vertices: int | Integers) -> tuple[Integers, Integers]:
    """Return the pairs of these numbers.

    Examples
    --------
    >>> first, second = unrank_pairs(np.arange(6), 4)
    >>> first.tolist(), second.tolist()
    ([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
    """
    # row i starts at i (2 n - i - 1) / 2; the float root may be one row off, never more
    half = vertices - 0.5
    first = (half - np.sqrt(np.maximum(half * half - 2.0 * ranks, 0.0))).astype(np.int64)
    first -= _row_start(first, vertices) > ranks
    first += _row_start(first + 1, vertices) <= ranks
    return first, ranks - _row_start(first, vertices) + first + 1


def _row_start(row: Integers, vertices: int | Integers) -> Integers:
    return row * (2 * vertices - row - 1) // 2

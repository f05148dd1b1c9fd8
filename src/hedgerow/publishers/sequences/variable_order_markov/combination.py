"""Combine independent noisy answers about the same counts, by their variances."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.variable_order_markov.context_tree import ContextTree

__all__ = ["combine_readings", "weigh"]

Floats: TypeAlias = NDArray[np.float64]


def weigh(first: Any, first_variance: Any, second: Any, second_variance: Any) -> Any:
    """The mean of two estimates, weighted by the inverse of their variances.

    Examples
    --------
    >>> weigh(10.0, 1.0, 14.0, 3.0)
    11.0
    """
    return (first * second_variance + second * first_variance) / (first_variance + second_variance)


def combine_readings(tree: ContextTree) -> tuple[Floats, Floats]:
    """Combine the answer about each opened row with the sum of those below it, from the last level up.

    Returns the rows and the variance of each; all cells of a row have the same.
    """
    rows, variance = tree.noisy.copy(), tree.variance.copy()
    for level in range(tree.depth, 0, -1):
        parents, starts = tree.families(level)
        below = tree.rows(level)
        total = np.add.reduceat(rows[below], starts, axis=0)
        spread = np.add.reduceat(variance[below], starts)
        own = np.isfinite(variance[parents])
        rows[parents[~own]], variance[parents[~own]] = total[~own], spread[~own]
        at = parents[own]
        rows[at] = weigh(rows[at], variance[at, None], total[own], spread[own, None])
        variance[at] = 1 / (1 / variance[at] + 1 / spread[own])
    return rows, variance

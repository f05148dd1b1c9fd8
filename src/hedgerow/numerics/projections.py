"""Projections of noisy rows: onto simplices (non-negative numbers with a given sum), and onto monotone rows."""

from __future__ import annotations

import numpy as np

from hedgerow.numerics.arrays import Floats


def project_to_simplex(values: Floats, total: Floats) -> Floats:
    """Project each row onto the simplex of non-negative numbers with this total.

    Examples
    --------
    >>> project_to_simplex(np.array([[5.0, -1, 2], [1, 1, 1]]), np.array([6.0, 6])).tolist()
    [[4.5, 0.0, 1.5], [2.0, 2.0, 2.0]]
    """
    ordered = -np.sort(-values, axis=1)
    above = np.cumsum(ordered, axis=1) - total[:, None]
    rank = np.arange(1, int(values.shape[1]) + 1)
    last = np.maximum(1, np.count_nonzero(ordered - above / rank > 0, axis=1))
    shift = above[np.arange(len(values)), last - 1] / last
    return np.maximum(0.0, values - shift[:, None])


def isotonic_regression(values: Floats, weights: Floats) -> Floats:
    """Isotonic regression of each row: the non-decreasing rows of least weighted squared distance.

    By the max-min formula: the estimate at `m` is the maximum, over all starts up to `m`, of the smallest mean of an
    interval that begins there. It does many short rows at once; `scipy.optimize.isotonic_regression` does one per call,
    which is several times slower on the paths of a tree.

    Examples
    --------
    >>> isotonic_regression(np.array([[3.0, 7, 5, 6, 10], [9, 2, 4, 4, 9]]), np.ones((2, 5))).tolist()
    [[3.0, 6.0, 6.0, 6.0, 10.0], [4.75, 4.75, 4.75, 4.75, 9.0]]
    """
    sums = np.cumsum(values * weights, axis=1)
    mass = np.cumsum(weights, axis=1)
    estimates = np.empty_like(values)
    largest = np.full(len(values), -np.inf)
    for start in range(values.shape[1]):
        before = (sums[:, start - 1], mass[:, start - 1]) if start else (0.0, 0.0)
        means = (sums[:, start:].T - before[0]) / (mass[:, start:].T - before[1])
        largest = np.maximum(largest, means.min(axis=0))
        estimates[:, start] = largest
    return estimates

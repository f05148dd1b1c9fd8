"""Isotonic regression of rows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["isotonic_regression"]

Floats: TypeAlias = NDArray[np.float64]


def isotonic_regression(values: Floats, weights: Floats) -> Floats:
    """Isotonic regression of each row: the non-decreasing rows of least weighted squared distance.

    By the max-min formula: the estimate at `m` is the maximum, over all starts up to `m`, of the smallest mean of an
    interval that begins there.

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

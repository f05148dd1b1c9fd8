"""Euclidean projection of noisy rows onto scaled simplices: non-negative numbers with a given sum."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["project_to_simplex"]

Floats: TypeAlias = NDArray[np.float64]


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

"""Systematic resampling of records among those of equal size."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_grid

__all__ = ["resample_by_size"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def resample_by_size(sizes: Integers, log_weights: Floats, coins: np.random.Generator) -> Integers:
    """Choose records in proportion to their weights, as many of each size as there are; sizes ascend.

    Examples
    --------
    >>> from hedgerow.privacy.samplers import coins
    >>> resample_by_size(np.array([1, 1, 1, 2]), np.log([1e-9, 2, 1, 7]), coins((5, 0))).tolist()
    [1, 1, 2, 3]
    """
    new = np.flatnonzero(np.diff(sizes, prepend=-1))
    number = np.diff(new, append=len(sizes))
    group = np.repeat(np.arange(len(new)), number)
    weights = on_grid(np.exp(log_weights - np.maximum.reduceat(log_weights, new)[group]))
    running = np.cumsum(weights)
    before = (running - weights)[new]
    share = (running - before[group]) / (running[new + number - 1] - before)[group]
    # points at u, 1 + u, 2 + u, ...: how many of them are before the end of each record
    ends = np.ceil(share * number[group] - coins.random(len(new))[group]).astype(np.int64)
    ends[new + number - 1] = number
    copies = np.diff(ends + new[group], prepend=0)
    return np.repeat(np.arange(len(sizes)), copies)

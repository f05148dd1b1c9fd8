"""Round numbers that have a whole total."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportion"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def apportion(values: Floats, total: int, offset: float) -> Integers:
    """Round values, scaled to a whole total, so that every cumulative sum is rounded up or down.

    Examples
    --------
    >>> apportion(np.array([2.4, 3.3, 0.3]), 6, 0.5).tolist()
    [2, 4, 0]
    """
    upto = np.cumsum(values)
    whole = np.floor(upto * (total / upto[-1]) + offset).astype(np.int64)
    whole[-1] = total
    return np.diff(np.minimum(whole, total), prepend=0)

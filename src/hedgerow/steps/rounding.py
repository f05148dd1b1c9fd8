"""Round values so that their cumulative sums are preserved."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_count_grid

__all__ = ["round_together"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def round_together(values: Floats) -> Integers:
    """Round so that the sum of every contiguous run of values changes by at most one.

    Examples
    --------
    >>> round_together(np.array([0.4, 0.4, 0.4, 2.0])).tolist()
    [0, 1, 0, 2]
    """
    running = np.floor(np.cumsum(on_count_grid(values)) + 0.5).astype(np.int64)
    return np.diff(running, prepend=0)

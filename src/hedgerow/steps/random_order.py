"""Random order within groups: the first step of systematic sampling."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["random_order_by_state"]

Integers: TypeAlias = NDArray[np.int64]


def random_order_by_state(state: NDArray[Any], states: int, coins: np.random.Generator) -> Integers:
    """Order by state, at random within each state."""
    order = coins.permutation(len(state))
    if states == 1:
        return order
    # 16-bit integers are sorted by radix sort
    small = state.astype(np.uint16) if states <= np.iinfo(np.uint16).max else state
    return order[np.argsort(small[order], kind="stable")]

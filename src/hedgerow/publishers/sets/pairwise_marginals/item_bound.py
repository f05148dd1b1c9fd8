"""How many items of a record count in full: few add bias for long records, many add noise."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ATTENTION", "choose_item_bound"]

Floats: TypeAlias = NDArray[np.float64]

_CANDIDATES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
#: relative bias that is expected of an item whose weight is hidden; of 0.25, 0.5, 0.75, 1, 2 and 4, chosen on
#: groceries, bms-webview-2 and kosarak-subset
_BIAS = 0.75
#: the frequency of items whose error is minimised; of 0.005 and 0.02, chosen on the same data
ATTENTION = 0.005


def choose_item_bound(by_size: Floats, spend: float, largest: int) -> int:
    """Choose the number of items that a record may count for, by expected bias and noise.

    Examples
    --------
    >>> by_size = np.array([0.0, 2000, 1500, 1200, 1000, 800, 600, 400, 300, 200, 100])
    >>> [choose_item_bound(by_size, spend, 10) for spend in (0.04, 0.2, 0.4, 0.8)]
    [1, 3, 5, 6]
    """
    size = np.arange(len(by_size))
    records, tokens = float(by_size.sum()), float(by_size @ size)
    costs: dict[int, float] = {}
    for most in (candidate for candidate in _CANDIDATES if candidate <= largest):
        seen = float(by_size @ np.minimum(size, most)) / tokens
        costs[most] = _BIAS * (1 - seen) * ATTENTION * records + math.sqrt(2) * most / (spend * seen)
    return min(costs, key=costs.__getitem__)

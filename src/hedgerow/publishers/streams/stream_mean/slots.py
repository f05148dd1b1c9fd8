"""The values in the slots of a sample, and their sum, which is kept up to date."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Slots"]

Integers: TypeAlias = NDArray[np.int64]


class Slots:
    """Values in numbered slots, all 0 at first.

    Examples
    --------
    >>> slots = Slots(3)
    >>> slots.replace(np.array([0, 1, 2]), np.array([5, 0, 1])).tolist()
    [5, 5, 6]
    >>> slots.replace(np.array([0, 0]), np.array([2, 3])).tolist()
    [3, 4]
    """

    def __init__(self, size: int) -> None:
        self._values = np.zeros(size, np.int64)
        self.total = 0

    def replace(self, slots: Integers, values: Integers) -> Integers:
        """Write values into slots one after another, and return the sum of all slots after each."""
        order = np.argsort(slots, kind="stable")
        sorted_slots, sorted_values = slots[order], values[order]
        again = np.append(False, np.diff(sorted_slots) == 0)[: len(slots)]
        old = self._values[sorted_slots]
        # a slot that is written again had the value that was written before
        old[again] = sorted_values[np.flatnonzero(again) - 1]
        change = np.empty_like(values)
        change[order] = sorted_values - old
        final = ~np.append(again[1:], False)[: len(slots)]
        self._values[sorted_slots[final]] = sorted_values[final]
        totals = self.total + np.cumsum(change)
        if len(totals):
            self.total = int(totals[-1])
        return totals

"""Items that are independent given the size of the record: each has odds of its own, and each size a factor."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_independent_items"]

Floats: TypeAlias = NDArray[np.float64]

_ROUNDS, _TOLERANCE, _STEP = 100, 1e-6, 5.0


def fit_independent_items(targets: Floats, sizes: Floats, records: Floats, weights: Floats) -> tuple[Floats, Floats]:
    r"""Fit the odds of items so that records of these sizes have the target weights.

    Item $i$ is in a record of size $k$ with probability $w_i l_k / (1 + w_i l_k)$, and $l_k$ is such that these
    add up to $k$.

    Parameters
    ----------
    targets
        The total weight of each item.
    sizes, records, weights
        The different sizes, the number of records of each and the weight of an item in one of them.

    Returns
    -------
    The odds $w_i$, which sum up to 1, and the expected number of records with each item.

    Examples
    --------
    >>> sizes, records = np.array([1.0, 2, 3, 4]), np.array([3.0, 2, 1, 2])
    >>> odds, counts = fit_independent_items(np.array([4.0, 7, 3, 4]), sizes, records, np.ones(4))
    >>> odds.round(3).tolist(), counts.round(3).tolist()
    ([0.049, 0.888, 0.015, 0.049], [4.0, 7.0, 3.0, 4.0])
    """
    items = len(targets)
    odds, factors = targets / targets.sum(), sizes.copy()
    chances = np.ones((len(sizes), items))
    partial = np.flatnonzero(sizes < items)  # a record of all items has every item
    for _ in range(_ROUNDS):
        ratio = factors[partial, None] * odds
        absent = (1 / (1 + ratio)).sum(axis=1)
        factors[partial] *= sizes[partial] * absent / ((items - absent) * (items - sizes[partial]))
        ratio = factors[partial, None] * odds
        chances[partial] = ratio / (1 + ratio)
        step = targets / ((records * weights) @ chances)
        if np.all(np.abs(1 / step - 1) < _TOLERANCE):
            break
        odds *= np.clip(step, 1 / _STEP, _STEP)
        odds /= odds.sum()
    return odds, records @ chances

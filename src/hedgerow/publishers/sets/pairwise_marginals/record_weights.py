"""The weights with which a record counts for its items and pairs, so that no record counts for too much.

A record of many items gives each of them a fraction, rather than 1 to some of them: no item is favoured. Weights are
whole numbers, so that exact answers do not depend on the order in which they are added up.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNIT", "weigh_by_pairs", "weigh_by_size"]

Integers: TypeAlias = NDArray[np.int64]

#: the weight of 1, as a whole number
UNIT = 1_000


def weigh_by_size(most: int, items: int, full: Integers | None = None) -> Integers:
    """The weight of each item in a record of 0, 1, ... `items` items: at most `most` units per record.

    Where only `full[k]` items of a record of `k` items count in full, and not `most`, each of them has more weight.

    Examples
    --------
    >>> weigh_by_size(2, 5).tolist()
    [1000, 1000, 1000, 666, 500, 400]
    >>> weigh_by_size(4, 5, np.array([2, 2, 2, 4, 4, 4])).tolist()
    [2000, 2000, 2000, 1000, 1000, 800]
    """
    return UNIT * most // np.maximum(np.arange(items + 1), most if full is None else full)


def weigh_by_pairs(most: int, items: int) -> Integers:
    """The weight of each pair in a record with 0, 1, ... `items` items of the head: at most `most` units per record.

    Examples
    --------
    >>> weigh_by_pairs(3, 5).tolist()
    [1000, 1000, 1000, 1000, 500, 300]
    """
    size = np.arange(items + 1)
    return UNIT * most // np.maximum(size * (size - 1) // 2, most)

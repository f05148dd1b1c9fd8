"""A uniform sample of distinct numbers out of very many."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import sort_distinct

__all__ = ["sample_distinct"]

Integers: TypeAlias = NDArray[np.int64]

#: a few draws more than expected to be necessary: they end the last rounds
_MORE = 8


def sample_distinct(size: int, below: int, coins: np.random.Generator) -> Integers:
    """Draw `size` distinct numbers 0, 1, ... `below` - 1, ascending; every set of that size is equally likely.

    Time and memory depend on `size` only, however large `below` is.

    Examples
    --------
    >>> sample_distinct(3, 10**12, np.random.default_rng(5)).tolist()
    [45275193902, 234510201669, 285801380088]
    >>> sample_distinct(4, 5, np.random.default_rng(5)).tolist()
    [0, 1, 2, 4]
    """
    if 2 * size > below:
        kept = np.ones(below, np.bool_)
        kept[_sample_few(below - size, below, coins)] = False
        return np.flatnonzero(kept)
    return _sample_few(size, below, coins)


def _sample_few(size: int, below: int, coins: np.random.Generator) -> Integers:
    """Draw with repetitions until enough distinct numbers are there, and drop the surplus at random.

    No step depends on which numbers were drawn, so all sets are equally likely.
    """
    drawn = np.zeros(0, np.int64)
    while len(drawn) < size:
        missing = (size - len(drawn)) / (below - len(drawn))
        # so many draws give the missing numbers in expectation, as (1 - 1 / below)**draws stay away
        draws = math.ceil(-below * math.log1p(-missing)) + _MORE
        drawn = sort_distinct(np.concatenate((drawn, coins.integers(0, below, draws))))
    return np.delete(drawn, coins.choice(len(drawn), len(drawn) - size, replace=False))

"""Systematic sampling of labels by their weights: all counts are within one of their expectation."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Floats, Integers, sort_distinct
from hedgerow.numerics.rounding import on_grid


class WeightedLabels(NamedTuple):
    """Labels with weights, grouped by state: those of state `s` are `starts[s]` to `starts[s + 1]`.

    Examples
    --------
    >>> labels = WeightedLabels.of(np.zeros(2, np.int64), np.array([7, 9]), np.array([3.0, 1.0]), 1)
    >>> labels.starts.tolist(), labels.label.tolist(), labels.upto.tolist()
    ([0, 2], [7, 9], [0.0, 3.0, 4.0])
    """

    starts: Integers
    label: Integers
    upto: Floats

    @classmethod
    def of(cls, state: Integers, label: Integers, weight: NDArray[Any], states: int) -> WeightedLabels:
        """Take labels, their states and their weights, in any order."""
        order = np.lexsort((label, state))
        starts = np.searchsorted(state[order], np.arange(states + 1))
        upto = np.append(0.0, np.cumsum(on_grid(weight[order])))
        return cls(starts, label[order], upto)

    @classmethod
    def of_rows(cls, weight: Floats) -> WeightedLabels:
        """Take one state per row, its labels the columns."""
        states, labels = len(weight), int(weight.shape[1])
        upto = np.append(0.0, np.cumsum(on_grid(weight)))
        return cls(np.arange(states + 1) * labels, np.tile(np.arange(labels), states), upto)

    def scaled(self, factor: Floats) -> WeightedLabels:
        """Make labels more or less frequent, by one factor each."""
        weight = np.diff(self.upto) * factor[self.label]
        return self._replace(upto=np.append(0.0, np.cumsum(on_grid(weight))))

    def sample(self, state: Integers, coins: np.random.Generator, least: Integers | None = None) -> Integers:
        """Draw one label each: the `j`-th of `n` in a state, in random order, gets the quantile `(j + u) / n`.

        All counts are unbiased and within one of their expectation. With `least`, the first `least` labels of the state
        are left out.
        """
        order = random_order_by_state(state, len(self.starts) - 1, coins)
        sampled = np.empty(len(state), np.int64)
        sampled[order] = self.sample_ordered(state[order], coins, None if least is None else least[order])
        return sampled

    def sample_ordered(
        self, state: NDArray[Any], coins: np.random.Generator, least: Integers | None = None
    ) -> Integers:
        """Draw one label each, as `sample` does, of states that are sorted already, in random order within each."""
        many = np.bincount(state, minlength=len(self.starts) - 1)
        rank = np.arange(len(state)) - np.repeat(np.cumsum(many) - many, many)
        part = (rank + np.repeat(coins.random(len(many)), many)) / np.repeat(many, many)
        first, last = np.repeat(self.starts[:-1], many), np.repeat(self.starts[1:], many)
        if least is not None:
            first = first + least
        low = self.upto[first]
        at = np.searchsorted(self.upto, low + part * (self.upto[last] - low), "right") - 1
        return self.label[np.clip(at, first, last - 1)]


# Random order within groups: the first step of systematic sampling.


def random_order_by_state(state: NDArray[Any], states: int, coins: np.random.Generator) -> Integers:
    """Order by state, at random within each state."""
    order = coins.permutation(len(state))
    if states == 1:
        return order
    # 16-bit integers are sorted by radix sort
    small = state.astype(np.uint16) if states <= np.iinfo(np.uint16).max else state
    return order[np.argsort(small[order], kind="stable")]


# A uniform sample of distinct numbers out of very many.

#: a few draws more than expected to be necessary: they end the last rounds
_MORE = 8


def sample_distinct(size: int, below: int, coins: np.random.Generator) -> Integers:
    """Draw `size` distinct numbers 0, 1, ... `below` - 1, ascending; every set of that size is equally likely.

    Time and memory depend on `size` only, however large `below` is.

    Examples
    --------
    >>> from hedgerow.privacy.samplers import coins
    >>> sample_distinct(3, 10**12, coins((5, 0))).tolist()
    [248998832455, 677590709839, 760533837760]
    >>> sample_distinct(4, 5, coins((5, 0))).tolist()
    [0, 1, 2, 3]
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

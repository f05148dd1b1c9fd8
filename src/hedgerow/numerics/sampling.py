"""Systematic sampling, whose counts are all within one of their expectation; and samples of distinct numbers.

The labels of a distribution lie side by side, as long as their weights, and equally spaced points, the first of which
is random, are laid over all of them: every point draws the label that it falls on.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Codes, Flags, Floats, Integers, number_within_groups, sort_distinct
from hedgerow.numerics.rounding import on_grid

#: a few draws more than expected to be necessary: they end the last rounds of `sample_distinct`
_MORE = 8


def systematic_counts(weights: Floats, number: int | Integers, start: float | Floats) -> Integers:
    """Draw labels by systematic sampling: how often each is drawn is its expected number, rounded up or down.

    Parameters
    ----------
    weights
        The weight of each label; with several rows, each row is a distribution of its own.
    number
        How many labels are drawn, one number per row.
    start
        Where the first point is, in units of the distance between points: a random number from 0 to 1 per row.

    Examples
    --------
    >>> systematic_counts(np.array([2.4, 3.3, 0.3]), 6, 0.5).tolist()
    [2, 4, 0]
    >>> systematic_counts(np.array([[1.0, 1], [0, 3]]), np.array([3, 2]), np.array([0.2, 0.7])).tolist()
    [[2, 1], [0, 2]]
    """
    upto = np.cumsum(weights, axis=-1)
    share, points = upto / upto[..., -1:], np.asarray(number)[..., None]
    below = np.ceil(share * points - np.asarray(start)[..., None]).astype(np.int64)
    # whatever the rounding, no point is before the first label, or beyond the last one that has a weight
    return np.diff(np.where(share < 1, np.maximum(below, 0), points), axis=-1, prepend=0)


def draw_systematically(weights: Floats, number: int, start: float) -> Integers:
    """Draw so many labels, in their order: see `systematic_counts`. Weights are rounded to a grid before.

    Examples
    --------
    >>> draw_systematically(np.array([2.5, 1.5, 0, 4]), 8, 0.25).tolist()
    [0, 0, 0, 1, 3, 3, 3, 3]
    """
    return np.repeat(np.arange(len(weights)), systematic_counts(on_grid(weights), number, start))


def choose_systematically(chances: Floats, coins: np.random.Generator) -> Flags:
    """Choose elements, each with its own probability; their number is the expected one, rounded up or down.

    Examples
    --------
    >>> from hedgerow.privacy.samplers import coins
    >>> choose_systematically(np.array([0.5, 0, 1, 0.5]), coins((5, 0))).tolist()
    [True, False, True, False]
    """
    order = coins.permutation(len(chances))
    upto = np.cumsum(chances[order]) + coins.random()
    chosen = np.empty(len(chances), np.bool_)
    chosen[order] = np.floor(upto) > np.floor(upto - chances[order])
    return chosen


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
    def of(cls, state: Integers, label: Integers, weight: NDArray[np.number[Any]], states: int) -> WeightedLabels:
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
        """Draw one label each, by a systematic sample of each state: the `j`-th of `n` gets the quantile `(j + u) / n`.

        Which of them is the `j`-th is random. With `least`, the first `least` labels of the state are left out.
        """
        order = random_order_by_state(state, len(self.starts) - 1, coins)
        sampled = np.empty(len(state), np.int64)
        sampled[order] = self.sample_ordered(state[order], coins, None if least is None else least[order])
        return sampled

    def sample_ordered(self, state: Codes, coins: np.random.Generator, least: Integers | None = None) -> Integers:
        """Draw one label each, as `sample` does, of states that are sorted already, in random order within each."""
        many = np.bincount(state, minlength=len(self.starts) - 1)
        part = (number_within_groups(state) + np.repeat(coins.random(len(many)), many)) / np.repeat(many, many)
        first, last = np.repeat(self.starts[:-1], many), np.repeat(self.starts[1:], many)
        if least is not None:
            first = first + least
        low = self.upto[first]
        at = np.searchsorted(self.upto, low + part * (self.upto[last] - low), "right") - 1
        return self.label[np.clip(at, first, last - 1)]


def random_order_by_state(state: Codes, states: int, coins: np.random.Generator) -> Integers:
    """Return a random order, sorted by state: the first step of a systematic sample of each state."""
    order = coins.permutation(len(state))
    if states == 1:
        return order
    # 16-bit integers are sorted by radix sort
    small = state.astype(np.uint16) if states <= np.iinfo(np.uint16).max else state
    return order[np.argsort(small[order], kind="stable")]


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

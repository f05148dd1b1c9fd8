"""Systematic sampling of labels by their weights: all counts are within one of their expectation."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_grid
from hedgerow.steps.random_order import random_order_by_state

__all__ = ["WeightedLabels"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


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

"""Deal labels by their weights, look pairs up, and draw until nothing is drawn that is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.chain import grouped

__all__ = ["Deck", "Drawn", "Index", "Pairs"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: so often something that is known not to follow is drawn again
_AGAIN = 6
#: keys below this are looked up in a table
_TABLE = 1 << 23


class Deck(NamedTuple):
    """Labels with weights, a stretch of them a state: `starts[s]` to `starts[s + 1]`.

    Examples
    --------
    >>> deck = Deck.of(np.zeros(2, np.int64), np.array([7, 9]), np.array([3.0, 1.0]), 1)
    >>> deck.starts.tolist(), deck.label.tolist(), deck.upto.tolist()
    ([0, 2], [7, 9], [0.0, 3.0, 4.0])
    """

    starts: Integers
    label: Integers
    upto: Floats

    @classmethod
    def of(cls, state: Integers, label: Integers, weight: NDArray[Any], states: int) -> Deck:
        """Take a label, its state and its weight, in any order."""
        order = np.lexsort((label, state))
        starts = np.searchsorted(state[order], np.arange(states + 1))
        upto = np.append(0.0, np.cumsum(weight[order], dtype=np.float64))
        return cls(starts, label[order], upto)

    @classmethod
    def of_rows(cls, weight: Floats) -> Deck:
        """Take a state a row, its labels the columns."""
        states, labels = len(weight), int(weight.shape[1])
        upto = np.append(0.0, np.cumsum(weight))
        return cls(np.arange(states + 1) * labels, np.tile(np.arange(labels), states), upto)

    def scaled(self, factor: Floats) -> Deck:
        """Make labels more or less frequent, by a factor each."""
        weight = np.diff(self.upto) * factor[self.label]
        return self._replace(upto=np.append(0.0, np.cumsum(weight)))

    def deal(self, state: Integers, coins: np.random.Generator, least: Integers | None = None) -> Integers:
        """Deal a label to each: the `j`-th of `n` in a state gets that at `(j + u) / n`.

        All counts are within one of what is expected, and unbiased. With `least`, each gets one of
        the labels of its state but so many, the first.
        """
        order = grouped(state, len(self.starts) - 1, coins)
        held = state[order]
        many = np.bincount(held, minlength=len(self.starts) - 1)
        rank = np.arange(len(held)) - (np.cumsum(many) - many)[held]
        part = (rank + coins.random(len(many))[held]) / many[held]
        first = self.starts[:-1][held]
        if least is not None:
            first = first + least[order]
        low, high = self.upto[first], self.upto[self.starts[1:]][held]
        at = np.searchsorted(self.upto, low + part * (high - low), "right") - 1
        at = np.clip(at, first, self.starts[1:][held] - 1)
        dealt = np.empty(len(state), np.int64)
        dealt[order] = self.label[at]
        return dealt


class Index(NamedTuple):
    """Where keys stand in a sorted list, by a table if they are small numbers."""

    keys: Integers
    table: NDArray[np.int32] | None

    @classmethod
    def of(cls, keys: Integers) -> Index:
        """Take distinct keys in ascending order."""
        most = int(keys[-1]) + 1 if len(keys) else 0
        if not 0 < most <= _TABLE:
            return cls(keys, None)
        table = np.full(most + 1, -1, np.int32)
        table[keys] = np.arange(len(keys))
        return cls(keys, table)

    def find(self, wanted: Integers) -> Integers:
        """The place of each key, or -1 if it is none of them; -1 never is."""
        if self.table is not None:
            # what is too large, and -1, is looked up in the last cell, which is empty
            last = len(self.table) - 1
            place = np.where((wanted < 0) | (wanted > last), last, wanted)
            return self.table[place].astype(np.int64)
        if not len(self.keys):
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, at, -1)


class Pairs(NamedTuple):
    """Pairs of an owner and a label, to look up."""

    labels: int
    pairs: Index

    @classmethod
    def of(cls, owner: Integers, label: Integers, labels: int) -> Pairs:
        """Take pairs; a label is below `labels`."""
        return cls(labels, Index.of(np.unique(owner * labels + label)))

    def hold(self, owner: Integers, label: Integers, rows: Integers | None = None) -> Flags:
        """Whether each pair is one of them; -1 is in none. `rows` picks the owners."""
        owner = owner if rows is None else owner[rows]
        none = (owner < 0) | (label < 0)
        return self.pairs.find(np.where(none, -1, owner * self.labels + label)) >= 0


class Drawn:
    """What is drawn for some sequences: a place, or nothing yet (`places`)."""

    def __init__(self, places: int, many: int, coins: np.random.Generator) -> None:
        self.places = places
        self.found = np.full(many, places)
        self.avoid: list[Callable[..., Flags]] = []
        self.coins = coins

    @property
    def open(self) -> Integers:
        """Those that have nothing yet."""
        return np.flatnonzero(self.found == self.places)

    def draw(self, deck: Deck, state: Integers, ways: Integers | None = None) -> None:
        """Draw, for those that have nothing yet, until it is nothing to be avoided; a few times.

        The labels of a deck are places, or rows of `ways`, which say the place for each sequence;
        or `places`, for what is to be drawn from elsewhere.
        """
        open_ = self.open
        open_ = open_[state[open_] >= 0]
        for _ in range(_AGAIN):
            if not len(open_):
                return
            label = deck.deal(state[open_], self.coins)
            if ways is not None:
                way = np.minimum(label, len(ways) - 1)
                label = np.where(label < self.places, ways[way, open_], label)
            bad = np.zeros(len(label), np.bool_)
            for known in self.avoid:
                bad |= known(label=label, rows=open_)
            self.found[open_[~bad]] = label[~bad]
            # what is drawn as too rare here is not drawn here again
            open_ = open_[bad]

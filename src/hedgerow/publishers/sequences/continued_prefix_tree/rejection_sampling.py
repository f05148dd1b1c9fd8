"""Rejection sampling of places: draw again what must not follow, a few times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.continued_prefix_tree.systematic_sampling import WeightedLabels

__all__ = ["RejectionSampler"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: so often something that must not follow is drawn again
_AGAIN = 6


class RejectionSampler:
    """Draws one place per sequence, from one distribution after another; `places` where there is none yet."""

    def __init__(self, places: int, many: int, coins: np.random.Generator) -> None:
        self.places = places
        self.drawn = np.full(many, places)
        self.rejects: list[Callable[..., Flags]] = []
        self.coins = coins

    @property
    def open(self) -> Integers:
        """The sequences that have no place yet."""
        return np.flatnonzero(self.drawn == self.places)

    def draw(self, labels: WeightedLabels, state: Integers, ways: Integers | None = None) -> None:
        """Draw, for those that have no place yet, until it is none to be rejected; a few times.

        Labels are places, or rows of `ways`, which say the place for each sequence; or `places`, for what is to be
        drawn from elsewhere.
        """
        open_ = self.open
        open_ = open_[state[open_] >= 0]
        for _ in range(_AGAIN):
            if not len(open_):
                return
            label = labels.sample(state[open_], self.coins)
            if ways is not None:
                way = np.minimum(label, len(ways) - 1)
                label = np.where(label < self.places, ways[way, open_], label)
            bad = np.zeros(len(label), np.bool_)
            for rejects in self.rejects:
                bad |= rejects(label=label, rows=open_)
            self.drawn[open_[~bad]] = label[~bad]
            # what is drawn as too rare here is not drawn here again
            open_ = open_[bad]

"""Rejection sampling of places: a place that must not follow is redrawn, a few times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.systematic_sampling import WeightedLabels

__all__ = ["RejectionSampler"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: how often a place is drawn before this distribution is given up
_TRIALS = 6


class RejectionSampler:
    """Draws one place per sequence, from one distribution after the other; `places` means none yet."""

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
        """Draw for the sequences that have no place yet, until the place is not rejected; a few times.

        A label is a place, or a row of `ways`, which has the place for each sequence; the label `places` means that the
        place is drawn from a later distribution.
        """
        open_ = self.open
        open_ = open_[state[open_] >= 0]
        for _ in range(_TRIALS):
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
            # only rejected places are redrawn from this distribution
            open_ = open_[bad]

"""Where sequences occur, found by sequence and by visit; occurrences are taken away in place."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.arrays import ranges
from hedgerow.steps.mining import Level

__all__ = ["Found", "Occurrences"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class Found(NamedTuple):
    """Occurrences, and which of the things asked about each one was found for."""

    occurrence: Integers
    asked: Integers


class Occurrences:
    """The occurrences of all sequences of some levels, those of one sequence side by side.

    `places` has the positions of the visits of each, the first repeated to fill up; `at` its
    sequence; `support` how many of each sequence are left, `sizes` the length of each.
    """

    def __init__(self, levels: list[Level], visits: int) -> None:
        width = max((level.places.shape[1] for level in levels), default=1)
        sizes = [np.full(len(level.codes), level.places.shape[1], np.int16) for level in levels]
        self.sizes = np.concatenate([np.zeros(0, np.int16), *sizes])
        self.places, self.at = _side_by_side(levels, width)
        self.support = np.bincount(self.at, minlength=len(self.sizes))
        self.starts = np.concatenate(([0], np.cumsum(self.support)))
        self.live = np.ones(len(self.at), np.bool_)
        self._visit_starts, self._of_visit = self._by_visit(visits)

    def at_visits(self, visits: Integers) -> Found:
        """The occurrences that are left at each visit."""
        where, asked = ranges(self._visit_starts[visits], self._visit_starts[visits + 1])
        return self._left(self._of_visit[where], asked)

    def of_sequences(self, sequences: Integers) -> Found:
        """The occurrences that are left of each sequence."""
        return self._left(*ranges(self.starts[sequences], self.starts[sequences + 1]))

    def touched(self, visits: Integers) -> Integers:
        """The occurrences that are left at any of the visits, once each."""
        return np.unique(self.at_visits(visits).occurrence)

    def add_pairs(self, totals: Integers, pairs: Integers, sequences: Integers, sign: int) -> None:
        """Add a number to the total of each pair of each sequence."""
        for column in range(self.places.shape[1]):
            some = sequences[self.sizes[sequences] > column]
            np.add.at(totals, pairs[self.places[self.starts[some], column]], sign)

    def take_away(self, occurrences: Integers) -> None:
        """Take occurrences away, each once."""
        self.live[occurrences] = False
        np.subtract.at(self.support, self.at[occurrences], 1)

    def _left(self, occurrence: Integers, asked: Integers) -> Found:
        left = self.live[occurrence]
        return Found(occurrence[left], asked[left])

    def _by_visit(self, visits: int) -> tuple[Integers, Integers]:
        """Sort the occurrences by the visits they have; the two are packed into one number."""
        sizes = self.sizes[self.at]
        width = int(self.places.shape[1])
        real = np.arange(width) < sizes[:, None]
        bits = max(1, len(sizes).bit_length())
        packed = self.places[real].astype(np.int64) << bits
        starts = np.concatenate(([0], np.cumsum(np.bincount(packed >> bits, minlength=visits))))
        packed |= np.repeat(np.arange(len(sizes)), sizes)
        packed.sort()
        packed &= (1 << bits) - 1
        return starts, cast("Integers", packed.astype(np.int32))


def _side_by_side(levels: list[Level], width: int) -> tuple[Integers, Integers]:
    places, at, before = [np.zeros((0, width), np.int32)], [np.zeros(0, np.int32)], 0
    for level in levels:
        order = np.argsort(level.at, kind="stable")
        held = level.places[order].astype(np.int32)
        places.append(np.hstack((held, np.repeat(held[:, :1], width - held.shape[1], axis=1))))
        at.append((level.at[order] + before).astype(np.int32))
        before += len(level.codes)
    # 32 bits are enough, and half the memory
    return cast("Integers", np.concatenate(places)), cast("Integers", np.concatenate(at))

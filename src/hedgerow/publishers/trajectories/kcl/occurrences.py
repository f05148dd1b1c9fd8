"""An index of the occurrences of sequences, by sequence and by visit; occurrences are removed in place."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import concatenate_ranges
from hedgerow.data.subsequences import Level

__all__ = ["Matches", "OccurrenceIndex"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class Matches(NamedTuple):
    """Occurrences, and for each the query that it matches, as a position among the queries."""

    occurrence: Integers
    query: Integers


class OccurrenceIndex:
    """The occurrences of all sequences of some levels, grouped by sequence.

    `places` has the visits of each occurrence, padded with the first one; `at` is its sequence. `support` is the
    number of remaining occurrences of each sequence, `sizes` its length.
    """

    def __init__(self, levels: list[Level], visits: int) -> None:
        width = max((level.places.shape[1] for level in levels), default=1)
        sizes = [np.full(len(level.codes), level.places.shape[1], np.int16) for level in levels]
        self.sizes = np.concatenate([np.zeros(0, np.int16), *sizes])
        self.places, self.at = _concatenate_levels(levels, width)
        self.support = np.bincount(self.at, minlength=len(self.sizes))
        self.starts = np.concatenate(([0], np.cumsum(self.support)))
        self.live = np.ones(len(self.at), np.bool_)
        self._visit_starts, self._of_visit = self._by_visit(visits)

    def at_visits(self, visits: Integers) -> Matches:
        """The remaining occurrences at each visit."""
        where, query = concatenate_ranges(self._visit_starts[visits], self._visit_starts[visits + 1])
        return self._left(self._of_visit[where], query)

    def of_sequences(self, sequences: Integers) -> Matches:
        """The remaining occurrences of each sequence."""
        return self._left(*concatenate_ranges(self.starts[sequences], self.starts[sequences + 1]))

    def touching(self, visits: Integers) -> Integers:
        """The remaining occurrences at any of the visits, once each."""
        return np.unique(self.at_visits(visits).occurrence)

    def add_to_pairs(self, totals: Integers, pairs: Integers, sequences: Integers, amount: int) -> None:
        """Add an amount to the total of each pair of each sequence."""
        for column in range(self.places.shape[1]):
            long_enough = sequences[self.sizes[sequences] > column]
            np.add.at(totals, pairs[self.places[self.starts[long_enough], column]], amount)

    def remove(self, occurrences: Integers) -> None:
        """Remove distinct occurrences."""
        self.live[occurrences] = False
        np.subtract.at(self.support, self.at[occurrences], 1)

    def _left(self, occurrence: Integers, query: Integers) -> Matches:
        left = self.live[occurrence]
        return Matches(occurrence[left], query[left])

    def _by_visit(self, visits: int) -> tuple[Integers, Integers]:
        """Sort the occurrences by their visits; visit and occurrence are packed into one number."""
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


def _concatenate_levels(levels: list[Level], width: int) -> tuple[Integers, Integers]:
    places, at, before = [np.zeros((0, width), np.int32)], [np.zeros(0, np.int32)], 0
    for level in levels:
        order = np.argsort(level.at, kind="stable")
        ordered = level.places[order].astype(np.int32)
        places.append(np.hstack((ordered, np.repeat(ordered[:, :1], width - ordered.shape[1], axis=1))))
        at.append((level.at[order] + before).astype(np.int32))
        before += len(level.codes)
    # 32 bits are enough, and half the memory
    return cast("Integers", np.concatenate(places)), cast("Integers", np.concatenate(at))

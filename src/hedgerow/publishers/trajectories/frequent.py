"""Maximal frequent sequences, and the metric that wants them kept."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from hedgerow.publishers.trajectories.greedy import Pairs, occurring
from hedgerow.publishers.trajectories.mining import Records, mine, number_of

__all__ = ["FrequentSequences", "maximal_frequent"]

Supports: TypeAlias = dict[Pairs, set[int]]


def maximal_frequent(records: Records, support: int) -> Supports:
    """Find the sequences in at least `support` records no longer one of which is, with their rows.

    What mining calls clean with no sensitive value is what is frequent.
    """
    plain = Records(
        records.starts,
        records.pairs,
        records.size,
        np.zeros((0, len(records.starts) - 1), np.bool_),
    )
    longest = int(np.diff(records.starts).max(initial=0))
    levels = mine(plain, support, Fraction(1), longest).clean
    found: Supports = {}
    for number, level in enumerate(levels):
        maximal = np.ones(len(level.codes), np.bool_)
        if number + 1 < len(levels):
            places = levels[number + 1].places
            for without in range(places.shape[1]):
                part = np.delete(places, without, axis=1)
                maximal[number_of(plain, levels[: number + 1], part)] = False
        found |= dict(occurring(plain, level.only(maximal)))
    return found


class FrequentSequences:
    """A maximal frequent sequence counts as lost when fewer than `support` records have it."""

    def __init__(self, supports: Supports, support: int) -> None:
        self._rows = dict(supports)
        self._support = support
        self._having: dict[int, set[Pairs]] = {}
        for key in supports:
            for pair in key:
                self._having.setdefault(pair, set()).add(key)

    def local(self, pair: int, records: set[int]) -> int:
        """How many would be lost without these records."""
        return sum(
            len(self._rows[key] - records) < self._support for key in self._having.get(pair, ())
        )

    def everywhere(self, pair: int) -> int:
        """How many contain the pair."""
        return len(self._having.get(pair, ()))

    def deleted(self, pair: int, records: set[int]) -> Iterable[int]:
        """Take records away; all pairs of what lost one are to be scored anew."""
        touched = [key for key in self._having.get(pair, ()) if self._rows[key] & records]
        for key in touched:
            self._rows[key] = self._rows[key] - records
            if len(self._rows[key]) < self._support:
                del self._rows[key]
                for other in key:
                    self._having[other].discard(key)
        return {pair, *(other for key in touched for other in key)}

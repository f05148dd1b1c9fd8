"""Maximal frequent sequences: those that enough records have, and no longer one is."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np

from hedgerow.steps.mining import Level, Records, mine, number_of, number_of_pairs

__all__ = ["count_lost", "maximal_frequent"]

#: visits of candidates of one length; beyond that longer sequences are left out
_MOST = 20_000_000


def maximal_frequent(records: Records, support: int) -> list[Level]:
    """Find the maximal sequences in at least `support` records, by length."""
    plain = records.without_flags()
    return _maximal(plain, _frequent(plain, support))


def count_lost(before: Records, after: Records, support: int) -> tuple[int, int, int]:
    """Count maximal frequent sequences: before, those of them no longer frequent, and after.

    Pairs must be numbered alike.
    """
    before, after = before.without_flags(), after.without_flags()
    frequent = _frequent(after, support)
    maximal = _maximal(before, _frequent(before, support))
    lost = 0
    for level in maximal:
        _, first = np.unique(level.at, return_index=True)
        sequences = before.pairs[level.places[first]]
        lost += int(np.count_nonzero(number_of_pairs(after.size, frequent, sequences) < 0))
    left = _maximal(after, frequent)
    return sum(len(m.codes) for m in maximal), lost, sum(len(m.codes) for m in left)


def _frequent(plain: Records, support: int) -> list[Level]:
    """What mining calls clean with no sensitive value is what is frequent."""
    longest = int(np.diff(plain.starts).max(initial=0))
    levels, _, complete = mine(plain, support, Fraction(1), longest, most=_MOST)
    if not complete:
        warnings.warn(
            f"frequent sequences of more than {len(levels)} visits are left out: there are too "
            "many; choose a larger k_prime",
            stacklevel=2,
        )
    return levels


def _maximal(plain: Records, levels: list[Level]) -> list[Level]:
    found: list[Level] = []
    for number, level in enumerate(levels):
        maximal = np.ones(len(level.codes), np.bool_)
        if number + 1 < len(levels):
            places = levels[number + 1].places
            for without in range(places.shape[1]):
                part = np.delete(places, without, axis=1)
                maximal[number_of(plain, levels[: number + 1], part)] = False
        found.append(level.only(maximal))
    return found

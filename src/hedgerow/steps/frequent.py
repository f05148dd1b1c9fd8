"""Maximal frequent sequences: those that enough records have, and no longer one is."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np

from hedgerow.steps.mining import Level, Records, mine, number_of

__all__ = ["maximal_frequent"]

#: candidates of one length that are looked at; beyond that longer sequences are left out
_MOST = 50_000_000


def maximal_frequent(records: Records, support: int) -> list[Level]:
    """Find the maximal sequences in at least `support` records, by length.

    What mining calls clean with no sensitive value is what is frequent.
    """
    plain = records.without_flags()
    longest = int(np.diff(records.starts).max(initial=0))
    levels, _, complete = mine(plain, support, Fraction(1), longest, most=_MOST)
    if not complete:
        warnings.warn(
            f"frequent sequences of more than {len(levels)} visits are left out: there are too "
            "many; choose a larger k_prime",
            stacklevel=2,
        )
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

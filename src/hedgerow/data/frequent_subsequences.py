"""Maximal frequent sequences (MFS): in enough records, and not contained in a longer frequent sequence."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hedgerow.data.subsequences import Level, VisitArrays, mine_sequences, sequence_numbers

__all__ = ["FrequentLoss", "compare_maximal_frequent", "mine_maximal_frequent"]

#: the maximum number of visits of candidates of one length; longer sequences are then left out
_MOST = 20_000_000


class FrequentLoss(NamedTuple):
    """Maximal frequent sequences: how many `before`, how many of those `lost`, how many `after`."""

    before: int
    lost: int
    after: int


def mine_maximal_frequent(visits: VisitArrays, support: int) -> list[Level]:
    """Find the maximal sequences in at least `support` records, by length."""
    plain = visits.without_flags()
    return _maximal(plain, _frequent(plain, support))


def compare_maximal_frequent(before: VisitArrays, after: VisitArrays, support: int) -> FrequentLoss:
    """Compare the maximal frequent sequences of data and of its release; both must number pairs alike."""
    before, after = before.without_flags(), after.without_flags()
    frequent = _frequent(after, support)
    maximal = _maximal(before, _frequent(before, support))
    lost = 0
    for level in maximal:
        _, first = np.unique(level.at, return_index=True)
        sequences = before.pairs[level.places[first]]
        lost += int(np.count_nonzero(sequence_numbers(after.size, frequent, sequences) < 0))
    return FrequentLoss(_count(maximal), lost, _count(_maximal(after, frequent)))


def _count(levels: list[Level]) -> int:
    return sum(len(level.codes) for level in levels)


def _frequent(plain: VisitArrays, support: int) -> list[Level]:
    """Mine frequent sequences: without sensitive values, the clean sequences are the frequent ones."""
    longest = int(np.diff(plain.starts).max(initial=0))
    levels, _, complete = mine_sequences(plain, support, Fraction(1), longest, most=_MOST)
    if not complete:
        warnings.warn(
            f"frequent sequences of more than {len(levels)} visits are left out: there are too "
            "many; choose a larger k_prime",
            stacklevel=2,
        )
    return levels


def _maximal(plain: VisitArrays, levels: list[Level]) -> list[Level]:
    """Leave out sequences that a frequent sequence of the next length contains."""
    maximal_levels: list[Level] = []
    for number, level in enumerate(levels):
        maximal = np.ones(len(level.codes), np.bool_)
        if number + 1 < len(levels):
            places = levels[number + 1].places
            for without in range(places.shape[1]):
                part = plain.pairs[np.delete(places, without, axis=1)]
                maximal[sequence_numbers(plain.size, levels[: number + 1], part)] = False
        maximal_levels.append(level.only(maximal))
    return maximal_levels

"""The sequences of a release: those of the tree, and first visits of records that start with no counted prefix.

Only noisy answers and public facts are used here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hedgerow.kinds.sequences.methods.prefix_tree.model import LabelTable, NoisyTree
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.rounding import round_together


def count_endings(tree: NoisyTree, counts: Floats) -> Integers:
    """How many sequences end at each node: its count minus the counts of its children, rounded.

    Cumulative rounding in depth-first order keeps the count of every prefix to within one; if each number were rounded
    by itself, errors would add up.
    """
    left = np.maximum(tree.left_over(counts), 0.0)
    order = tree.depth_first()
    endings = np.empty(len(tree), np.int64)
    endings[order] = round_together(left[order])
    return endings


def distinct_sequences(tree: NoisyTree, copies: Integers, longest: int) -> tuple[LabelTable, Integers]:
    """The prefixes at which sequences end, and how many there are of each."""
    some = np.flatnonzero(copies > 0)
    return tree.prefixes(longest)[some], copies[some]


class FirstVisits(NamedTuple):
    """How many records start at each time, and at each place, estimated from noisy answers; both have one total."""

    times: Floats
    places: Floats


def add_first_visits(
    first: FirstVisits, table: LabelTable, copies: Integers, coins: np.random.Generator
) -> tuple[LabelTable, Integers]:
    """Add the records that start with no counted prefix, one visit each, to sequences and their numbers.

    Their times and places are what the tree leaves of the noisy ones, drawn independently of each other.
    """
    places = len(first.places)
    missing = max(0, round(float(first.times.sum())) - int(copies.sum()))
    time, place = (
        np.repeat(np.arange(len(wanted)), _rounded(wanted - np.bincount(counted, copies, len(wanted)), missing))
        for wanted, counted in ((first.times, table[:, 0] // places), (first.places, table[:, 0] % places))
    )
    labels, number = np.unique(coins.permutation(time) * places + place, return_counts=True)
    added = np.full((len(labels), int(table.shape[1])), -1, table.dtype)
    added[:, 0] = labels
    return np.concatenate((table, added)), np.concatenate((copies, number))


def _rounded(left: Floats, number: int) -> Integers:
    """Whole numbers with this sum, in proportion to what is left: at least as much, since the tree has the rest."""
    weight = np.maximum(0.0, left)
    if number == 0:
        return np.zeros(len(weight), np.int64)
    rounded = round_together(weight * (number / weight.sum()))
    # the sum of floats may be off by a little, and its rounding then by one
    rounded[int(np.argmax(weight))] += number - int(rounded.sum())
    return rounded

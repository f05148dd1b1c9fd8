"""First visits of records that start with no counted prefix: their times and places are asked for separately.

Where visits have times, a first visit is a place at a time, and few of them are frequent enough to be counted. Without
these questions, the times of the few that were would pass for those of all records.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers import Frontier, NextSymbol
from hedgerow.privacy import Laplace, Ledger
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import LabelTable
from hedgerow.publishers.sequences.prefix_tree.place_groups import PlaceGroups
from hedgerow.steps.rounding import round_together
from hedgerow.steps.simplex import project_to_simplex

__all__ = ["FirstVisits", "add_first_visits", "ask_first_visits", "noise_of_number", "note_added_visits"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the part of the budget for each of the two questions
_PART = Fraction(3, 100)


class FirstVisits(NamedTuple):
    """How many records start at each time, and at each place, estimated from noisy answers; both have one total."""

    times: Floats
    places: Floats


def noise_of_number(times: int, budget: Fraction) -> float:
    """The standard deviation of the number of records, a sum over all times."""
    return sqrt(2 * times) / float(budget * _PART)


def ask_first_visits(positions: Frontier, groups: PlaceGroups, ledger: Ledger) -> FirstVisits:
    """Ask how many records start at each time, and how many at each place."""
    spend = ledger.budget * _PART
    counted = positions.first().count(NextSymbol(groups.labels.size))
    time, place = np.divmod(counted.codes, groups.places)
    # a record has one first visit, or none: L1 = 1
    exact = np.zeros(groups.times, np.int64)
    np.add.at(exact, time, counted.counts)
    times = ledger.ask(exact, Laplace(l1=1), spend=spend, label="first times")
    # the same
    exact = np.zeros(groups.places, np.int64)
    np.add.at(exact, place, counted.counts)
    places = ledger.ask(exact, Laplace(l1=1), spend=spend, label="first places")
    total = np.array([float(max(0, int(times.sum())))])
    fitted = (project_to_simplex(noisy[None, :].astype(np.float64), total)[0] for noisy in (times, places))
    return FirstVisits(*fitted)


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


def note_added_visits(number: int, ledger: Ledger) -> None:
    """Note in the statement how many records have their first visit alone."""
    ledger.note(
        "records that start with none of these first visits: they have one visit, whose place and time were drawn "
        "independently of each other",
        number,
    )


def _rounded(left: Floats, number: int) -> Integers:
    """Whole numbers with this sum, in proportion to what is left: at least as much, since the tree has the rest."""
    weight = np.maximum(0.0, left)
    if number == 0:
        return np.zeros(len(weight), np.int64)
    rounded = round_together(weight * (number / weight.sum()))
    # the sum of floats may be off by a little, and its rounding then by one
    rounded[int(np.argmax(weight))] += number - int(rounded.sum())
    return rounded

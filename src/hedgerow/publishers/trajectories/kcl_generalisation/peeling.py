"""Suppression that keeps pairs together: of the items of a record, those in the most violating sequences go first."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.arrays import group_equal
from hedgerow.data.sorting import order_of_lists
from hedgerow.publishers.trajectories.kcl_generalisation.fine_visits import FineVisits, Items, Labelling
from hedgerow.publishers.trajectories.kcl_generalisation.give_back import give_back
from hedgerow.publishers.trajectories.kcl_generalisation.support import Support

__all__ = ["peel"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: how much a pair that does not violate counts against deleting one of its items
_PULL = 0.5
_PAIR = 2


def peel(visits: FineVisits, support: Support, node: tuple[int, int], coins: np.random.Generator) -> Labelling:
    """Recode all visits to one pair of levels, delete until no sequence violates, then give back what is possible.

    Labels are first given back to records that have one left, which makes pairs, then to all.
    """
    labelling = Labelling(len(visits))
    items = visits.items(*node, np.arange(len(visits)))
    labelling.label[items.first] = items.label
    ties = _draw_ties(visits, items, coins)
    for length in range(1, support.longest + 1):
        while _delete_shortest(support, labelling, length, ties):
            progress.tell("suppressing")
    filled = np.zeros(len(visits.owner), np.bool_)
    filled[visits.record[labelling.label >= 0]] = True
    give_back(visits, support, labelling, items, only=filled)
    give_back(visits, support, labelling, items)
    labelling.represent(items)
    return labelling


def _delete_shortest(support: Support, labelling: Labelling, longest: int, ties: Floats) -> bool:
    """Resolve the shortest violating sequences, in all records at once; return whether there were any."""
    for length in range(1, longest + 1):
        (sequence, record, sequences), slots = support.sequences_of(labelling, length)
        bad = support.violating(sequence, record, sequences)[sequence]
        if bad.any():
            if length == 1:
                labelling.label[slots[bad, 0]] = -1
            else:
                _delete_best(labelling, slots, bad, record, ties)
            return True
    return False


def _delete_best(labelling: Labelling, slots: Integers, bad: Flags, record: Integers, ties: Floats) -> None:
    """In each record, delete the item with the best score, until no violating sequence is left whole."""
    pull = np.zeros(len(ties))
    if slots.shape[1] == _PAIR:
        for column in slots[~bad].T:
            pull += _PULL * np.bincount(column, minlength=len(ties))
    slots, record = slots[bad], record[bad]
    while len(slots):
        touched, at = group_equal(slots.ravel())
        score = np.bincount(at) - pull[touched]
        of = np.empty(len(touched), np.int64)
        of[at] = np.repeat(record, slots.shape[1])
        order = np.lexsort((ties[touched], score, of))
        last = np.append(of[order][1:] != of[order][:-1], True)
        labelling.label[touched[order[last]]] = -1
        whole = (labelling.label[slots] >= 0).all(axis=1)
        slots, record = slots[whole], record[whole]


def _draw_ties(visits: FineVisits, items: Items, coins: np.random.Generator) -> Floats:
    """A random number for each recoded record and item: records with equal items choose alike, whoever owns them."""
    ties = np.zeros(len(visits))
    sizes = np.bincount(visits.record[items.first], minlength=len(visits.owner))
    starts = np.cumsum(sizes) - sizes
    occurring: list[int] = np.unique(sizes[sizes > 0]).tolist()
    for size in occurring:
        at = starts[np.flatnonzero(sizes == size)][:, None] + np.arange(size)
        order = order_of_lists(items.label[at])
        ordered = items.label[at[order]]
        new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
        drawn = coins.random((int(new.sum()), size))
        ties[items.first[at[order]]] = drawn[np.cumsum(new) - 1]
    return ties

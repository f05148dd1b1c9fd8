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
from hedgerow.publishers.trajectories.kcl_generalisation.support import Occurrences, Support

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
    items = visits.recode(*node)
    labelling.label[items.first] = items.label
    ties = _draw_ties(visits, items, coins)
    listed: list[_Listed] = []
    for length in range(1, support.longest + 1):
        listed.append(_Listed(*support.sequences_of(labelling, length)))
        while _delete_shortest(support, labelling, listed, ties):
            progress.tell("suppressing")
    del listed
    filled = np.zeros(len(visits.owner), np.bool_)
    filled[visits.record[labelling.label >= 0]] = True
    give_back(visits, support, labelling, items, only=filled)
    give_back(visits, support, labelling, items)
    labelling.represent(items)
    return labelling


class _Listed:
    """The occurrences of all sequences of one length, and their slots; what was deleted is taken off.

    Deleting changes no label, so sequences are numbered once.
    """

    def __init__(self, occurrences: Occurrences, slots: Integers) -> None:
        self.sequence, self.record, self.sequences = occurrences
        self.slots = slots

    def take_off(self, labelling: Labelling) -> None:
        """Keep the occurrences all of whose items are there."""
        left = np.logical_and.reduce([labelling.label[column] >= 0 for column in self.slots.T])
        if not left.all():
            self.sequence, self.record, self.slots = self.sequence[left], self.record[left], self.slots[left]


def _delete_shortest(support: Support, labelling: Labelling, listed: list[_Listed], ties: Floats) -> bool:
    """Resolve the shortest violating sequences, in all records at once; return whether there were any."""
    for sequences in listed:
        sequences.take_off(labelling)
        violating = support.violating(sequences.sequence, sequences.record, sequences.sequences)
        bad = violating[sequences.sequence]
        if bad.any():
            if sequences.slots.shape[1] == 1:
                labelling.label[sequences.slots[bad, 0]] = -1
            else:
                _delete_best(labelling, sequences.slots, bad, sequences.record, ties)
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

"""Give labels to records, whole groups only: to all that a sequence of labels is safe for, or to none of them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.arrays import concatenate_ranges, group_equal
from hedgerow.publishers.trajectories.kcl_generalisation.fine_visits import FineVisits, Items, Labelling
from hedgerow.publishers.trajectories.kcl_generalisation.support import Support, keep_supported

__all__ = ["climb", "give_back", "grow"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


def grow(visits: FineVisits, support: Support, node: tuple[int, int]) -> Labelling:
    """Recode all visits to one pair of levels, and start from nothing: give each item back to those it is safe for."""
    labelling = Labelling(len(visits))
    items = visits.recode(*node)
    give_back(visits, support, labelling, items)
    labelling.represent(items)
    return labelling


def give_back(
    visits: FineVisits, support: Support, labelling: Labelling, items: Items, *, only: Flags | None = None
) -> None:
    """Offer each label of the items to the records that lost it, the most frequent first; ties by bin, then region.

    With `only`, it is offered to these records alone.
    """
    distinct, at = group_equal(items.label)
    persons = support.count(at, visits.record[items.first], len(distinct))
    by_label = np.argsort(at, kind="stable")
    ends = np.cumsum(np.bincount(at, minlength=len(distinct)))
    _, region, _, number = visits.levels.split(distinct)
    order = np.lexsort((region, number, -persons))
    order = order[persons[order] >= support.k]
    for done, which in enumerate(order.tolist()):
        progress.tell("giving labels", done, len(order))
        slots = items.first[by_label[(ends[which - 1] if which else 0) : ends[which]]]
        lost = labelling.label[slots] < 0
        if only is not None:
            taken = ~lost | only[visits.record[slots]]
            slots, lost = slots[taken], lost[taken]
        given = keep_supported(support, labelling, slots, lost)
        labelling.label[slots[given]] = distinct[which]


def climb(
    visits: FineVisits, support: Support, labelling: Labelling, node: tuple[int, int], coarsest: tuple[int, int]
) -> None:
    """Give coarser labels to what is lost: larger regions first, then regions in the longest bin."""
    (place, time), (last_place, last_time) = node, coarsest
    levels = [(level, time) for level in range(place + 1, last_place + 1)]
    if time < last_time:
        levels += [(level, last_time) for level in range(place, last_place + 1)]
    for level in levels:
        lost = labelling.lost()
        free = lost[~_overlaps(visits, labelling, lost, level)]
        items = visits.items(*level, free)
        give_back(visits, support, labelling, items)
        labelling.represent(items)


def _overlaps(visits: FineVisits, labelling: Labelling, lost: Integers, node: tuple[int, int]) -> Flags:
    """Whether the label of a lost visit on these levels overlaps a label that its record has.

    Levels nest, so two labels overlap if they are alike on the coarser of their levels of places, and on the coarser
    of their levels of times.
    """
    record = visits.record[lost]
    where, of = concatenate_ranges(visits.starts[record], visits.starts[record + 1])
    present = labelling.label[where] >= 0
    where, of = where[present], of[present]
    place_level, _, time_level, _ = visits.levels.split(labelling.label[where])
    place_level, time_level = np.maximum(place_level, node[0]), np.maximum(time_level, node[1])
    alike = np.ones(len(where), np.bool_)
    for level, columns in ((place_level, visits.regions), (time_level, visits.bins)):
        for number in np.unique(level).tolist():
            here = level == number
            alike[here] &= columns[number][where[here]] == columns[number][lost[of[here]]]
    overlapping = np.zeros(len(lost), np.bool_)
    overlapping[of[alike]] = True
    return overlapping

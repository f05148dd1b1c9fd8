"""The private visits as arrays, their regions and bins on every level, and the labels that stand for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import group_equal, number_within_groups
from hedgerow.data import Trajectories
from hedgerow.data.place_time_levels import PlaceTimeLevels
from hedgerow.data.sorting import distinct_rows
from hedgerow.privacy.kcl_criterion import KCL

__all__ = ["FineVisits", "Items", "Labelling"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class Items(NamedTuple):
    """Visits that share a label of one pair of levels, per record; the first of them is where the label is kept.

    `label` and `first` are those of each item, by record and label; `item` is that of each visit in `visit`.
    """

    label: Integers
    first: Integers
    visit: Integers
    item: Integers


@dataclass(frozen=True, eq=False)
class FineVisits:
    """The visits of all records, by record and time; each place once per record and time.

    `regions[i]` and `bins[j]` are the region and the bin of each visit on a level of places and of times. `owner` is
    the person of each record, `marked` which records have each sensitive value.
    """

    levels: PlaceTimeLevels
    starts: Integers
    record: Integers
    place: Integers
    regions: list[Integers]
    bins: list[Integers]
    owner: Integers
    marked: Flags
    one_record_each: bool
    #: per level of times, how many labels of a record each bin may hold; nothing if that is not limited
    most_labels: list[Integers]

    @classmethod
    def of(cls, data: Trajectories, levels: PlaceTimeLevels, promise: KCL, *, one_place: bool = False) -> FineVisits:
        """Take the visits of data; those at one time are ordered by their place, not by their line."""
        starts, pairs, traits = data.arrays()
        record = np.repeat(np.arange(len(data)), np.diff(starts))
        if data.several:
            record, pairs = (column.astype(np.int64) for column in distinct_rows([record, pairs]))
            starts = np.searchsorted(record, np.arange(len(data) + 1))
        time, place = np.divmod(pairs, data.domain.size("place"))
        bins = levels.bins_of([int(value) for value in data.domain.values("time")])
        flags = [data.records_with(traits, column, value) for column, value in promise.sensitive if promise.c < 1]
        persons = np.arange(len(data)) if data.persons is None else np.unique(data.persons, return_inverse=True)[1]
        return cls(
            levels,
            starts,
            record,
            place,
            [level.of_place[place] for level in levels.places],
            [of_time[time] for of_time in bins],
            persons.astype(np.int64),
            np.stack(flags) if flags else np.zeros((0, len(data)), np.bool_),
            one_record_each=int(persons.max(initial=-1)) + 1 == len(data),
            most_labels=[_most_labels(each, promise.l) for each in bins] if one_place else [],
        )

    def __len__(self) -> int:
        """Count the visits."""
        return len(self.record)

    def label(self, place_level: int, time_level: int, visits: Integers) -> Integers:
        """The labels of visits on one pair of levels."""
        regions, bins = self.regions[place_level][visits], self.bins[time_level][visits]
        return self.levels.code(place_level, regions, time_level, bins)

    def items(self, place_level: int, time_level: int, visits: Integers) -> Items:
        """Group visits, in ascending order, by record and label: what they are recoded to."""
        labels = self.label(place_level, time_level, visits)
        distinct, dense = group_equal(labels)
        _, at = group_equal(self.record[visits] * max(1, len(distinct)) + dense)
        # the first visit of each group: the last one that is written is the first in order
        first = np.empty(int(at.max(initial=-1)) + 1, np.int64)
        first[at[::-1]] = visits[::-1]
        label = np.empty(len(first), np.int64)
        label[at] = labels
        return Items(label, first, visits, at)

    def recode(self, place_level: int, time_level: int) -> Items:
        """Recode all visits to one pair of levels.

        Where attackers know that nobody is at two places at one time, only as many labels stay in a bin as fit beside
        the visits they know: those of most records, ties by number. No visit of the others is represented.
        """
        items = self.items(place_level, time_level, np.arange(len(self)))
        if not self.most_labels:
            return items
        _, kind = group_equal(items.label)
        _, _, _, number = self.levels.split(items.label)
        record = self.record[items.first]
        order = np.lexsort((items.label, -np.bincount(kind)[kind], number, record))
        _, crowd = group_equal((record * (int(number.max(initial=0)) + 1) + number)[order])
        fits = np.empty(len(order), np.bool_)
        fits[order] = number_within_groups(crowd) < self.most_labels[time_level][number[order]]
        return self.items(place_level, time_level, np.flatnonzero(fits[items.item]))


def _most_labels(bins: Integers, longest: int) -> Integers:
    """How many labels each bin may hold if nobody is at two places at one time, and up to `longest` times are known.

    The known ones may all be under one label; every other label needs a time of its own among the rest.
    """
    times = np.bincount(bins)
    return times - np.minimum(times, longest) + 1


class Labelling:
    """The labels so far, by visit.

    `label[v]` is the label whose first visit is `v`, or -1. `slot[v]` is the first visit of the label that stands for
    visit `v`, or -1.
    """

    def __init__(self, visits: int) -> None:
        self.label = np.full(visits, -1, np.int64)
        self.slot = np.full(visits, -1, np.int64)

    def lost(self) -> Integers:
        """The visits that no label stands for."""
        return np.flatnonzero(self.slot < 0)

    def represent(self, items: Items) -> None:
        """Let the items whose first visit has a label stand for all of their visits."""
        first = items.first[items.item]
        given = self.label[first] >= 0
        self.slot[items.visit[given]] = first[given]

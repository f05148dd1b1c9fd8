"""The private visits as arrays, what they are recoded to, and who supports a set of labels.

Support is counted in persons, and by sensitive value, over the records that hold the set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels
from hedgerow.numerics.arrays import (
    Flags,
    Integers,
    concatenate_ranges,
    floor_multiples,
    group_equal,
    number_within_groups,
    sort_distinct,
)
from hedgerow.numerics.sorting import distinct_rows


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


class Occurrences(NamedTuple):
    """Sequences of labels: the number of the sequence and of the holder in each occurrence."""

    sequence: Integers
    holder: Integers
    sequences: int


class Support:
    """Counts persons per sequence of labels, and says which sequences break the promise.

    A set of labels is counted as the sequence of its labels by number, so that equal sets are equal sequences.

    Without `sensitive`, only the number of persons counts.
    """

    def __init__(self, visits: FineVisits, promise: KCL, *, sensitive: bool = True) -> None:
        self.visits, self.k, self.longest = visits, promise.k, promise.l
        self.marked = visits.marked if sensitive else visits.marked[:0]
        self._owners = int(visits.owner.max(initial=-1)) + 1
        self._most = floor_multiples(promise.c, len(visits.owner))

    def count(self, sequence: Integers, record: Integers, sequences: int) -> Integers:
        """Count the persons of each sequence; each pair of sequence and record occurs once."""
        if self.visits.one_record_each:
            return np.bincount(sequence, minlength=sequences)
        pairs = sort_distinct(sequence * self._owners + self.visits.owner[record])
        return np.bincount(pairs // self._owners, minlength=sequences)

    def violating(self, sequence: Integers, record: Integers, sequences: int) -> Flags:
        """Which sequences occur with fewer than K persons, or with a sensitive value beyond C."""
        persons = self.count(sequence, record, sequences)
        bad = (persons > 0) & (persons < self.k)
        for marked in self.marked:
            chosen = marked[record]
            bad |= self.count(sequence[chosen], record[chosen], sequences) > self._most[persons]
        return bad

    def sequences_with(self, labels: Integers, slots: Integers, others: int) -> Occurrences:
        """The sequences of a label at these slots, one per record, with so many other labels of the record.

        `labels` has the label of each slot, or -1. A sequence is known by the other labels.
        """
        visits = self.visits
        if others == 0:
            return Occurrences(np.zeros(len(slots), np.int64), np.arange(len(slots)), 1)
        record = visits.record[slots]
        where, holder = concatenate_ranges(visits.starts[record], visits.starts[record + 1])
        present = (labels[where] >= 0) & (where != slots[holder])
        holder = holder[present]
        distinct, label = group_equal(labels[where[present]])
        label = np.sort(holder * len(distinct) + label) - holder * len(distinct)
        of, at = choose_from_lists(np.bincount(holder, minlength=len(slots)), others)
        sequence, sequences = number_tuples([label[column] for column in at.T])
        return Occurrences(sequence, of, sequences)

    def sequences_of(self, labels: Integers, length: int) -> tuple[Occurrences, Integers]:
        """All sequences of so many labels that occur, with the slots of each occurrence; the holder is the record."""
        slots = np.flatnonzero(labels >= 0)
        record = self.visits.record[slots]
        slots = slots[np.lexsort((labels[slots], record))]
        _, label = group_equal(labels[slots])
        of, at = choose_from_lists(np.bincount(record, minlength=len(self.visits.owner)), length)
        sequence, sequences = number_tuples([label[column] for column in at.T])
        return Occurrences(sequence, of, sequences), slots[at]


# ---- combinations of the elements of many short lists, and equal tuples among them

_LARGEST = 2**62
#: combinations that fit into memory
_MOST = 200_000_000


def choose_from_lists(sizes: Integers, size: int) -> tuple[Integers, Integers]:
    """Choose `size` elements of each list, in their order, in all ways; lists of these sizes follow one another.

    Returns
    -------
    The list of each choice, and the positions of its elements in one array of all lists, one row per choice.

    Examples
    --------
    >>> of, positions = choose_from_lists(np.array([3, 1, 2]), 2)
    >>> of.tolist(), positions.tolist()
    ([2, 0, 0, 0], [[4, 5], [0, 1], [0, 2], [1, 2]])
    """
    starts = np.cumsum(sizes) - sizes
    of, positions = [np.zeros(0, np.int64)], [np.zeros((0, size), np.int64)]
    lengths: list[int] = np.unique(sizes[sizes >= size]).tolist()
    counts: list[int] = np.bincount(sizes).tolist()
    if sum(counts[length] * math.comb(length, size) for length in lengths) > _MOST:
        msg = (
            f"records are too long: they have more than {_MOST:,} sequences of labels; take a smaller l, or split "
            "them into shorter ones, such as days"
        )
        raise ParameterError(msg)
    for length in lengths:
        members = np.flatnonzero(sizes == length)
        chosen = np.array(list(combinations(range(length), size)), np.int64)
        of.append(np.repeat(members, len(chosen)))
        positions.append((starts[members][:, None, None] + chosen).reshape(-1, size))
    return np.concatenate(of), np.concatenate(positions)


def number_tuples(columns: list[Integers]) -> tuple[Integers, int]:
    """Number the distinct tuples of some columns; return the number of each, and how many there are.

    Examples
    --------
    >>> number_tuples([np.array([5, 5, 0]), np.array([1, 1, 2])])
    (array([1, 1, 0]), 2)
    """
    code, codes = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        symbols = int(column.max(initial=0)) + 1
        if codes * symbols >= _LARGEST:  # number them afresh: a code must not wrap around
            distinct, code = group_equal(code)
            codes = len(distinct)
        code, codes = code * symbols + column, codes * symbols
    distinct, code = group_equal(code)
    return code, len(distinct)

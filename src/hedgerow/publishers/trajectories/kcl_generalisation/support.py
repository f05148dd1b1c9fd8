"""Who supports a set of labels: counted in persons, and by sensitive value, over the records that hold it.

A set is counted as the sequence of its labels by number, so that equal sets are equal sequences.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import concatenate_ranges, floor_multiples, group_equal, sort_distinct
from hedgerow.privacy.kcl_criterion import KCL
from hedgerow.publishers.trajectories.kcl_generalisation.combinations import choose_from_lists, number_tuples
from hedgerow.publishers.trajectories.kcl_generalisation.fine_visits import FineVisits, Labelling

__all__ = ["Occurrences", "Support", "keep_supported"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class Occurrences(NamedTuple):
    """Sequences of labels: the number of the sequence and of the holder in each occurrence."""

    sequence: Integers
    holder: Integers
    sequences: int


class Support:
    """Counts persons per sequence, and says which sequences break the promise.

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

    def sequences_with(self, labelling: Labelling, slots: Integers, others: int) -> Occurrences:
        """The sequences of a label at these slots, one per record, with so many other labels of the record.

        A sequence is known by the other labels.
        """
        visits = self.visits
        if others == 0:
            return Occurrences(np.zeros(len(slots), np.int64), np.arange(len(slots)), 1)
        record = visits.record[slots]
        where, holder = concatenate_ranges(visits.starts[record], visits.starts[record + 1])
        present = (labelling.label[where] >= 0) & (where != slots[holder])
        holder = holder[present]
        distinct, label = group_equal(labelling.label[where[present]])
        label = np.sort(holder * len(distinct) + label) - holder * len(distinct)
        of, at = choose_from_lists(np.bincount(holder, minlength=len(slots)), others)
        sequence, sequences = number_tuples([label[column] for column in at.T])
        return Occurrences(sequence, of, sequences)

    def sequences_of(self, labelling: Labelling, length: int) -> tuple[Occurrences, Integers]:
        """All sequences of so many labels that occur, with the slots of each occurrence; the holder is the record."""
        slots = np.flatnonzero(labelling.label >= 0)
        record = self.visits.record[slots]
        slots = slots[np.lexsort((labelling.label[slots], record))]
        _, label = group_equal(labelling.label[slots])
        of, at = choose_from_lists(np.bincount(record, minlength=len(self.visits.owner)), length)
        sequence, sequences = number_tuples([label[column] for column in at.T])
        return Occurrences(sequence, of, sequences), slots[at]


def keep_supported(support: Support, labelling: Labelling, slots: Integers, candidate: Flags) -> Flags:
    """Assume that a label stands at all slots, one per record, and drop candidates until no sequence violates.

    A sequence that violates drops all candidates that hold it: they get the label as a group, or not at all.
    """
    kept = np.ones(len(slots), np.bool_)
    record = support.visits.record[slots]
    counted: list[Occurrences] = []
    for others in range(support.longest):
        left = np.flatnonzero(kept)
        if not np.any(candidate[left]):
            break
        sequence, holder, sequences = support.sequences_with(labelling, slots[left], others)
        counted.append(Occurrences(sequence, left[holder], sequences))
        while _drop(support, counted, record, kept, candidate):
            pass
    return kept & candidate


def _drop(support: Support, counted: list[Occurrences], record: Integers, kept: Flags, candidate: Flags) -> bool:
    """Drop the candidates that hold a violating sequence; return whether there were any."""
    dropped = False
    for sequence, holder, sequences in counted:
        present = kept[holder]
        sequence_, holder_ = sequence[present], holder[present]
        bad = support.violating(sequence_, record[holder_], sequences)
        if bad.any():
            losers = holder_[bad[sequence_]]
            losers = losers[candidate[losers]]
            kept[losers] = False
            dropped = dropped or len(losers) > 0
    return dropped

"""Which record of the original a published one came from: only the owner can tell, and not always."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import concatenate_ranges
from hedgerow.data.hierarchy import Hierarchy
from hedgerow.data.records import Records
from hedgerow.privacy.tree_orbits import find_look_alikes

__all__ = ["Origins", "trace_records"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class Origins(NamedTuple):
    """Published records that were traced, by whole classes, and their records in the original.

    `traced` marks them, and `origin` has one number per traced record, in their order.
    """

    traced: Flags
    origin: Integers


def trace_records(original: Records, released: Records, rng: np.random.Generator, *, most: int) -> Origins:
    """Trace the records of random classes back to the original, of at most `most` records.

    A record of the original fits a published one if it has, for every label and sensitive value of the latter, at least
    as many vertices that they can stand for. The true origin always fits; if it is the only one, the record is traced.
    A class is kept if all of its records are.
    """
    traced = np.zeros(len(released), np.bool_)
    origin = np.full(len(released), -1, np.int64)
    if not len(released):
        return Origins(traced, origin)
    alike = find_look_alikes(released)
    by_class: Integers = np.argsort(alike.record, kind="stable")
    ends = np.cumsum(alike.sizes)
    fitting = _Fitting(original, released)
    order = rng.permutation(len(ends))
    for number in order[np.cumsum(alike.sizes[order]) <= most].tolist():
        members = by_class[ends[number] - alike.sizes[number] : ends[number]]
        for record in members.tolist():
            fits = fitting.find(record)
            if len(fits) != 1:
                break
            origin[record] = fits[0]
        else:
            traced[members] = True
    return Origins(traced, origin[traced])


class _Fitting:
    """Finds the records of the original that fit a published one."""

    def __init__(self, original: Records, released: Records) -> None:
        self.original, self.released = original, released
        numbers = range(len(original.tables))
        self.hierarchies = [original.hierarchies(number) for number in numbers]
        # tables are sorted by parents, so these are sorted
        self.before = [original.records_of(number) for number in numbers]
        self.after = [released.records_of(number) for number in numbers]

    def find(self, record: int) -> Integers:
        """Return the records that fit; types are tried from the root on, until one record is left."""
        fits = np.arange(len(self.original))
        for number in range(len(self.original.tables)):
            fits = self._narrow(fits, record, number)
            if len(fits) <= 1:
                break
        return fits

    def _narrow(self, fits: Integers, record: int, number: int) -> Integers:
        """Keep the records that have enough vertices of a type."""
        start, end = np.searchsorted(self.after[number], [record, record + 1])
        table, published = self.original.tables[number], self.released.tables[number]
        keys = np.column_stack((published.labels[start:end], published.sensitive[start:end]))
        wanted, times = np.unique(keys, axis=0, return_counts=True)
        owner = self.before[number]
        rows, place = concatenate_ranges(np.searchsorted(owner, fits), np.searchsorted(owner, fits, side="right"))
        enough = np.ones(len(fits), np.bool_)
        for (*labels, sensitive), least in zip(wanted.tolist(), times.tolist(), strict=True):
            match = table.sensitive[rows] == sensitive
            for column, label in enumerate(labels):
                match &= _covered(self.hierarchies[number][column], label)[table.labels[rows, column]]
            enough &= np.bincount(place[match], minlength=len(fits)) >= least
        return fits[enough]


def _covered(tree: Hierarchy, label: int) -> Flags:
    """Mark the labels at or below a label."""
    depth = int((tree.ancestors[label] >= 0).sum()) - 1
    return tree.ancestors[:, depth] == label

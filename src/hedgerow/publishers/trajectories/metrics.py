"""What deleting visits costs: the metrics that suppression can be told to spare.

A metric of your own is a class with these four methods, entered in `METRICS` under a name; the
method then takes that name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Value
from hedgerow.steps.arrays import grouped
from hedgerow.steps.frequent import maximal_frequent
from hedgerow.steps.mining import Records
from hedgerow.steps.occurrences import Occurrences

__all__ = ["METRICS", "FrequentSequences", "Instances", "Metric", "Visit"]

Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.float64] | Integers
Visit: TypeAlias = tuple[Value, Value]
Flags: TypeAlias = NDArray[np.bool_]


class Metric(Protocol):
    """What operations cost, kept up with what was deleted. Visits are numbered as in `Records`."""

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """The loss of each of so many operations; visit `i` is deleted by operation `of[i]`."""
        ...

    def everywhere(self) -> Numbers:
        """The loss of deleting each pair from all records."""
        ...

    def deleted(self, visits: Integers) -> Integers:
        """Take note of a deletion; return the pairs whose losses it changed."""
        ...

    def kept(self, alive: Flags) -> float:
        """How much is kept if just these visits are; of two results the larger is taken."""
        ...


class Instances:
    """Every visit counts the same: the loss is the number of deleted visits."""

    def __init__(self, records: Records) -> None:
        self.pairs = records.pairs
        self.held = np.bincount(records.pairs, minlength=records.size)

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """The number of visits."""
        del visits
        return np.bincount(of, minlength=operations)

    def everywhere(self) -> Numbers:
        """The number of records that have each pair."""
        return self.held

    def deleted(self, visits: Integers) -> Integers:
        """Only the pairs themselves have become rarer."""
        pairs = self.pairs[visits]
        np.subtract.at(self.held, pairs, 1)
        return np.unique(pairs)

    def kept(self, alive: Flags) -> float:
        """The number of visits."""
        return float(np.count_nonzero(alive))


class FrequentSequences:
    """A maximal frequent sequence is lost when fewer than `support` records have it."""

    def __init__(self, records: Records, support: int) -> None:
        levels = [level for level in maximal_frequent(records, support) if len(level.codes)]
        self._support, self.pairs = support, records.pairs
        self._found = found = Occurrences(levels, len(records.pairs))
        self._having = np.zeros(records.size, np.int64)
        found.add_pairs(self._having, records.pairs, np.arange(len(found.sizes)), 1)

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """How many would be lost without these visits."""
        occurrence, asked = self._found.at_visits(visits)
        operation, sequence = of[asked], self._found.at[occurrence]
        # only sequences that have few records to spare can be lost
        gone = np.bincount(of, minlength=operations)[operation]
        close = self._found.support[sequence] - gone < self._support
        codes, at = grouped(operation[close] * len(self._found.sizes) + sequence[close])
        operation, sequence = np.divmod(codes, max(1, len(self._found.sizes)))
        left = self._found.support[sequence] - np.bincount(at, minlength=len(codes))
        return np.bincount(operation[left < self._support], minlength=operations)

    def everywhere(self) -> Numbers:
        """How many contain each pair."""
        return self._having

    def deleted(self, visits: Integers) -> Integers:
        """Take records away; the losses of all pairs of what lost one have changed."""
        touched = self._found.touched(visits)
        self._found.take_away(touched)
        changed = np.unique(self._found.at[touched])
        lost = changed[self._found.support[changed] < self._support]
        self._found.take_away(self._found.of_sequences(lost).occurrence)
        self._found.add_pairs(self._having, self.pairs, lost, -1)
        pairs = self.pairs[self._found.places[self._found.starts[changed]]]
        return np.unique(np.concatenate((self.pairs[visits], pairs.ravel())))

    def kept(self, alive: Flags) -> float:
        """How many of them enough records still have."""
        found = self._found
        occurs = np.logical_and.reduce([alive[column] for column in found.places.T])
        left = np.bincount(found.at[occurs], minlength=len(found.sizes))
        return float(np.count_nonzero(left >= self._support))


#: by name: how to make a metric of records, the place and time of each pair, and K'
METRICS: dict[str, Callable[[Records, Sequence[Visit], int], Metric]] = {
    "instances": lambda records, _visits, _support: Instances(records),
    "mfs": lambda records, _visits, support: FrequentSequences(records, support),
}

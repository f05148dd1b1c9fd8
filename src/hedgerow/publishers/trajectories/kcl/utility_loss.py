"""The utility loss of suppression: the metrics by which operations are scored.

Your own metric is a class with the four methods of `Metric`, registered in `METRICS` under a name; `kcl` and
`kcl-reinsertion` then accept that name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import group_equal
from hedgerow.data import Value
from hedgerow.data.frequent_subsequences import mine_maximal_frequent
from hedgerow.data.subsequences import VisitArrays
from hedgerow.publishers.trajectories.kcl.occurrences import OccurrenceIndex

__all__ = ["METRICS", "FrequentSequences", "Instances", "Metric", "Visit"]

Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.float64] | Integers
Visit: TypeAlias = tuple[Value, Value]
Flags: TypeAlias = NDArray[np.bool_]


class Metric(Protocol):
    """The utility loss of operations, kept up to date with deletions.

    Visits are numbered as in `VisitArrays`.
    """

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """The loss of each operation; `visits[i]` is deleted by operation `of[i]`."""
        ...

    def everywhere(self) -> Numbers:
        """The loss of deleting each pair from all records."""
        ...

    def deleted(self, visits: Integers) -> Integers:
        """Record a deletion; return the pairs whose losses it changed."""
        ...

    def kept(self, alive: Flags) -> float:
        """The utility if only these visits are kept; the larger, the better."""
        ...


class Instances:
    """Every visit has the same weight: the loss is the number of deleted visits."""

    def __init__(self, visits: VisitArrays) -> None:
        self.pairs = visits.pairs
        self.counts = np.bincount(visits.pairs, minlength=visits.size)

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """The number of visits."""
        del visits
        return np.bincount(of, minlength=operations)

    def everywhere(self) -> Numbers:
        """The number of records that have each pair."""
        return self.counts

    def deleted(self, visits: Integers) -> Integers:
        """Only the losses of the deleted pairs change."""
        pairs = self.pairs[visits]
        np.subtract.at(self.counts, pairs, 1)
        return np.unique(pairs)

    def kept(self, alive: Flags) -> float:
        """The number of visits."""
        return float(np.count_nonzero(alive))


class FrequentSequences:
    """A maximal frequent sequence (MFS) is lost when fewer than `support` records have it."""

    def __init__(self, visits: VisitArrays, support: int) -> None:
        levels = [level for level in mine_maximal_frequent(visits, support) if len(level.codes)]
        self._support, self.pairs = support, visits.pairs
        self._maximal = OccurrenceIndex(levels, len(visits.pairs))
        self._of_pair = np.zeros(visits.size, np.int64)
        self._maximal.add_to_pairs(self._of_pair, visits.pairs, np.arange(len(self._maximal.sizes)), 1)

    def local(self, visits: Integers, of: Integers, operations: int) -> Numbers:
        """How many MFS would be lost without these visits."""
        occurrence, query = self._maximal.at_visits(visits)
        operation, sequence = of[query], self._maximal.at[occurrence]
        # only sequences that have few records to spare can be lost
        deleted = np.bincount(of, minlength=operations)[operation]
        close = self._maximal.support[sequence] - deleted < self._support
        codes, at = group_equal(operation[close] * len(self._maximal.sizes) + sequence[close])
        operation, sequence = np.divmod(codes, max(1, len(self._maximal.sizes)))
        left = self._maximal.support[sequence] - np.bincount(at, minlength=len(codes))
        return np.bincount(operation[left < self._support], minlength=operations)

    def everywhere(self) -> Numbers:
        """How many MFS contain each pair."""
        return self._of_pair

    def deleted(self, visits: Integers) -> Integers:
        """Remove the occurrences; the losses of all pairs of the affected MFS change."""
        touched = self._maximal.touching(visits)
        self._maximal.remove(touched)
        changed = np.unique(self._maximal.at[touched])
        lost = changed[self._maximal.support[changed] < self._support]
        self._maximal.remove(self._maximal.of_sequences(lost).occurrence)
        self._maximal.add_to_pairs(self._of_pair, self.pairs, lost, -1)
        pairs = self.pairs[self._maximal.places[self._maximal.starts[changed]]]
        return np.unique(np.concatenate((self.pairs[visits], pairs.ravel())))

    def kept(self, alive: Flags) -> float:
        """How many MFS still have enough support."""
        maximal = self._maximal
        occurs = np.logical_and.reduce([alive[column] for column in maximal.places.T])
        left = np.bincount(maximal.at[occurs], minlength=len(maximal.sizes))
        return float(np.count_nonzero(left >= self._support))


#: the factory of each metric: from visits, the place and time of each pair, and K'
METRICS: dict[str, Callable[[VisitArrays, Sequence[Visit], int], Metric]] = {
    "instances": lambda visits, _names, _support: Instances(visits),
    "mfs": lambda visits, _names, support: FrequentSequences(visits, support),
}

"""Local and global suppression, one operation at a time, the best score first: the paper's anonymiser.

The printed validity test of a local suppression is unsound for L >= 3, and the printed update of scores even for L = 2;
both are replaced. The list starts with all minimal violating sequences (MVS) of the data; an MVS leaves it when it no
longer occurs. Invariant: every violating sequence of the current data contains a listed one. A local suppression is
valid if it preserves the invariant; a global one always does. When the list is empty, nothing violates.
"""

from __future__ import annotations

import heapq
import itertools
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.data.subsequences import Level, MinedSequences, VisitArrays
from hedgerow.privacy.kcl_criterion import KCL
from hedgerow.publishers.trajectories.kcl.utility_loss import Metric

__all__ = [
    "Operation",
    "OperationQueue",
    "Pairs",
    "PersonSuppressionState",
    "SuppressionState",
    "occurrences_of",
    "suppress_greedily",
]

Pairs: TypeAlias = tuple[int, ...]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: with more minimal violating sequences there is a warning about the running time
_LONG = 50_000


def suppress_greedily(visits: VisitArrays, mined: MinedSequences, promise: KCL, metric: Metric) -> Flags:
    """Apply the valid operation with the best score until no MVS is left; return which visits are kept."""
    if sum(len(level.codes) for level in mined.violating) > _LONG:
        warnings.warn(
            "there are very many violating sequences: one operation at a time takes hours; see kcl-reinsertion",
            stacklevel=2,
        )
    state = (SuppressionState if visits.owners is None else PersonSuppressionState)(visits, mined, promise)
    queue = OperationQueue(state, metric)
    total = len(state.listed)
    while state.listed:
        progress.tell("suppressing", total - len(state.listed), total)
        queue.apply(queue.best())
    return state.alive()


class Operation(NamedTuple):
    """Delete a pair from the records of an MVS (`via`), or from all records if `via` is None."""

    pair: int
    via: Pairs | None


class SuppressionState:
    """The current data, the list of MVS, and the counts of all clean sequences."""

    def __init__(self, visits: VisitArrays, mined: MinedSequences, promise: KCL) -> None:
        self.k, self.c, self.longest = promise.k, promise.c, promise.l
        ends = itertools.pairwise(visits.starts.tolist())
        pairs: list[int] = visits.pairs.tolist()
        self.records = [set(pairs[start:end]) for start, end in ends]
        self._visits = {key: visit for visit, key in enumerate(zip(visits.record.tolist(), pairs, strict=True))}
        self.flags: list[list[bool]] = visits.flags.T.tolist() or [[] for _ in self.records]
        self.records_of_pair: dict[int, set[int]] = {}
        for number, record in enumerate(self.records):
            for pair in record:
                self.records_of_pair.setdefault(pair, set()).add(number)
        self.listed = {key: rows for level in mined.violating for key, rows in occurrences_of(visits, level)}
        self.listed_of_pair: dict[int, set[Pairs]] = {}
        for key in self.listed:
            for pair in key:
                self.listed_of_pair.setdefault(pair, set()).add(key)
        self.owners: list[int] = [] if visits.owners is None else visits.owners.tolist()
        self.counts = {key: self._count(rows) for level in mined.clean for key, rows in occurrences_of(visits, level)}

    def gain(self, operation: Operation) -> int:
        """PrivGain: the number of MVS that an operation eliminates."""
        if operation.via is None:
            return len(self.listed_of_pair[operation.pair])
        rows = self.listed[operation.via]
        return sum(self.listed[key] <= rows for key in self.listed_of_pair[operation.pair])

    def is_valid(self, pair: int, rows: set[int]) -> bool:
        """Whether no clean sequence becomes violating when the pair is deleted from these records."""
        return all(self._is_clean(self.counts[key], lost) for key, lost in self._lost(pair, rows).items())

    def delete(self, pair: int, rows: set[int]) -> set[Pairs]:
        """Delete a pair from records; return the listed sequences whose records changed."""
        for key, lost in self._lost(pair, rows).items():
            self.counts[key].subtract(lost)
        for row in rows:
            self.records[row].discard(pair)
        self.records_of_pair[pair] -= rows
        changed = {key for key in self.listed_of_pair.get(pair, ()) if self.listed[key] & rows}
        for key in changed:
            self.listed[key] = self.listed[key] - rows
            if not self.listed[key]:
                del self.listed[key]
                for other in key:
                    self.listed_of_pair[other].discard(key)
        return changed

    def visits(self, pair: int, rows: set[int]) -> Integers:
        """The visits of a pair in records."""
        return np.array([self._visits[row, pair] for row in sorted(rows)], np.int64)

    def alive(self) -> Flags:
        """Which visits are kept."""
        return np.array([pair in self.records[row] for row, pair in self._visits], np.bool_)

    def _lost(self, pair: int, rows: set[int]) -> dict[Pairs, Counter[Any]]:
        """Count, for each clean sequence with the pair, how many of these records have it."""
        having: dict[Pairs, set[int]] = {}
        for row in rows:
            for key in self._sequences(pair, row):
                if key in self.counts:
                    having.setdefault(key, set()).add(row)
        return {key: self._count(lost) for key, lost in having.items()}

    def _count(self, rows: set[int]) -> Counter[Any]:
        """Count records: all of them as -1, and those with each sensitive value."""
        counts: Counter[Any] = Counter(n for row in rows for n, flag in enumerate(self.flags[row]) if flag)
        counts[-1] = len(rows)
        return counts

    def _is_clean(self, counts: Counter[Any], lost: Counter[Any]) -> bool:
        left = counts[-1] - lost[-1]
        marked = (count - lost[mark] for mark, count in counts.items() if mark >= 0)
        return self._keeps_promise(left, marked)

    def _keeps_promise(self, left: int, marked: Iterable[int]) -> bool:
        """Whether so many records, or persons, match and so many of them have each sensitive value, or none match."""
        if left == 0:
            return True
        return left >= self.k and all(count * self.c.denominator <= self.c.numerator * left for count in marked)

    def _sequences(self, pair: int, row: int) -> Iterator[Pairs]:
        """All sequences of a record that contain a pair, up to the length that an attacker may know."""
        others = sorted(self.records[row] - {pair})
        for size in range(min(self.longest, len(others) + 1)):
            for rest in itertools.combinations(others, size):
                yield tuple(sorted((*rest, pair)))


class PersonSuppressionState(SuppressionState):
    """The same, where persons are counted: each as often as they own a record, so that the last one is noticed."""

    def _count(self, rows: set[int]) -> Counter[Any]:
        """Count the records of each person: all of them, and those with each sensitive value."""
        counts: Counter[Any] = Counter((-1, self.owners[row]) for row in rows)
        counts.update((n, self.owners[row]) for row in rows for n, flag in enumerate(self.flags[row]) if flag)
        return counts

    def _is_clean(self, counts: Counter[Any], lost: Counter[Any]) -> bool:
        left = Counter(mark for (mark, person), count in counts.items() if count > lost[mark, person])
        return self._keeps_promise(left.pop(-1, 0), left.values())


class _Entry(NamedTuple):
    """An operation in the queue: ordered by score, then gain, local before global, then by number."""

    score: Fraction
    gain: int
    everywhere: bool
    pair: int
    via: Pairs
    stamp: int


class OperationQueue:
    """A priority queue of operations; an entry is rescored whenever something that it depends on changes.

    Whether a local suppression is valid depends on all records that have its pair. Validity is tested when an entry
    comes first; an invalid one is parked until a record with its pair is edited.
    """

    def __init__(self, state: SuppressionState, metric: Metric) -> None:
        self._state, self._metric = state, metric
        self._heap: list[_Entry] = []
        self._stamps: dict[Operation, int] = {}
        self._parked: dict[int, set[Operation]] = {}
        self._score(set(state.listed_of_pair))

    def best(self) -> Operation:
        """Take the best valid operation off the queue."""
        while True:
            entry = heapq.heappop(self._heap)
            operation = Operation(entry.pair, None if entry.everywhere else entry.via)
            if self._stamps.get(operation) != entry.stamp:
                continue  # it was rescored, or its MVS was eliminated
            if operation.via is None:
                return operation
            if self._state.is_valid(operation.pair, self._state.listed[operation.via]):
                return operation
            self._parked.setdefault(operation.pair, set()).add(operation)

    def apply(self, operation: Operation) -> None:
        """Apply an operation, and rescore the operations that it affects."""
        state, pair = self._state, operation.pair
        rows = set(state.records_of_pair[pair] if operation.via is None else state.listed[operation.via])
        touched = set[int]().union(*(state.records[row] for row in rows))
        visits = state.visits(pair, rows)
        changed = state.delete(pair, rows)
        stale = {other for key in changed for other in key}
        stale.update(self._metric.deleted(visits).tolist())
        stale.update(other for other in touched if self._parked.pop(other, None))
        for key in changed - set(state.listed):
            for other in key:
                self._stamps.pop(Operation(other, key), None)
        self._score({other for other in stale if other in state.listed_of_pair})

    def _score(self, pairs: set[int]) -> None:
        for pair in pairs:
            if not self._state.listed_of_pair[pair]:
                self._stamps.pop(Operation(pair, None), None)
                continue
            self._push(Operation(pair, None), self._metric.everywhere()[pair])
            for key in self._state.listed_of_pair[pair]:
                visits = self._state.visits(pair, self._state.listed[key])
                (loss,) = self._metric.local(visits, np.zeros(len(visits), np.int64), 1)
                self._push(Operation(pair, key), loss)

    def _push(self, operation: Operation, loss: float) -> None:
        stamp = self._stamps[operation] = self._stamps.get(operation, 0) + 1
        gain = self._state.gain(operation)
        heapq.heappush(
            self._heap,
            _Entry(
                -gain / (1 + Fraction(float(loss))),
                -gain,
                operation.via is None,
                operation.pair,
                operation.via or (),
                stamp,
            ),
        )


def occurrences_of(visits: VisitArrays, level: Level) -> Iterator[tuple[Pairs, set[int]]]:
    """Yield each sequence of a level with the records it occurs in."""
    if len(level.codes) == 0:
        return
    order = np.argsort(level.at, kind="stable")
    ends = np.cumsum(np.bincount(level.at, minlength=len(level.codes)))
    keys = visits.pairs[level.places[order[np.concatenate(([0], ends[:-1]))]]]
    rows = np.split(visits.record[level.places[order, 0]], ends[:-1])
    for key, records in zip(keys.tolist(), rows, strict=True):
        yield tuple(key), set(records.tolist())

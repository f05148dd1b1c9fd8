"""Suppress by one operation at a time, the best first: the reference, for short lists of MVS.

The printed test of a local suppression is unsound for L >= 3, and its update of scores even for
L = 2; both are replaced. The list holds the minimal violating sequences of the start until they
occur nowhere. Invariant: every violating sequence of the current data contains a listed one. A
local suppression is valid if it keeps that; a global one always does. When the list is empty
nothing violates.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.trajectories.metrics import Metric
from hedgerow.steps.mining import Level, Mined, Records

__all__ = ["Board", "Operation", "Pairs", "occurring", "suppress_greedily"]

Pairs: TypeAlias = tuple[int, ...]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class Operation(NamedTuple):
    """Delete a pair from the records of an MVS; or from all records, if that is None."""

    pair: int
    via: Pairs | None


class Board:
    """The current data, the list of MVS, and the counts of all clean sequences."""

    def __init__(self, records: Records, mined: Mined, promise: KCL) -> None:
        self.k, self.c, self.longest = promise.k, promise.c, promise.l
        ends = itertools.pairwise(records.starts.tolist())
        pairs: list[int] = records.pairs.tolist()
        self.records = [set(pairs[start:end]) for start, end in ends]
        self._visits = {key: visit for visit, key in enumerate(zip(records.record.tolist(), pairs, strict=True))}
        self.flags: list[list[bool]] = records.flags.T.tolist() or [[] for _ in self.records]
        self.holders: dict[int, set[int]] = {}
        for number, held in enumerate(self.records):
            for pair in held:
                self.holders.setdefault(pair, set()).add(number)
        self.listed = {key: rows for level in mined.violating for key, rows in occurring(records, level)}
        self.having: dict[int, set[Pairs]] = {}
        for key in self.listed:
            for pair in key:
                self.having.setdefault(pair, set()).add(key)
        self.counts = {
            key: Counter({-1: len(rows), **self._marks(rows)})
            for level in mined.clean
            for key, rows in occurring(records, level)
        }

    def gain(self, operation: Operation) -> int:
        """How many listed sequences an operation makes vanish."""
        if operation.via is None:
            return len(self.having[operation.pair])
        rows = self.listed[operation.via]
        return sum(self.listed[key] <= rows for key in self.having[operation.pair])

    def lost(self, pair: int, rows: set[int]) -> dict[Pairs, Counter[int]]:
        """Count, for each clean sequence with the pair, how many of these records hold it."""
        found: dict[Pairs, Counter[int]] = {}
        for row in rows:
            for key in self._sequences(pair, row):
                if key in self.counts:
                    held = found.setdefault(key, Counter())
                    held[-1] += 1
                    held.update(n for n, flag in enumerate(self.flags[row]) if flag)
        return found

    def is_valid(self, pair: int, rows: set[int]) -> bool:
        """Whether no clean sequence would violate without these records."""
        return all(self._is_clean(self.counts[key], gone) for key, gone in self.lost(pair, rows).items())

    def delete(self, pair: int, rows: set[int]) -> set[Pairs]:
        """Delete a pair from records; return the listed sequences whose records changed."""
        for key, gone in self.lost(pair, rows).items():
            self.counts[key].subtract(gone)
        for row in rows:
            self.records[row].discard(pair)
        self.holders[pair] -= rows
        changed = {key for key in self.having.get(pair, ()) if self.listed[key] & rows}
        for key in changed:
            self.listed[key] = self.listed[key] - rows
            if not self.listed[key]:
                del self.listed[key]
                for other in key:
                    self.having[other].discard(key)
        return changed

    def visits(self, pair: int, rows: set[int]) -> Integers:
        """The visits of a pair in records."""
        return np.array([self._visits[row, pair] for row in sorted(rows)], np.int64)

    def alive(self) -> Flags:
        """Say which visits are left."""
        return np.array([pair in self.records[row] for row, pair in self._visits], np.bool_)

    def _is_clean(self, held: Counter[int], gone: Counter[int]) -> bool:
        left = held[-1] - gone[-1]
        if left == 0:
            return True
        return left >= self.k and all(
            (count - gone[mark]) * self.c.denominator <= self.c.numerator * left
            for mark, count in held.items()
            if mark >= 0
        )

    def _marks(self, rows: set[int]) -> dict[int, int]:
        marks = Counter(n for row in rows for n, flag in enumerate(self.flags[row]) if flag)
        return {n: marks[n] for n in range(len(self.flags[0]))} if self.flags else {}

    def _sequences(self, pair: int, row: int) -> Iterator[Pairs]:
        """All sequences of a record that contain a pair, up to the length somebody may know."""
        others = sorted(self.records[row] - {pair})
        for size in range(min(self.longest, len(others) + 1)):
            for rest in itertools.combinations(others, size):
                yield tuple(sorted((*rest, pair)))


class _Entry(NamedTuple):
    """An operation in the queue: best score first, then gain, local before global, by number."""

    score: Fraction
    gain: int
    everywhere: bool
    pair: int
    via: Pairs
    stamp: int


def suppress_greedily(board: Board, metric: Metric, *, local: bool) -> list[Operation]:
    """Apply the best valid operation until no MVS is left; return what was done."""
    queue = _Queue(board, metric, local=local)
    total, done = len(board.listed), list[Operation]()
    while board.listed:
        progress.tell("suppressing", total - len(board.listed), total)
        operation = queue.best()
        queue.apply(operation)
        done.append(operation)
    return done


class _Queue:
    """The operations by score; an entry is scored anew whenever something it depends on changed.

    Whether a local suppression is valid depends on all records that hold its pair. It is asked when
    an entry comes first, and an invalid one is parked until a record with its pair is edited.
    """

    def __init__(self, board: Board, metric: Metric, *, local: bool) -> None:
        self._board, self._metric, self._local = board, metric, local
        self._heap: list[_Entry] = []
        self._stamps: dict[Operation, int] = {}
        self._parked: dict[int, set[Operation]] = {}
        self._score(set(board.having))

    def best(self) -> Operation:
        """Take the best valid operation off the queue."""
        while True:
            entry = heapq.heappop(self._heap)
            operation = Operation(entry.pair, None if entry.everywhere else entry.via)
            if self._stamps.get(operation) != entry.stamp:
                continue  # it was scored anew, or its MVS is gone
            if operation.via is None:
                return operation
            if self._board.is_valid(operation.pair, self._board.listed[operation.via]):
                return operation
            self._parked.setdefault(operation.pair, set()).add(operation)

    def apply(self, operation: Operation) -> None:
        """Delete, and score anew what that changed."""
        board, pair = self._board, operation.pair
        rows = set(board.holders[pair] if operation.via is None else board.listed[operation.via])
        touched = set[int]().union(*(board.records[row] for row in rows))
        visits = board.visits(pair, rows)
        changed = board.delete(pair, rows)
        stale = {other for key in changed for other in key}
        stale.update(self._metric.deleted(visits).tolist())
        stale.update(other for other in touched if self._parked.pop(other, None))
        for key in changed - set(board.listed):
            for other in key:
                self._stamps.pop(Operation(other, key), None)
        self._score({other for other in stale if other in board.having})

    def _score(self, pairs: set[int]) -> None:
        for pair in pairs:
            if not self._board.having[pair]:
                self._stamps.pop(Operation(pair, None), None)
                continue
            self._push(Operation(pair, None), self._metric.everywhere()[pair])
            if self._local:
                for key in self._board.having[pair]:
                    visits = self._board.visits(pair, self._board.listed[key])
                    (loss,) = self._metric.local(visits, np.zeros(len(visits), np.int64), 1)
                    self._push(Operation(pair, key), loss)

    def _push(self, operation: Operation, loss: float) -> None:
        stamp = self._stamps[operation] = self._stamps.get(operation, 0) + 1
        gain = self._board.gain(operation)
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


def occurring(records: Records, level: Level) -> Iterator[tuple[Pairs, set[int]]]:
    """Yield each sequence of a level with the records it occurs in."""
    if len(level.codes) == 0:
        return
    order = np.argsort(level.at, kind="stable")
    ends = np.cumsum(np.bincount(level.at, minlength=len(level.codes)))
    keys = records.pairs[level.places[order[np.concatenate(([0], ends[:-1]))]]]
    rows = np.split(records.record[level.places[order, 0]], ends[:-1])
    for key, held in zip(keys.tolist(), rows, strict=True):
        yield tuple(key), set(held.tolist())

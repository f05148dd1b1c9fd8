"""An engine in many pieces on one machine: what a cluster does to a kind, without a cluster.

Rows are dealt to workers at random. A verb that needs equal keys in one place first sends each
row to the worker its key belongs to, as a cluster would. A kind that leaned on the order of rows,
or on all of them being in one place, gives other answers here; the tests run the laws on this
engine too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.engines.base import Codes, Columns, Engine, Flags, Table
from hedgerow.engines.local import LocalEngine, LocalTable
from hedgerow.errors import InternalError

__all__ = ["LoopbackEngine"]

_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass(frozen=True, repr=False)
class _Dealt(Table):
    """One table a worker."""

    parts: tuple[LocalTable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.parts[0].names


class LoopbackEngine(Engine):
    """Count on several workers that never see each other's rows."""

    def __init__(self, workers: int = 3) -> None:
        self._workers = workers
        self._local = LocalEngine()
        # which worker gets a row decides no answer; a fixed stream keeps the tests repeatable
        self._dealer = np.random.default_rng(workers)

    def table(self, columns: Columns) -> Table:
        """Deal the rows to the workers at random."""
        whole = self._local.table(columns)
        return self._deal(whole, self._dealer.integers(0, self._workers, len(whole)))

    def collect(self, table: Table, *, order: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Bring all rows together, sorted by the columns in `order`."""
        return self._local.collect(self._whole(table), order=order)

    def rows(self, table: Table) -> int:
        """Count the rows of all workers."""
        return sum(len(part) for part in _parts(table))

    def derive(self, table: Table, name: str, function: Callable[[Columns], Codes]) -> Table:
        """Let each worker compute on its own rows."""
        return _Dealt(tuple(self._local.derive(part, name, function) for part in _parts(table)))

    def keep(self, table: Table, condition: Callable[[Columns], Flags]) -> Table:
        """Let each worker drop its own rows."""
        return _Dealt(tuple(self._local.keep(part, condition) for part in _parts(table)))

    def select(self, table: Table, names: Sequence[str]) -> Table:
        """Let each worker keep these columns of its own rows."""
        return _Dealt(tuple(self._local.select(part, names) for part in _parts(table)))

    def distinct(self, table: Table, by: Sequence[str]) -> Table:
        """Send equal keys to one worker, then drop repeats there."""
        return _Dealt(tuple(self._local.distinct(part, by) for part in self._gather(table, by)))

    def total(self, table: Table, by: Sequence[str], value: str) -> Table:
        """Sum on each worker, send equal keys to one worker, and sum there."""
        early = _Dealt(tuple(self._local.total(part, by, value) for part in _parts(table)))
        late = self._gather(early, by)
        return _Dealt(tuple(self._local.total(part, by, value) for part in late))

    def union(self, table: Table, by: Sequence[str], value: str) -> Table:
        """Unite on each worker, send equal keys to one worker, and unite there."""
        early = _Dealt(tuple(self._local.union(part, by, value) for part in _parts(table)))
        late = self._gather(early, by)
        return _Dealt(tuple(self._local.union(part, by, value) for part in late))

    def rank(self, table: Table, by: str, order: str, name: str) -> Table:
        """Send each group to one worker, and number it there."""
        parts = self._gather(table, [by])
        return _Dealt(tuple(self._local.rank(part, by, order, name) for part in parts))

    def join(self, table: Table, other: Table, on: str) -> Table:
        """Send equal keys of both tables to one worker, and join there."""
        pairs = zip(self._gather(table, [on]), self._gather(other, [on]), strict=True)
        return _Dealt(tuple(self._local.join(left, right, on) for left, right in pairs))

    def top(self, table: Table, value: str, most: int, *, ties: Sequence[str]) -> Table:
        """Take the top of each worker, then the top of those."""
        early = _Dealt(tuple(self._local.top(part, value, most, ties=ties) for part in _parts(table)))
        last = self._local.top(self._whole(early), value, most, ties=ties)
        return self._deal(last, self._dealer.integers(0, self._workers, len(last)))

    def _deal(self, whole: LocalTable, to: NDArray[np.int64]) -> _Dealt:
        shuffled = self._dealer.permutation(len(whole))
        parts: list[LocalTable] = []
        for worker in range(self._workers):
            rows = shuffled[to[shuffled] == worker]
            held = {name: column[rows] for name, column in whole.columns.items()}
            parts.append(self._local.table(held))
        return _Dealt(tuple(parts))

    def _gather(self, table: Table, by: Sequence[str]) -> tuple[LocalTable, ...]:
        whole = self._whole(table)
        mixed = np.zeros(len(whole), np.uint64)
        for name in by:
            mixed = (mixed ^ whole.columns[name].astype(np.uint64)) * _MIX
            mixed ^= mixed >> np.uint64(29)
        return self._deal(whole, (mixed % np.uint64(self._workers)).astype(np.int64)).parts

    def _whole(self, table: Table) -> LocalTable:
        parts = _parts(table)
        columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in table.names}
        return self._local.table(columns)


def _parts(table: Table) -> tuple[LocalTable, ...]:
    if not isinstance(table, _Dealt):
        msg = f"the loopback engine got a table of another engine: {type(table).__name__}"
        raise InternalError(msg)
    return table.parts

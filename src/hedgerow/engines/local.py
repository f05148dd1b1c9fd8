"""The engine of one machine: NumPy columns, and sorted values instead of sorted indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.engines.base import Codes, Columns, Engine, Flags, Table
from hedgerow.engines.sorting import distinct_rows, sorted_order, unless_sorted
from hedgerow.errors import InternalError

__all__ = ["LocalEngine", "LocalTable"]


@dataclass(frozen=True, repr=False)
class LocalTable(Table):
    """Columns in the memory of this process."""

    columns: dict[str, Codes]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


class LocalEngine(Engine):
    """Count in this process.

    Examples
    --------
    >>> engine = LocalEngine()
    >>> baskets = engine.table({"row": np.array([0, 0, 1]), "item": np.array([4, 2, 4])})
    >>> ones = engine.derive(baskets, "n", lambda held: np.ones_like(held["item"]))
    >>> engine.collect(engine.total(ones, ["item"], "n"), order=["item"])
    {'item': array([2, 4]), 'n': array([1, 2])}
    """

    def table(self, columns: Columns) -> LocalTable:
        """Hold these columns; they are copied if they can still be written to."""
        return _hold({name: column.copy() if column.flags.writeable else column for name, column in columns.items()})

    def collect(self, table: Table, *, order: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """Return the columns as int64 arrays, rows sorted by the columns in `order`."""
        columns = _columns(table)
        by = unless_sorted([columns[name] for name in order])
        if by is not None:
            columns = {name: column[by] for name, column in columns.items()}
        return {name: column.astype(np.int64) for name, column in columns.items()}

    def rows(self, table: Table) -> int:
        """Count the rows."""
        return len(_local(table))

    def derive(self, table: Table, name: str, function: Callable[[Columns], Codes]) -> LocalTable:
        """Add a column computed row by row."""
        columns = _columns(table)
        return _hold({**columns, name: function(columns)})

    def keep(self, table: Table, condition: Callable[[Columns], Flags]) -> LocalTable:
        """Keep the rows that fulfil a condition."""
        columns = _columns(table)
        kept = condition(columns)
        return _hold({name: column[kept] for name, column in columns.items()})

    def select(self, table: Table, names: Sequence[str]) -> LocalTable:
        """Keep these columns of every row."""
        columns = _columns(table)
        return _hold({name: columns[name] for name in names})

    def distinct(self, table: Table, by: Sequence[str]) -> LocalTable:
        """Keep each combination of the columns `by` once."""
        columns = _columns(table)
        kept = distinct_rows([columns[name] for name in by])
        return _hold(dict(zip(by, kept, strict=True)))

    def total(self, table: Table, by: Sequence[str], value: str) -> LocalTable:
        """Sum the column `value` within each combination of `by`."""
        return self._reduce(np.add, table, by, value)

    def union(self, table: Table, by: Sequence[str], value: str) -> LocalTable:
        """Unite the bits of `value` within each combination of `by`."""
        return self._reduce(np.bitwise_or, table, by, value)

    def rank(self, table: Table, by: str, order: str, name: str) -> LocalTable:
        """Add a column numbering the rows of each `by` from 0 in ascending `order`."""
        columns = _columns(table)
        rows = sorted_order([columns[by], columns[order]])
        groups = columns[by][rows]
        position = np.arange(len(rows), dtype=np.int64)
        first = np.concatenate(([True], groups[1:] != groups[:-1]))[: len(rows)]
        numbers = np.empty(len(rows), np.int64)
        numbers[rows] = position - np.maximum.accumulate(np.where(first, position, 0))
        return _hold({**columns, name: numbers})

    def join(self, table: Table, other: Table, on: str) -> LocalTable:
        """Keep the rows whose `on` is in `other`, with the other columns of its one row beside."""
        left, right = _columns(table), _columns(other)
        by = np.argsort(right[on], kind="stable")
        keys = right[on][by]
        if np.any(keys[1:] == keys[:-1]):
            msg = f"the table joined on {on!r} must have each of its keys once"
            raise InternalError(msg)
        at = np.searchsorted(keys, left[on])
        found = np.zeros(len(at), np.bool_)
        inside = at < len(keys)
        found[inside] = keys[at[inside]] == left[on][inside]
        match = by[at[found]]
        beside = {name: column[match] for name, column in right.items() if name != on}
        return _hold({**{name: column[found] for name, column in left.items()}, **beside})

    def top(self, table: Table, value: str, most: int, *, ties: Sequence[str]) -> LocalTable:
        """Keep the `most` rows of largest `value`, ties settled by ascending `ties`."""
        columns = _columns(table)
        order = sorted_order([-columns[value].astype(np.int64), *(columns[name] for name in ties)])
        return _hold({name: column[order[:most]] for name, column in columns.items()})

    def _reduce(self, rule: np.ufunc, table: Table, by: Sequence[str], value: str) -> LocalTable:
        columns = _columns(table)
        starts, order = _runs([columns[name] for name in by])
        # `reduceat` is wrong on empty runs; a run has at least one row, so only no rows is special
        values = columns[value][order].astype(np.int64)
        reduced = rule.reduceat(values, starts) if len(starts) else values
        return _hold({**{name: columns[name][order[starts]] for name in by}, value: reduced})


def _local(table: Table) -> LocalTable:
    if not isinstance(table, LocalTable):
        msg = f"the local engine got a table of another engine: {type(table).__name__}"
        raise InternalError(msg)
    return table


def _columns(table: Table) -> dict[str, Codes]:
    return _local(table).columns


def _hold(columns: dict[str, Codes]) -> LocalTable:
    """Close columns that are our own against writing; they must be equally long."""
    if len({len(column) for column in columns.values()}) != 1:
        msg = "the columns of a table must be equally long, and at least one"
        raise InternalError(msg)
    for column in columns.values():
        column.flags.writeable = False
    return LocalTable(columns)


def _runs(keys: Sequence[Codes]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return where each run of equal keys starts in the sorted rows, and the sorting order."""
    order = sorted_order(keys)
    if len(order) == 0:
        return np.zeros(0, np.int64), order
    new = np.zeros(len(order), np.bool_)
    new[0] = True
    for key in keys:
        ordered = key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    return np.flatnonzero(new).astype(np.int64), order

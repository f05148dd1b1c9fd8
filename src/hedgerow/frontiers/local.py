"""The frontier of one machine: NumPy arrays in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.frontiers.base import Counts, Engine, Frontier
from hedgerow.frontiers.rows import Rows, Rule, SymbolLists
from hedgerow.numerics.arrays import Integers, index_ranges, weigh_co_occurrences

#: limits for counting in a table of all keys: at most this many keys, and not far more keys than rows
_TABLE, _SMALL, _TIMES = 1 << 27, 1 << 22, 16
#: a cell and a code are packed into one number below this
_KEYS = 1 << 62
#: the key of a row without a code: no pair has it, and as an index it is the last entry of a table
_UNCOUNTED = -1


@dataclass(frozen=True, eq=False, repr=False)
class LocalFrontier(Frontier):
    """Rows in the memory of this process; `weights` is None where every row counts once."""

    rows: Rows
    weights: Integers | None
    cells: int = 1

    def count(self, rule: Rule) -> LocalCounts:
        """Count the rows of each cell by their code under a rule.

        Examples
        --------
        >>> from hedgerow.frontiers import NextSymbol
        >>> lists = SymbolLists.from_arrays(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([1, 1]), 2)
        >>> counted = LOCAL.open_symbols(lists).count(NextSymbol(2))
        >>> counted.codes.tolist(), counted.counts.tolist()
        ([0, 1], [1, 2])
        >>> counted = counted.move(np.array([0]), np.array([1])).count(NextSymbol(2))
        >>> counted.codes.tolist(), counted.counts.tolist()
        ([2], [2])
        """
        if self.cells * rule.size > _KEYS:
            msg = "a cell and a code do not fit into one key"
            raise InternalError(msg)
        codes = rule.encode(self.rows)
        keys = self.rows.cell.astype(np.int64)
        keys *= rule.size
        keys += codes
        counted, weights = keys, self.weights
        if codes.dtype.kind != "u" and int(codes.min(initial=0)) < 0:
            keys[codes < 0] = _UNCOUNTED
            kept = np.flatnonzero(codes >= 0)
            counted, weights = keys[kept], None if weights is None else weights[kept]
        present, counts = total_by_key(counted, weights, self.cells * rule.size)
        return LocalCounts(rule.size, *np.divmod(present, rule.size), counts, self, rule, keys)

    def weigh_pairs(self, symbols: Integers, weights: Integers) -> Integers:
        """For every pair of these symbols, add up the weights of the rows whose lists have both from there on.

        Examples
        --------
        >>> lists = SymbolLists.from_arrays(np.array([0, 3, 5]), np.array([0, 1, 2, 0, 2]), np.array([1, 1]), 3)
        >>> LOCAL.open_records(lists).weigh_pairs(np.array([2, 1, 0]), np.array([0, 0, 10, 3])).tolist()
        [3, 13, 3]
        """
        lists, lengths = self.rows.lists, self.rows.length
        rank = np.full(lists.size, -1, np.int32)
        rank[symbols] = np.arange(len(symbols))
        ranks = rank[lists.symbols[index_ranges(self.rows.at, lengths)]]
        chosen = ranks >= 0
        sizes = np.bincount(np.repeat(np.arange(len(lengths)), lengths)[chosen], minlength=len(lengths))
        row_weights = weights[sizes] if self.weights is None else weights[sizes] * self.weights
        return weigh_co_occurrences(ranks[chosen], sizes, row_weights, len(symbols))


@dataclass(frozen=True, eq=False, repr=False)
class LocalCounts(Counts):
    """Counts, and the key of each row: its cell and its code in one number."""

    frontier: LocalFrontier
    rule: Rule
    keys: Integers

    def move(self, cells: Integers, codes: Integers) -> LocalFrontier:
        """Keep the rows of these pairs of cell and code, each given once; its index is their new cell."""
        cell = self._new_cells(cells * self.size + codes)
        kept = np.flatnonzero(cell >= 0)
        old, cell = self.frontier, cell[kept]
        at = old.rows.at[kept]
        at += self.rule.advance(codes).astype(at.dtype)[cell]
        weights = None if old.weights is None else old.weights[kept]
        return LocalFrontier(Rows(old.rows.lists, at, cell), weights, len(codes))

    def _new_cells(self, chosen: Integers) -> NDArray[np.int32]:
        """The index of each row's key among the chosen keys, -1 if it is not among them."""
        most, number = self.frontier.cells * self.size, np.arange(len(chosen), dtype=np.int32)
        if _fits(most, len(self.keys)):
            table = np.full(most + 1, -1, np.int32)
            table[chosen] = number
            _require_single(single=np.array_equal(table[chosen], number))
            return table[self.keys]
        order = np.argsort(chosen)
        ordered = chosen[order]
        _require_single(single=not np.any(ordered[1:] == ordered[:-1]))
        if len(chosen) == 0:
            return np.full(len(self.keys), -1, np.int32)
        nearest = np.minimum(np.searchsorted(ordered, self.keys), len(chosen) - 1)
        return np.where(ordered[nearest] == self.keys, number[order[nearest]], np.int32(-1))


class LocalEngine(Engine):
    """Count in this process."""

    name: ClassVar[str] = "local"

    def open_records(self, lists: SymbolLists) -> LocalFrontier:
        """Open a frontier of one row per record that has any symbol."""
        starts, ends = lists.starts, lists.ends
        nonempty = starts < ends
        weights = None if lists.weights is None else lists.weights[nonempty]
        return _opened(lists, starts[nonempty], weights)

    def open_symbols(self, lists: SymbolLists) -> LocalFrontier:
        """Open a frontier of one row per symbol of each record."""
        inner = lists.symbols != lists.size
        weights = None if lists.weights is None else np.repeat(lists.weights, lists.ends - lists.starts)
        return _opened(lists, np.flatnonzero(inner), weights)


LOCAL = LocalEngine()


def total_by_key(keys: Integers, weights: Integers | None, most: int) -> tuple[Integers, Integers]:
    """Return the keys that occur, ascending, and the sum of the weights of each; keys are below `most`."""
    if _fits(most, len(keys)):
        table = np.bincount(keys, weights, most).astype(np.int64)
        present = np.flatnonzero(table)
        return present, table[present]
    if weights is None:
        return np.unique(keys, return_counts=True)
    present, number = np.unique(keys, return_inverse=True)
    return present, np.bincount(number, weights, len(present)).astype(np.int64)


def _opened(lists: SymbolLists, at: NDArray[Any], weights: Integers | None) -> LocalFrontier:
    narrow = np.int32 if len(lists.symbols) < 2**31 else np.int64
    return LocalFrontier(Rows(lists, at.astype(narrow), np.zeros(len(at), np.int32)), weights)


def _fits(keys: int, rows: int) -> bool:
    return keys <= min(_TABLE, max(_SMALL, _TIMES * rows))


def _require_single(*, single: bool) -> None:
    if not single:
        msg = "a cell and a code were chosen twice: rows can move to one cell only"
        raise InternalError(msg)

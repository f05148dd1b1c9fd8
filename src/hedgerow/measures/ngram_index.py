"""An index of sequences, by which measures count n-grams and find the most frequent ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Sequences
from hedgerow.data.sorting import distinct_rows
from hedgerow.frontiers import LOCAL, LocalFrontier, NextSymbol, SymbolLists

__all__ = ["Gram", "SequenceIndex"]

Integers: TypeAlias = NDArray[np.int64]
Gram: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class SequenceIndex:
    """Distinct sequences with weights, and every position in them.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["a", "b"])
    >>> index = SequenceIndex.of(Sequences.from_records(map(list, ["aba", "ab", "b"]), domain=domain))
    >>> occurrences, records = index.count([(0, 1), (0,)])
    >>> occurrences.tolist(), records.tolist()
    ([2, 3], [2, 2])
    >>> index.top(2)
    {(0, 1): 2, (0, 1, 0): 1}
    """

    size: int
    starts: Integers
    items: Integers
    weights: Integers

    @classmethod
    def of(cls, data: Sequences) -> SequenceIndex:
        """Gather the records of a data set, equal ones as one row."""
        starts, items, weights = data.canonical().arrays()
        return cls(data.domain.size("item"), starts, items, weights)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.weights.sum())

    def lengths(self, longest: int) -> Integers:
        """How many records have each length up to `longest`; longer ones are cut to it."""
        sizes = np.minimum(np.diff(self.starts), longest)
        return np.bincount(sizes, self.weights, longest + 1).astype(np.int64)

    def count(self, grams: Sequence[Gram]) -> tuple[Integers, Integers]:
        """How often each n-gram occurs, and in how many records.

        All positions walk down the tree of the n-grams at once; a position from which no n-gram continues is dropped.
        """
        totals = np.zeros((2, len(grams)), np.int64)
        table = _as_table(grams)
        lengths = np.array([len(gram) for gram in grams], np.int64)
        positions = self.positions()
        # the sequence of each symbol, ends included
        row = np.repeat(np.arange(len(self.weights)), np.diff(self.starts) + 1)
        node = np.zeros(len(grams), np.int64)
        for place in range(table.shape[1]):
            open_ = np.flatnonzero(lengths > place)
            steps = node[open_] * (self.size + 1) + table[open_, place]
            keys, at = np.unique(steps, return_inverse=True)
            positions = positions.count(NextSymbol(self.size)).move(*np.divmod(keys, self.size + 1))
            node[open_] = at
            if not len(positions.rows):
                break
            ends = open_[lengths[open_] == place + 1]
            totals[0, ends] = self._totals(positions, row, len(keys), once=False)[node[ends]]
            totals[1, ends] = self._totals(positions, row, len(keys), once=True)[node[ends]]
        return totals[0], totals[1]

    def top(self, most: int) -> dict[Gram, int]:
        """The most frequent n-grams of at least two items; ties by their items."""
        best: dict[Gram, int] = {}
        counted = self.positions().count(NextSymbol(self.size))
        inner = counted.codes < self.size
        names: list[Gram] = [(code,) for code in counted.codes[inner].tolist()]
        at, label, least = counted.cells[inner], counted.codes[inner], 1
        while names:
            counted = counted.move(at, label).count(NextSymbol(self.size))
            good = (counted.codes < self.size) & (counted.counts >= least)
            at, label, counts = counted.cells[good], counted.codes[good], counted.counts[good]
            ends: list[tuple[int, int]] = list(zip(at.tolist(), label.tolist(), strict=True))
            grams: list[Gram] = [(*names[a], b) for a, b in ends]
            best |= zip(grams, counts.tolist(), strict=True)
            if len(best) > most:
                least = sorted(best.values())[-most]
                best = {gram: n for gram, n in best.items() if n >= least}
            # a longer n-gram is never more frequent, so those that are too rare now are not extended
            on = counts >= least
            names = [gram for gram, kept in zip(grams, on.tolist(), strict=True) if kept]
            at, label = at[on], label[on]
        ranked = sorted(best.items(), key=lambda counted: (-counted[1], counted[0]))
        return dict(ranked[:most])

    def positions(self) -> LocalFrontier:
        """Open a frontier on every position, on this machine."""
        return LOCAL.open_symbols(SymbolLists.from_arrays(self.starts, self.items, self.weights, self.size))

    def _totals(self, positions: LocalFrontier, row: Integers, nodes: int, *, once: bool) -> Integers:
        cell = positions.rows.cell.astype(np.int64)
        at = row[positions.rows.at]
        if once:
            cell, at = distinct_rows([cell, at])
        return np.bincount(cell, self.weights[at], nodes).astype(np.int64)


def _as_table(grams: Sequence[Gram]) -> Integers:
    """One n-gram per row, filled up with -1."""
    table = np.full((len(grams), max(map(len, grams), default=0)), -1, np.int64)
    for number, gram in enumerate(grams):
        table[number, : len(gram)] = gram
    return table

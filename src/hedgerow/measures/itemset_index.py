"""An index of itemsets, by which the measures of sets count supports and find the most frequent itemsets."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from hedgerow.kinds.sets.data import Sets
from hedgerow.numerics.arrays import Integers

Itemset: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ItemsetIndex:
    """Distinct itemsets with weights, by row and by item.

    `items[row_starts[r] : row_starts[r + 1]]` are the items of row `r`, ascending; the inverted
    lists of rows per item are derived from these.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["a", "b", "c"])
    >>> index = ItemsetIndex.of(Sets.from_records(map(list, ["ab", "b", "abc"]), domain=domain))
    >>> index.supports([(0,), (0, 1), (0, 1, 2)]).tolist(), index.top(2)
    ([2, 2, 1], {(1,): 3, (0,): 2})
    """

    size: int
    weights: Integers
    items: Integers
    row_starts: Integers

    @classmethod
    def of(cls, data: Sets) -> ItemsetIndex:
        """Gather the records of a data set, equal ones as one row."""
        starts, items, weights = data.canonical().arrays()
        return cls(data.domain.size("item"), weights, items, starts)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.weights.sum())

    @cached_property
    def largest(self) -> int:
        """The size of the largest record."""
        return int(np.diff(self.row_starts).max(initial=0))

    @cached_property
    def _by_item(self) -> tuple[Integers, Integers]:
        rows = np.repeat(np.arange(len(self.weights)), np.diff(self.row_starts))
        order = np.argsort(self.items, kind="stable")
        return rows[order], np.searchsorted(self.items[order], np.arange(self.size + 1))

    def holders(self, item: int) -> Integers:
        """The rows that contain an item, ascending."""
        rows, starts = self._by_item
        return rows[starts[item] : starts[item + 1]]

    def supports(self, queries: Sequence[Itemset]) -> Integers:
        """Count the records that contain all items of each query."""
        return np.array([int(self.weights[self._rows(query)].sum()) for query in queries], np.int64)

    def top(self, most: int) -> dict[Itemset, int]:
        """Return the itemsets of largest support; ties by size, then by items.

        Best first: no extension of an itemset has a larger support, so the next best itemset is
        always among the extensions of those already taken.
        """
        self._ranked.extend(itertools.islice(self._ranking, max(0, most - len(self._ranked))))
        return dict(self._ranked[:most])

    @cached_property
    def _ranked(self) -> list[tuple[Itemset, int]]:
        """The itemsets that `_ranking` has yielded so far."""
        return []

    @cached_property
    def _ranking(self) -> Iterator[tuple[Itemset, int]]:
        return self._best_first()

    def _best_first(self) -> Iterator[tuple[Itemset, int]]:
        singles = np.bincount(self.items, self.weights[self._row_of], self.size)
        queue: list[tuple[int, int, Itemset]] = [
            (-int(singles[item]), 1, (item,)) for item in np.flatnonzero(singles).tolist()
        ]
        heapq.heapify(queue)
        while queue:
            support, size, itemset = heapq.heappop(queue)
            yield itemset, -support
            for item, extended in self._extensions(itemset):
                heapq.heappush(queue, (-extended, size + 1, (*itemset, item)))

    @cached_property
    def _row_of(self) -> Integers:
        return np.repeat(np.arange(len(self.weights)), np.diff(self.row_starts))

    def _rows(self, query: Itemset) -> Integers:
        """Intersect the rows of the query's items, the rarest first."""
        lists = sorted((self.holders(item) for item in query), key=len)
        rows = lists[0]
        for other in lists[1:]:
            if len(rows) == 0:
                break
            place = np.minimum(np.searchsorted(other, rows), len(other) - 1)
            rows = rows[other[place] == rows]
        return rows

    def _extensions(self, itemset: Itemset) -> list[tuple[int, int]]:
        rows = self._rows(itemset)
        sizes = self.row_starts[rows + 1] - self.row_starts[rows]
        owner = np.repeat(np.arange(len(rows)), sizes)
        inside = np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner]
        items = self.items[self.row_starts[rows][owner] + inside]
        later = items > itemset[-1]
        counts = np.bincount(items[later], self.weights[rows][owner][later])
        return [(item, int(counts[item])) for item in np.flatnonzero(counts).tolist()]

"""Itemsets in records: an index that counts supports and finds the most frequent ones, and workloads of count queries.

Sets have them, and sequences and trajectories whose order is left out.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from hedgerow.data.lists import Lists, merge_equal
from hedgerow.measures.scoring import relative_errors
from hedgerow.numerics.arrays import Floats, Integers, list_starts
from hedgerow.numerics.sorting import distinct_rows

Itemset: TypeAlias = tuple[int, ...]

UNIFORM, DRAWN = "uniform queries", "queries drawn from records,"
#: groups of uniform queries, by length
GROUPS = 5
#: the longest queries that are drawn from records, and how they are grouped by support
_LONGEST = 4
_BUCKETS = ((0.0, 0.001), (0.001, 0.01), (0.01, 0.1), (0.1, 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class ItemsetIndex:
    """Distinct itemsets with weights, by row and by item.

    `items[row_starts[r] : row_starts[r + 1]]` are the items of row `r`, ascending; the inverted
    lists of rows per item are derived from these.

    Examples
    --------
    >>> from hedgerow import Domain, Sets
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
    def of(cls, data: Lists) -> ItemsetIndex:
        """Gather the records of a data set without order and repetitions, equal ones as one row."""
        starts, items, weights = data.arrays()
        row, items = distinct_rows([np.repeat(np.arange(len(weights)), np.diff(starts)), items])
        row_starts, items, merged = merge_equal(list_starts(row), items, weights[np.unique(row)])
        return cls(data.domain.size("item"), merged, items.astype(np.int64, copy=False), row_starts)

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


def uniform_queries(truth: ItemsetIndex, rng: np.random.Generator, queries: int) -> dict[str, list[Itemset]]:
    """Draw itemsets uniformly, in five groups of growing length [1]_.

    Nearly all long ones occur in no record, so an empty release looks good here: see the controls.

    References
    ----------
    .. [1] R. Chen, N. Mohammed, B. C. M. Fung, B. C. Desai, L. Xiong. "Publishing set-valued data
       via differential privacy". PVLDB 4(11), 2011.
    """
    workloads: dict[str, list[Itemset]] = {}
    for group in range(1, GROUPS + 1):
        longest = min(truth.size, max(1, group * truth.largest // GROUPS))
        lengths: list[int] = rng.integers(1, longest + 1, queries).tolist()
        workloads[f"{UNIFORM} up to {longest} item{'s' if longest > 1 else ''}"] = [
            tuple(sorted(rng.choice(truth.size, length, replace=False, shuffle=False).tolist())) for length in lengths
        ]
    return workloads


def drawn_queries(truth: ItemsetIndex, rng: np.random.Generator, queries: int) -> dict[str, list[Itemset]]:
    """Draw subsets of up to four items from records, and group them by support."""
    if truth.records == 0:
        return {}
    ends = np.cumsum(truth.weights)
    picked = np.searchsorted(ends, rng.integers(0, ends[-1], queries), "right").tolist()
    drawn: list[Itemset] = []
    for row in picked:
        items = truth.items[truth.row_starts[row] : truth.row_starts[row + 1]]
        length = int(rng.integers(1, min(_LONGEST, len(items)) + 1))
        drawn.append(tuple(sorted(rng.choice(items, length, replace=False).tolist())))
    shares = truth.supports(drawn) / truth.records
    return {
        f"{DRAWN} support {100 * low:g}% to {100 * high:g}%": [
            query for query, share in zip(drawn, shares, strict=True) if low < share <= high
        ]
        for low, high in _BUCKETS
    }


def workload_errors(
    truth: ItemsetIndex, releases: Mapping[str, ItemsetIndex], workload: Sequence[Itemset]
) -> dict[str, Floats]:
    """The relative error of each query in each release."""
    exact = truth.supports(workload)
    return {name: relative_errors(exact, data.supports(workload), truth.records) for name, data in releases.items()}

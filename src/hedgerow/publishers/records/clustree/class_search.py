"""One class: a seed, and the records that join it at the least cost, one after another (Algorithm 4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.records.clustree.forest import Forest, VertexArrays
from hedgerow.publishers.records.clustree.histogram_bound import HistogramBound
from hedgerow.publishers.records.clustree.mapping import MAPPINGS, ChildMapping
from hedgerow.publishers.records.clustree.pair_savings import PairSavings
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["TOLERANCE", "ClassSearch", "SearchCounts", "class_size"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: costs that differ by less are equal
TOLERANCE = 1e-9
#: from how many vertices below each on the histograms of subtrees are worth their time
_BELOW = 2
#: how many records are evaluated at first, and at most, at once: few are pruned better, many need fewer calls
_BATCHES = (8, 64)
#: how many pairs of vertices are evaluated at once, which bounds the memory
_PAIRS = 2_000_000


def class_size(k: int, l: int | None) -> tuple[int, int | None]:  # noqa: E741 - the names of the promises
    """How many members a class has, and how often a sensitive value may occur at a position; None for any number.

    Examples
    --------
    >>> class_size(5, 2), class_size(3, None)
    ((5, 2), (3, None))
    """
    size = max(k, l or 1)
    return size, None if l is None else size // l


@dataclass
class SearchCounts:
    """How many pairs of a representative and a record were considered, and how many the bound did not exclude."""

    considered: int = 0
    evaluated: int = 0


@dataclass(frozen=True, eq=False)
class ClassSearch:
    """How classes are built.

    Parameters
    ----------
    forest
        The records.
    size
        The number of members of a class.
    most
        How often a sensitive value may occur at a position of a class of this size; None for any number.
    mapping
        How children are matched.
    by_members
        Whether a representative counts as often as it has members, or once, as in the paper.
    price
        What each label of a joining record is worth: 1 if the choice is to suppress it, and the share that it would
        keep in another class if it is to join that one.
    """

    forest: Forest
    size: int
    most: int | None
    mapping: ChildMapping = MAPPINGS["assignment"]
    by_members: bool = True
    price: float = 1.0
    counts: SearchCounts = field(default_factory=SearchCounts)

    @cached_property
    def bound(self) -> HistogramBound:
        """The histograms of the records."""
        return HistogramBound(self.forest)

    @cached_property
    def child_bounds(self) -> dict[int, HistogramBound]:
        """The histograms of subtrees below the root, of types with several vertices below them."""
        return {
            number: HistogramBound(self.forest, number)
            for number, arrays in enumerate(self.forest.types)
            if self.forest.schema.parents[number] == 0
            and _count_children(arrays) >= _BELOW * max(1, len(arrays.parent))
        }

    def create(
        self, seed: int, free: NDArray[np.bool_], known: tuple[Representative, ...] = ()
    ) -> tuple[Representative, ...]:
        """Build a class of a seed and free records: its representative after each member has joined.

        There are fewer than `size` of them if at some step no free record can join. `known` is what was built of this
        seed when more records were free: its start is still right as long as its members are free, since the nearest of
        many records is also the nearest of some of them.
        """
        free = free.copy()
        steps = [Representative.of_record(self.forest, seed)]
        for step in known[1:]:
            if not free[step.members].all():
                break
            steps.append(step)
        while len(steps) < self.size:
            free[steps[-1].members] = False
            pairs = self.pairs(steps[-1], self.most)
            nearest = self.nearest(pairs, free)
            if nearest is None:
                break
            steps.append(pairs.merged(nearest))
        return tuple(steps)

    def pairs(self, representative: Representative, most: int | None) -> PairSavings:
        """The savings of a representative with all records."""
        weight = len(representative.members) if self.by_members else 1
        return PairSavings(representative, self.mapping, most=most, weight=weight)

    def nearest(self, pairs: PairSavings, free: NDArray[np.bool_]) -> int | None:
        """The free record that joins at the least cost, the first of equals; None if none can join.

        Records are evaluated in the order of the lower bound of their costs, until the bound exceeds the least cost.
        """
        candidates = np.flatnonzero(free & pairs.joinable())
        if not len(candidates):
            return None
        lower = self.lower_bounds(pairs, candidates)
        order = np.argsort(lower, kind="stable")
        costs = np.full(len(candidates), np.inf)
        start, best, size = 0, np.inf, _BATCHES[0]
        while start < len(order):
            batch = self._batch(pairs, candidates, order[start : start + size])
            start, size = start + len(batch), min(2 * size, _BATCHES[1])
            batch = batch[lower[batch] <= best + 2 * TOLERANCE]
            if not len(batch):
                break
            costs[batch] = self._costs(pairs, candidates[batch], pairs.of_records(candidates[batch]))
            best = min(best, float(costs[batch].min()))
            self.counts.evaluated += len(batch)
        self.counts.considered += len(candidates)
        return int(candidates[np.flatnonzero(costs <= best + TOLERANCE)[0]])

    def savings(self, pairs: PairSavings, records: Integers) -> Floats:
        """The saving of each record; as many are evaluated at once as fit into memory."""
        order = np.arange(len(records))
        parts = [np.zeros(0)]
        while len(order):
            batch = self._batch(pairs, records, order)
            parts.append(pairs.of_records(records[batch]))
            order = order[len(batch) :]
        self.counts.evaluated += len(records)
        return np.concatenate(parts)

    def _costs(self, pairs: PairSavings, records: Integers, savings: Floats) -> Floats:
        """What records cost that save so much, up to what is the same for all of them."""
        return self.price * self.forest.types[0].size[records] - (pairs.weight + 1) * savings

    def lower_bounds(self, pairs: PairSavings, candidates: Integers) -> Floats:
        """At most what each record costs: by histograms of records, and of subtrees where these are large."""
        lower = self._costs(pairs, candidates, self.bound.savings(pairs.representative)[0, candidates])
        if not self.child_bounds:
            return lower
        limits = {number: bound.savings(pairs.representative) for number, bound in self.child_bounds.items()}
        return np.maximum(lower, self._costs(pairs, candidates, pairs.at_most(candidates, limits)))

    def _batch(self, pairs: PairSavings, candidates: Integers, batch: Integers) -> Integers:
        """The first of a batch, at least one, that fit into memory together."""
        own = pairs.representative.sizes[0][0] + 1
        fitting = np.cumsum(own * self.forest.types[0].size[candidates[batch]]) <= _PAIRS
        return batch[: max(1, int(fitting.sum()))]


def _count_children(arrays: VertexArrays) -> int:
    return sum(int(ranges.number.sum()) for ranges in arrays.children.values())

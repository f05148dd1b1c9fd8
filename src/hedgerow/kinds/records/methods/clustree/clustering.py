r"""Classes of similar records: how a block of records is clustered.

Three levels, the outermost first: all classes, seeds one after another, and expensive classes postponed
(`build_classes`, Algorithm 5); one class, a seed and the records that join it at the least cost (`ClassSearch`,
Algorithm 4); and what is saved by making one tree of two (`PairSavings`, Algorithm 1), with an upper bound of it by
histograms (`HistogramBound`) that excludes most pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.records.methods.clustree.representative import (
    KEEP,
    MAPPINGS,
    ChildMapping,
    Forest,
    Positions,
    Representative,
    SiblingPairs,
    VertexArrays,
)
from hedgerow.numerics.arrays import Floats, Integers, index_ranges


class Clustering(NamedTuple):
    """Classes, and the records that are in none."""

    classes: list[Representative]
    leftovers: list[int]


def build_classes(
    search: ClassSearch,
    deviations: Sequence[float],
    *,
    relative: bool = True,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Clustering:
    """Build classes in one pass per allowed deviation.

    A class is accepted if its cost is at most the mean of those accepted before plus so many standard deviations; the
    first two always are. A seed that no record can join is a leftover, since later there are even fewer records.

    Records with few labels are seeds first, which loses less in a single pass: a seed limits what its class can keep.

    Parameters
    ----------
    search
        How a class is built.
    deviations
        The allowed deviation of each pass, in standard deviations.
    relative
        Whether the cost per original label is compared, or the cost, which postpones large records.
    on_progress
        Is called with the number of records that are done.
    """
    free = np.ones(len(search.forest), np.bool_)
    order = np.argsort(search.forest.labels_per_record, kind="stable")
    classes: list[Representative] = []
    leftovers: list[int] = []
    rejected: dict[int, tuple[Representative, ...]] = {}
    moments = RunningMoments()
    for deviation in deviations:
        for seed in order[free[order]].tolist():
            if not free[seed]:
                continue
            if np.count_nonzero(free) < search.size:
                break
            steps = search.create(seed, free, rejected.pop(seed, ()))
            if len(steps) < search.size:
                leftovers.append(seed)
                free[seed] = False
                continue
            cost = steps[-1].cost / (max(1, steps[-1].original_labels) if relative else 1)
            if not moments.accept(cost, deviation):
                rejected[seed] = steps
                continue
            classes.append(steps[-1])
            free[steps[-1].members] = False
            on_progress(len(free) - int(np.count_nonzero(free)))
    return Clustering(classes, [*leftovers, *np.flatnonzero(free).tolist()])


@dataclass
class RunningMoments:
    """Mean and standard deviation of numbers that come one after another (Welford).

    Examples
    --------
    >>> moments = RunningMoments()
    >>> for number in (1.0, 3.0):
    ...     moments.add(number)
    >>> moments.mean, moments.deviation
    (2.0, 1.0)
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def accept(self, number: float, deviation: float) -> bool:
        """Whether a number exceeds the mean by at most so many deviations, as the first two do; if so, add it."""
        if self.count > 1 and deviation < math.inf and number > self.mean + deviation * self.deviation:
            return False
        self.add(number)
        return True

    def add(self, number: float) -> None:
        """Take one more number into account."""
        self.count += 1
        step = number - self.mean
        self.mean += step / self.count
        self.squares += step * (number - self.mean)

    @property
    def deviation(self) -> float:
        """The standard deviation of the numbers themselves, not of a population that they are a sample of."""
        return math.sqrt(self.squares / self.count) if self.count else 0.0


def multipliers(most: float, step: float) -> list[float]:
    """The allowed deviations of all passes: 0, step, 2 step, ... below `most`, and then any.

    Examples
    --------
    >>> multipliers(2, 0.5)
    [0.0, 0.5, 1.0, 1.5, inf]
    """
    exact = Fraction(str(step))  # 0.9 / 0.3 is more than 3 in binary numbers
    passes = math.ceil(Fraction(str(most)) / exact)
    return [*(float(number * exact) for number in range(passes)), math.inf]


def class_bound(counts: Integers, *, size: int, most: int) -> int:
    r"""How many classes there can be at most, if a sensitive value of roots occurs at most so often in each.

    The largest $q$ such that $q$ classes can be filled: $\sum_v \min(c_v, q m) \ge q s$.

    Examples
    --------
    >>> class_bound(np.array([34, 183, 356, 308, 119]), size=3, most=1)
    322
    """
    low, high = 0, int(counts.sum()) // size
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(counts, middle * most).sum() >= middle * size:
            low = middle
        else:
            high = middle - 1
    return low


# One class (Algorithm 4).

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


# An upper bound of what a representative saves with every record.


class _Counts(NamedTuple):
    """Histograms: how many labels of a row are in a bin."""

    row: Integers
    bin: Integers
    number: Integers


class HistogramBound:
    r"""The histograms of all subtrees of a forest that start at one type; those of its records, by default.

    For a label $x$ let $h_T(x)$ be the number of labels of a tree at or below $x$, and $\omega(x)$ the loss of its
    parent minus its own. Whatever is matched, no more than $\min(h_1(x), h_2(x))$ pairs of labels have $x$ at or above
    their common ancestor, so the saving is at most $\sum_x \omega(x) \min(h_1(x), h_2(x))$. The minimum of two counts
    is the number of steps that both reach: with one column per label and step, filled up to the count (a thermometer
    code), the bound for all records is one product of a sparse matrix and a vector.
    """

    def __init__(self, forest: Forest, number: int = 0) -> None:
        self._forest = forest
        self._number = number
        sizes = [[1, *(len(losses.hierarchy) for losses in attributes)] for attributes in forest.losses]
        ends = np.cumsum([size for of_type in sizes for size in of_type])
        starts = iter(np.concatenate([[0], ends[:-1]]).tolist())
        #: the first bin of each type, which counts vertices, and of each of its attributes
        self._first: list[list[int]] = [[next(starts) for _ in of_type] for of_type in sizes]
        weights = [part for attributes in forest.losses for part in ([KEEP], *(losses.steps for losses in attributes))]
        self._weights = np.concatenate([np.asarray(part, np.float64) for part in weights])
        parents = [arrays.parent for arrays in forest.types]
        labels = [arrays.contents.labels[arrays.content] for arrays in forest.types]
        self._encode(self._histograms(parents, labels), len(parents[number]))

    def savings(self, representative: Representative) -> Floats:
        """At least what each position of the type, with what is below it, saves with each vertex."""
        parents = [positions.parent for positions in representative.types]
        counts = self._histograms(parents, [positions.labels for positions in representative.types])
        columns, rows = self._steps(counts._replace(number=np.minimum(counts.number, self._most[counts.bin])))
        vectors = np.zeros((len(self._step_weights), len(parents[self._number])))
        vectors[columns, rows] = self._step_weights[columns]
        return (self._matrix @ vectors).T

    def _histograms(self, parents: Sequence[Integers], labels: Sequence[Integers]) -> _Counts:
        """Count the labels at or below each label, in each subtree."""
        keys: list[Integers] = []
        tops: dict[int, Integers] = {self._number: np.arange(len(parents[self._number]))}
        for number, above in enumerate(self._forest.schema.parents):
            if above in tops:
                tops[number] = tops[above][parents[number]]
            if number in tops:
                row, column = self._bins(number, labels[number])
                keys.append(tops[number][row] * len(self._weights) + column)
        key, number = np.unique(np.concatenate(keys), return_counts=True)
        return _Counts(key // len(self._weights), key % len(self._weights), number)

    def _bins(self, number: int, labels: Integers) -> tuple[Integers, Integers]:
        """The row of `labels` and the bin, for every label and each of its ancestors, and for the vertex itself."""
        rows = np.arange(len(labels))
        vertices, *attributes = self._first[number]
        every = [(rows, np.full(len(labels), vertices))]
        for first, losses, column in zip(attributes, self._forest.losses[number], labels.T, strict=True):
            above = losses.hierarchy.ancestors[column]
            place = np.nonzero(above >= 0)
            every.append((rows[place[0]], first + above[place]))
        return np.concatenate([row for row, _ in every]), np.concatenate([bins for _, bins in every])

    def _encode(self, counts: _Counts, rows: int) -> None:
        """Fill one column per bin and step, up to the count of the bin."""
        self._most = np.zeros(len(self._weights), np.int64)
        np.maximum.at(self._most, counts.bin, counts.number)
        self._starts = np.cumsum(self._most) - self._most
        self._step_weights = np.repeat(self._weights, self._most)
        columns, row = self._steps(counts)
        shape = (rows, len(self._step_weights))
        from scipy import sparse  # noqa: PLC0415 - listing the methods does not need it

        self._matrix: Any = sparse.csr_matrix((np.ones(len(row)), (row, columns)), shape)  # SciPy is not typed

    def _steps(self, counts: _Counts) -> tuple[Integers, Integers]:
        """The columns of the steps that each count reaches, and their rows."""
        return index_ranges(self._starts[counts.bin], counts.number), np.repeat(counts.row, counts.number)


# What is saved by making one tree of two (Algorithm 1).


class PairSavings:
    r"""The savings of one representative with any record of its forest, computed for many records at once.

    Suppressing two trees loses all their labels. If two vertices become one, $1 - LM'(g)$ of each pair of labels is
    saved, with $g$ their deepest common ancestor, once for every record that the two trees stand for. The sum of what
    is saved by matched vertices, the *saving* $S$, therefore does not depend on the weights $w_1$, $w_2$ of the trees,
    and the cost is $w_1 |T_1| + w_2 |T_2| - (w_1 + w_2) S$.

    Two vertices may be matched if their parents are, and no sensitive value becomes too frequent at the position; a
    missing sensitive value matches only missing ones. A pair of vertices also saves `KEEP`, so that a vertex is kept
    even if all of its labels are hidden.

    Parameters
    ----------
    representative
        The first tree of every pair.
    mapping
        How children are matched.
    most
        How often a sensitive value may occur at a position, the joining record included; None for any number.
    weight
        How many records the representative stands for in greedy matching.
    """

    def __init__(self, representative: Representative, mapping: ChildMapping, *, most: int | None, weight: int) -> None:
        self.representative = representative
        self.forest: Forest = representative.forest
        self.mapping = mapping
        self.weight = weight
        self.limits: Mapping[int, Floats] = {}
        self._own = [self._own_savings(number, most) for number in range(len(representative.types))]

    def joinable(self) -> NDArray[np.bool_]:
        """Which records have a root that may be matched."""
        return self._own[0][0, self.forest.types[0].content] > 0

    def of_records(self, records: Integers) -> Floats:
        """The saving of each record; 0 if its root must not be matched."""
        return self._subtrees(0, np.zeros(len(records), np.int64), records)

    def at_most(self, records: Integers, limits: Mapping[int, Floats]) -> Floats:
        """At least the saving of each record, if subtrees of some types save at most what `limits` says.

        A limit has one row per position of the type, and one column per vertex.
        """
        bounded = copy(self)
        bounded.mapping, bounded.limits = MAPPINGS["assignment"], limits
        return bounded.of_records(records)

    def merged(self, record: int) -> Representative:
        """The representative after a record has joined: common ancestors as labels, unmatched vertices suppressed."""
        matched = [(np.zeros(1, np.int64), np.array([record], np.int64))]
        types = [self._joined(0, np.zeros(1, np.int64), *matched[0])]
        for number, above in list(enumerate(self.forest.schema.parents))[1:]:
            first, second, pairs = self._children(number, *matched[above])
            places = self.mapping.matched(pairs)
            parent = np.repeat(np.arange(len(pairs.rows)), pairs.rows * pairs.columns)[places]
            matched.append((first[places], second[places]))
            types.append(self._joined(number, parent, *matched[number]))
        return Representative(self.forest, tuple(types))

    def _own_savings(self, number: int, most: int | None) -> Floats:
        """What each position saves with each distinct content of a vertex, without children; 0 if it must not match."""
        positions, contents = self.representative.types[number], self.forest.types[number].contents
        saving = np.full((len(positions.parent), len(contents)), KEEP)
        attributes = zip(self.forest.losses[number], positions.labels.T, contents.labels.T, strict=True)
        for losses, own, other in attributes:
            saving += losses.kept(own, other)
        saving[~_may_match(self.representative.buckets(number), contents.bucket, most)] = 0
        return saving

    def _subtrees(self, number: int, first: Integers, second: Integers) -> Floats:
        """The saving of pairs of vertices of a type, with everything below them."""
        arrays, own = self.forest.types[number], self._own[number]
        saving = own.ravel()[first * own.shape[1] + arrays.content[second]]
        allowed = np.flatnonzero(saving)
        if number in self.limits:
            saving[allowed] = self.limits[number][first[allowed], second[allowed]]
            return saving
        for child in arrays.children:
            _, _, pairs = self._children(child, first[allowed], second[allowed])
            saving[allowed] += self.mapping.totals(pairs)
        return saving

    def _children(self, number: int, first: Integers, second: Integers) -> tuple[Integers, Integers, SiblingPairs]:
        """All pairs of children of one type of pairs of parents, and their savings."""
        above = self.forest.schema.parents[number]
        own, other = self.representative.children[above][number], self.forest.types[above].children[number]
        rows, columns = own.number[first], other.number[second]
        wide = np.repeat(columns, rows)
        left = np.repeat(index_ranges(own.first[first], rows), wide)
        right = index_ranges(np.repeat(other.first[second], rows), wide)
        saving = self._subtrees(number, left, right)
        pairs = SiblingPairs(rows, columns, saving, saving)
        if self.mapping.ordered:
            pairs = pairs._replace(order=self._costs(number, left, right, pairs))
        return left, right, pairs

    def _costs(self, number: int, left: Integers, right: Integers, pairs: SiblingPairs) -> Floats:
        """The cost of each pair, up to what is the same for all partners of the child that chooses one."""
        rows_choose = np.repeat(pairs.rows <= pairs.columns, pairs.rows * pairs.columns)
        theirs, ours = self.forest.types[number].size[right], self.representative.sizes[number][left]
        return np.where(rows_choose, theirs, self.weight * ours) - (self.weight + 1) * pairs.saving

    def _joined(self, number: int, parent: Integers, first: Integers, second: Integers) -> Positions:
        own = self.representative.types[number]
        labels, other = own.labels[first], self.forest.labels(number, second)
        for attribute, losses in enumerate(self.forest.losses[number]):
            labels[:, attribute] = losses.hierarchy.common_ancestor(labels[:, attribute], other[:, attribute])
        return Positions(parent, labels, np.column_stack([own.vertices[first], second]))


def _may_match(own: Integers, other: Integers, most: int | None) -> NDArray[np.bool_]:
    """Whether a vertex of each bucket may join each position that has these buckets of its members."""
    missing = own[:, :1] < 0
    same = missing == (other < 0)
    if most is None:
        return same
    counts = np.zeros((len(own), max(own.max(initial=-1), other.max(initial=-1)) + 2), np.int64)
    np.add.at(counts, (np.arange(len(own))[:, None], own), 1)
    return same & (missing | (counts[:, other] < most))

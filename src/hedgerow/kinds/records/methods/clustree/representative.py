"""Trees of a class as arrays: the records of a block (`Forest`), and what the members of a class become.

The members of a class become its `Representative`: one tree of generalised labels, with the vertex of every member at
each position. Which children of two vertices become one is decided by an assignment or greedily (`MAPPINGS`, Algorithms
3 and 2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hedgerow.data.axis import Axis
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.schema import RecordSchema
from hedgerow.numerics.arrays import Floats, Integers, index_ranges
from hedgerow.numerics.assignment import assign

#: what a vertex counts in addition to its labels, so that of equal losses of labels the one with more vertices is
#: chosen: a vertex whose labels are all hidden still has its sensitive value and its children. It is too small to
#: outweigh a difference of labels.
KEEP = 2.0**-23


class ChildRanges(NamedTuple):
    """The children of one type of each vertex: consecutive rows, `number` of them from `first` on."""

    first: Integers
    number: Integers

    @classmethod
    def of(cls, parent: Integers, parents: int) -> ChildRanges:
        """Return the ranges of rows that are sorted by their parents."""
        number = np.bincount(parent, minlength=parents)
        return cls(np.cumsum(number) - number, number)


class Contents(NamedTuple):
    """The distinct contents of the vertices of a type: their labels and the bucket of their sensitive value, or -1."""

    labels: Integers
    bucket: Integers

    def __len__(self) -> int:
        return len(self.bucket)


class VertexArrays(NamedTuple):
    """The vertices of one type: parent, content, children by type, and the labels at and below each.

    `size` counts every label once and every vertex as `KEEP`.
    """

    parent: Integers
    content: Integers
    contents: Contents
    children: Mapping[int, ChildRanges]
    size: Floats


@dataclass(frozen=True, eq=False)
class Forest:
    """Records for the search of classes.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import VertexType
    >>> from hedgerow.kinds.records.methods.clustree.representative import losses_of
    >>> course = VertexType("course", "student", ("id",), "grade")
    >>> schema = RecordSchema((VertexType("student", None, ("born",)), course))
    >>> domain = Domain.declare(**{"student.born": [1990, 1991], "course.id": ["CS", "MA"], "course.grade": ["A", "B"]})
    >>> courses = [("course", ["MA"], "A", []), ("course", ["CS"], "A", []), ("course", ["MA"], "A", [])]
    >>> data = Records.from_trees([("student", [1991], None, courses)], schema, domain)
    >>> forest = Forest.of(data, losses_of(data))
    >>> forest.types[1].content.tolist(), forest.types[0].children[1].number.tolist(), forest.labels_per_record.tolist()
    ([1, 0, 1], [3], [4])
    """

    schema: RecordSchema
    losses: tuple[tuple[LabelLosses, ...], ...]
    types: tuple[VertexArrays, ...]
    labels_per_record: Integers

    @classmethod
    def of(cls, data: Records, losses: tuple[tuple[LabelLosses, ...], ...]) -> Forest:
        """Make the arrays of records; siblings keep their order."""
        types: list[VertexArrays] = []
        for number in reversed(range(len(data.tables))):
            table, kind = data.tables[number], data.schema.types[number]
            children = {
                child: ChildRanges.of(data.tables[child].parent, len(table)) for child in data.schema.children(number)
            }
            size = np.full(len(table), table.labels.shape[1] + KEEP)
            for child in children:
                np.add.at(size, data.tables[child].parent, types[len(data.tables) - 1 - child].size)
            bucket = table.sensitive
            if kind.sensitive_axis is not None:
                codes = bucket_codes(data.domain.axis(kind.sensitive_axis))
                bucket = np.where(bucket < 0, -1, codes[bucket])
            content, contents = _distinct_contents(table.labels, bucket)
            types.append(VertexArrays(table.parent, content, contents, children, size))
        return cls(data.schema, losses, tuple(reversed(types)), data.sizes())

    def __len__(self) -> int:
        return len(self.types[0].content)

    def labels(self, number: int, vertices: Integers) -> Integers:
        """The labels of vertices of a type."""
        arrays = self.types[number]
        return arrays.contents.labels[arrays.content[vertices]]


def bucket_codes(axis: Axis) -> Integers:
    """The bucket of each sensitive value: the first group of its path, or the value itself if it has no path.

    Examples
    --------
    >>> bucket_codes(Axis((21, 24, 31), (("20-29",), ("20-29",), ("30-39",)))).tolist()
    [0, 0, 1]
    """
    if not axis.paths:
        return np.arange(len(axis))
    numbers: dict[tuple[str, ...], int] = {}
    keys = [path[:1] or ("", str(value)) for value, path in zip(axis.values, axis.paths, strict=True)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _distinct_contents(labels: Integers, bucket: Integers) -> tuple[Integers, Contents]:
    rows, content = np.unique(np.column_stack([labels, bucket]), axis=0, return_inverse=True)
    return content.reshape(-1).astype(np.int64), Contents(rows[:, :-1], rows[:, -1])


# What is lost by the deepest common ancestor of two labels.

#: the maximum number of labels of which all pairs are kept in a table: 8 MB
_TABLE = 1024


class LabelLosses:
    """Which part of a label survives if it is published together with another one.

    Examples
    --------
    >>> from hedgerow.data.domain import Axis
    >>> courses = Axis(("CS201", "CS301", "CS305"), (("CS2",), ("CS3",), ("CS3",)))
    >>> losses = LabelLosses(Hierarchy.from_axis(courses))
    >>> losses.kept(np.array([1]), np.arange(3)).tolist()
    [[0.0, 1.0, 0.5]]
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        every = np.arange(len(hierarchy))
        self._table = self._rows(every, every) if len(hierarchy) <= _TABLE else None

    def kept(self, labels: Integers, others: Integers) -> Floats:
        """One minus the loss of the deepest common ancestor of each of these labels with each of the others."""
        if self._table is not None:
            return self._table[labels][:, others]
        distinct, place = np.unique(others, return_inverse=True)  # of a long hierarchy, few labels occur
        return self._rows(labels, distinct)[:, place]

    @property
    def steps(self) -> Floats:
        """What each label adds to the part that is kept, so that the sum along a path to the root is that part."""
        loss, parent = self.hierarchy.loss, self.hierarchy.parent
        return np.where(parent >= 0, loss[parent], 1.0) - loss

    def _rows(self, labels: Integers, others: Integers) -> Floats:
        rows = np.empty((len(labels), len(others)))
        for row, label in zip(rows, labels, strict=True):
            row[:] = 1 - self.hierarchy.loss[self.hierarchy.common_ancestor(np.full_like(others, label), others)]
        return rows


def losses_of(data: Records) -> tuple[tuple[LabelLosses, ...], ...]:
    """The losses of the quasi-identifiers of each type."""
    return tuple(tuple(map(LabelLosses, data.hierarchies(number))) for number in range(len(data.schema.types)))


# The representative of a class.


class Positions(NamedTuple):
    """The positions of one type, sorted by their parents: labels, and the vertex of each member, in member order."""

    parent: Integers
    labels: Integers
    vertices: Integers


@dataclass(frozen=True, eq=False)
class Representative:
    """The tree that all members of a class become."""

    forest: Forest
    types: tuple[Positions, ...]

    @classmethod
    def of_record(cls, forest: Forest, record: int) -> Representative:
        """A class of one record, as it is."""
        vertices: list[Integers] = []
        types: list[Positions] = []
        for number, above in enumerate(forest.schema.parents):
            if above < 0:
                parent, own = np.zeros(1, np.int64), np.array([record], np.int64)
            else:
                ranges = forest.types[above].children[number]
                count = ranges.number[vertices[above]]
                parent = np.repeat(np.arange(len(count)), count)
                own = index_ranges(ranges.first[vertices[above]], count)
            vertices.append(own)
            types.append(Positions(parent, forest.labels(number, own), own[:, None]))
        return cls(forest, tuple(types))

    @property
    def members(self) -> Integers:
        """The records of the class, in the order in which they joined."""
        return self.types[0].vertices[0]

    @cached_property
    def children(self) -> tuple[Mapping[int, ChildRanges], ...]:
        """The children of each position, by type."""
        return tuple(
            {
                child: ChildRanges.of(self.types[child].parent, len(positions.parent))
                for child in self.forest.schema.children(number)
            }
            for number, positions in enumerate(self.types)
        )

    @cached_property
    def sizes(self) -> tuple[Floats, ...]:
        """The labels at and below each position, and every vertex as `KEEP`."""
        sizes = [np.full(len(labels), labels.shape[1] + KEEP) for _, labels, _ in self.types]
        for number in reversed(range(1, len(sizes))):
            np.add.at(sizes[self.forest.schema.parents[number]], self.types[number].parent, sizes[number])
        return tuple(sizes)

    @cached_property
    def kept(self) -> float:
        """The sum over its labels of one minus their loss: what each member keeps of its labels."""
        total = 0.0
        for losses, positions in zip(self.forest.losses, self.types, strict=True):
            for attribute, labels in zip(losses, positions.labels.T, strict=True):
                total += float((1 - attribute.hierarchy.loss[labels]).sum())
        return total

    @property
    def cost(self) -> float:
        """The loss of all members: of generalised labels, and one per suppressed label."""
        return float(self.original_labels - len(self.members) * self.kept)

    @property
    def original_labels(self) -> int:
        """The number of labels that the members have originally."""
        return int(self.forest.labels_per_record[self.members].sum())

    def buckets(self, number: int) -> Integers:
        """The bucket of the sensitive value of each member at each position of a type."""
        arrays = self.forest.types[number]
        return arrays.contents.bucket[arrays.content[self.types[number].vertices]]


# Which children of two vertices become one vertex.

_PAIR = 2


class SiblingPairs(NamedTuple):
    """Blocks of pairs of children: for each pair of parents all children of the one with all of the other.

    A block has one row per child of the first parent, and one column per child of the second; blocks, rows and columns
    follow one another. `saving` is what a pair saves together with everything below it, 0 if it must not be formed.
    `order` is the criterion of greedy matching: the smallest comes first.
    """

    rows: Integers
    columns: Integers
    saving: Floats
    order: Floats

    @property
    def starts(self) -> Integers:
        """Where each block starts."""
        sizes = self.rows * self.columns
        return np.cumsum(sizes) - sizes


class ChildMapping(NamedTuple):
    """A way to match children: how much each block saves, and which pairs are matched, by their places.

    `ordered` says whether it uses the order of pairs.

    Examples
    --------
    >>> saving = np.array([3.0, 2.0, 2.0, 0.0])
    >>> block = SiblingPairs(np.array([2]), np.array([2]), saving, -saving)
    >>> {name: (way.totals(block).tolist(), way.matched(block).tolist()) for name, way in MAPPINGS.items()}
    {'assignment': ([4.0], [1, 2]), 'greedy': ([3.0], [0])}
    """

    totals: Callable[[SiblingPairs], Floats]
    matched: Callable[[SiblingPairs], Integers]
    ordered: bool


def _assignment_totals(pairs: SiblingPairs) -> Floats:
    """The most that each block can save; one row or column and two by two need no solver."""
    rows, columns, starts, saving = pairs.rows, pairs.columns, pairs.starts, pairs.saving
    totals = np.zeros(len(rows))
    least = np.minimum(rows, columns)
    filled = np.flatnonzero(least)
    if len(filled):
        totals[filled] = np.maximum.reduceat(saving, starts[filled])
    square = np.flatnonzero((rows == _PAIR) & (columns == _PAIR))
    at = starts[square]
    totals[square] = np.maximum(saving[at] + saving[at + 3], saving[at + 1] + saving[at + 2])
    large = np.flatnonzero((least > 1) & (rows + columns > _PAIR + _PAIR))
    if len(large):
        totals[large] = [-matrix[assign(matrix)].sum() for matrix in _matrices(pairs, large)]
    return totals


def _assigned_pairs(pairs: SiblingPairs) -> Integers:
    """The pairs of a best assignment, without those that must not be formed."""
    chosen = [np.zeros(0, np.int64)]
    every = np.arange(len(pairs.rows))
    for start, wide, matrix in zip(pairs.starts, pairs.columns, _matrices(pairs, every), strict=True):
        row, column = assign(matrix)
        chosen.append(start + row * wide + column)
    places = np.concatenate(chosen)
    return places[pairs.saving[places] > 0]


def _matrices(pairs: SiblingPairs, blocks: Integers) -> list[Floats]:
    """The costs of blocks as matrices: negative savings, since the solver minimises."""
    costs = -pairs.saving
    every: tuple[list[int], ...] = tuple(part[blocks].tolist() for part in (pairs.starts, pairs.rows, pairs.columns))
    shapes = zip(*every, strict=True)
    return [costs[start : start + high * wide].reshape(high, wide) for start, high, wide in shapes]


def _match_greedily(pairs: SiblingPairs) -> tuple[Integers, Integers]:
    """Match the smaller side one after another, each with the cheapest partner that is free; return blocks and places.

    A pair that must not be formed never is, and does not use up a partner.
    """
    rows, columns, starts = pairs.rows, pairs.columns, pairs.starts
    cost = np.where(pairs.saving > 0, pairs.order, np.inf)
    chosen = [np.zeros((2, 0), np.int64)]
    shapes = set(zip(rows.tolist(), columns.tolist(), strict=True))
    for high, wide in sorted(shape for shape in shapes if min(shape)):
        blocks = np.flatnonzero((rows == high) & (columns == wide))
        places = index_ranges(starts[blocks], rows[blocks] * columns[blocks]).reshape(-1, high, wide)
        if high > wide:
            places = places.transpose(0, 2, 1)
        chosen.extend(_match_stack(blocks, places, cost[places]))
    block, place = np.concatenate(chosen, axis=1)
    return block, place


def _match_stack(blocks: Integers, places: Integers, cost: Floats) -> list[Integers]:
    """Match blocks of one shape at once; return the block and the place of each pair."""
    chosen: list[Integers] = []
    every = np.arange(len(blocks))
    for row in range(cost.shape[1]):
        best = cost[:, row].argmin(axis=1)
        allowed = np.isfinite(cost[every, row, best])
        chosen.append(np.stack([blocks[allowed], places[every, row, best][allowed]]))
        cost[every[allowed], :, best[allowed]] = np.inf
    return chosen


def _greedy_totals(pairs: SiblingPairs) -> Floats:
    block, place = _match_greedily(pairs)
    totals = np.zeros(len(pairs.rows))
    np.add.at(totals, block, pairs.saving[place])
    return totals


def _greedy_pairs(pairs: SiblingPairs) -> Integers:
    return np.sort(_match_greedily(pairs)[1])


#: the mappings of the paper: Algorithm 3 (a linear sum assignment problem) and Algorithm 2
MAPPINGS: Mapping[str, ChildMapping] = {
    "assignment": ChildMapping(_assignment_totals, _assigned_pairs, ordered=False),
    "greedy": ChildMapping(_greedy_totals, _greedy_pairs, ordered=True),
}

"""Records as arrays for the search: the vertices of each type, the ranges of their children, and distinct contents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.domain import Axis
from hedgerow.data.record_schema import RecordSchema
from hedgerow.data.records import Records
from hedgerow.publishers.records.clustree.label_losses import LabelLosses

__all__ = ["KEEP", "ChildRanges", "Contents", "Forest", "VertexArrays", "bucket_codes"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

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
    >>> from hedgerow.data.record_schema import VertexType
    >>> from hedgerow.publishers.records.clustree.label_losses import losses_of
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

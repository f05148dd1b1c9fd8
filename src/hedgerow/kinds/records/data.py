"""Nested records: one tree per person, such as a student with courses, each with books."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.axis import Value
from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain
from hedgerow.errors import DomainError
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.schema import RecordSchema
from hedgerow.numerics.arrays import Integers
from hedgerow.numerics.sorting import sorted_order

#: a record as plain values: type, labels, sensitive value, children
Tree: TypeAlias = "tuple[str, Sequence[Value], Value | None, Sequence[Tree]]"
#: the code of a missing sensitive value
NOTHING = -1


class VertexTable(NamedTuple):
    """The vertices of one type, sorted by their parents.

    `parent` is the row of the parent in the table of its type, and the number of the record for roots. `labels` has a
    column of labels of its hierarchy per quasi-identifier. `sensitive` is the code of the sensitive value, or -1.
    """

    parent: Integers
    labels: Integers
    sensitive: Integers

    def __len__(self) -> int:
        return len(self.parent)

    def take(self, rows: NDArray[np.intp]) -> VertexTable:
        """Return these rows."""
        return VertexTable(self.parent[rows], self.labels[rows], self.sensitive[rows])

    def with_parent(self, parent: Integers) -> VertexTable:
        """Return the same vertices below other parents."""
        return VertexTable(parent, self.labels, self.sensitive)


@dataclass(frozen=True, eq=False, repr=False)
class Records(Dataset):
    """Trees whose vertices have labels, and sensitive values that stay as they are; siblings have no order.

    Labels are codes of the hierarchies of their axes: a value, or a group of values in published data.

    Examples
    --------
    >>> from hedgerow.kinds.records.schema import VertexType
    >>> schema = RecordSchema((VertexType("student", None, ("born",), "gpa"), VertexType("course", "student", ("id",))))
    >>> axes = {"student.born": [1990, 1991], "student.gpa": ["2.5", "3.1"], "course.id": ["CS", "MA"]}
    >>> domain = Domain.declare(**axes)
    >>> data = Records.from_trees([("student", [1991], "3.1", [("course", ["MA"], None, [])])], schema, domain)
    >>> len(data), data.trees()
    (1, [('student', ['1991'], '3.1', [('course', ['MA'], None, [])])])
    """

    kind: ClassVar[str] = "records"
    units: ClassVar[tuple[str, ...]] = ("record",)

    schema: RecordSchema
    tables: tuple[VertexTable, ...]

    def __post_init__(self) -> None:
        for table in self.tables:
            for column in table:
                column.flags.writeable = False

    @property
    def axes(self) -> tuple[str, ...]:
        """The attributes of all types."""
        return self.schema.axes

    @property
    def declared_axes(self) -> tuple[str, ...]:
        """The quasi-identifiers: a schema declares their hierarchies."""
        return tuple(name for kind in self.schema.types for name in kind.quasi_axes)

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], schema: RecordSchema, domain: Domain) -> Records:
        """Make records of nested plain values; labels may be values or names of groups."""
        builder = _Builder(schema, domain)
        for number, tree in enumerate(trees):
            builder.add(tree, number)
        return cls(domain, schema, builder.tables())

    def __len__(self) -> int:
        """Count the records."""
        return len(self.tables[0])

    def hierarchies(self, number: int) -> tuple[Hierarchy, ...]:
        """The hierarchies of the quasi-identifiers of a type."""
        return tuple(Hierarchy.from_axis(self.domain.axis(name)) for name in self.schema.types[number].quasi_axes)

    def records_of(self, number: int) -> Integers:
        """The record of each vertex of a type."""
        parents = self.schema.parents
        record = self.tables[number].parent
        while parents[number] >= 0:
            number = parents[number]
            record = self.tables[number].parent[record]
        return record

    def sizes(self) -> Integers:
        """Count the labels of each record."""
        total = np.zeros(len(self), np.int64)
        for number, table in enumerate(self.tables):
            total += table.labels.shape[1] * np.bincount(self.records_of(number), minlength=len(self))
        return total

    def trees(self) -> list[Tree]:
        """List the records as nested plain values."""
        listed: list[list[Tree]] = []
        below: list[list[list[Tree]]] = []
        for number, table in enumerate(self.tables):
            kind, above = self.schema.types[number], self.schema.parents[number]
            names = [tree.names for tree in self.hierarchies(number)]
            values: tuple[Value, ...] = self.domain.values(kind.sensitive_axis) if kind.sensitive_axis else ()
            children: list[list[Tree]] = [[] for _ in range(len(table))]
            listed.append([])
            below.append(children)
            parents: list[int] = table.parent.tolist()
            labelled: list[list[int]] = table.labels.tolist()
            sensitives: list[int] = table.sensitive.tolist()
            for parent, labels, sensitive, own in zip(parents, labelled, sensitives, children, strict=True):
                shown = [column[code] for column, code in zip(names, labels, strict=True)]
                tree: Tree = (kind.name, shown, values[sensitive] if sensitive >= 0 else None, own)
                listed[number].append(tree)
                if above >= 0:
                    below[above][parent].append(tree)
        return listed[0]

    def count_units(self, unit: str) -> int:
        """Count the records."""
        self.require_unit(unit)
        return len(self)

    def neighbour(self, index: int, *, unit: str) -> Records:
        """Return this data set without one record."""
        self.require_unit(unit)
        return self.only(np.arange(len(self)) != index)

    def only(self, kept: NDArray[np.bool_]) -> Records:
        """Keep some records."""
        return self.prune([kept, *(np.ones(len(table), np.bool_) for table in self.tables[1:])])

    def prune(self, kept: Sequence[NDArray[np.bool_]]) -> Records:
        """Keep these vertices of each type, if their parents are kept."""
        tables: list[VertexTable] = []
        places: list[Integers] = []
        for number, table in enumerate(self.tables):
            above = self.schema.parents[number]
            parent = np.arange(len(table)) if above < 0 else places[above][table.parent]
            rows = np.flatnonzero(kept[number] & (parent >= 0))
            place = np.full(len(table), -1, np.int64)
            place[rows] = np.arange(len(rows))
            places.append(place)
            new_parent = place[rows] if above < 0 else parent[rows]
            tables.append(VertexTable(new_parent, table.labels[rows], table.sensitive[rows]))
        return replace(self, tables=tuple(tables))

    def bounded(self, unit: str) -> Records:
        """Return the same: a person has one record."""
        self.require_unit(unit)
        return self

    def canonical(self) -> Records:
        """Sort records and siblings by all of their content, so that their order says nothing more."""
        codes = self.content_codes()
        tables: list[VertexTable] = []
        places: list[Integers] = []
        for number, table in enumerate(self.tables):
            above = self.schema.parents[number]
            parent = np.zeros(len(table), np.int64) if above < 0 else places[above][table.parent]
            order = sorted_order([parent, codes[number]])
            place = np.empty(len(table), np.int64)
            place[order] = np.arange(len(table))
            places.append(place)
            tables.append(table.take(order).with_parent(np.arange(len(table)) if above < 0 else parent[order]))
        return replace(self, tables=tuple(tables))

    def content_codes(self, *, sensitive: bool = True) -> list[Integers]:
        """Number the vertices of each type such that equal numbers mean equal subtrees, siblings in any order."""
        codes: list[Integers] = [np.zeros(0, np.int64)] * len(self.tables)
        for number in reversed(range(len(self.tables))):
            table = self.tables[number]
            below = [
                _list_codes(self.tables[child].parent, codes[child], len(table))
                for child in self.schema.children(number)
            ]
            own = [table.sensitive] if sensitive else []
            codes[number] = _row_codes([*table.labels.T, *own, *below], len(table))
        return codes

    def narrowed(self) -> Records:
        """Return the same with the sensitive values that occur; hierarchies are public."""
        kept: dict[str, Integers] = {}
        tables = list(self.tables)
        for number, kind in enumerate(self.schema.types):
            if kind.sensitive_axis is not None:
                codes = tables[number].sensitive
                kept[kind.sensitive_axis] = used = np.unique(codes[codes >= 0])
                narrow = np.where(codes < 0, NOTHING, np.searchsorted(used, codes))
                tables[number] = VertexTable(tables[number].parent, tables[number].labels, narrow)
        return replace(self, domain=self.domain.narrowed(**kept), tables=tuple(tables))

    def shuffled(self, order: np.random.Generator) -> Records:
        """Return the same records, and siblings, in another order."""
        tables: list[VertexTable] = []
        places: list[Integers] = []
        for number, table in enumerate(self.tables):
            above = self.schema.parents[number]
            parent = np.zeros(len(table), np.int64) if above < 0 else places[above][table.parent]
            rows = np.lexsort((order.random(len(table)), parent))
            place = np.empty(len(table), np.int64)
            place[rows] = np.arange(len(table))
            places.append(place)
            tables.append(table.take(rows).with_parent(np.arange(len(table)) if above < 0 else parent[rows]))
        return replace(self, tables=tuple(tables))

    def to_bytes(self) -> bytes:
        """Return the whole content, in order."""
        axes = [(name, *axis.content()) for name, axis in self.domain.axes]
        tables = [[column.tolist() for column in table] for table in self.tables]
        return msgspec.json.encode([self.kind, repr(self.schema), axes, self.domain.source.value, tables])


def _row_codes(keys: Sequence[Integers], rows: int) -> Integers:
    """Number rows of equal keys equally, in the order of the keys."""
    if rows == 0 or not keys:
        return np.zeros(rows, np.int64)
    order = sorted_order(list(keys))
    new = np.logical_or.reduce([np.diff(key[order], prepend=key[order][0]) != 0 for key in keys])
    codes = np.empty(rows, np.int64)
    codes[order] = np.cumsum(new)
    return codes


def _list_codes(owner: Integers, codes: Integers, owners: int) -> Integers:
    """Number owners equally that have equal codes, each as often, in any order.

    The numbers are in the order of the sorted lists of codes, compared from their start. Neighbours in a list are
    replaced by the number of their pair until one is left, so a vertex with many children takes a few rounds only.
    """
    order = sorted_order([owner, codes]) if len(owner) else np.zeros(0, np.intp)
    owner, codes = owner[order], codes[order]
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    while place.any():
        first = place % 2 == 0
        following = np.append(np.where(first[1:], -1, codes[1:]), -1)  # -1: no partner, before all others
        codes = _row_codes([codes[first], following[first]], int(first.sum()))
        owner, place = owner[first], place[first] // 2
    result = np.full(owners, -1, np.int64)
    result[owner] = codes
    return result


class _Builder:
    """Collects vertices in the order of their parents."""

    def __init__(self, schema: RecordSchema, domain: Domain) -> None:
        self.schema = schema
        self.labels = [
            [
                {name: code for code, name in enumerate(Hierarchy.from_axis(domain.axis(axis)).names)}
                for axis in kind.quasi_axes
            ]
            for kind in schema.types
        ]
        self.values: list[Mapping[Value, int]] = [
            domain.axis(kind.sensitive_axis).codes if kind.sensitive_axis else {} for kind in schema.types
        ]
        self.rows: list[list[tuple[int, list[int], int]]] = [[] for _ in schema.types]

    def add(self, tree: Tree, parent: int) -> None:
        name, labels, sensitive, children = tree
        number = self.schema.numbers[name]
        try:
            codes = [known[str(label)] for known, label in zip(self.labels[number], labels, strict=True)]
            value = NOTHING if sensitive is None else self.values[number][sensitive]
        except (KeyError, ValueError):
            msg = f"a vertex of type {name!r} has a label or a sensitive value outside its domain"
            raise DomainError(msg) from None
        row = len(self.rows[number])
        self.rows[number].append((parent, codes, value))
        for child in children:
            self.add(child, row)

    def tables(self) -> tuple[VertexTable, ...]:
        made: list[VertexTable] = []
        for kind, rows in zip(self.schema.types, self.rows, strict=True):
            labels = np.array([codes for _, codes, _ in rows], np.int64).reshape(len(rows), len(kind.quasi))
            parent = np.array([parent for parent, _, _ in rows], np.int64)
            made.append(VertexTable(parent, labels, np.array([value for _, _, value in rows], np.int64)))
        return tuple(made)

"""Published trees as an attacker sees them: which records look alike, and which of their vertices do.

This is the independent auditor of nested records. It reads the columns of the published tables and nothing else: it
shares no code with the methods, nor with the canonical order of `Records`.

Two records look alike if one can be mapped to the other vertex by vertex, such that types, labels, edges, and whether
a sensitive value is given, agree (siblings have no order). Records that look alike form a *class*. Within a class, the
roots are one *position*, and the children of the vertices of a position that have equal subtrees are one position: the
orbits of the vertices under all such mappings. Labels and shape tell apart classes and positions, and nothing finer:
two vertices of a position can be exchanged without changing anything but sensitive values. Vertices with equal labels
all the way to the root need not be at one position: a sibling of their parents may have more children.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hedgerow.data.axis import Axis
from hedgerow.errors import DomainError
from hedgerow.kinds.records.data import Records
from hedgerow.numerics.arrays import Integers


class Positions(NamedTuple):
    """The positions of the vertices of one type.

    `vertex` is the position of each vertex. By position: `owner` is the class it belongs to, and `times` how many
    vertices of each record of the class are at it. `bucket` is the bucket of the sensitive value of each vertex, or -1.
    """

    vertex: Integers
    owner: Integers
    times: Integers
    bucket: Integers


class EquivalenceClasses(NamedTuple):
    """The class of each record, the number of records of each class, and the positions of each type."""

    record: Integers
    sizes: Integers
    positions: tuple[Positions, ...]


def find_equivalence_classes(data: Records) -> EquivalenceClasses:
    """Group records that look alike, and their vertices that do.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
    >>> course = VertexType("course", "student", ("id",), "grade")
    >>> schema = RecordSchema((VertexType("student", None, ("born",)), course))
    >>> domain = Domain.declare(**{"student.born": [1990], "course.id": ["CS", "MA"], "course.grade": ["A", "B"]})
    >>> math, one, two = ("course", ["MA"], "A", []), ("course", ["CS"], "A", []), ("course", ["CS"], "B", [])
    >>> trees = [("student", [1990], None, [one, math, two]), ("student", [1990], None, [math, two, two])]
    >>> alike = find_equivalence_classes(Records.from_trees(trees, schema, domain))
    >>> alike.sizes.tolist(), alike.positions[1].vertex.tolist(), alike.positions[1].times.tolist()
    ([2], [0, 1, 0, 1, 0, 0], [2, 1])
    """
    require_trees(data)
    require_domain(data)
    parents = [data.schema.numbers.get(kind.parent or "", -1) for kind in data.schema.types]
    codes = _code_subtrees(data, parents)
    record = codes[0]
    sizes = np.bincount(record)
    positions: list[Positions] = []
    classes: list[Integers] = []
    for number, (table, above) in enumerate(zip(data.tables, parents, strict=True)):
        if above < 0:
            vertex, of_class = record, record
        else:
            vertex = _number([positions[above].vertex[table.parent], codes[number]])
            of_class = classes[above][table.parent]
        classes.append(of_class)
        vertices = np.bincount(vertex)
        owner = np.zeros(len(vertices), np.int64)
        owner[vertex] = of_class
        axis = data.schema.types[number].sensitive_axis
        bucket = np.full(len(table.parent), -1, np.int64)
        if axis is not None:
            given = table.sensitive >= 0
            bucket[given] = bucket_numbers(data.domain.axis(axis))[table.sensitive[given]]
        positions.append(Positions(vertex, owner, vertices // sizes[owner], bucket))
    return EquivalenceClasses(record, sizes, tuple(positions))


def bucket_numbers(axis: Axis) -> Integers:
    """Return the bucket of each value: its widest declared group, or the value itself where no group is declared.

    Examples
    --------
    >>> bucket_numbers(Axis((217, 240, 296, 999), (("2.0-2.5",), ("2.0-2.5",), ("2.5-3.0",), ()))).tolist()
    [0, 0, 1, 2]
    """
    if not axis.paths:
        return np.arange(len(axis))
    seen: dict[tuple[bool, object], int] = {}  # a group may have the name of a value
    named = [(True, path[0]) if path else (False, value) for value, path in zip(axis.values, axis.paths, strict=True)]
    return np.array([seen.setdefault(name, len(seen)) for name in named], np.int64)


def require_trees(data: Records) -> None:
    """Refuse tables that are not trees: otherwise vertices would be skipped, or counted for another record."""
    for number, (kind, table) in enumerate(zip(data.schema.types, data.tables, strict=True)):
        above = -1 if kind.parent is None else data.schema.numbers[kind.parent]
        most = len(table.parent) if above < 0 else len(data.tables[above].parent)
        outside = bool(np.any((table.parent < 0) | (table.parent >= most)))
        if outside or (number == 0 and len(np.unique(table.parent)) < most):
            msg = f"a vertex of type {kind.name!r} has no parent in the data, or two roots are of one record"
            raise DomainError(msg)


def require_domain(data: Records) -> None:
    """Refuse codes outside the domain: nobody knows what would be written for them."""
    for number, (kind, table) in enumerate(zip(data.schema.types, data.tables, strict=True)):
        most = np.array([len(tree) for tree in data.hierarchies(number)], np.int64)
        values = 0 if kind.sensitive_axis is None else data.domain.size(kind.sensitive_axis)
        outside = bool(np.any((table.labels < 0) | (table.labels >= most)) or np.any(table.sensitive >= values))
        if outside or np.any(table.sensitive < -1):
            msg = f"a vertex of type {kind.name!r} has a label or a sensitive value outside its domain"
            raise DomainError(msg)


def _code_subtrees(data: Records, parents: Sequence[int]) -> list[Integers]:
    """Number the vertices of each type: equal numbers where the subtrees look alike."""
    lists: list[list[Integers]] = [[] for _ in parents]
    codes: list[Integers] = [np.zeros(0, np.int64)] * len(parents)
    for number in reversed(range(len(parents))):  # children come after their parents in a schema
        table = data.tables[number]
        rows = len(table.parent)
        # a value that is not given can be told from one that is: it is another type of vertex
        given = (table.sensitive >= 0).astype(np.int64)
        codes[number] = _number([np.zeros(rows, np.int64), *table.labels.T, given, *lists[number]])
        if parents[number] >= 0:
            owners = len(data.tables[parents[number]].parent)
            lists[parents[number]].append(_code_multisets(table.parent, codes[number], owners))
    return codes


def _code_multisets(owner: Integers, codes: Integers, owners: int) -> Integers:
    """Number owners equally that have equal codes, each as often.

    The sorted codes of an owner are replaced by the numbers of their pairs, then those by the numbers of their pairs,
    until one is left: so a vertex with a million children takes twenty rounds.
    """
    lengths = np.bincount(owner, minlength=owners)
    order = np.lexsort((codes, owner))
    owner, codes = owner[order], codes[order]
    place = np.arange(len(owner)) - (np.cumsum(lengths) - lengths)[owner]
    while place.any():
        first = place % 2 == 0
        # a row at an odd place belongs to the owner of the row before it; 0 stands for no partner
        partner = np.append(np.where(first[1:], 0, codes[1:] + 1), 0)
        codes = _number([codes[first], partner[first]])
        owner, place = owner[first], place[first] // 2
    whole = np.zeros(owners, np.int64)
    whole[owner] = codes
    return _number([lengths, whole])


def _number(keys: Sequence[Integers]) -> Integers:
    """Number rows from 0: equal numbers where all keys are equal."""
    numbers = keys[0]
    for key in keys[1:]:
        low, high = int(key.min(initial=0)), int(key.max(initial=0))
        # both factors are below the number of rows or of labels, far below 2^31
        numbers = np.unique(numbers * (high - low + 1) + (key - low), return_inverse=True)[1].astype(np.int64)
    return numbers

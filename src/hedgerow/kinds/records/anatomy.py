r"""Anatomised records: exact labels beside exact sensitive values, with the link between them cut in groups [1]_.

Records of a group have one shape: their vertices are matched, and matched vertices are at one *position*. Two data sets
are published. `quasi` has the trees with their labels, the number of their group, and the position of each vertex. What
`sensitive` has depends on the form:

- `trees` (tree by tree): for each record of a group a tree of its sensitive values, which nobody can tell whose it is;
- `vertices` (vertex by vertex): for each position of a group the sensitive values of its vertices, with their counts.

Both are `Records`, so that every format writes and reads them: the group and the position are the last labels of a
vertex, behind its own. Numbers of groups, and of positions among siblings, are drawn by coins: they say nothing about
the order of the original.

References
----------
.. [1] I. Ozalp. "Privacy preserving publishing of hierarchical data". PhD thesis, Sabanci University, 2017, chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hedgerow.data import Axis, Domain, Source
from hedgerow.errors import DomainError
from hedgerow.kinds.records.data import NOTHING, Records, VertexTable
from hedgerow.kinds.records.schema import RecordSchema, VertexType
from hedgerow.numerics.arrays import Integers

#: the names of the two data sets, and of the two forms of the second one
QUASI, SENSITIVE = "quasi", "sensitive"
TREES, VERTICES = "trees", "vertices"
FORMS = (VERTICES, TREES)
#: fields that are added to those of vertices; a schema that has one of these names gets another one
_GROUP, _POSITION, _COUNT = "group", "position", "count"


class Grouping(NamedTuple):
    """Which records are in one group, and which of their vertices are matched.

    `record` is the group of each record, or -1 if it is suppressed. `position` is, for each type, the position of each
    vertex in its group, or -1 if it is suppressed: vertices of one group that are of one type and at one position are
    matched, one of each record; their parents are matched too, and numbers of positions mean nothing else.
    """

    record: Integers
    position: tuple[Integers, ...]


@dataclass(frozen=True, eq=False)
class Names:
    """How the fields that are added are called, for a schema that may use these names itself."""

    group: str
    position: str
    count: str

    @classmethod
    def of(cls, schema: RecordSchema) -> Names:
        """Choose names that no type and no attribute of the schema has.

        Examples
        --------
        >>> Names.of(RecordSchema((VertexType("student", None, ("group",), "gpa"),))).group
        'group_'
        """
        taken = {kind.name for kind in schema.types} | {name for kind in schema.types for name in kind.attributes}
        taken |= {name for kind in schema.types for name in kind.fields}
        return cls(*(_free(name, taken) for name in (_GROUP, _POSITION, _COUNT)))


def _free(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name += "_"
    return name


def quasi_schema(schema: RecordSchema) -> RecordSchema:
    """The schema of the labels: without sensitive values, with group and position.

    Examples
    --------
    >>> course = VertexType("course", "student", ("id",), "grade")
    >>> published = quasi_schema(RecordSchema((VertexType("student", None, ("born",), "gpa"), course)))
    >>> [kind.quasi for kind in published.types]
    [('born', 'group', 'position'), ('id', 'position')]
    """
    return _with_positions(schema, sensitive=False)


def sensitive_schema(schema: RecordSchema, form: str) -> RecordSchema:
    """The schema of the sensitive values, in one of the two forms.

    Examples
    --------
    >>> course = VertexType("course", "student", ("id",), "grade")
    >>> schema = RecordSchema((VertexType("student", None, ("born",), "gpa"), course))
    >>> [(kind.name, kind.quasi, kind.sensitive) for kind in sensitive_schema(schema, "vertices").types]
    [('group', ('group',), None), ('student', ('position', 'count'), 'gpa'), ('course', ('position', 'count'), 'grade')]
    """
    if form == TREES:
        return _with_positions(schema, sensitive=True)
    names = Names.of(schema)
    root = VertexType(names.group, None, (names.group,), numbers=(names.group,))
    types = [root]
    for kind in schema.types:
        if kind.sensitive is not None:
            added = (names.position, names.count)
            kept = tuple(pair for pair in kind.named if pair[0] == kind.sensitive)
            numbers = (*added, *(name for name in kind.numbers if name == kind.sensitive))
            types.append(VertexType(kind.name, root.name, added, kind.sensitive, numbers=numbers, named=kept))
    return RecordSchema(tuple(types), record=f"{root.name}s.{root.name}" if schema.record else "")


def _with_positions(schema: RecordSchema, *, sensitive: bool) -> RecordSchema:
    names = Names.of(schema)
    types: list[VertexType] = []
    for kind in schema.types:
        added = (names.position,) if kind.parent else (names.group, names.position)
        own = () if sensitive else kind.quasi
        value = kind.sensitive if sensitive else None
        kept = {*own, *([value] if value else [])}
        types.append(
            replace(
                kind,
                quasi=(*own, *added),
                sensitive=value,
                numbers=(*(name for name in kind.numbers if name in kept), *added),
                named=tuple(pair for pair in kind.named if pair[0] in kept),
            )
        )
    return replace(schema, types=tuple(types))


def publish_groups(data: Records, grouping: Grouping, form: str, coins: np.random.Generator) -> dict[str, Records]:
    """Publish a grouping: the labels, and the sensitive values in one of the two forms.

    The order of groups, and of siblings in each group, is drawn anew: positions of matched vertices stay equal.
    """
    kept = data.prune([position >= 0 for position in grouping.position])
    if data.domain.source is Source.INFERRED:
        kept = kept.narrowed()  # which sensitive values occur is private: both parts have those that are published
    positions = [position[position >= 0] for position in grouping.position]
    record = grouping.record[grouping.record >= 0]
    groups = np.unique(record, return_inverse=True)[1].astype(np.int64)
    count = int(groups.max(initial=-1)) + 1
    group = coins.permutation(count)[groups] if count else groups
    numbered = _number_positions(kept, group, positions, coins)
    names = Names.of(data.schema)
    most = max((int(each.max(initial=0)) for each in numbered), default=0)
    members = int(np.bincount(group, minlength=1).max())
    domain = _extend(kept, names, form, groups=max(1, count), positions=most + 1, members=max(1, members))
    labels = [_add_labels(kept, number, group, each) for number, each in enumerate(numbered)]
    tables = [
        VertexTable(table.parent, own, np.full(len(table), NOTHING))
        for table, own in zip(kept.tables, labels, strict=True)
    ]
    quasi = Records(domain, quasi_schema(data.schema), tuple(tables))
    schema = sensitive_schema(data.schema, form)
    if form == TREES:
        values = [
            VertexTable(table.parent, own[:, -(1 if number else 2) :], table.sensitive)
            for number, (table, own) in enumerate(zip(kept.tables, labels, strict=True))
        ]
    else:
        values = _count_values(kept, group, numbered, count)
    return {QUASI: quasi, SENSITIVE: Records(domain, schema, tuple(values))}


def _number_positions(
    kept: Records, group: Integers, positions: list[Integers], coins: np.random.Generator
) -> list[Integers]:
    """Number the positions of each type in each group anew: by those of their parents, siblings in random order."""
    numbered: list[Integers] = []
    for number, position in enumerate(positions):
        parent = kept.tables[number].parent
        above = kept.schema.parents[number]
        own_group = group[kept.records_of(number)]
        over = np.zeros(len(position), np.int64) if above < 0 else numbered[above][parent]
        key = own_group * (int(position.max(initial=0)) + 1) + position
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        order = np.lexsort((coins.random(len(first)), over[first], own_group[first]))
        rank = np.empty(len(first), np.int64)
        starts = np.searchsorted(own_group[first][order], own_group[first][order])
        rank[order] = np.arange(len(first)) - starts
        numbered.append(rank[place])
    return numbered


def _extend(data: Records, names: Names, form: str, *, groups: int, positions: int, members: int) -> Domain:
    """Add the axes of groups, positions and counts to the domain."""
    added: dict[str, Axis] = {}
    for schema in (quasi_schema(data.schema), sensitive_schema(data.schema, form)):
        for kind in schema.types:
            for name, size in ((names.group, groups), (names.position, positions), (names.count, members)):
                if name in kind.quasi:
                    added[f"{kind.name}.{name}"] = Axis(tuple(range(1, size + 1)))
    return replace(data.domain, axes=(*data.domain.axes, *added.items()))


def _add_labels(kept: Records, number: int, group: Integers, position: Integers) -> Integers:
    """Add the group, of roots, and the position to the labels of vertices."""
    own = kept.tables[number].labels
    added = [group, position] if number == 0 else [position]
    return np.column_stack([own, *added]).astype(np.int64)


def _count_values(kept: Records, group: Integers, numbered: list[Integers], groups: int) -> list[VertexTable]:
    """Count the sensitive values at each position of each group; positions where none is given have no row."""
    none = np.zeros(0, np.int64)
    tables = [VertexTable(np.arange(groups), np.arange(groups)[:, None], np.full(groups, NOTHING))]
    for number, kind in enumerate(kept.schema.types):
        if kind.sensitive is None:
            continue
        table = kept.tables[number]
        given = table.sensitive >= 0
        rows = np.column_stack((group[kept.records_of(number)][given], numbered[number][given], table.sensitive[given]))
        distinct, times = np.unique(rows, axis=0, return_counts=True) if len(rows) else (rows, none)
        labels = np.column_stack((distinct[:, 1], times - 1)).astype(np.int64)
        tables.append(VertexTable(distinct[:, 0], labels, distinct[:, 2]))
    return tables


# What is read of a release.


def is_anatomised(outputs: Mapping[str, object]) -> bool:
    """Whether data sets of these names are the two parts of an anatomised release."""
    return set(outputs) == {QUASI, SENSITIVE}


def form_of(sensitive: Records) -> str:
    """The form of the sensitive part: its root has the number of the group only, or a position as well."""
    return TREES if len(sensitive.schema.types[0].quasi) == 2 else VERTICES  # noqa: PLR2004 - group and position


def require_parts(quasi: Records, sensitive: Records) -> None:
    """Refuse two data sets that cannot be the parts of one anatomised release, whoever wrote them."""
    labels, values = quasi.schema, sensitive.schema
    well = all(kind.sensitive is None and kind.quasi for kind in labels.types) and len(labels.types[0].quasi) >= 2  # noqa: PLR2004
    names = {kind.name for kind in labels.types}
    if form_of(sensitive) == TREES:
        well = well and [kind.name for kind in values.types] == [kind.name for kind in labels.types]
        well = well and values.parents == labels.parents
    else:
        well = well and all(kind.name in names and kind.sensitive for kind in values.types[1:])
        well = well and all(above == 0 for above in values.parents[1:])
    if not well:
        msg = "the two files are not the labels and the sensitive values of one anatomised release"
        raise DomainError(msg)

"""What a query is asked of: an original, a generalised release, or an anatomised one in either of its forms.

All of them are vertices with chances, as the one estimator needs them. In an anatomised release vertex by vertex, a
sensitive value is one of those of its position, each equally likely. Tree by tree, each record comes in several
*versions*: with each of the trees of sensitive values of its group, or, where links are drawn, with those of each draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hedgerow.errors import DomainError
from hedgerow.kinds.records.anatomy import QUASI, SENSITIVE, TREES, form_of, is_anatomised, require_parts
from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.schema import RecordSchema
from hedgerow.kinds.records.tree_pattern import Asked
from hedgerow.numerics.arrays import Flags, Floats, Integers

#: below this share of all vertices, those with some labels are listed one label after the other
_FEW = 1 / 8
_NOWHERE = -1


class KnownTrees:
    """Vertices with labels and sensitive values that belong to them: an original, or a generalised release."""

    def __init__(
        self,
        schema: RecordSchema,
        tables: Sequence[VertexTable],
        hierarchies: Sequence[Sequence[Hierarchy]],
        group: Integers | None = None,
    ) -> None:
        self.schema = schema
        #: the group of each record, within which links are unknown; or each record is one of its own
        self.group = np.arange(len(tables[0])) if group is None else group
        self.tables = tables
        self.hierarchies = hierarchies
        self._by_label: dict[tuple[int, int], tuple[Integers, Integers]] = {}
        self._parents = schema.parents

    @classmethod
    def of(cls, data: Records) -> KnownTrees:
        """Take records as they are."""
        return cls(data.schema, data.tables, [data.hierarchies(number) for number in range(len(data.tables))])

    def __len__(self) -> int:
        """Count the records."""
        return len(self.tables[0])

    def record_of(self, number: int, rows: Integers) -> Integers:
        """The record of each of these vertices."""
        while number >= 0:
            rows, number = self.tables[number].parent[rows] if number else rows, self._parents[number]
        return rows

    def above(self, number: int, vertices: Integers) -> Integers:
        """The parents of these vertices."""
        return self.tables[number].parent[vertices]

    def candidates(self, number: int, asked: Asked) -> Integers:
        """Vertices that have one of the labels that are asked for; of several attributes, of the rarest ones."""
        table = self.tables[number]
        best: list[Integers] | None = None
        for column in asked.labels:
            wanted = np.flatnonzero(self.label_chances(number, column, asked))
            order, starts = self._index(number, column)
            pieces = [order[starts[label] : starts[label + 1]] for label in wanted]
            if best is None or sum(map(len, pieces)) < sum(map(len, best)):
                best = pieces
        if best is None:
            own = self.value_chances(number, None, asked.values) if asked.values is not None else None
            return np.arange(len(table)) if own is None else np.flatnonzero(own)
        if sum(map(len, best)) < _FEW * len(table):
            return np.sort(np.concatenate(best)) if best else np.zeros(0, np.int64)
        listed = np.zeros(len(table), np.bool_)
        for rows in best:
            listed[rows] = True
        return np.flatnonzero(listed)

    def chances(self, number: int, vertices: Integers, asked: Asked) -> Floats:
        """How likely labels and sensitive value of each of these are among those that are asked for."""
        chance = np.ones(len(vertices))
        labels = self.tables[number].labels
        for column in asked.labels:
            chance *= self.label_chances(number, column, asked)[labels[vertices, column]]
        if asked.values is not None:
            chance *= self.value_chances(number, vertices, asked.values)
        return chance

    def label_chances(self, number: int, column: int, asked: Asked) -> Floats:
        """For each label, the share of the values it stands for that are asked for."""
        return find_label_chances(self.hierarchies[number][column], asked.labels[column])

    def value_chances(self, number: int, vertices: Integers | None, wanted: Flags) -> Floats:
        """How likely the sensitive value of each of these vertices, or of all, is among some; none is among them."""
        codes = self.tables[number].sensitive
        codes = codes if vertices is None else codes[vertices]
        return np.append(wanted, False)[codes].astype(np.float64)

    def _index(self, number: int, column: int) -> tuple[Integers, Integers]:
        """The vertices in the order of their labels, and where each label starts."""
        if (number, column) not in self._by_label:
            labels = self.tables[number].labels[:, column]
            ends = np.cumsum(np.bincount(labels, minlength=len(self.hierarchies[number][column])))
            self._by_label[number, column] = np.argsort(labels, kind="stable"), np.append(0, ends)
        return self._by_label[number, column]


def find_label_chances(tree: Hierarchy, wanted: Flags) -> Floats:
    """Return, for each label, the share of the values it stands for that are among some.

    Examples
    --------
    >>> from hedgerow.data import Axis
    >>> tree = Hierarchy.from_axis(Axis(("CS1", "CS2", "MA"), (("CS",), ("CS",), ())))
    >>> dict(zip(tree.names, find_label_chances(tree, np.array([True, True, False])).round(3).tolist()))
    {'CS1': 1.0, 'CS2': 1.0, 'MA': 0.0, 'CS': 1.0, '*': 0.667}
    """
    above = tree.ancestors[: tree.leaves][wanted]
    among = np.bincount(above[above >= 0], minlength=len(tree))
    leaves = np.rint(tree.loss * max(1, tree.leaves - 1)) + 1
    return among / leaves


class ByVertex(KnownTrees):
    """Anatomised vertex by vertex: the sensitive value of a vertex is one of its position in its group.

    `spot` is, for each type, the row of the position of each vertex among those of `size`, or one more if it has no
    sensitive values. `entries` are the values of positions: the spot, the code, and how often it is there.
    """

    def __init__(self, known: KnownTrees, parts: Mapping[int, tuple[Integers, ...]]) -> None:
        super().__init__(known.schema, known.tables, known.hierarchies, known.group)
        self.spot = {number: part[0] for number, part in parts.items()}
        self.entries = {number: part[1:] for number, part in parts.items()}
        self.size = {
            number: np.bincount(spot, times, minlength=int(self.spot[number].max(initial=0)) + 1)
            for number, (spot, _, times) in self.entries.items()
        }

        #: the entries in the order of their codes, and where each code starts; the last shares that were asked for
        self._by_code: dict[int, tuple[Integers, Integers]] = {}
        self._shares: dict[int, tuple[bytes, Floats]] = {}

    def value_chances(self, number: int, vertices: Integers | None, wanted: Flags) -> Floats:
        """The share of the values of the positions of some vertices that are among some."""
        shares = self._find_shares(number, wanted)
        return shares[self.spot[number] if vertices is None else self.spot[number][vertices]]

    def _find_shares(self, number: int, wanted: Flags) -> Floats:
        """The share of the values of each position that are among some; the same is asked for again at once."""
        asked = wanted.tobytes()
        if number not in self._shares or self._shares[number][0] != asked:
            spot, code, times = self.entries[number]
            if number not in self._by_code:
                starts = np.append(0, np.cumsum(np.bincount(code, minlength=len(wanted))))
                self._by_code[number] = np.argsort(code, kind="stable"), starts
            order, starts = self._by_code[number]
            pieces = [order[starts[each] : starts[each + 1]] for each in np.flatnonzero(wanted)]
            among = np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
            size = self.size[number]
            right = np.bincount(spot[among], times[among], minlength=len(size))
            self._shares[number] = asked, right / np.maximum(1, size)
        return self._shares[number][1]


class Versions:
    """Records that come in several versions, with other sensitive values each; and with other labels, if given.

    A vertex is `version * vertices of its type + row`. `codes` has a row for each version; `count` says how many
    versions each record has.
    """

    def __init__(
        self,
        known: KnownTrees,
        codes: Mapping[int, Integers],
        *,
        count: Integers,
        labels: Mapping[tuple[int, int], Integers] | None = None,
    ) -> None:
        self.known = known
        self.schema = known.schema
        self.codes = codes
        self.labels = labels or {}
        self.count = count
        self.versions = int(count.max(initial=0))

    def __len__(self) -> int:
        """Count the records, each once."""
        return len(self.known)

    @property
    def group(self) -> Integers:
        """The group of each record."""
        return self.known.group

    def above(self, number: int, vertices: Integers) -> Integers:
        """The parents of these vertices, in the same version."""
        version, row = np.divmod(vertices, max(1, len(self.known.tables[number])))
        return version * len(self.known.tables[self.schema.parents[number]]) + self.known.above(number, row)

    def candidates(self, number: int, asked: Asked) -> Integers:
        """Vertices, in each version, that have one of the labels and one of the sensitive values."""
        rows = self.known.candidates(number, Asked(asked.labels))
        if asked.values is not None:
            there = np.append(asked.values, False)[self.codes[number][:, rows]]
            there &= np.arange(self.versions)[:, None] < self._count(number, rows)
        else:
            there = np.arange(self.versions)[:, None] < self._count(number, rows)
        version, place = np.nonzero(there)
        return version * len(self.known.tables[number]) + rows[place]

    def chances(self, number: int, vertices: Integers, asked: Asked) -> Floats:
        """How likely labels and sensitive value of each of these are among those that are asked for."""
        version, row = np.divmod(vertices, max(1, len(self.known.tables[number])))
        drawn = {column: flags for column, flags in asked.labels.items() if (number, column) in self.labels}
        kept = {column: flags for column, flags in asked.labels.items() if column not in drawn}
        chance = self.known.chances(number, row, Asked(kept))
        for column, flags in drawn.items():
            chance *= flags[self.labels[number, column][version, row]]
        if asked.values is not None:
            chance *= np.append(asked.values, False)[self.codes[number][version, row]]
        return chance

    def _count(self, number: int, rows: Integers) -> Integers:
        return self.count[self.known.record_of(number, rows)]


class ByTree(Versions):
    """Anatomised tree by tree: each record with each of the trees of sensitive values of its group."""


def source_of(outputs: Mapping[str, Records]) -> KnownTrees | ByTree:
    """Make the source for one data set, or for the two of an anatomised release."""
    if not is_anatomised(outputs):
        (data,) = outputs.values()
        return KnownTrees.of(data)
    quasi, sensitive = outputs[QUASI], outputs[SENSITIVE]
    require_parts(quasi, sensitive)
    schema = original_schema(quasi.schema, sensitive.schema)
    hierarchies = [quasi.hierarchies(number)[: len(kind.quasi)] for number, kind in enumerate(schema.types)]
    names, group = np.unique(_read_numbers(quasi, 0, -2), return_inverse=True)
    known = KnownTrees(schema, quasi.tables, hierarchies, group)
    return (_by_tree if form_of(sensitive) == TREES else _by_vertex)(known, quasi, sensitive, names)


def original_schema(quasi: RecordSchema, sensitive: RecordSchema) -> RecordSchema:
    """The schema of what was anatomised: group and position, the last labels, are left out.

    Examples
    --------
    >>> from hedgerow.kinds.records.anatomy import quasi_schema, sensitive_schema
    >>> from hedgerow.kinds.records.cases import SCHEMA
    >>> read = original_schema(quasi_schema(SCHEMA), sensitive_schema(SCHEMA, "vertices"))
    >>> [kind.axes for kind in read.types] == [kind.axes for kind in SCHEMA.types]
    True
    """
    values = {kind.name: kind.sensitive for kind in sensitive.types}
    types = [
        replace(
            kind, quasi=kind.quasi[: -1 if kind.parent else -2], sensitive=values.get(kind.name), named=(), numbers=()
        )
        for kind in quasi.types
    ]
    return replace(quasi, types=tuple(types))


def _read_numbers(data: Records, number: int, column: int) -> Integers:
    """The numbers that a column has as labels."""
    values = data.domain.axis(data.schema.types[number].quasi_axes[column]).values
    codes = data.tables[number].labels[:, column]
    if not all(isinstance(value, int) for value in values) or codes.max(initial=0) >= len(values):
        msg = "a group, position or count of an anatomised release is not a number; publish it again"
        raise DomainError(msg)
    return np.array(values, np.int64)[codes]


def _by_vertex(known: KnownTrees, quasi: Records, sensitive: Records, names: Integers) -> ByVertex:
    """Look up the position of each vertex among those that have sensitive values."""
    parts: dict[int, tuple[Integers, ...]] = {}
    owner = _read_numbers(sensitive, 0, 0)
    for at, kind in enumerate(sensitive.schema.types[1:], start=1):
        number = known.schema.numbers[kind.name]
        position, times = _read_numbers(sensitive, at, 0), _read_numbers(sensitive, at, 1)
        own = _read_numbers(quasi, number, -1)
        width = int(max(position.max(initial=0), own.max(initial=0))) + 1
        keys, spot = np.unique(owner[sensitive.tables[at].parent] * width + position, return_inverse=True)
        asked = names[known.group[known.record_of(number, np.arange(len(own)))]] * width + own
        place = np.searchsorted(keys, asked)
        known_spot = np.append(keys, _NOWHERE)[place] == asked
        parts[number] = (np.where(known_spot, place, len(keys)), spot, sensitive.tables[at].sensitive, times)
    return ByVertex(known, parts)


def _by_tree(known: KnownTrees, quasi: Records, sensitive: Records, names: Integers) -> ByTree:
    """Look up the sensitive value of each vertex in each of the trees of its group."""
    owner = _read_numbers(sensitive, 0, -2)
    place = np.minimum(np.searchsorted(names, owner), max(0, len(names) - 1))
    place = np.where(names[place] == owner, place, len(names)) if len(names) else np.zeros(len(owner), np.int64)
    order = np.argsort(place, kind="stable")
    trees = np.bincount(place, minlength=len(names) + 1)
    if not np.array_equal(trees, np.bincount(known.group, minlength=len(names) + 1)):
        msg = "a group of the release has not as many trees of sensitive values as trees of labels; verify the folder"
        raise DomainError(msg)
    rank = np.empty(len(owner), np.int64)
    rank[order] = np.arange(len(owner)) - np.repeat(np.cumsum(trees) - trees, trees)
    count = trees[known.group]
    versions = int(count.max(initial=0))
    trees_of_values = KnownTrees.of(sensitive)
    codes: dict[int, Integers] = {}
    for number, kind in enumerate(known.schema.types):
        if kind.sensitive is None:
            continue
        own, position = _read_numbers(quasi, number, -1), _read_numbers(sensitive, number, -1)
        width = int(max(position.max(initial=0), own.max(initial=0))) + 1
        of = trees_of_values.record_of(number, np.arange(len(position)))
        keys = (place[of] * (versions + 1) + rank[of]) * width + position
        by_key = np.argsort(keys)
        sorted_keys, values = (
            np.append(keys[by_key], _NOWHERE),
            np.append(sensitive.tables[number].sensitive[by_key], -1),
        )
        at = known.group[known.record_of(number, np.arange(len(own)))] * (versions + 1)
        codes[number] = np.empty((versions, len(own)), np.int64)
        for version in range(versions):
            asked = (at + version) * width + own
            at_key = np.searchsorted(sorted_keys[:-1], asked)
            codes[number][version] = np.where(sorted_keys[at_key] == asked, values[at_key], -1)
    return ByTree(known, codes, count=count)

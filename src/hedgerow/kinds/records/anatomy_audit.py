"""The independent auditor of anatomised records: both parts together, and nothing but what is published in them.

It reads the columns of the published tables: it shares no code with the methods, nor with what writes the parts. Each
vertex of the labels names its group (through its root) and its position; a *spot* is a position of a group. In every
group all records must have one shape: each has each position of the group exactly once, vertices at one position are of
one type, and *so are their parents at one position* (without this clause, which one printed definition of alike trees
lacks, shapes that differ would tell whose values are whose). The sensitive part must be about the same groups, of the
same sizes and shapes: trees of values, or for each spot its values with their counts, which add up to the records of
its group. At a spot all vertices have a sensitive value or none has.

Rules are computed in whole numbers. Tree by tree, the heavy trees of a group are counted. Vertex by vertex, the number
of vertices of a person with a value that counts is a sum of independent draws, one per spot, each with the share of
such values at its spot: its distribution is computed exactly, so that it holds for sets of values and for groups of any
size, where the integer cap of a rule does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from hedgerow.data import Axis, Dataset
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.equivalence_classes import bucket_numbers, require_domain, require_trees
from hedgerow.kinds.records.rules import Rule
from hedgerow.kinds.records.schema import RecordSchema
from hedgerow.numerics.arrays import Flags, Integers

#: numbers of groups and positions have fewer digits, so that two of them fit in one
_DIGITS = 9
_WIDTH = 10**_DIGITS
_NUMBER = re.compile(rf"[1-9][0-9]{{0,{_DIGITS - 1}}}")
_NO_NUMBER = "vertices without the number of a group, of a position, or of records"


class _Vertices(NamedTuple):
    """The vertices of one type of a part: their tree, group, position, and the position of their parent."""

    tree: Integers
    group: Integers
    position: Integers
    above: Integers
    sensitive: Integers

    @property
    def spot(self) -> Integers:
        """The position and its group in one number."""
        return self.group * _WIDTH + self.position


class _Listed(NamedTuple):
    """The sensitive values of one type vertex by vertex: their spot and code, and how often each is there."""

    spot: Integers
    code: Integers
    times: Integers


class Parts(NamedTuple):
    """Both parts, as far as they can be read: what is wrong, the groups with their sizes, the sensitive values.

    By sensitive attribute, with its type: its axis, and the vertices of `trees` or else the `listed` values.
    """

    faults: dict[str, int]
    groups: Integers
    sizes: Integers
    axes: dict[str, Axis]
    trees: dict[str, _Vertices]
    listed: dict[str, _Listed]

    def size_at(self, spot: Integers) -> Integers:
        """The number of records of the group of each spot."""
        return self.sizes[np.searchsorted(self.groups, spot // _WIDTH)]


def read_parts(outputs: Mapping[str, Dataset]) -> Parts:
    """Read both parts, and count what is wrong with their groups and shapes."""
    quasi, sensitive = (cast("Records", outputs[name]) for name in ("quasi", "sensitive"))
    nothing = np.zeros(0, np.int64)
    parts = Parts({}, nothing, nothing, {}, {}, {})
    if not _go_together(quasi.schema, sensitive.schema):
        return parts._replace(faults={"data sets that are not labels and sensitive values of one release": 1})
    for data in (quasi, sensitive):
        require_trees(data)
        require_domain(data)
    labels = _read_trees(quasi)
    faults = _count_shape_faults(labels)
    groups, sizes = np.unique(labels[0].group, return_counts=True)
    names = [kind.sensitive_axis for kind in sensitive.schema.types if kind.sensitive_axis is not None]
    axes = {name: sensitive.domain.axis(name) for name in names}
    parts = Parts(faults, groups, sizes, axes, {}, {})
    if any(faults.values()):
        return parts
    if len(sensitive.schema.types[0].quasi) == 1:
        return _read_listed(parts, labels, quasi.schema, sensitive)
    return _read_values(parts, labels, sensitive)


def _go_together(labels: RecordSchema, values: RecordSchema) -> bool:
    """Whether these are the schemas of both parts: which fields are added, and no value beside its label."""
    root, *others = labels.types
    if any(kind.sensitive for kind in labels.types) or len(root.quasi) < 2:  # noqa: PLR2004 - group and position
        return False
    group, position = root.quasi[-2:]
    if any(kind.quasi[-1:] != (position,) for kind in others):
        return False
    known = {kind.name: kind for kind in labels.types}
    if any(kind.sensitive and kind.name in known and kind.sensitive in known[kind.name].quasi for kind in values.types):
        return False
    head, *below = values.types
    if len(head.quasi) == 1:
        added = [kind.quasi[:-1] for kind in below]
        return (
            head.quasi == (group,)
            and head.sensitive is None
            and all(kind.parent == head.name and kind.sensitive and kind.name in known for kind in below)
            and added == [(position,)] * len(below)
        )
    shapes = [[(kind.name, kind.parent) for kind in schema.types] for schema in (labels, values)]
    wanted = [(group, position), *((position,) for _ in others)]
    return shapes[0] == shapes[1] and [kind.quasi for kind in values.types] == wanted


def _read_trees(data: Records) -> list[_Vertices]:
    """Read the groups and positions of all vertices of trees."""
    read: list[_Vertices] = []
    for number, (kind, table) in enumerate(zip(data.schema.types, data.tables, strict=True)):
        position = _numbers(data, number, -1)
        if kind.parent is None:
            tree = np.arange(len(position))
            group, above = _numbers(data, number, -2), np.zeros(len(position), np.int64)
        else:
            parents = read[data.schema.numbers[kind.parent]]
            tree = parents.tree[table.parent]
            group, above = parents.group[table.parent], parents.position[table.parent]
        read.append(_Vertices(tree, group, position, above, table.sensitive))
    return read


def _numbers(data: Records, number: int, column: int) -> Integers:
    """Read a label as a number; -1 where it is none, or spelled otherwise: 01 would tell a record from those of 1."""
    names = data.hierarchies(number)[column].names
    known = [int(name) if _NUMBER.fullmatch(name) else -1 for name in names]
    return np.array(known, np.int64)[data.tables[number].labels[:, column]]


def _count_shape_faults(trees: Sequence[_Vertices]) -> dict[str, int]:
    """Count what keeps the records of a group from having one shape."""
    unread = sum(int(((each.group < 0) | (each.position < 0)).sum()) for each in trees)
    if unread:
        return {_NO_NUMBER: unread}
    groups, sizes = np.unique(trees[0].group, return_counts=True)
    missing = moved = 0
    for each in trees:
        spots, first, at, times = np.unique(each.spot, return_index=True, return_inverse=True, return_counts=True)
        uneven = times != sizes[np.searchsorted(groups, spots // _WIDTH)]
        # the spot of a vertex tells its group, so each tree must have it once
        order = np.lexsort((each.tree, at))
        again = (at[order][1:] == at[order][:-1]) & (each.tree[order][1:] == each.tree[order][:-1])
        uneven[at[order][1:][again]] = True
        missing += int(uneven.sum())
        moved += len(np.unique(at[each.above != each.above[first][at]]))
    return {
        "positions that a record of the group lacks, or has twice": missing,
        "positions whose vertices have parents at different positions": moved,
    }


def _shape(trees: Sequence[_Vertices]) -> list[Integers]:
    """List the spots of each type, each with the position of its parent, and the size of its group."""
    listed: list[Integers] = []
    for each in trees:
        spots, first, times = np.unique(each.spot, return_index=True, return_counts=True)
        listed.append(np.column_stack([spots, each.above[first], times]))
    return listed


def _read_values(parts: Parts, labels: Sequence[_Vertices], sensitive: Records) -> Parts:
    """Read the sensitive part tree by tree; it must have the groups and the shapes of the labels."""
    values = _read_trees(sensitive)
    faults = _count_shape_faults(values)
    if not any(faults.values()):
        pairs = zip(_shape(labels), _shape(values), strict=True)
        differing = sum(not np.array_equal(own, other) for own, other in pairs)
        faults["types whose groups or shapes are not those of the labels"] = differing
    counts = Counter(parts.faults)
    counts.update(faults)
    names = [kind.sensitive_axis for kind in sensitive.schema.types]
    named = {name: each for name, each in zip(names, values, strict=True) if name is not None}
    if not any(counts.values()):
        counts["positions where only some sensitive values are given"] = sum(map(_count_mixed, named.values()))
    return parts._replace(faults=dict(counts), trees=named)


def _count_mixed(vertices: _Vertices) -> int:
    """Count the spots where some vertices have a sensitive value and others have none."""
    spots, at = np.unique(vertices.spot, return_inverse=True)
    given = np.bincount(at[vertices.sensitive >= 0], minlength=len(spots))
    return int(((given > 0) & (given < np.bincount(at, minlength=len(spots)))).sum())


def _read_listed(parts: Parts, labels: Sequence[_Vertices], schema: RecordSchema, sensitive: Records) -> Parts:
    """Read the sensitive part vertex by vertex: each spot has as many values as its group has records, or none."""
    group = _numbers(sensitive, 0, -1)
    faults: Counter[str] = Counter(parts.faults)
    faults["groups that are not those of the labels, or are listed twice"] = int(
        not np.array_equal(np.sort(group), parts.groups)
    )
    listed: dict[str, _Listed] = {}
    for number, (kind, table) in enumerate(zip(sensitive.schema.types, sensitive.tables, strict=True)):
        if kind.sensitive_axis is None or any(faults.values()):
            continue
        position, count = _numbers(sensitive, number, -2), _numbers(sensitive, number, -1)
        read = _Listed(group[table.parent] * _WIDTH + position, table.sensitive, count)
        listed[kind.sensitive_axis] = read
        own = labels[schema.numbers[kind.name]]
        faults.update(_count_list_faults(parts, read, own.spot, (position < 0) | (count < 1) | (read.code < 0)))
    return parts._replace(faults=dict(faults), listed=listed)


def _count_list_faults(parts: Parts, read: _Listed, known: Integers, unread: Flags) -> dict[str, int]:
    """Count what is wrong with the listed values of one type."""
    if unread.any():
        return {_NO_NUMBER: int(unread.sum())}
    spots, at = np.unique(read.spot, return_inverse=True)
    totals = np.zeros(len(spots), np.int64)
    np.add.at(totals, at, read.times)
    order = np.lexsort((read.code, at))
    again = (np.diff(at[order]) == 0) & (np.diff(read.code[order]) == 0)
    return {
        "positions that no record of the group has": int((~np.isin(spots, known)).sum()),
        "sensitive values that are listed twice at a position": int(again.sum()),
        "positions with more or fewer sensitive values than records": int((totals != parts.size_at(spots)).sum()),
    }


# What is promised of the parts.


def count_frequent(parts: Parts, l: int) -> dict[str, int]:  # noqa: E741 - the letter of the paper
    """Count the groups of fewer than l records, and the spots where a sensitive value, or bucket, is too frequent."""
    counts = {f"groups of fewer than {l:,} records": int((parts.sizes < l).sum())}
    for name, axis in parts.axes.items():
        spot, code, times = _occurrences(parts, name)
        spots, _, totals = _sums(spot, bucket_numbers(axis)[code], times)
        what = f"positions of {name!r} with a sensitive value that is too frequent"
        counts[what] = len(np.unique(spots[totals > parts.size_at(spots) // l]))
    return counts


def _sums(first: Integers, second: Integers, numbers: Integers) -> tuple[Integers, Integers, Integers]:
    """Add the numbers of equal pairs; return the pairs in order, with their sums."""
    order = np.lexsort((second, first))
    first, second, numbers = first[order], second[order], numbers[order]
    starts = np.flatnonzero((np.diff(first, prepend=-1) != 0) | (np.diff(second, prepend=-1) != 0))
    sums = np.add.reduceat(numbers, starts) if len(starts) else numbers
    return first[starts], second[starts], sums


def _occurrences(parts: Parts, name: str) -> tuple[Integers, Integers, Integers]:
    """The spot and the code of each sensitive value of a type that is given, and how often it is there."""
    if name in parts.listed:
        return parts.listed[name]
    each = parts.trees[name]
    given = each.sensitive >= 0
    return each.spot[given], each.sensitive[given], np.ones(int(given.sum()), np.int64)


def count_rules(parts: Parts, rules: Sequence[Rule]) -> dict[str, int]:
    """Count the groups that break each rule."""
    counts: dict[str, int] = {}
    for number, rule in enumerate(rules, start=1):
        if rule.attribute not in parts.axes:
            counts["rules about an attribute that is not published"] = 1
            continue
        kinds = classes_of(rule, parts.axes[rule.attribute])
        count = _break_by_trees if parts.trees else _break_lists
        counts[f"groups that break rule {number}"] = count(parts, rule, kinds)
    return counts


def classes_of(rule: Rule, axis: Axis) -> Integers:
    """Number what the rule counts together: 0 for all that it names, one number per value for all; -1 for the others.

    Values of one declared bucket count as one value. A value that is not on the axis is in no published part.

    Examples
    --------
    >>> from fractions import Fraction
    >>> axis = Axis(("3.1", "3.6", "3.9"), (("[3, 3.5)",), ("[3.5, 4]",), ("[3.5, 4]",)))
    >>> [classes_of(Rule("student.gpa", named, 1, Fraction(1)), axis).tolist() for named in (("3.6",), ())]
    [[-1, 0, 0], [0, 1, 1]]
    """
    texts = [str(value) for value in axis.values]
    alike = [path[0] if path else text for text, path in zip(texts, axis.paths or [()] * len(texts), strict=True)]
    if not rule.values:
        seen: dict[str, int] = {}
        return np.array([seen.setdefault(each, len(seen)) for each in alike], np.int64)
    meant = {each for text, each in zip(texts, alike, strict=True) if text in rule.values or each in rule.values}
    return np.array([0 if each in meant else -1 for each in alike], np.int64)


def _break_by_trees(parts: Parts, rule: Rule, kinds: Integers) -> int:
    """Count the groups in which too many trees have m or more of a value: more than the share p of them."""
    each = parts.trees[rule.attribute]
    counted = (each.sensitive >= 0) & (kinds[each.sensitive] >= 0)
    width = int(kinds.max(initial=0)) + 1
    pairs, times = np.unique(each.tree[counted] * width + kinds[each.sensitive[counted]], return_counts=True)
    heavy = pairs[times >= rule.m]
    group_of = np.zeros(int(each.tree.max(initial=-1)) + 1, np.int64)
    group_of[each.tree] = each.group
    groups, trees = np.unique(group_of[heavy // width] * width + heavy % width, return_counts=True)
    sizes = parts.size_at(groups // width * _WIDTH)
    broken = [
        count * rule.p.denominator > rule.p.numerator * size
        for count, size in zip(trees.tolist(), sizes.tolist(), strict=True)
    ]
    return len(np.unique(groups[np.array(broken, np.bool_)] // width))


def _break_lists(parts: Parts, rule: Rule, kinds: Integers) -> int:
    """Count the groups in which a person has m or more of a value with more than the chance p, by the exact tail."""
    spot, code, count = parts.listed[rule.attribute]
    counted = kinds[code] >= 0
    width = int(kinds.max(initial=0)) + 1
    spot, code, count = spot[counted], code[counted], count[counted]
    owner, _, sums = _sums(spot // _WIDTH * width + kinds[code], spot, count)
    order = np.lexsort((sums, owner))
    totals: list[int] = sums[order].tolist()
    starts = [*np.flatnonzero(np.diff(owner, prepend=-1)).tolist(), len(owner)]
    sizes = parts.size_at(owner // width * _WIDTH).tolist()
    broken: set[int] = set()
    known: dict[tuple[int, ...], bool] = {}
    for start, end in pairwise(starts):
        if end - start < rule.m:
            continue
        drawn = (sizes[start], *totals[start:end])
        if drawn not in known:
            known[drawn] = exceeds(rule, sizes[start], drawn[1:])
        if known[drawn]:
            broken.add(int(owner[start]) // width)
    return len(broken)


def exceeds(rule: Rule, size: int, counts: Sequence[int]) -> bool:
    """Whether m or more of independent draws hit with more than the chance p, where draw j hits in counts[j] of size.

    Examples
    --------
    >>> from fractions import Fraction
    >>> [exceeds(Rule("a.b", ("x", "y"), 2, Fraction(p)), 3, [2, 2]) for p in ("4/9", "1/9")]
    [False, True]
    """
    # the chance of each number of hits below m, times size to the power of the draws so far
    chances = [1]
    for count in counts:
        missed = [each * (size - count) for each in chances]
        hit = [0, *(each * count for each in chances)]
        chances = [a + b for a, b in zip([*missed, 0], hit, strict=True)][: rule.m]
    whole = size ** len(counts)
    return (whole - sum(chances)) * rule.p.denominator > rule.p.numerator * whole

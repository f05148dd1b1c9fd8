"""Attacks on published nested records: what is learnt where the promise is silent. For the owner only."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import concatenate_ranges, sort_distinct
from hedgerow.data.records import Records
from hedgerow.privacy.tree_orbits import bucket_numbers, find_look_alikes

__all__ = [
    "Homogeneity",
    "MissingVertexInference",
    "SomeVertexDisclosure",
    "attack_homogeneity",
    "attack_known_value",
    "attack_missing_vertices",
    "attack_some_vertex",
]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class Homogeneity(NamedTuple):
    """Shares of classes with a position where all values are equal, of records in them, and of all positions."""

    classes: float
    records: float
    positions: float


class SomeVertexDisclosure(NamedTuple):
    """The worst confidence, the share of classes with a certain value, and the mean number of those per class."""

    worst: float
    certain: float
    values: float


class MissingVertexInference(NamedTuple):
    """The number of guesses, the share of those that are right, and of guesses from the whole data that would be."""

    guesses: int
    confidence: float
    prior: float


def attack_homogeneity(released: Records) -> Homogeneity:
    """Read sensitive values from records that all have the same.

    The attacker knows the labels and the shape of a person's record, and so the class that it is in. A position where
    all records of the class have one value (or one bucket) discloses it. l-diversity excludes this; k-anonymity does
    not.
    """
    alike = find_look_alikes(released)
    marked = np.zeros(len(alike.sizes), np.bool_)
    equal = total = 0
    for positions in alike.positions:
        given = positions.bucket >= 0
        vertex, bucket = positions.vertex[given], positions.bucket[given]
        low = np.full(len(positions.owner), np.iinfo(np.int64).max)
        high = np.full(len(positions.owner), -1, np.int64)
        np.minimum.at(low, vertex, bucket)
        np.maximum.at(high, vertex, bucket)
        marked[positions.owner[low == high]] = True
        equal += int((low == high).sum())
        total += int((high >= 0).sum())
    return Homogeneity(
        _share(int(marked.sum()), len(marked)),
        _share(int(alike.sizes[marked].sum()), len(released)),
        _share(equal, total),
    )


def attack_some_vertex(released: Records, *, times: int = 1) -> SomeVertexDisclosure:
    """Conclude that a person has a sensitive value at some vertex of a type, or at `times` of them.

    The attacker knows the labels and the shape of a person's record, and so the class that it is in, and counts its
    records that have the value anywhere: "got a B in some course". No promise of this library limits it.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.data.record_schema import RecordSchema, VertexType
    >>> student, course = VertexType("student", None, ("born",)), VertexType("course", "student", ("id",), "grade")
    >>> domain = Domain.declare(**{"student.born": [1990], "course.id": ["CS"], "course.grade": ["A", "B", "C"]})
    >>> grades = [("A", "B"), ("B", "C")]
    >>> trees = [("student", [1990], None, [("course", ["CS"], grade, []) for grade in pair]) for pair in grades]
    >>> attack_some_vertex(Records.from_trees(trees, RecordSchema((student, course)), domain))
    SomeVertexDisclosure(worst=1.0, certain=1.0, values=1.0)
    """
    alike = find_look_alikes(released)
    certain = np.zeros(len(alike.sizes), np.int64)
    worst = 0.0
    for number, positions in enumerate(alike.positions):
        given = positions.bucket >= 0
        buckets = int(positions.bucket.max(initial=0)) + 1
        record = released.records_of(number)[given]
        pairs, counts = np.unique(record * buckets + positions.bucket[given], return_counts=True)
        having = pairs[counts >= times]
        values, members = np.unique(alike.record[having // buckets] * buckets + having % buckets, return_counts=True)
        confidence = members / alike.sizes[values // buckets]
        worst = max(worst, float(confidence.max(initial=0)))
        certain += np.bincount(values[confidence == 1] // buckets, minlength=len(certain))
    return SomeVertexDisclosure(
        worst, _share(int((certain > 0).sum()), len(certain)), _share(int(certain.sum()), len(certain))
    )


def attack_known_value(released: Records) -> float:
    """Find a person's record by one sensitive value, and read its other values: the share of values that suffice.

    The attacker knows the labels and the shape of a person's record, and so the class that it is in, and one sensitive
    value with its position. If one record of the class has that value there, it is the person's. No promise of this
    library limits it: the more diverse a class, the more records a value tells apart.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.data.record_schema import RecordSchema, VertexType
    >>> schema = RecordSchema((VertexType("student", None, ("born",), "grade"),))
    >>> domain = Domain.declare(**{"student.born": [1990], "student.grade": ["A", "B"]})
    >>> trees = [("student", [1990], grade, []) for grade in ("A", "A", "B")]
    >>> round(attack_known_value(Records.from_trees(trees, schema, domain)), 3)
    0.333
    """
    alike = find_look_alikes(released)
    alone = total = 0
    for number, positions in enumerate(alike.positions):
        values = released.tables[number].sensitive
        given = values >= 0
        owner = released.records_of(number)[given]
        place = _number_rows(positions.vertex[given], values[given, None])
        pairs = sort_distinct(place * len(released) + owner)
        records = np.bincount(pairs // max(1, len(released)))
        alone += int((records[place] == 1).sum())
        total += int(given.sum())
    return _share(alone, total)


def attack_missing_vertices(original: Records, released: Records, origin: Integers) -> MissingVertexInference:
    """Conclude from a vertex that nobody's record shows that its sensitive values are equal.

    The attacker is one of the people in a class, who knows the method, the labels of the others' records and all of the
    own one. Everybody in the class has a certain vertex (labels below the root are equal, once per record), below
    vertices that are published; but no published vertex can stand for it. The likeliest reason is that sensitive
    values collided, so the attacker guesses that another person's value is the own one. The prior is how often two
    people of the whole data who have the vertex have equal values.

    Parameters
    ----------
    origin
        The number of the original record of each published one. Only the owner knows it.
    """
    alike = find_look_alikes(released)
    of_class = np.full(len(original), -1, np.int64)
    of_class[origin] = alike.record
    pairs = [(origin, np.arange(len(released)))]
    shown, path = [of_class >= 0], [np.zeros(len(original), np.int64)]
    totals = np.zeros(3)
    for number, above in enumerate(original.schema.parents[1:], start=1):
        table = original.tables[number]
        pairs.append(_pair_children(original, released, number, pairs[above]))
        shown.append(_flag(len(table), pairs[number][0]))
        path.append(_number_rows(path[above][table.parent], table.labels))
        axis = original.schema.types[number].sensitive_axis
        if axis is not None:
            owner = original.records_of(number)
            once = np.flatnonzero(_occurs_once(owner, path[number]) & (table.sensitive >= 0))
            bucket = bucket_numbers(original.domain.axis(axis))[table.sensitive[once]]
            missing = (shown[above][table.parent] & ~shown[number])[once]
            totals += _guess(of_class[owner[once]], path[number][once], bucket, missing, alike.sizes)
    guesses, right, expected = totals.tolist()
    return MissingVertexInference(round(guesses), _share(right, guesses), _share(expected, guesses))


def _guess(of_class: Integers, path: Integers, bucket: Integers, missing: Flags, sizes: Integers) -> list[float]:
    """Guess the missing values: how many guesses, how many are right, and how many the prior expects to be."""
    everywhere, equal = _count_pairs(path, bucket)
    chances = np.divide(equal, everywhere, out=np.zeros(len(equal)), where=everywhere > 0)
    of_class, path, bucket = of_class[missing], path[missing], bucket[missing]
    group = _number_rows(of_class, path[:, None])
    full = np.bincount(group)[group] == sizes[of_class]  # everybody in the class has it
    guesses, right = _count_pairs(group[full], bucket[full])
    chance = np.zeros(len(guesses))
    chance[group[full]] = chances[path[full]]
    return [float(guesses.sum()), float(right.sum()), float((guesses * chance).sum())]


def _pair_children(
    original: Records, released: Records, number: int, above: tuple[Integers, Integers]
) -> tuple[Integers, Integers]:
    """Pair vertices of a type with the published ones that can stand for them, below parents that are paired."""
    before, after = original.tables[number], released.tables[number]
    at, of = concatenate_ranges(*_ranges(before.parent, above[0]))
    other, of_pair = concatenate_ranges(*_ranges(after.parent, above[1][of]))
    vertex = at[of_pair]
    covered = np.ones(len(vertex), np.bool_)
    for column, hierarchy in enumerate(original.hierarchies(number)):
        covered &= hierarchy.covers(after.labels[other, column], before.labels[vertex, column])
    return vertex[covered], other[covered]


def _ranges(parent: Integers, wanted: Integers) -> tuple[Integers, Integers]:
    """The rows of the children of these parents: tables are sorted by parent."""
    return np.searchsorted(parent, wanted), np.searchsorted(parent, wanted, side="right")


def _flag(rows: int, marked: Integers) -> Flags:
    flags = np.zeros(rows, np.bool_)
    flags[marked] = True
    return flags


def _number_rows(first: Integers, columns: Integers) -> Integers:
    """Number rows from 0: equal numbers where all keys are equal."""
    numbers = first
    for column in columns.T:
        numbers = np.unique(numbers * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].astype(
            np.int64
        )
    return numbers


def _occurs_once(owner: Integers, path: Integers) -> Flags:
    both = _number_rows(owner, path[:, None])
    return np.bincount(both)[both] == 1


def _count_pairs(group: Integers, bucket: Integers) -> tuple[Integers, Integers]:
    """Count the pairs of each group, and those with equal buckets."""
    sizes = np.bincount(group)
    width = int(bucket.max(initial=0)) + 1
    keys, counts = np.unique(group * width + bucket, return_counts=True)
    equal = np.zeros(len(sizes), np.int64)
    np.add.at(equal, keys // width, counts * (counts - 1) // 2)
    return sizes * (sizes - 1) // 2, equal


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0

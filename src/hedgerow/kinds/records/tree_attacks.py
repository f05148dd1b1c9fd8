"""Attacks on published nested records: what is learnt where the promise is silent; for the owner only.

Somebody knows the labels and the shape of a person's record, and so the class of equal records that it is in. Success
is a sensitive value of that person, learnt in one of four ways:

- *homogeneity*: all records of the class have the same value at a position (l-diversity excludes this);
- *some vertex*: all records of the class have a value somewhere, if not at the same position;
- *one known value* tells the record from all others of its class, and all of its other values are read;
- *missing vertices*: everybody in the class has a vertex that no published record shows, since values would be equal.

The scores stand first, then the attacks, and then how the owner traces records to their origin, which the last attack
needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.equivalence_classes import bucket_numbers, find_equivalence_classes
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.measures.scoring import compared_score
from hedgerow.numerics.arrays import Flags, Integers, concatenate_ranges
from hedgerow.score import Score, exact_score

#: records of classes that are traced for the attack on missing vertices
_TRACED = 1_000
_SHUFFLED = "sensitive values shuffled"


def measure_attacks(original: Records, releases: Mapping[str, Records], rng: np.random.Generator) -> list[Score]:
    """Attack a release, which has the empty name; nothing if it has no records.

    The attacker knows the labels and the shape of a person's record. Beside each attack stand the same attack on the
    controls, on the original (without a release, nobody holds it: this is what publishing it as it is would disclose),
    and on the release with its sensitive values shuffled among all vertices of a type, which is what equal values by
    chance disclose.
    """
    released = releases[""]
    if not len(released):
        return []
    attacked = {name: data for name, data in releases.items() if len(data)}
    attacked |= {_SHUFFLED: shuffle_values(released, rng), "original as it is": original}
    return [
        *_homogeneity(attacked),
        *_some_vertex(attacked, _largest_share(original)),
        *_known_value(attacked),
        *_missing_vertices(original, released, rng),
    ]


def _homogeneity(attacked: Mapping[str, Records]) -> list[Score]:
    attacks = {name: attack_homogeneity(data) for name, data in attacked.items()}
    chart = "homogeneity attack: sensitive values that all records of a class share"
    parts = {
        "classes": {name: each.classes for name, each in attacks.items()},
        "records": {name: each.records for name, each in attacks.items()},
        "positions": {name: each.positions for name, each in attacks.items()},
    }
    return [
        compared_score(
            f"homogeneity attack, share of {at} with such a value", values, better="lower", chart=chart, at=at
        )
        for at, values in parts.items()
    ]


def _some_vertex(attacked: Mapping[str, Records], prior: float) -> list[Score]:
    attacks = {name: attack_some_vertex(data) for name, data in attacked.items()}
    chart = "some-vertex disclosure: a value that a person has somewhere"
    worst = {name: each.worst for name, each in attacks.items()} | {"most frequent value of the original": prior}
    certain = {name: each.certain for name, each in attacks.items()}
    values = {name: each.values for name, each in attacks.items()}
    return [
        compared_score(
            "some-vertex disclosure, worst confidence", worst, better="lower", chart=chart, at="worst confidence"
        ),
        compared_score(
            "some-vertex disclosure, share of classes with a certain value",
            certain,
            better="lower",
            chart=chart,
            at="classes where it is certain",
        ),
        compared_score("some-vertex disclosure, certain values per class", values, better="lower"),
    ]


def _known_value(attacked: Mapping[str, Records]) -> list[Score]:
    attacks = {name: attack_known_value(data) for name, data in attacked.items()}
    chart = "one known sensitive value: it tells the record from all that look like it"
    values = {name: each.values for name, each in attacks.items()}
    records = {name: each.records for name, each in attacks.items()}
    shares = [
        compared_score(f"one known sensitive value, share of {what}", share, better="lower", chart=chart, at=at)
        for at, what, share in (
            ("values", "values that single out a record", values),
            ("records", "records that some value singles out", records),
        )
    ]
    read = {name: each.read for name, each in attacks.items()}
    return [*shares, compared_score("one known sensitive value, other values that are then read", read, better="lower")]


def _missing_vertices(original: Records, released: Records, rng: np.random.Generator) -> list[Score]:
    """Attack the classes whose records can be traced; the prior is how often two people have equal values anyway."""
    origins = trace_records(original, released, rng, most=_TRACED)
    if not origins.traced.any():
        return []
    attack = attack_missing_vertices(original, released.only(origins.traced), origins.origin)
    guesses = [exact_score("missing-vertex inference, guesses", attack.guesses, {})]
    if not attack.guesses:
        return guesses
    name, prior = "missing-vertex inference, share of guesses that are right", {"prior": attack.prior}
    return [*guesses, exact_score(name, attack.confidence, prior, better="lower")]


def shuffle_values(data: Records, rng: np.random.Generator) -> Records:
    """Shuffle the sensitive values of each type among the vertices that have one."""
    tables: list[VertexTable] = []
    for table in data.tables:
        sensitive = table.sensitive.copy()
        given = np.flatnonzero(sensitive >= 0)
        sensitive[given] = rng.permutation(sensitive[given])
        tables.append(VertexTable(table.parent, table.labels, sensitive))
    return replace(data, tables=tuple(tables))


def _largest_share(data: Records) -> float:
    """The largest share of records that have the same sensitive value, or bucket, somewhere."""
    largest = 0.0
    for number, kind in enumerate(data.schema.types):
        codes = data.tables[number].sensitive
        given = codes >= 0
        if kind.sensitive_axis is None or not given.any():
            continue
        bucket = bucket_numbers(data.domain.axis(kind.sensitive_axis))
        width = int(bucket.max()) + 1
        pairs = np.unique(data.records_of(number)[given] * width + bucket[codes[given]])
        largest = max(largest, float(np.bincount(pairs % width).max()) / len(data))
    return largest


# The attacks themselves.


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


class KnownValue(NamedTuple):
    """Shares of known values that single out a record, and of records that some do, and how many more are then read."""

    values: float
    records: float
    read: float


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
    alike = find_equivalence_classes(released)
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
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
    >>> student, course = VertexType("student", None, ("born",)), VertexType("course", "student", ("id",), "grade")
    >>> domain = Domain.declare(**{"student.born": [1990], "course.id": ["CS"], "course.grade": ["A", "B", "C"]})
    >>> grades = [("A", "B"), ("B", "C")]
    >>> trees = [("student", [1990], None, [("course", ["CS"], grade, []) for grade in pair]) for pair in grades]
    >>> attack_some_vertex(Records.from_trees(trees, RecordSchema((student, course)), domain))
    SomeVertexDisclosure(worst=1.0, certain=1.0, values=1.0)
    """
    alike = find_equivalence_classes(released)
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


def attack_known_value(released: Records) -> KnownValue:
    """Tell a record from others that look like it by one sensitive value, and read all of its other values.

    The attacker knows the labels and the shape of a person's record, and so the class that it is in, and one sensitive
    value at a known position: the own grade in a course that both took, or a price that was public. If one record of
    the class has the value there, it is the person's. No promise of this library limits it, and l-diversity makes it
    easier: the values at a position differ.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
    >>> student, course = VertexType("student", None, ("born",)), VertexType("course", "student", ("id",), "grade")
    >>> domain = Domain.declare(**{"student.born": [1990], "course.id": ["CS", "MA"], "course.grade": ["A", "B", "C"]})
    >>> grades = [("A", "B"), ("A", "C")]
    >>> courses = [[("course", [id], grade, []) for id, grade in zip(("CS", "MA"), pair)] for pair in grades]
    >>> trees = [("student", [1990], None, own) for own in courses]
    >>> attack_known_value(Records.from_trees(trees, RecordSchema((student, course)), domain))
    KnownValue(values=0.5, records=1.0, read=1.0)
    """
    alike = find_equivalence_classes(released)
    given = np.zeros(len(released), np.int64)
    known: list[Integers] = []
    lone: list[Flags] = []
    for number, (positions, table) in enumerate(zip(alike.positions, released.tables, strict=True)):
        has = np.flatnonzero(table.sensitive >= 0)
        record = released.records_of(number)[has]
        given += np.bincount(record, minlength=len(released))
        place = number_rows(positions.vertex[has], table.sensitive[has, None])
        pairs = np.unique(place * len(released) + record)  # a value that a record has twice at a position is one
        place, record = np.divmod(pairs, max(1, len(released)))
        known.append(record)
        lone.append(np.bincount(place)[place] == 1)
    single, records = np.concatenate(lone), np.concatenate(known)
    caught = records[single]
    return KnownValue(
        _share(len(caught), len(records)),
        _share(len(np.unique(caught)), len(released)),
        _share(int((given[caught] - 1).sum()), len(caught)),
    )


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
    alike = find_equivalence_classes(released)
    of_class = np.full(len(original), -1, np.int64)
    of_class[origin] = alike.record
    pairs = [(origin, np.arange(len(released)))]
    shown, path = [of_class >= 0], [np.zeros(len(original), np.int64)]
    totals = np.zeros(3)
    for number, above in enumerate(original.schema.parents[1:], start=1):
        table = original.tables[number]
        pairs.append(_pair_children(original, released, number, pairs[above]))
        shown.append(_flag(len(table), pairs[number][0]))
        path.append(number_rows(path[above][table.parent], table.labels))
        axis = original.schema.types[number].sensitive_axis
        if axis is not None:
            owner = original.records_of(number)
            once = np.flatnonzero(occurs_once(owner, path[number]) & (table.sensitive >= 0))
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
    group = number_rows(of_class, path[:, None])
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


def number_rows(first: Integers, columns: Integers) -> Integers:
    """Number rows from 0: equal numbers where all keys are equal."""
    numbers = first
    for column in columns.T:
        numbers = np.unique(numbers * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].astype(
            np.int64
        )
    return numbers


def occurs_once(owner: Integers, path: Integers) -> Flags:
    """Mark the vertices whose path is once in their record."""
    both = number_rows(owner, path[:, None])
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


# Which record of the original a published one came from: only the owner can tell, and not always.


class Origins(NamedTuple):
    """Published records that were traced, by whole classes, and their records in the original.

    `traced` marks them, and `origin` has one number per traced record, in their order.
    """

    traced: Flags
    origin: Integers


def trace_records(original: Records, released: Records, rng: np.random.Generator, *, most: int) -> Origins:
    """Trace the records of random classes back to the original, of at most `most` records.

    A record of the original fits a published one if it has, for every label and sensitive value of the latter, at least
    as many vertices that they can stand for. The true origin always fits; if it is the only one, the record is traced.
    A class is kept if all of its records are.
    """
    traced = np.zeros(len(released), np.bool_)
    origin = np.full(len(released), -1, np.int64)
    if not len(released):
        return Origins(traced, origin)
    alike = find_equivalence_classes(released)
    by_class: Integers = np.argsort(alike.record, kind="stable")
    ends = np.cumsum(alike.sizes)
    fitting = Fitting(original, released)
    order = rng.permutation(len(ends))
    for number in order[np.cumsum(alike.sizes[order]) <= most].tolist():
        members = by_class[ends[number] - alike.sizes[number] : ends[number]]
        for record in members.tolist():
            fits = fitting.find(record)
            if len(fits) != 1:
                break
            origin[record] = fits[0]
        else:
            traced[members] = True
    return Origins(traced, origin[traced])


class Fitting:
    """Finds the records of the original that fit a published one."""

    def __init__(self, original: Records, released: Records) -> None:
        self.original, self.released = original, released
        numbers = range(len(original.tables))
        self.hierarchies = [original.hierarchies(number) for number in numbers]
        # tables are sorted by parents, so these are sorted
        self.before = [original.records_of(number) for number in numbers]
        self.after = [released.records_of(number) for number in numbers]

    def find(self, record: int) -> Integers:
        """Return the records that fit; types are tried from the root on, until one record is left."""
        fits = np.arange(len(self.original))
        for number in range(len(self.original.tables)):
            fits = self._narrow(fits, record, number)
            if len(fits) <= 1:
                break
        return fits

    def _narrow(self, fits: Integers, record: int, number: int) -> Integers:
        """Keep the records that have enough vertices of a type."""
        start, end = np.searchsorted(self.after[number], [record, record + 1])
        table, published = self.original.tables[number], self.released.tables[number]
        keys = np.column_stack((published.labels[start:end], published.sensitive[start:end]))
        wanted, times = np.unique(keys, axis=0, return_counts=True)
        owner = self.before[number]
        rows, place = concatenate_ranges(np.searchsorted(owner, fits), np.searchsorted(owner, fits, side="right"))
        enough = np.ones(len(fits), np.bool_)
        for (*labels, sensitive), least in zip(wanted.tolist(), times.tolist(), strict=True):
            match = table.sensitive[rows] == sensitive
            for column, label in enumerate(labels):
                match &= _covered(self.hierarchies[number][column], label)[table.labels[rows, column]]
            enough &= np.bincount(place[match], minlength=len(fits)) >= least
        return fits[enough]


def _covered(tree: Hierarchy, label: int) -> Flags:
    """Mark the labels at or below a label."""
    depth = int((tree.ancestors[label] >= 0).sum()) - 1
    return tree.ancestors[:, depth] == label

"""Count queries by definition: every way to place a pattern in a tree, and every world that a release may come from."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from hedgerow.kinds.records.anatomy import Grouping


class Flat(NamedTuple):
    """One record: vertices as (type, labels), parents by place, and sensitive values."""

    vertices: list[tuple[str, list[str]]]
    parents: list[int]
    values: list[object]


def flatten(tree, parent=-1, into=None):
    into = Flat([], [], []) if into is None else into
    kind, labels, value, children = tree
    into.vertices.append((kind, [str(label) for label in labels]))
    into.parents.append(parent)
    into.values.append(value)
    place = len(into.vertices) - 1
    for child in children:
        flatten(child, place, into)
    return into


class Wanted(NamedTuple):
    """A vertex of a pattern: type, the place of the one above it, and tests of labels and of the sensitive value."""

    kind: str
    above: int
    labels: dict[int, set[str]]
    values: set[object] | None


def find_counted(record, pattern, counted, values=None):
    """The vertices that stand for the counted one in some placement of the pattern; all are different vertices."""
    values = record.values if values is None else values
    found = set()

    def fits(wanted, place):
        kind, labels = record.vertices[place]
        return (
            kind == wanted.kind
            and all(labels[column] in asked for column, asked in wanted.labels.items())
            and (wanted.values is None or values[place] in wanted.values)
        )

    def extend(placed):
        if len(placed) == len(pattern):
            found.add(placed[counted])
            return
        wanted = pattern[len(placed)]
        above = placed[wanted.above] if wanted.above >= 0 else -1
        for place, parent in enumerate(record.parents):
            if parent == above and place not in placed and fits(wanted, place):
                extend([*placed, place])

    extend([])
    return found


def law_by_vertex(group, pattern, counted):
    """The law of the count of one group: positions are places in the list of vertices, which all members share."""
    given = [place for place, value in enumerate(group[0].values) if value is not None]
    orders = list(itertools.permutations(range(len(group))))
    law = {}
    for chosen in itertools.product(orders, repeat=len(given)):
        total = 0
        for member, record in enumerate(group):
            values = list(record.values)
            for place, order in zip(given, chosen, strict=True):
                values[place] = group[order[member]].values[place]
            total += len(find_counted(record, pattern, counted, values))
        law[total] = law.get(total, 0) + Fraction(1, len(orders) ** len(given))
    return law


def law_by_tree(group, pattern, counted):
    """The law of the count of one group over all orders of its trees of sensitive values."""
    law = {}
    for order in itertools.permutations(group):
        total = sum(
            len(find_counted(record, pattern, counted, other.values))
            for record, other in zip(group, order, strict=True)
        )
        law[total] = law.get(total, 0) + Fraction(1, math.factorial(len(group)))
    return law


def add_laws(laws):
    total = {0: Fraction(1)}
    for law in laws:
        after = {}
        for (one, p), (other, q) in itertools.product(total.items(), law.items()):
            after[one + other] = after.get(one + other, 0) + p * q
        total = after
    return total


def mean_of(law):
    return sum(count * chance for count, chance in law.items())


def middle_of(law):
    """The least counts with at least 2.5 % and 97.5 % at or below them."""
    below, ends = Fraction(0), []
    for count in sorted(law):
        below += law[count]
        while len(ends) < 2 and below >= (Fraction(1, 40), Fraction(39, 40))[len(ends)]:
            ends.append(count)
    return tuple(ends)


def grouping_of(data, groups):
    """Match records of one shape: their vertices of each type, in order."""
    record = np.repeat(np.arange(len(groups)), groups)
    positions = []
    for number, table in enumerate(data.tables):
        owner = data.records_of(number)
        positions.append(np.arange(len(table)) - np.searchsorted(owner, owner))
    return Grouping(record, tuple(positions))

"""Worlds: what a release may come from, drawn such that all that it leaves open is equally likely.

In an anatomised release the sensitive values of each position are dealt to its vertices; in a generalised one, each
label becomes one of the values it stands for.
"""

from __future__ import annotations

import numpy as np

from hedgerow.kinds.records.data import VertexTable
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.query_sources import ByVertex, KnownTrees, Versions
from hedgerow.kinds.records.tree_pattern import Asked, Pattern
from hedgerow.numerics.arrays import Flags, Integers


def keep_involved(source: KnownTrees, involved: Flags, pattern: Pattern) -> KnownTrees:
    """Return what some records have that may match a pattern; with all vertices of a position, or with none."""
    kept = [np.zeros(len(table), np.bool_) for table in source.tables]
    for number in sorted(pattern.by_type, reverse=True):
        rows = np.unique(np.concatenate([source.candidates(number, each) for each in _asked(pattern, number)]))
        if isinstance(source, ByVertex) and any(each.values is not None for each in _asked(pattern, number)):
            spot = np.zeros(len(source.size[number]) + 1, np.bool_)
            spot[source.spot[number][rows]] = True
            rows = np.flatnonzero(spot[source.spot[number]])
        rows = rows[involved[source.record_of(number, rows)]]
        kept[number][rows] = True
        while number and len(rows):
            rows, number = source.above(number, rows), source.schema.parents[number]  # noqa: PLW2901 - up to the root
            kept[number][rows] = True
    places = [np.cumsum(flags) - 1 for flags in kept]
    tables: list[VertexTable] = []
    for number, (table, flags) in enumerate(zip(source.tables, kept, strict=True)):
        rows = np.flatnonzero(flags)
        parent = np.arange(len(rows)) if number == 0 else places[source.schema.parents[number]][table.parent[rows]]
        tables.append(table.take(rows).with_parent(parent))
    part = KnownTrees(source.schema, tables, source.hierarchies, source.group[kept[0]])
    if not isinstance(source, ByVertex):
        return part
    return ByVertex(
        part, {number: (spot[kept[number]], *source.entries[number]) for number, spot in source.spot.items()}
    )


def _asked(pattern: Pattern, number: int) -> list[Asked]:
    return [pattern.nodes[place].asked for place in pattern.by_type[number]]


def draw_worlds(source: KnownTrees, pattern: Pattern, worlds: int, coins: np.random.Generator) -> Versions:
    """Draw what a release leaves open, so many times."""
    codes: dict[int, Integers] = {}
    labels: dict[tuple[int, int], Integers] = {}
    for number in pattern.by_type:
        asked = _asked(pattern, number)
        if any(each.values is not None for each in asked):
            codes[number] = _draw_values(source, number, worlds, coins)
        for column in {column for each in asked for column in each.labels}:
            own, tree = source.tables[number].labels[:, column], source.hierarchies[number][column]
            if own.max(initial=0) >= tree.leaves:
                labels[number, column] = _draw_leaves(tree, own, worlds, coins)
    return Versions(source, codes, count=np.full(len(source), worlds), labels=labels)


def _draw_values(source: KnownTrees, number: int, worlds: int, coins: np.random.Generator) -> Integers:
    """Deal the sensitive values of each position to its vertices, in each world."""
    own = source.tables[number].sensitive
    if not isinstance(source, ByVertex):
        return np.broadcast_to(own, (worlds, len(own)))
    places, code, times = source.entries[number]
    by_spot = np.argsort(places, kind="stable")
    values = np.repeat(code[by_spot], times[by_spot])
    size = source.size[number].astype(np.int64)
    starts = np.cumsum(size) - size
    spot = source.spot[number]
    order = np.argsort(spot, kind="stable")
    members = np.bincount(spot, minlength=len(size) + 1)[: len(size)]
    first = np.searchsorted(spot[order], np.arange(len(size)))
    dealt = np.full((worlds, len(own)), -1, np.int64)
    for each in np.unique(members[members > 0]).tolist():
        # in a folder from elsewhere, a position may have other numbers of vertices and values: it matches nothing
        spots = np.flatnonzero((members == each) & (size == each))
        rows = order[first[spots, None] + np.arange(each)]
        turns = coins.random((worlds, len(spots), each)).argsort(axis=2)
        dealt[:, rows] = values[starts[spots, None] + turns]
    return dealt


def _draw_leaves(tree: Hierarchy, labels: Integers, worlds: int, coins: np.random.Generator) -> Integers:
    """Replace each label by one of the values that it stands for."""
    above = tree.ancestors[: tree.leaves]
    order = np.lexsort(above.T[::-1])  # the values of each label follow each other
    start, size = np.zeros(len(tree), np.int64), np.zeros(len(tree), np.int64)
    for column in above[order].T:
        label, first, times = np.unique(column, return_index=True, return_counts=True)
        inside = label >= 0
        start[label[inside]], size[label[inside]] = first[inside], times[inside]
    return order[start[labels] + np.floor(coins.random((worlds, len(labels))) * size[labels]).astype(np.int64)]

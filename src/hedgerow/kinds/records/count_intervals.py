r"""How far the links alone move a count: the middle 95 % of it over all links that are equally likely.

Groups are independent of each other, so that the law of the count is that of a sum. It is computed where a group has
few cases:

- vertex by vertex, where one position of a group matters: of $g$ vertices $K$ fit and $M$ of the values do, so that the
  number of matches is hypergeometric;
- tree by tree, over all $g!$ orders of the trees of a group;
- of a generalised release, records are independent and each matches with its own chance.

Otherwise 2,000 *worlds* are drawn, that is links for all groups at once; where that is too much, fewer, from which the
variance of each group is found, and the sum of many groups is taken as normal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from hedgerow import progress
from hedgerow.kinds.records.drawn_worlds import draw_worlds, keep_involved
from hedgerow.kinds.records.match_chances import Matches, find_matches
from hedgerow.kinds.records.query_sources import ByTree, ByVertex, KnownTrees, Versions
from hedgerow.kinds.records.tree_pattern import Pattern
from hedgerow.numerics.arrays import Floats, Integers

#: what is in the middle of a law, and a normal law has it within so many standard deviations
MIDDLE = 0.95
_NORMAL = 1.959964
_WORLDS, _FEWEST = 2_000, 100
#: vertices of drawn worlds that are held at once, and that are drawn in all
_AT_ONCE, _IN_ALL = 4_000_000, 40_000_000
#: groups from which on a sum is as good as normal
_MANY_GROUPS = 200
#: cells of the tables that laws are computed in
_CELLS = 20_000_000
#: the largest group whose orders are gone through, by sets of trees that are taken
_MOST_TREES = 8
#: the law of a group, and how many groups have it
_Law: TypeAlias = "tuple[Floats, int]"


class Interval(NamedTuple):
    """The ends of the middle of a count; equal if links do not matter."""

    low: float
    high: float


def find_estimate(source: KnownTrees | Versions, matches: Matches) -> float:
    """Return the expected count: of records in versions, each is as likely as the others."""
    if isinstance(source, Versions):
        return float((matches.expected / source.count[matches.roots % max(1, len(source))]).sum())
    return float(matches.expected.sum())


def find_interval(
    source: KnownTrees | ByTree, pattern: Pattern, matches: Matches, coins: np.random.Generator
) -> Interval:
    """Return the middle 95 % of a count, of which `matches` is what is expected."""
    if isinstance(source, ByTree):
        return _over_trees(source, matches, coins)
    uncertain = (matches.chance > 0) & (matches.chance < 1)
    sure = float(matches.expected.sum())
    if not uncertain.any() and np.array_equal(matches.expected, np.rint(matches.expected)):
        return Interval(sure, sure)
    laws = _find_hypergeometric(source, pattern, matches) if isinstance(source, ByVertex) else None
    if laws is None and not isinstance(source, ByVertex) and matches.expected is matches.chance:
        chances, times = np.unique(matches.chance, return_counts=True)
        laws = [(np.array([1 - p, p]), int(n)) for p, n in zip(chances.tolist(), times.tolist(), strict=True)]
    middle = None if laws is None else _find_middle(laws)
    return middle or _draw_worlds(source, pattern, matches, coins)


def _find_middle(laws: list[_Law]) -> Interval | None:
    """The middle of the sum of independent numbers by their laws; None if that takes too long."""
    most = sum((len(law) - 1) * times for law, times in laws)
    size = 1 << (most + 1).bit_length()
    if size * len(laws) > _CELLS:
        return None
    spectrum = np.ones(size // 2 + 1, np.complex128)
    for law, times in laws:
        spectrum *= np.fft.rfft(law, size) ** times
    return _middle_of(np.fft.irfft(spectrum, size)[: most + 1])


def _middle_of(law: Floats) -> Interval:
    below = np.cumsum(law) / law.sum()
    tail = (1 - MIDDLE) / 2
    # chances come with rounding errors: a number that is certain is certain
    ends = np.searchsorted(below, [tail + 1e-12, 1 - tail - 1e-12])
    return Interval(*(float(end) for end in ends))


# One position of each group.


def _find_hypergeometric(source: ByVertex, pattern: Pattern, matches: Matches) -> list[_Law] | None:
    """The laws of the counts of groups where one position of each matters; None where more do."""
    asking = [(node, node.asked.values) for node in pattern.nodes if node.asked.values is not None]
    if len(asking) != 1 or not np.array_equal(matches.expected, matches.chance):
        return None
    node, wanted = asking[0]
    rows = source.candidates(node.type, node.asked)
    rows = rows[source.chances(node.type, rows, node.asked) > 0]
    at = np.searchsorted(matches.roots, source.record_of(node.type, rows))
    rows = rows[np.append(matches.roots, -1)[at] == source.record_of(node.type, rows)]
    spot, group = source.spot[node.type][rows], source.group[source.record_of(node.type, rows)]
    pairs = np.unique(np.column_stack((group, spot)), axis=0)
    if len(np.unique(pairs[:, 0])) < len(pairs) or len(np.unique(source.record_of(node.type, rows))) < len(rows):
        return None
    fits = np.bincount(np.unique(spot, return_inverse=True)[1])
    spots = pairs[np.argsort(pairs[:, 1]), 1]
    size = source.size[node.type][spots]
    right = np.zeros(len(source.size[node.type]))
    places, codes, times = source.entries[node.type]
    np.add.at(right, places[wanted[codes]], times[wanted[codes]])
    if not math.isclose(float((fits * right[spots] / size).sum()), float(matches.chance.sum()), rel_tol=1e-9):
        return None  # more is uncertain than the values, such as labels that were generalised before
    cases, counts = np.unique(np.column_stack((size, fits, right[spots])), axis=0, return_counts=True)
    return [
        (_hypergeometric(int(g), int(k), int(m)), int(n)) for (g, k, m), n in zip(cases, counts.tolist(), strict=True)
    ]


def _hypergeometric(g: int, k: int, m: int) -> Floats:
    """How many of `k` vertices get one of `m` values, when `g` values are dealt to `g` vertices.

    Examples
    --------
    >>> _hypergeometric(4, 2, 2).round(3).tolist()
    [0.167, 0.667, 0.167]
    """
    return np.array(
        [math.comb(k, x) * math.comb(g - k, m - x) / math.comb(g, m) if x <= m else 0.0 for x in range(k + 1)]
    )


# Tree by tree.


def _over_trees(source: ByTree, matches: Matches, coins: np.random.Generator) -> Interval:
    """The middle over all orders of the trees of each group."""
    sums = 0.0
    laws: list[_Law] = []
    drawn: list[Integers] = []
    for table in _tables_of(source, matches):
        constant = (table == table[:, :1, :]).all(axis=(1, 2)) | (table == table[:, :, :1]).all(axis=(1, 2))
        sums += float(table[constant].sum() / max(1, table.shape[1]))
        open_ones = table[~constant]
        if not len(open_ones):
            continue
        distinct, times = np.unique(open_ones.reshape(len(open_ones), -1), axis=0, return_counts=True)
        tables = distinct.reshape(-1, *table.shape[1:])
        top = int(tables.max(axis=2).sum(axis=1).max())
        if table.shape[1] <= _MOST_TREES and len(tables) * (top + 1) << table.shape[1] <= _CELLS:
            laws += zip(_over_orders(tables, top), times.tolist(), strict=True)
        else:
            drawn.append(open_ones)
    if not drawn and (middle := _find_middle(laws)):
        return Interval(middle.low + sums, middle.high + sums)
    return _draw_orders(source, matches, coins)


def _tables_of(source: ByTree, matches: Matches) -> Iterator[Integers]:
    """For each size of groups, how many matches each record (rows) has with each tree (columns) of its group."""
    version, record = np.divmod(matches.roots, max(1, len(source)))
    counts = np.zeros((len(source), source.versions), np.int64)
    counts[record, version] = np.rint(matches.expected).astype(np.int64)
    order = np.argsort(source.group, kind="stable")
    sizes = np.bincount(source.group)
    for size in np.unique(sizes[sizes > 0]).tolist():
        records = order[sizes[source.group[order]] == size].reshape(-1, size)
        tables = counts[records][:, :, :size]
        yield tables[tables.any(axis=(1, 2))]


def _over_orders(tables: Integers, top: int) -> Floats:
    """The law of the sum over a random order, for each table: row after row takes one of the columns that are left."""
    count, size, _ = tables.shape
    ways = np.zeros((1 << size, count, top + 1))
    ways[0, :, 0] = 1
    places = np.arange(top + 1)
    for taken in range(1 << size):
        row = taken.bit_count()
        for column in range(size):
            if row < size and not taken >> column & 1:
                before = places - tables[:, row, column, None]
                moved = np.take_along_axis(ways[taken], np.maximum(before, 0), axis=1)
                ways[taken | 1 << column] += np.where(before >= 0, moved, 0)
    return ways[-1] / math.factorial(size)


def _draw_orders(source: ByTree, matches: Matches, coins: np.random.Generator) -> Interval:
    """The middle of drawn orders of the trees of all groups."""
    totals = np.zeros(_WORLDS)
    for table in _tables_of(source, matches):
        groups, size, _ = table.shape
        step = max(1, _AT_ONCE // max(1, groups * size))
        for start in range(0, _WORLDS, step):
            worlds = min(step, _WORLDS - start)
            columns = coins.random((worlds, groups, size)).argsort(axis=2)
            chosen = table[np.arange(groups)[:, None], np.arange(size), columns]
            totals[start : start + worlds] += chosen.sum(axis=(1, 2))
    return _middle_of_drawn(totals)


def _middle_of_drawn(totals: Floats) -> Interval:
    low, high = np.quantile(totals, [(1 - MIDDLE) / 2, (1 + MIDDLE) / 2], method="inverted_cdf")
    return Interval(float(low), float(high))


# Worlds: a link for every position, a value for every generalised label.


def _draw_worlds(source: KnownTrees, pattern: Pattern, matches: Matches, coins: np.random.Generator) -> Interval:
    """Draw what is unknown of the groups whose count is; the rest is certain."""
    uncertain = np.unique(source.group[matches.roots[(matches.chance < 1) | (matches.expected % 1 > 0)]])
    involved = np.isin(source.group, uncertain)
    sure = float(matches.expected[~involved[matches.roots]].sum())
    part = keep_involved(source, involved, pattern)
    vertices = sum(len(part.tables[number]) for number in pattern.by_type)
    worlds = int(np.clip(_IN_ALL // max(1, vertices), _FEWEST, _WORLDS))
    if len(uncertain) < _MANY_GROUPS:
        worlds = _WORLDS
    step = max(1, min(worlds, _AT_ONCE // max(1, vertices)))
    place = np.searchsorted(uncertain, part.group)
    totals: list[Floats] = []
    first, second = np.zeros(len(uncertain)), np.zeros(len(uncertain))
    for start in range(0, worlds, step):
        progress.tell("drawing links", start, worlds)
        number = min(step, worlds - start)
        drawn = find_matches(draw_worlds(part, pattern, number, coins), pattern)
        version, record = np.divmod(drawn.roots, max(1, len(part)))
        counts = np.bincount(
            version * len(uncertain) + place[record], drawn.expected, minlength=number * len(uncertain)
        ).reshape(number, -1)
        totals.append(counts.sum(axis=1))
        first += counts.sum(axis=0)
        second += (counts**2).sum(axis=0)
    if worlds == _WORLDS:
        middle = _middle_of_drawn(np.concatenate(totals))
        return Interval(middle.low + sure, middle.high + sure)
    variance = float((second / worlds - (first / worlds) ** 2).sum()) * worlds / (worlds - 1)
    expected, half = float(matches.expected.sum()), _NORMAL * math.sqrt(max(0.0, variance))
    return Interval(max(0.0, math.floor(expected - half)), float(math.ceil(expected + half)))

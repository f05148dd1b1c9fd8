"""The check of trajectories at coarser places and times: labels of a record do not overlap, their order tells nothing.

The check is independent: it reads labels as a receiver would, by their names and times, makes regions of the public
domain in its own way, and shares no code with the methods that choose labels.

Why a set of labels that do not overlap is enough: a visit is under one label of a record at most, so the records that
hold all known visits are a disjoint union of groups that hold the same labels over them, and each of these has K. The
order of visits would tell more than the labels: under a label there is no visit before the bins of those before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import TypeAlias

import numpy as np

from hedgerow.data import Axis
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.numerics.arrays import Integers

#: a region by the name of its level and its own
_Region: TypeAlias = tuple[str, str]


def count_label_faults(data: CoarseTrajectories, *, longest: int = 1, shared: bool = False) -> Mapping[str, int]:
    """Count what is wrong with the labels of each record, whatever other records have.

    If groups of records may share persons and a share C is promised (`shared`), a union of groups can exceed C although
    none of them does. Visits must then determine one set of labels: all are of one level. So they must be if attackers
    know up to `longest` visits, and that nobody is at two places at one time.
    """
    distinct, at = np.unique(data.labels, return_inverse=True)
    names = data.decode(distinct)
    place = data.domain.axis("place")
    regions = sorted({(level, region) for level, region, _, _ in names}, key=lambda each: _rank(place, *each))
    numbers = {region: number for number, region in enumerate(regions)}
    columns = [(numbers[level, region], begin, end) for level, region, begin, end in names]
    table = np.array(columns, np.int64).reshape(-1, 3)[at.reshape(-1)]
    members = _places_of(place, data.levels.regions_by, regions)
    sizes = np.diff(data.starts)
    record = np.repeat(np.arange(len(data)), sizes)
    several = len({(level, end - begin) for level, _, begin, end in names}) > 1
    faults = Counter(
        {
            "labels of regions without places": sum(not members[region] for region in regions),
            "levels that do not nest": _count_crossing(list(members.values())),
            "labels that stand after later ones": _count_misplaced(record, table),
            "records in the order of visits, which tells more than their labels": int(
                data.by_visits and (sizes > 1).sum()
            ),
        }
    )
    if shared:
        faults["labels of several levels, though persons may own several records"] = int(several)
    if data.one_place:
        times = [int(value) for value in data.domain.values("time")]
        faults |= {
            "labels of several levels, though nobody is at two places at one time": int(several),
            "bins with more labels than fit with nobody at two places at one time": _count_crowded(
                record, table, times, longest
            ),
        }
    for apart in range(1, int(sizes.max(initial=0))):
        pairs = np.flatnonzero(record[apart:] == record[:-apart])
        first, second = table[pairs], table[pairs + apart]
        meet = (first[:, 1] < second[:, 2]) & (second[:, 1] < first[:, 2])
        faults["pairs of labels that overlap"] += _count_shared(first[meet, 0], second[meet, 0], regions, members)
    return faults


def _rank(place: Axis, level: str, region: str) -> tuple[Decimal, int, str]:
    """The rank of a region in the canonical order: finer levels first, places as the domain lists them."""
    return Decimal(level), place.by_text.get(region, 0) if level == "0" else 0, region


def _count_misplaced(record: Integers, table: Integers) -> int:
    """Count the labels of a record that are not in their canonical place: by start, width, level and region.

    Regions are numbered level by level, the finest first.
    """
    region, begin, end = table.T
    order = np.lexsort((region, end - begin, begin, record))
    return int((order != np.arange(len(order))).sum())


def _count_crowded(record: Integers, table: Integers, times: Sequence[int], longest: int) -> int:
    """Count the bins of a record that hold more labels than is safe from those who know that nobody is at two places.

    They know up to `longest` times in the bin, all under one label at worst. Each other label takes one more time.
    """
    _, begin, end = table.T
    counted = Counter(zip(record.tolist(), begin.tolist(), end.tolist(), strict=True))
    ordered, crowded = sorted(times), 0
    for (_, low, high), labels in counted.items():
        inside = bisect_left(ordered, high) - bisect_left(ordered, low)
        known = min(inside, longest)
        crowded += labels > inside - known + min(known, 1)
    return crowded


def count_label_steps(data: CoarseTrajectories) -> int:
    """How many steps the check takes: pairs of labels, and places on all levels."""
    sizes = np.diff(data.starts).astype(object)
    return int((sizes * sizes).sum()) + len(data.domain.axis("place")) * len(data.levels.places)


def _count_shared(
    first: Integers, second: Integers, regions: Sequence[_Region], members: Mapping[_Region, frozenset[int]]
) -> int:
    """Count the pairs of regions that have a place in common."""
    pairs, counts = np.unique(first * len(regions) + second, return_counts=True)
    return sum(
        count
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
        if not members[regions[pair // len(regions)]].isdisjoint(members[regions[pair % len(regions)]])
    )


def _places_of(axis: Axis, regions_by: str, regions: Sequence[_Region]) -> dict[_Region, frozenset[int]]:
    """List the places of each of these regions, as the domain declares them."""
    places: dict[_Region, set[int]] = {region: set() for region in regions}
    for level in sorted({level for level, _ in regions}):
        for place in range(len(axis)):
            region = (level, _region_of(axis, regions_by, level, place))
            if region in places:
                places[region].add(place)
    return {region: frozenset(each) for region, each in places.items()}


def _region_of(axis: Axis, regions_by: str, level: str, place: int) -> str:
    """The region of a place: itself, a group of its path, or the cell that holds its coordinates."""
    if level == "0":
        return str(axis.values[place])
    if regions_by.startswith("grid"):
        return ":".join(
            str(int((Decimal(repr(degrees)) / Decimal(level)).to_integral_value(ROUND_FLOOR)))
            for degrees in axis.coordinates[place]
        )
    return axis.paths[place][-int(level)]


def _count_crossing(members: Sequence[frozenset[int]]) -> int:
    """Count the regions that lie only in part in another one: levels that nest have none."""
    largest_first = sorted(members, key=len, reverse=True)
    inside: dict[int, int] = {}  # the number of the smallest region so far that holds each place
    crossing = 0
    for number, places in enumerate(largest_first):
        crossing += len({inside.get(place) for place in places}) > 1
        inside.update(dict.fromkeys(places, number))
    return crossing

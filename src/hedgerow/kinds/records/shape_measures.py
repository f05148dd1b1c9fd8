"""The shape of nested records: vertices and children, depths of labels in their hierarchies, sizes of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.equivalence_classes import find_equivalence_classes
from hedgerow.measures.scoring import compared_score
from hedgerow.numerics.arrays import Integers
from hedgerow.score import Score

#: a chart that the report of records draws in its own way
LEVELS = "labels by level of generalisation"
VALUE, HIDDEN, SUPPRESSED = "value", "hidden (*)", "suppressed"
#: so many numbers have a bin each
_FEW = 24


def count_children(data: Records, number: int) -> Integers:
    """Count the children of a type below each vertex of its parent type.

    Examples
    --------
    >>> from hedgerow.kinds.records.cases import records_of
    >>> courses = [("course", ["CS201"], "A", [])] * 2
    >>> data = records_of([("student", ["CS", 1990], None, courses), ("student", ["EE", 1990], None, [])])
    >>> count_children(data, 1).tolist()
    [2, 0]
    """
    above = data.tables[data.schema.parents[number]]
    return np.bincount(data.tables[number].parent, minlength=len(above)).astype(np.int64)


def count_levels(data: Records, number: int, column: int) -> dict[str, int]:
    """Count the labels of an attribute by their depth in the hierarchy: values, groups by depth, and the root.

    Examples
    --------
    >>> from hedgerow.kinds.records.cases import records_of
    >>> data = records_of([("student", [major, 1990], None, []) for major in ("Engineering", "VA", "Engineering")])
    >>> count_levels(data, 0, 0)
    {'value': 1, 'depth 1': 2, 'hidden (*)': 0}
    """
    tree = data.hierarchies(number)[column]
    codes = data.tables[number].labels[:, column]
    depth = (tree.ancestors >= 0).sum(axis=1) - 1
    names = [VALUE, *(f"depth {d}" for d in range(int(depth[tree.leaves :].max()), 0, -1)), HIDDEN]
    # of a hierarchy of one value without groups, the value is not the root
    place = np.where(np.arange(len(tree)) < tree.leaves, 0, len(names) - 1 - depth)
    return dict(zip(names, np.bincount(place[codes], minlength=len(names)).tolist(), strict=True))


def order_levels(levels: Sequence[str]) -> list[str]:
    """Order the names of levels from the finest to the widest, suppressed last.

    Examples
    --------
    >>> order_levels(["depth 1", "suppressed", "hidden (*)", "depth 2", "value"])
    ['value', 'depth 2', 'depth 1', 'hidden (*)', 'suppressed']
    """
    depths = sorted((level for level in set(levels) if level.startswith("depth ")), key=lambda level: -int(level[6:]))
    return [level for level in (VALUE, *depths, HIDDEN, SUPPRESSED) if level in set(levels)]


def find_class_sizes(data: Records) -> Integers:
    """Return the number of records of each class: of records that look alike, but for sensitive values."""
    return find_equivalence_classes(data).sizes if len(data) else np.zeros(0, np.int64)


def bin_counts(*lists: Integers) -> list[tuple[str, list[int]]]:
    """Count the numbers of each list in shared bins: one per number if they are few, else doubling, 3-4, 5-8, ...

    Examples
    --------
    >>> bin_counts(np.array([0, 2, 2]), np.array([1]))
    [('0', [1, 0]), ('1', [0, 1]), ('2', [2, 0])]
    >>> bin_counts(np.array([2, 3, 40]))
    [('2', [1]), ('3-4', [1]), ('5-8', [0]), ('9-16', [0]), ('17-32', [0]), ('33-64', [1])]
    """
    low = min((int(values.min()) for values in lists if len(values)), default=0)
    high = max((int(values.max()) for values in lists if len(values)), default=0)
    if high - low < _FEW:
        counts = [np.bincount(values - low, minlength=high - low + 1).tolist() for values in lists]
        return [(str(low + number), [each[number] for each in counts]) for number in range(high - low + 1)]
    places = [_doubling(values) for values in lists]
    first, last = (int(_doubling(np.array([end]))[0]) for end in (low, high))
    counts = [np.bincount(place, minlength=last + 1).tolist() for place in places]
    return [(_bin_name(number), [each[number] for each in counts]) for number in range(first, last + 1)]


def _doubling(values: Integers) -> Integers:
    """The bin of each number: 0, 1, 2, 3-4, 5-8, ..."""
    exponents = np.frexp(np.maximum(values, 1) - 0.5)[1]
    return np.where(values > 1, exponents + 1, values).astype(np.int64)


def _bin_name(number: int) -> str:
    if number <= 2:  # noqa: PLR2004
        return str(number)
    return f"{(1 << (number - 2)) + 1}-{1 << (number - 1)}"


def measure_shapes(original: Records, released: Records) -> list[Score]:
    """Measure vertices per record by type, and how many children vertices have: before and after."""
    scores: list[Score] = []
    types = original.schema.types
    for number, kind in enumerate(types[1:], start=1):
        means = [len(data.tables[number]) / max(1, len(data)) for data in (released, original)]
        name, chart = f"vertices per record, type {kind.name}", "vertices per published record, by type"
        scores.append(compared_score(name, dict(zip(("", "original"), means, strict=True)), chart=chart, at=kind.name))
    for number, kind in enumerate(types[1:], start=1):
        counts = [count_children(data, number) for data in (released, original)]
        chart = f"children of type {kind.name} per {kind.parent}, share of vertices"
        scores += _share_scores(chart, counts)
    return scores


def measure_classes(original: Records, releases: Mapping[str, Records]) -> list[Score]:
    """Measure the sizes of classes of records that look alike."""
    sizes = {name: find_class_sizes(data) for name, data in {**releases, "original": original}.items()}
    return measure_sizes(sizes, "class", "classes")


def measure_sizes(sizes: Mapping[str, Integers], what: str, several: str) -> list[Score]:
    """Measure the sizes of classes, or of groups: of a release, which has the empty name, and of others."""
    filled = {name: each for name, each in sizes.items() if len(each)}
    if "" not in filled:
        return []
    figures = {
        f"smallest {what}, records": {name: float(each.min()) for name, each in filled.items()},
        several: {name: float(len(each)) for name, each in sizes.items()},
        f"mean {what} size of a record": {name: float((each**2).sum() / each.sum()) for name, each in filled.items()},
        f"discernibility (sum of squared {what} sizes)": {name: float((each**2).sum()) for name, each in sizes.items()},
    }
    # a record is counted, not a class: a class of a hundred records has a hundred of them
    records = [np.repeat(sizes[name], sizes[name]) for name in ("", "original") if name in sizes]
    chart = f"size of the {what} of a record, share of records"
    return [*(compared_score(name, values) for name, values in figures.items()), *_share_scores(chart, records)]


def measure_levels(original: Records, released: Records) -> list[Score]:
    """Measure the share of labels at each depth of their hierarchy, and the share that is suppressed."""
    scores: list[Score] = []
    for number, kind in enumerate(original.schema.types):
        whole = len(original.tables[number])
        for column, axis in enumerate(kind.quasi_axes if whole else ()):
            before, after = (count_levels(data, number, column) for data in (original, released))
            counts = {**after, SUPPRESSED: whole - sum(after.values())}
            scores += [
                compared_score(
                    f"share of labels of {axis}: {level}",
                    {"": count / whole, "original": before.get(level, 0) / whole},
                    chart=LEVELS,
                    at=axis,
                    across=level,
                )
                for level, count in counts.items()
            ]
    return scores


def _share_scores(chart: str, lists: Sequence[Integers]) -> list[Score]:
    """Score the share of numbers in each bin: of the release, then of the original if it is there."""
    whole = [max(1, len(values)) for values in lists]
    names = ("", "original")[: len(lists)]
    return [
        compared_score(
            f"{chart}: {at}",
            {name: count / all_of for name, count, all_of in zip(names, counts, whole, strict=True)},
            chart=chart,
            at=at,
        )
        for at, counts in bin_counts(*lists)
        if any(counts)
    ]

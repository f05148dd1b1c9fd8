"""Measures of nested records: what generalisation and suppression took, and what attackers still learn.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hedgerow.data import Dataset
from hedgerow.kinds.records.anatomy import QUASI, SENSITIVE
from hedgerow.kinds.records.anatomy_measures import measure_parts, part_controls
from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.equivalence_classes import bucket_numbers
from hedgerow.kinds.records.loss import measure_divergence, measure_losses, measure_suppressed
from hedgerow.kinds.records.queries import measure_queries
from hedgerow.kinds.records.recoding import recode_records
from hedgerow.kinds.records.shape_measures import (
    VALUE,
    count_children,
    count_levels,
    find_class_sizes,
    measure_classes,
    measure_levels,
    measure_shapes,
)
from hedgerow.kinds.records.tree_attacks import measure_attacks
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.describe import spread
from hedgerow.numerics.arrays import Integers
from hedgerow.score import Score

#: data sets that are measured together, by their names: the two of an anatomised release
PARTS = frozenset({QUASI, SENSITIVE})
#: queries of each family
_QUERIES = 100


def describe(data: Records) -> dict[str, Any]:
    """Describe nested records; every figure is a function of the private data: for the owner only.

    Examples
    --------
    >>> from hedgerow.kinds.records.cases import records_of
    >>> courses = [("course", ["CS201"], "A", [])] * 2
    >>> data = records_of([("student", ["CS", 1990], None, courses), ("student", ["EE", 1990], None, [])])
    >>> describe(data)["course per student"]
    {'least': 0, 'most': 2, 'mean': 1.0, 'median': 1}
    """
    types = data.schema.types
    sizes = find_class_sizes(data)
    facts: dict[str, Any] = {
        "records": len(data),
        "vertices": sum(map(len, data.tables)),
        "labels": sum(table.labels.size for table in data.tables),
        "domain": data.domain.source.value,
        "labels per record": spread(data.sizes()),
    }
    for number, kind in enumerate(types[1:], start=1):
        facts[f"{kind.name} per {kind.parent}"] = spread(count_children(data, number))
    for number, (kind, table) in enumerate(zip(types, data.tables, strict=True)):
        for column, axis in enumerate(kind.quasi_axes):
            facts[f"values of {axis}"] = len(np.unique(table.labels[:, column]))
            groups = len(table) - count_levels(data, number, column)[VALUE]
            facts |= {f"labels of {axis} that are groups": groups} if groups else {}
        if kind.sensitive_axis is not None:
            given = table.sensitive[table.sensitive >= 0]
            facts[f"values of {kind.sensitive_axis}"] = len(np.unique(given))
            # with l-diversity, at most one in l of the values at a position is the same
            counts = np.bincount(bucket_numbers(data.domain.axis(kind.sensitive_axis))[given])
            share = int(counts.max(initial=0)) / max(1, len(given))
            facts[f"share of the most frequent {kind.sensitive_axis}"] = round(share, 3)
    for each in find_dependencies(data):
        facts[f"{each.sensitive} guessed from {each.label}"] = f"{each.guessed:.0%} (without it {each.anyway:.0%})"
    return {**facts, "records that look like no other": int((sizes == 1).sum())}


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """The controls: roots with hidden labels and nothing below them, and no record at all."""
    original: Records = compared.original
    if isinstance(compared.released, Mapping):
        return part_controls(compared)
    return {
        "roots only": keep_roots(original),
        "everything suppressed": original.only(np.zeros(len(original), np.bool_)),
    }


def keep_roots(data: Records) -> Records:
    """Return the roots of all records, with their sensitive values, and with labels that hide everything.

    Examples
    --------
    >>> from hedgerow.kinds.records.cases import records_of
    >>> data = records_of([("student", ["CS", 1990], "2.1", [("course", ["CS201"], "A", [])])])
    >>> keep_roots(data).trees()
    [('student', ['*', '*'], '2.1', [])]
    """
    none = [np.zeros(len(table), np.bool_) for table in data.tables[1:]]
    pruned = data.prune([np.ones(len(data), np.bool_), *none])
    roots = pruned.tables[0]
    hidden = np.array([len(tree) - 1 for tree in data.hierarchies(0)], np.int64)
    labels = np.tile(hidden, (len(data), 1))
    return replace(pruned, tables=(VertexTable(roots.parent, labels, roots.sensitive), *pruned.tables[1:]))


def measure(
    compared: Comparison, controls: Mapping[str, Any], rng: np.random.Generator, *, queries: int = _QUERIES
) -> list[Score]:
    """Compare released records, or the two parts of an anatomised release, with the original, and with the controls.

    Parameters
    ----------
    controls
        Records; or the parts of another anatomised release.
    rng
        Draws the queries, and the classes that are attacked.
    queries
        How many queries each family has.
    """
    original: Records = compared.original
    if isinstance(compared.released, Mapping):
        return measure_parts(compared, controls, rng, queries=queries)
    released = recode_records(compared.released, original)
    releases = {"": released, **controls}
    return [
        *measure_suppressed(original, releases),
        *measure_losses(original, releases),
        *measure_levels(original, released),
        *measure_shapes(original, released),
        *measure_classes(original, releases),
        *measure_divergence(original, releases),
        *measure_queries(original, releases, rng, queries=queries),
        *measure_attacks(original, releases, rng),
    ]


# How well a sensitive value is guessed from a label of its vertex: such labels undo generalisation.


class Dependency(NamedTuple):
    """The share of values of a sensitive attribute that are guessed from a label, and without it."""

    sensitive: str
    label: str
    guessed: float
    anyway: float


def find_dependencies(data: Records) -> Iterator[Dependency]:
    """Guess each sensitive value, or group of values, as the most frequent one of the *other* vertices of its label.

    A title may determine its price, and a course without grades its only mark. Values of a position are then diverse,
    and yet say which title is meant; anyone who knows the title knows the price. No promise limits that.

    Examples
    --------
    >>> from hedgerow.data import Domain
    >>> from hedgerow.kinds.records.schema import RecordSchema, VertexType
    >>> schema = RecordSchema((VertexType("book", None, ("title",), "price"),))
    >>> domain = Domain.declare(**{"book.title": ["a", "b", "c"], "book.price": [1, 2]})
    >>> books = [("book", [title], price, []) for title, price in [("a", 1), ("a", 1), ("b", 2), ("b", 2), ("c", 1)]]
    >>> list(find_dependencies(Records.from_trees(books, schema, domain)))
    [Dependency(sensitive='book.price', label='book.title', guessed=0.8, anyway=0.6)]
    """
    for kind, table in zip(data.schema.types, data.tables, strict=True):
        given = np.flatnonzero(table.sensitive >= 0)
        if kind.sensitive_axis is None or not len(given):
            continue
        bucket = bucket_numbers(data.domain.axis(kind.sensitive_axis))[table.sensitive[given]]
        anyway = _guess(np.zeros(len(given), np.int64), bucket)
        for column, axis in enumerate(kind.quasi_axes):
            yield Dependency(kind.sensitive_axis, axis, _guess(table.labels[given, column], bucket), anyway)


def _guess(label: Integers, bucket: Integers) -> float:
    """The share of vertices whose bucket is, by one or more, the most frequent one of the others of their label."""
    width = int(bucket.max()) + 1
    pairs, counts = np.unique(label * width + bucket, return_counts=True)
    order = np.lexsort((-counts, pairs // width))
    of, times = (pairs // width)[order], counts[order]
    first = np.flatnonzero(np.diff(of, prepend=-1))
    after = np.append(times, 0)[first + 1]
    second = np.where(np.append(of, -1)[first + 1] == of[first], after, 0)
    most = times[first]
    return float(most[(most > second) & (most > 1)].sum() / len(bucket))

"""Measures of nested records: what generalisation and suppression took, and what attackers still learn.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.data import Dataset
from hedgerow.data.records import Records, VertexTable
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.describe import spread
from hedgerow.measures.record_attacks import measure_attacks
from hedgerow.measures.record_dependencies import find_dependencies
from hedgerow.measures.record_loss import measure_divergence, measure_losses, measure_suppressed
from hedgerow.measures.record_queries import measure_queries
from hedgerow.measures.record_recoding import recode_records
from hedgerow.measures.record_shapes import (
    VALUE,
    count_children,
    count_levels,
    find_class_sizes,
    measure_classes,
    measure_levels,
    measure_shapes,
)
from hedgerow.privacy.tree_orbits import bucket_numbers
from hedgerow.score import Score

__all__ = ["controls", "describe", "keep_roots", "measure"]

#: queries of each family
_QUERIES = 100


def describe(data: Records) -> dict[str, Any]:
    """Describe nested records; every figure is a function of the private data: for the owner only.

    Examples
    --------
    >>> from hedgerow.testing.records import records_of
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
    return {
        "roots only": keep_roots(original),
        "everything suppressed": original.only(np.zeros(len(original), np.bool_)),
    }


def keep_roots(data: Records) -> Records:
    """Return the roots of all records, with their sensitive values, and with labels that hide everything.

    Examples
    --------
    >>> from hedgerow.testing.records import records_of
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
    compared: Comparison, controls: Mapping[str, Records], rng: np.random.Generator, *, queries: int = _QUERIES
) -> list[Score]:
    """Compare released records with the original, and with the controls.

    Parameters
    ----------
    rng
        Draws the queries, and the classes that are attacked.
    queries
        How many queries each family has.
    """
    original: Records = compared.original
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

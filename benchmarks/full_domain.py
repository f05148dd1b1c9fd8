"""A simple rival of clustree: roots alone, each attribute at one level of its hierarchy for all records.

This is full-domain generalisation of one table, as everybody knows it: everything below the roots is suppressed, all
combinations of levels are tried, records of groups that are too small or not diverse are suppressed, and the
combination with the least loss is taken.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.equivalence_classes import bucket_numbers
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.measures import keep_roots

Integers: TypeAlias = NDArray[np.int64]


def publish_roots(data: Records, *, l: int) -> tuple[Records, list[int]]:  # noqa: E741 - the name of the promise
    """Publish the roots at the levels with the least loss; also return the levels: the depth in each hierarchy."""
    roots, trees = data.tables[0], data.hierarchies(0)
    axis = data.schema.types[0].sensitive_axis
    given = roots.sensitive >= 0
    bucket = np.full(len(roots), -1)
    if axis is not None:
        bucket[given] = bucket_numbers(data.domain.axis(axis))[roots.sensitive[given]]
    best, labels, kept, chosen = np.inf, roots.labels, given, list[int]()
    for levels in product(*(range(tree.ancestors.shape[1]) for tree in trees)):
        columns = [at_level(tree, roots.labels[:, place], levels[place]) for place, tree in enumerate(trees)]
        whole = diverse([*columns, given.astype(np.int64)], bucket, l)
        losses = sum(tree.loss[column[whole]].sum() for tree, column in zip(trees, columns, strict=True))
        loss = float(losses) + len(trees) * int((~whole).sum())
        if loss < best:
            best, labels, kept, chosen = loss, np.stack(columns, axis=1), whole, list(levels)
    pruned = keep_roots(data)
    tables = (VertexTable(pruned.tables[0].parent, labels, roots.sensitive), *pruned.tables[1:])
    return replace(pruned, tables=tables).only(kept), chosen


def at_level(tree: Hierarchy, labels: Integers, depth: int) -> Integers:
    """The ancestors of labels at a depth; labels that are not that deep stay as they are."""
    above = tree.ancestors[labels, depth]
    return np.where(above >= 0, above, labels)


def diverse(columns: list[Integers], bucket: Integers, l: int) -> NDArray[np.bool_]:  # noqa: E741
    """Which records are in groups of at least l, where no sensitive value has more than one in l of them."""
    widths = [int(column.max()) + 1 for column in columns]
    group = np.unique(np.ravel_multi_index(columns, widths), return_inverse=True)[1]
    sizes = np.bincount(group)
    buckets = int(bucket.max()) + 2
    pairs, counts = np.unique((group * buckets + bucket)[bucket >= 0], return_counts=True)
    most = np.zeros(len(sizes), np.int64)
    np.maximum.at(most, pairs // buckets, counts)
    return ((sizes >= l) & (most * l <= sizes))[group]

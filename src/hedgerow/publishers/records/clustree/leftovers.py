"""Records that are in no class join one where they cost no more than their own suppression."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.records.clustree.class_search import TOLERANCE, ClassSearch
from hedgerow.publishers.records.clustree.clustering import Clustering
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["attach_leftovers"]

Floats: TypeAlias = NDArray[np.float64]


def attach_leftovers(search: ClassSearch, clustering: Clustering, *, l: int | None) -> Clustering:  # noqa: E741
    """Let each leftover join the class whose cost rises least, if it rises by at most the labels of the record.

    A class stays smaller than twice the size of a class, since it could be split otherwise. A sensitive value may occur
    at a position as often as $l$-diversity allows for the new size; without `l`, any number of times.
    """
    classes = list(clustering.classes)
    left: list[int] = []
    bounds = [search.bound.savings(one)[0, clustering.leftovers] for one in classes]
    for number, record in enumerate(clustering.leftovers):
        joined = _best_class(search, classes, np.array([bound[number] for bound in bounds]), record, l)
        if joined is None:
            left.append(record)
            continue
        place, classes[joined[0]] = joined
        bounds[place] = search.bound.savings(classes[place])[0, clustering.leftovers]
    return Clustering(classes, left)


def _best_class(
    search: ClassSearch,
    classes: list[Representative],
    bound: Floats,
    record: int,
    l: int | None,  # noqa: E741
) -> tuple[int, Representative] | None:
    """The class whose cost rises least, and its new representative: the first of equals."""
    members = np.array([len(one.members) for one in classes], np.int64)
    gain = (members + 1) * bound - members * np.array([one.kept for one in classes])
    best = -TOLERANCE
    nearest: tuple[int, Representative] | None = None
    order: list[int] = np.argsort(-gain, kind="stable").tolist()
    for place in order:
        if gain[place] < best - TOLERANCE:
            break
        size = int(members[place])
        if size >= 2 * search.size - 1:
            continue
        pairs = search.pairs(classes[place], None if l is None else (size + 1) // l)
        if not pairs.joinable()[record]:
            continue
        merged = pairs.merged(record)
        exact = (size + 1) * merged.kept - size * classes[place].kept
        first = nearest is None or place < nearest[0]
        if exact > best + TOLERANCE or (exact >= best - TOLERANCE and first):
            best, nearest = max(best, exact), (place, merged)
    return nearest

"""Classes in the order of what they lose per label, and what a record is expected to keep elsewhere."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from hedgerow.publishers.records.clustree.class_search import ClassSearch
from hedgerow.publishers.records.clustree.clustering import Clustering
from hedgerow.publishers.records.clustree.representative import Representative

__all__ = ["expected_share", "pack_greedily"]

#: of how many seeds the classes are built to estimate which share of the labels is kept
_SAMPLE = 32


def expected_share(search: ClassSearch) -> float:
    """Which share of their labels the members of a class keep: that of the classes of the first seeds.

    It is a little too large, since all records are free for each of these classes.
    """
    free = np.ones(len(search.forest), np.bool_)
    steps = [search.create(seed, free) for seed in range(min(_SAMPLE, len(free)))]
    classes = [one[-1] for one in steps if len(one) == search.size]
    labels = sum(one.original_labels for one in classes)
    return 1 - sum(one.cost for one in classes) / labels if labels else 1.0


def pack_greedily(search: ClassSearch, *, on_progress: Callable[[int], None] = lambda _: None) -> Clustering:
    """Build the class of every seed, and accept classes from the least loss per label on.

    A class that has lost a member to another one is built again from the records that are still free, and waits for its
    new turn. Without this member it loses more, as a rule, so that a class is built again only when its turn comes.
    """
    free = np.ones(len(search.forest), np.bool_)
    steps = [search.create(seed, free) for seed in range(len(free))]
    queue = [(_loss(one[-1]), seed) for seed, one in enumerate(steps) if len(one) == search.size]
    heapq.heapify(queue)
    classes: list[Representative] = []
    while queue and np.count_nonzero(free) >= search.size:
        _, seed = heapq.heappop(queue)
        if not free[seed]:
            continue
        if free[steps[seed][-1].members].all():
            classes.append(steps[seed][-1])
            free[classes[-1].members] = False
            on_progress(len(free) - int(np.count_nonzero(free)))
            continue
        steps[seed] = search.create(seed, free, steps[seed])
        if len(steps[seed]) == search.size:
            heapq.heappush(queue, (_loss(steps[seed][-1]), seed))
    return Clustering(classes, np.flatnonzero(free).tolist())


def _loss(one: Representative) -> float:
    """The loss per label."""
    return one.cost / max(1, one.original_labels)

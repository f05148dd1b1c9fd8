"""Make the noisy counts of a tree of prefixes agree: no child holds more than its parent.

A tree is given level by level: the parent of each node (-1 above the first level), all children of
a node next to each other and after it. A node's children hold at most what it holds, since some
sequences end there.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["capped", "isotonic", "pushed_down", "smoothed"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def isotonic(values: Floats, weights: Floats) -> Floats:
    """The closest rows, by weighted squares, that never decrease from left to right.

    The estimate at `m` is the largest, over all starts up to `m`, of the smallest mean of a stretch
    from there on.

    Examples
    --------
    >>> isotonic(np.array([[3.0, 7, 5, 6, 10], [9, 2, 4, 4, 9]]), np.ones((2, 5))).tolist()
    [[3.0, 6.0, 6.0, 6.0, 10.0], [4.75, 4.75, 4.75, 4.75, 9.0]]
    """
    sums = np.cumsum(values * weights, axis=1)
    mass = np.cumsum(weights, axis=1)
    found = np.empty_like(values)
    above = np.full(len(values), -np.inf)
    for start in range(values.shape[1]):
        before = (sums[:, start - 1], mass[:, start - 1]) if start else (0.0, 0.0)
        means = (sums[:, start:].T - before[0]) / (mass[:, start:].T - before[1])
        above = np.maximum(above, means.min(axis=0))
        found[:, start] = above
    return found


def smoothed(parent: Integers, level: Integers, noisy: Floats, weight: Floats) -> Floats:
    """Make the counts along each path to a leaf monotone; a node gets the mean over its leaves."""
    inner = np.zeros(len(parent), np.bool_)
    inner[parent[parent >= 0]] = True
    leaves = np.flatnonzero(~inner)
    total, many = np.zeros(len(parent)), np.zeros(len(parent))
    for depth in np.unique(level[leaves]).tolist():
        path = [leaves[level[leaves] == depth]]
        while len(path) < depth:
            path.append(parent[path[-1]])
        nodes = np.stack(path, axis=1)
        found = isotonic(noisy[nodes], weight[nodes])
        total += np.bincount(nodes.ravel(), found.ravel(), len(parent))
        many += np.bincount(nodes.ravel(), minlength=len(parent))
    return total / np.maximum(many, 1)


def pushed_down(parent: Integers, level: Integers, counts: Floats) -> Floats:
    """Take what children have too much from all of them alike, as printed [1]_.

    It leaves negative counts, and children above their parents.

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, B. C. Desai, N. M. Sossou. "Differentially private transit data
       publication: a case study on the Montreal transportation system". KDD 2012.
    """
    found = counts.copy()
    sums = np.bincount(parent + 1, counts, len(parent) + 1)[1:]
    many = np.bincount(parent + 1, minlength=len(parent) + 1)[1:]
    for depth in range(2, int(level.max(initial=0)) + 1):
        nodes = np.flatnonzero(level == depth)
        above = parent[nodes]
        found[nodes] += np.minimum(0.0, (found[above] - sums[above]) / many[above])
    return found


def capped(parent: Integers, level: Integers, counts: Floats, total: float = np.inf) -> Floats:
    """The closest counts of each node's children, from the top, of at least 0 that it can hold.

    All of the first level hold `total` at most.

    Examples
    --------
    >>> capped(np.array([-1, 0, 0]), np.array([1, 2, 2]), np.array([5.5, 7.0, 1.0])).tolist()
    [5.5, 5.5, 0.0]
    """
    found = np.append(np.maximum(counts, 0.0), total)
    for depth in range(1, int(level.max(initial=0)) + 1):
        nodes = np.flatnonzero(level == depth)
        # the last place, which -1 is as well, stands for the root
        found[nodes] = _projected(found[nodes], parent[nodes], found)
    return found[:-1]


def _projected(values: Floats, owner: Integers, limit: Floats) -> Floats:
    """Take the same from all children of an owner, none below 0, until they fit its limit."""
    order = np.lexsort((-values, owner))
    held, own = values[order], owner[order]
    first = np.ones(len(own), np.bool_)
    first[1:] = own[1:] != own[:-1]
    starts = np.flatnonzero(first)
    group = np.cumsum(first) - 1
    rank = np.arange(len(own)) - starts[group] + 1
    running = np.cumsum(held)
    running -= (running[starts] - held[starts])[group]
    off = (running - limit[own]) / rank
    # the largest values stay positive: the last rank for which that holds says how much goes
    positive = held > off
    last = np.maximum.reduceat(np.where(positive, rank, 0), starts)
    spare = np.where(last > 0, off[starts + np.maximum(last, 1) - 1], np.inf)
    found = np.empty(len(values))
    found[order] = np.maximum(held - np.maximum(spare, 0.0)[group], 0.0)
    return found

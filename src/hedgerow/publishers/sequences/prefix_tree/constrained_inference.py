"""Constrained inference: make the noisy counts of a prefix tree consistent.

The counts of the children of a node sum up to at most its own count, since some sequences end there. A tree is given
level by level: the parent of each node (-1 above the first level), the children of a node contiguous and after it.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.prefix_tree.noisy_tree import NoisyTree
from hedgerow.publishers.sequences.prefix_tree.tree_least_squares import least_squares
from hedgerow.steps.coarse_grid import on_count_grid
from hedgerow.steps.isotonic import isotonic_regression

__all__ = ["consistent_counts", "path_estimates", "project_children"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def consistent_counts(tree: NoisyTree, inference: str, total: float = np.inf) -> Floats:
    """Make the counts of all nodes consistent with each other, and with the total number of sequences."""
    if inference == "exact":
        counts = least_squares(tree.parent, tree.level, tree.noisy, tree.weight)
    else:
        counts = path_estimates(tree.parent, tree.level, tree.noisy, tree.weight)
    # after least squares this only removes floating-point errors
    return on_count_grid(project_children(tree.parent, tree.level, counts, total))


def path_estimates(parent: Integers, level: Integers, noisy: Floats, weight: Floats) -> Floats:
    """Isotonic regression along each path to a leaf; the estimate of a node is the mean over its leaves."""
    inner = np.zeros(len(parent), np.bool_)
    inner[parent[parent >= 0]] = True
    leaves = np.flatnonzero(~inner)
    total, many = np.zeros(len(parent)), np.zeros(len(parent))
    for depth in np.unique(level[leaves]).tolist():
        path = [leaves[level[leaves] == depth]]
        while len(path) < depth:
            path.append(parent[path[-1]])
        nodes = np.stack(path, axis=1)
        estimates = isotonic_regression(noisy[nodes], weight[nodes])
        total += np.bincount(nodes.ravel(), estimates.ravel(), len(parent))
        many += np.bincount(nodes.ravel(), minlength=len(parent))
    return total / np.maximum(many, 1)


def project_children(parent: Integers, level: Integers, counts: Floats, total: float = np.inf) -> Floats:
    """Top down, project the counts of the children of each node: none below 0, in all at most the count of the node.

    The nodes of the first level have at most `total`. The paper subtracts the same amount from all children instead,
    which leaves negative counts, and children that exceed their parent.

    Examples
    --------
    >>> project_children(np.array([-1, 0, 0]), np.array([1, 2, 2]), np.array([5.5, 7.0, 1.0])).tolist()
    [5.5, 5.5, 0.0]
    """
    projected = np.append(np.maximum(counts, 0.0), total)
    for depth in range(1, int(level.max(initial=0)) + 1):
        nodes = np.flatnonzero(level == depth)
        # the last position, which index -1 refers to, is the root
        projected[nodes] = _project(projected[nodes], parent[nodes], projected)
    return projected[:-1]


def _project(values: Floats, owner: Integers, limit: Floats) -> Floats:
    """Subtract the same amount from all children of an owner, none below 0, until their sum is within its limit."""
    order = np.lexsort((-values, owner))
    value, own = values[order], owner[order]
    first = np.ones(len(own), np.bool_)
    first[1:] = own[1:] != own[:-1]
    starts = np.flatnonzero(first)
    group = np.cumsum(first) - 1
    rank = np.arange(len(own)) - starts[group] + 1
    running = np.cumsum(value)
    running -= (running[starts] - value[starts])[group]
    off = (running - limit[own]) / rank
    # the largest values stay positive: the last rank for which this holds gives the amount
    positive = value > off
    last = np.maximum.reduceat(np.where(positive, rank, 0), starts)
    spare = np.where(last > 0, off[starts + np.maximum(last, 1) - 1], np.inf)
    projected = np.empty(len(values))
    projected[order] = np.maximum(value - np.maximum(spare, 0.0)[group], 0.0)
    return projected

"""Noisy counts of a tree of regions: how a budget is divided among its depths, and counts that fit together.

Clipping each leaf at 0 adds half a noise scale per empty leaf, so a sparse graph gets many edges that it does not have.
Instead, the counts of a region and of its parts are made consistent by least squares, weighted by inverse variance; the
leaves are then moved to the nearest non-negative counts, none above its number of cells, with the same total.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.numerics.rounding import on_count_grid, round_together

_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class RegionCounts:
    """The parent, the depth and the noisy count of each node of a tree, and the variance of its noise; the root is 0.

    Unless the root is the only node it is not counted, and its variance is infinite. Leaf `i` is node `place[i]` and
    has the region `leaves[i]`; `early` says which leaves are above the greatest depth.
    """

    parent: Integers
    depth: Integers
    counts: Floats
    variance: Floats
    leaves: Regions
    place: Integers
    early: Flags

    def with_second(self, second: Integers, variance: Floats) -> RegionCounts:
        """Combine the counts of early leaves with second ones, of which this is the variance."""
        place = self.place[self.early]
        counts, variances = self.counts.copy(), self.variance.copy()
        own = variances[place]
        counts[place] = combine(counts[place], second, own, variance)
        variances[place] = own * variance / (own + variance)
        return replace(self, counts=counts, variance=variances)


def noise_variance(share: Fraction) -> float:
    """The variance of the noise of a count, as if the noise were continuous."""
    return 2 / float(share) ** 2


def combine(first: Floats, second: Floats | Integers, first_variance: Floats, second_variance: Floats) -> Floats:
    """Combine two noisy counts of one region by inverse variance.

    Examples
    --------
    >>> combine(np.array([10.0]), np.array([20.0]), np.array([200.0]), np.array([50.0])).tolist()
    [18.0]
    """
    return (first * second_variance + second * first_variance) / (first_variance + second_variance)


def clip_leaves(tree: RegionCounts) -> Integers:
    """Round the count of each leaf, and clip it to the range of its region."""
    counts = tree.counts[tree.place]
    return np.clip(np.floor(on_count_grid(counts) + 0.5), 0, tree.leaves.cells).astype(np.int64)


def fit_leaves(tree: RegionCounts) -> Integers:
    """Fit the counts of all regions to each other, and then those of the leaves to their range and total."""
    fitted = fit_tree(tree.parent, tree.depth, tree.counts, tree.variance)
    return fit_to_total(fitted[tree.place], tree.variance[tree.place], tree.leaves.cells)


def fit_tree(parent: Integers, depth: Integers, counts: Floats, variance: Floats) -> Floats:
    """Return the consistent counts with the least squared distance to the noisy ones, weighted by inverse variance.

    Nodes are sorted by depth. A node without a count of its own, such as the root, has infinite variance.

    Examples
    --------
    >>> parent, depth = np.array([-1, 0, 0]), np.array([0, 1, 1])
    >>> fit_tree(parent, depth, np.array([9.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0])).tolist()
    [8.0, 3.0, 5.0]
    """
    fitted, spread = counts.astype(np.float64), variance.astype(np.float64)
    if len(parent) == 1:
        return fitted
    levels = [np.flatnonzero(depth == level) for level in range(1, int(depth.max()) + 1)]
    sums, spreads = np.zeros(len(parent)), np.zeros(len(parent))
    for nodes in reversed(levels):
        inner = nodes[spreads[nodes] > 0]
        _merge(fitted, spread, sums, spreads, inner)
        np.add.at(sums, parent[nodes], fitted[nodes])
        np.add.at(spreads, parent[nodes], spread[nodes])
    _merge(fitted, spread, sums, spreads, np.flatnonzero(depth == 0))
    for nodes in levels:
        above = parent[nodes]
        fitted[nodes] += (fitted[above] - sums[above]) * spread[nodes] / spreads[above]
    return fitted


def _merge(fitted: Floats, spread: Floats, sums: Floats, spreads: Floats, nodes: Integers) -> None:
    """Combine the own count of nodes with the sum of their parts, in place."""
    own = 1 / spread[nodes]
    weight = own + 1 / spreads[nodes]
    fitted[nodes] = (own * np.where(own > 0, fitted[nodes], 0.0) + sums[nodes] / spreads[nodes]) / weight
    spread[nodes] = 1 / weight


def fit_to_total(counts: Floats, variance: Floats, cells: Integers) -> Integers:
    """Move counts to the nearest whole numbers between 0 and `cells` whose sum is the sum of the counts.

    Counts move by a common multiple of their variance, as far as they can.

    Examples
    --------
    >>> fit_to_total(np.array([-4.0, 6.0, 10.0]), np.ones(3), np.array([50, 50, 9])).tolist()
    [0, 4, 8]
    """
    total = float(np.clip(counts.sum(), 0.0, float(cells.sum())))
    low, high = -_reach(counts - cells, variance), _reach(counts, variance)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        if np.clip(counts - middle * variance, 0.0, cells).sum() > total:
            low = middle
        else:
            high = middle
    moved = np.clip(counts - high * variance, 0.0, cells)
    return np.clip(round_together(moved), 0, cells)


def _reach(counts: Floats, variance: Floats) -> float:
    """A multiple of the variance beyond which every count has passed 0."""
    return 2 * float((np.abs(counts) / variance).max(initial=0.0))


# Shares of the depths.

#: a tree of this height has more leaves than there are pairs of vertices
MOST_DEPTHS = 32
_RATIO = 2 ** (1 / 3)
#: shares are whole multiples of this part of the budget, so that they are fractions
_STEPS = 1 << 16


def level_share(depth: int, height: int) -> float:
    r"""Return the part of the budget for a depth $i = 0, 1, \dots h$: $2^{i/3} (2^{1/3} - 1) / (2^{(h+1)/3} - 1)$.

    Shares grow geometrically with the depth, and add up to 1.

    Examples
    --------
    >>> [round(level_share(depth, 2), 5) for depth in range(3)]
    [0.25992, 0.32748, 0.4126]
    """
    return _RATIO**depth * (_RATIO - 1) / (_RATIO ** (height + 1) - 1)


def level_shares(budget: Fraction, height: int) -> tuple[Fraction, ...]:
    """Divide a budget among the depths 1, 2, ... height; the root is not counted, and its share is the last one's.

    Examples
    --------
    >>> [round(float(share), 3) for share in level_shares(Fraction(1), 5)]
    [0.109, 0.138, 0.173, 0.218, 0.362]
    """
    inner = [budget * Fraction(math.floor(level_share(depth, height) * _STEPS), _STEPS) for depth in range(1, height)]
    return (*inner, budget - sum(inner)) if height else ()


def greatest_height(size: float, epsilon: float, scales: float) -> int:
    """Return the greatest height at which `size`, divided among all leaves, is at least so many scales of their noise.

    Examples
    --------
    >>> [greatest_height(5242 * 5241 / 2, epsilon, 2 * math.sqrt(2)) for epsilon in (0.1, 0.3, 0.5, 1.0)]
    [8, 9, 9, 10]
    """
    height = 0
    while height < MOST_DEPTHS:
        if size / 4.0 ** (height + 1) < scales / (epsilon * level_share(height + 1, height + 1)):
            break
        height += 1
    return height

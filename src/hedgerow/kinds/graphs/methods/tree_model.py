"""Noisy counts of leaf regions that fit together: weighted least squares over the tree, without clipping bias.

Clipping each leaf at 0 adds half a noise scale per empty leaf, so a sparse graph gets many edges that it does not have.
Instead, the counts of a region and of its parts are made consistent by least squares, weighted by inverse variance; the
leaves are then moved to the nearest non-negative counts, none above its number of cells, with the same total.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.rounding import round_together

_ROUNDS = 100


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


# How a budget for counts is divided among the depths of a tree of regions, and how high the tree is.
#
# A node at depth $i$ is counted with $\varepsilon_i = 2^{i/3} (2^{1/3} - 1) \varepsilon / (2^{(h+1)/3} - 1)$; these
# shares grow geometrically with the depth $i = 0, 1, \dots h$ and add up to $\varepsilon$. The root is not counted,
# and
# its share goes to the greatest depth.

#: a tree of this height has more leaves than there are pairs of vertices
MOST_DEPTHS = 32
_RATIO = 2 ** (1 / 3)
#: shares are whole multiples of this part of the budget, so that they are fractions
_STEPS = 1 << 16


def level_share(depth: int, height: int) -> float:
    """Return the part of the budget for a depth, the root included.

    Examples
    --------
    >>> [round(level_share(depth, 2), 5) for depth in range(3)]
    [0.25992, 0.32748, 0.4126]
    """
    return _RATIO**depth * (_RATIO - 1) / (_RATIO ** (height + 1) - 1)


def level_shares(budget: Fraction, height: int) -> tuple[Fraction, ...]:
    """Divide a budget among the depths 1, 2, ... height.

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

r"""The height of the tree of regions, and how its budget is divided: functions of public numbers only.

A node at depth $i$ is counted with $\varepsilon_i = 2^{i/3} (2^{1/3} - 1) \varepsilon_{count} / (2^{(h+1)/3} - 1)$; these
shares grow geometrically with the depth and add up to $\varepsilon_{count}$. The root is not counted, and its share goes
to the deepest level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["TreeBudget", "least_cells", "noise_variance", "tree_height"]

_RATIO = 2 ** (1 / 3)
#: shares of levels are whole multiples of this part of the budget for counts, so that they are fractions
_STEPS = 1 << 16
#: below this exponent the choice of a split point is almost uniform
_LEAST_EXPONENT = 2


def noise_variance(share: Fraction) -> float:
    """The variance of the noise of a count, if the noise were continuous."""
    return 2 / float(share) ** 2


def least_cells(pairs: int, depth: int) -> int:
    """Return how many cells a region at this depth must have, if it has any."""
    return -(-pairs // 4 ** (depth + 1))


def tree_height(pairs: int, epsilon_count: float) -> int:
    """Return the greatest height at which an average leaf has as many cells as two standard deviations of its noise.

    Examples
    --------
    >>> [tree_height(5242 * 5241 // 2, epsilon) for epsilon in (0.1, 0.3, 0.5, 1.0)]
    [8, 9, 9, 10]
    """
    height = 0
    while pairs / 4 ** (height + 1) >= 2 * math.sqrt(2) / _level_share(height + 1, height + 1, epsilon_count):
        height += 1
    return height


def _level_share(level: int, height: int, epsilon_count: float) -> float:
    return _RATIO**level * (_RATIO - 1) * epsilon_count / (_RATIO ** (height + 1) - 1)


@dataclass(frozen=True)
class TreeBudget:
    """How much every question along a path of the tree may spend.

    Examples
    --------
    >>> budget = TreeBudget.divide(Fraction(1), Fraction(1, 2), Fraction(1, 10), height=5)
    >>> [round(float(2 * share), 5) for share in budget.counts]
    [0.10915, 0.13751, 0.17328, 0.21832, 0.36174]
    >>> sum(budget.counts), budget.partition
    (Fraction(1, 2), Fraction(1, 50))
    """

    height: int
    #: the share of a count at depth 1, 2, ... height; of a tree of height 0, the share of the root
    counts: tuple[Fraction, ...]
    #: the share of the choice of one split point
    partition: Fraction
    #: the depths of regions that are split off in the middle of their parent, without a choice
    midpoints: frozenset[int] = frozenset()

    @classmethod
    def divide(cls, budget: Fraction, count: Fraction, partition: Fraction, *, height: int) -> TreeBudget:
        """Give the fraction `count` of a budget to counts and the fraction `partition` to split points."""
        levels = [_level_share(level, height, 1.0) for level in range(1, height)]
        inner = [budget * count * Fraction(math.floor(level * _STEPS), _STEPS) for level in levels]
        deepest = budget * count - sum(inner)
        return cls(height, (*inner, deepest), budget * partition / max(1, height))

    def with_midpoints(self, partition: Fraction, pairs: int) -> TreeBudget:
        """Choose split points only where the choice is not almost uniform; they share the fraction of all.

        At depth $j$ the exponent of the best possible score is at most $share \\cdot s_j / 2$ for parts of $s_j$ cells.
        """
        depths = range(1, self.height + 1)
        chosen = [depth for depth in depths if self.partition * least_cells(pairs, depth) / 2 >= _LEAST_EXPONENT]
        share = partition / max(1, len(chosen))
        return TreeBudget(self.height, self.counts, share, frozenset(depths) - frozenset(chosen))

    @property
    def all_counts(self) -> Fraction:
        """The share of all counts along a path."""
        return sum(self.counts, Fraction(0))

    @property
    def deepest(self) -> Fraction:
        """The share of a count at the greatest depth, which is also the share of the second count of a leaf."""
        return self.counts[-1]

"""How the budget of DER is divided among the questions along a path of its tree: functions of public numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hedgerow.publishers.graphs.level_shares import level_shares

__all__ = ["TreeBudget", "least_cells"]

#: below this exponent the choice of a split point is almost uniform
_LEAST_EXPONENT = 2


def least_cells(pairs: int, depth: int) -> int:
    """Return how many cells a region at this depth must have, if it has any."""
    return -(-pairs // 4 ** (depth + 1))


@dataclass(frozen=True)
class TreeBudget:
    """How much every question along a path of the tree may spend.

    Examples
    --------
    >>> budget = TreeBudget.divide(Fraction(1), Fraction(1, 2), Fraction(1, 10), height=5)
    >>> sum(budget.counts), budget.partition
    (Fraction(1, 2), Fraction(1, 50))
    """

    #: the share of all counts along a path
    all_counts: Fraction
    #: the share of a count at depth 1, 2, ...
    counts: tuple[Fraction, ...]
    #: the share of the choice of one split point
    partition: Fraction
    #: the depths of regions that are split off in the middle of their parent, without a choice
    midpoints: frozenset[int] = frozenset()

    @classmethod
    def divide(cls, budget: Fraction, count: Fraction, partition: Fraction, *, height: int) -> TreeBudget:
        """Give the fraction `count` of a budget to counts and the fraction `partition` to split points."""
        shares = level_shares(budget * count, height)
        return cls(budget * count, shares, budget * partition / max(1, height))

    def with_midpoints(self, partition: Fraction, pairs: int) -> TreeBudget:
        """Choose split points only where the choice is not almost uniform; they share all that is for split points.

        The exponent of the greatest possible score at depth $j$ is half the share times the least number of cells.
        """
        depths = range(1, self.height + 1)
        chosen = [depth for depth in depths if self.partition * least_cells(pairs, depth) / 2 >= _LEAST_EXPONENT]
        share = partition / max(1, len(chosen))
        return TreeBudget(self.all_counts, self.counts, share, frozenset(depths) - frozenset(chosen))

    @property
    def height(self) -> int:
        """The height of the tree."""
        return len(self.counts)

    @property
    def second(self) -> Fraction:
        """The share of the second count of a leaf above the greatest depth: that of a count at the greatest depth."""
        return self.counts[-1] if self.counts else self.all_counts

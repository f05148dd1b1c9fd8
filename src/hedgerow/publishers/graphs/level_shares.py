r"""How a budget for counts is divided among the depths of a tree of regions, and how high the tree is.

A node at depth $i$ is counted with $\varepsilon_i = 2^{i/3} (2^{1/3} - 1) \varepsilon / (2^{(h+1)/3} - 1)$; these
shares grow geometrically with the depth $i = 0, 1, \dots h$ and add up to $\varepsilon$. The root is not counted, and
its share goes to the greatest depth.
"""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["MOST_DEPTHS", "greatest_height", "level_share", "level_shares"]

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

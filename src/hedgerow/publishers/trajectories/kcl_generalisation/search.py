"""Search for the levels to recode to: from the coarsest to better neighbours, without looking at sensitive values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Node", "find_best_node"]

#: a level of places and a level of times
Node: TypeAlias = tuple[int, int]

#: finer place, finer time, coarser place, coarser time: the first of equally good neighbours is taken
_STEPS: tuple[Node, ...] = ((-1, 0), (0, -1), (1, 0), (0, 1))


def find_best_node(estimate: Callable[[Node], float], coarsest: Node) -> tuple[Node, dict[Node, float]]:
    """Go from the coarsest levels to the best neighbour as long as it is better; also return all estimates.

    Examples
    --------
    >>> node, estimates = find_best_node(lambda node: -abs(node[0] - 1) - abs(node[1] - 2), (2, 3))
    >>> node, len(estimates)
    ((1, 2), 7)
    """
    estimates = {coarsest: estimate(coarsest)}
    node = coarsest
    while True:
        neighbours = [(node[0] + place, node[1] + time) for place, time in _STEPS]
        inside = [(i, j) for i, j in neighbours if 0 <= i <= coarsest[0] and 0 <= j <= coarsest[1]]
        for each in inside:
            if each not in estimates:
                estimates[each] = estimate(each)
        best = max(inside, key=lambda each: estimates[each], default=node)
        if estimates[best] <= estimates[node]:
            return node, estimates
        node = best

r"""Exact least squares over a whole tree by dual variables (prices), which are passed down the tree.

The counts $x$ minimise $\sum_v w_v (x_v - c_v)^2$ subject to $x_v \ge \sum_{children} x_u$ and $x \ge 0$. Given the
price $\lambda$ that its parent's constraint puts on its count, the optimal count of a node is a non-increasing,
piecewise linear function of $\lambda$. Let $S(\mu)$ be the sum of the children's functions at their price $\mu$. Then

$$\lambda = 2 w (c - S(\mu)) + \mu,$$

or $\mu = 0$ where the constraint of the node is not binding.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["least_squares"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class _PiecewiseLinear(NamedTuple):
    """Piecewise linear functions of a price, given by breakpoints sorted by owner and price; 0 after the last.

    The breakpoints of owner `v` are `starts[v]` to `starts[v + 1]`.
    """

    starts: Integers
    price: Floats
    value: Floats

    def at(self, price: Floats) -> tuple[Integers, Floats]:
        """For one price per owner: the breakpoint before it, and the fraction of the way to the next."""
        low, high = self.starts[:-1].copy(), self.starts[1:] - 1
        last = high.copy()
        while np.any(low < high):
            middle = (low + high + 1) // 2
            under = self.price[middle] <= price
            low, high = np.where(under, middle, low), np.where(under, high, middle - 1)
        after = np.minimum(low + 1, last)
        wide = self.price[after] - self.price[low]
        part = np.clip((price - self.price[low]) / np.where(wide > 0, wide, 1.0), 0.0, 1.0)
        return low, np.where(wide > 0, part, 0.0)

    def between(self, column: Floats, low: Integers, part: Floats) -> Floats:
        """Interpolate a column of the breakpoints at a result of `at`."""
        after = np.minimum(low + 1, len(column) - 1)
        return column[low] + part * np.where(part > 0, column[after] - column[low], 0.0)


def least_squares(parent: Integers, level: Integers, counts: Floats, weight: Floats) -> Floats:
    """The consistent counts with the least weighted squared distance to the noisy ones.

    Examples
    --------
    >>> parent, level = np.array([-1, 0, 0]), np.array([1, 2, 2])
    >>> least_squares(parent, level, np.array([4.0, 10.0, 1.0]), np.ones(3)).round(9).tolist()
    [7.0, 7.0, 0.0]
    """
    levels = [np.flatnonzero(level == depth) for depth in range(1, int(level.max(initial=0)) + 1)]
    below = _PiecewiseLinear(np.zeros(1, np.int64), np.zeros(0), np.zeros(0))
    kept: list[tuple[_PiecewiseLinear, _PiecewiseLinear]] = []
    for depth in reversed(range(len(levels))):
        nodes = levels[depth]
        children = parent[levels[depth + 1]] if depth + 1 < len(levels) else nodes[:0]
        summed = _sum_children(below, np.searchsorted(nodes, children), len(nodes))
        passed, below = _solve_nodes(summed, counts[nodes], weight[nodes])
        kept.append((passed, below))
    fitted = np.zeros(len(parent))
    price = np.zeros(len(parent))
    for nodes, (passed, own) in zip(levels, reversed(kept), strict=True):
        above = parent[nodes]
        paid = np.where(above >= 0, price[np.maximum(above, 0)], 0.0)
        fitted[nodes] = own.between(own.value, *own.at(paid))
        # `passed` maps the price of a node to the price of its children
        price[nodes] = passed.between(passed.value, *passed.at(paid))
    return fitted


def _sum_children(lines: _PiecewiseLinear, owner: Integers, owners: int) -> _PiecewiseLinear:
    """Add up the functions of the children of each owner; without children: 0 at any price."""
    sizes = np.diff(lines.starts)
    at = np.repeat(owner, sizes)
    child = np.repeat(np.arange(len(sizes)), sizes)
    slope = np.zeros(len(at))
    last = np.ones(len(at), np.bool_)
    last[:-1] = child[1:] != child[:-1]
    inner = np.flatnonzero(~last)
    wide = lines.price[inner + 1] - lines.price[inner]
    drop = lines.value[inner + 1] - lines.value[inner]
    slope[inner] = np.where(wide > 0, drop / np.where(wide > 0, wide, 1.0), 0.0)
    # every breakpoint changes the slope
    turn = slope - np.where(np.append(True, last[:-1])[: len(at)], 0.0, np.append(0.0, slope[:-1]))
    start = lines.value[lines.starts[:-1]] if len(sizes) else np.zeros(0)
    first = np.bincount(owner, start, owners)
    # every owner has a breakpoint at price 0
    at, turn = np.concatenate((np.arange(owners), at)), np.concatenate((np.zeros(owners), turn))
    price = np.concatenate((np.zeros(owners), lines.price))
    order = np.lexsort((price, at))
    at, price, turn = at[order], price[order], turn[order]
    starts = np.searchsorted(at, np.arange(owners + 1))
    slopes = _cumulative_sums(turn, starts)
    step = np.zeros(len(at))
    step[1:] = np.where(at[1:] == at[:-1], slopes[:-1] * (price[1:] - price[:-1]), 0.0)
    value = _cumulative_sums(step, starts) + first[at]
    return _PiecewiseLinear(starts, price, np.maximum(value, 0.0))


def _cumulative_sums(values: Floats, starts: Integers) -> Floats:
    """Cumulative sums that restart at each of `starts`."""
    running = np.cumsum(values)
    sizes = np.diff(starts)
    before = running[starts[:-1]] - values[starts[:-1]]
    return running - np.repeat(before, sizes)


def _solve_nodes(
    children: _PiecewiseLinear, counts: Floats, weight: Floats
) -> tuple[_PiecewiseLinear, _PiecewiseLinear]:
    """For each node, as functions of its price: the price of its children, and its optimal count."""
    sizes = np.diff(children.starts)
    node = np.repeat(np.arange(len(sizes)), sizes)
    pays = 2 * weight[node] * (counts[node] - children.value) + children.price
    free = pays[children.starts[:-1]]  # up to this price the constraint is not binding
    # not binding at price 0: a breakpoint at price 0, with their own count
    slack = np.flatnonzero(free > 0)
    # binding at price 0: everything before price 0 is cut off
    cut = _PiecewiseLinear(children.starts, pays, children.value)
    low, part = cut.at(np.zeros(len(sizes)))
    binding = np.flatnonzero(free <= 0)
    kept = (pays > 0) & (np.arange(len(node)) > np.where(free > 0, -1, low)[node])
    kept |= (free > 0)[node]
    owner = np.concatenate((slack, binding, node[kept]))
    zero = np.zeros(len(slack) + len(binding))
    price = np.concatenate((zero, pays[kept]))
    own = np.concatenate(
        (
            counts[slack],
            cut.between(children.value, low, part)[binding],
            children.value[kept],
        )
    )
    passed = np.concatenate(
        (
            np.zeros(len(slack)),
            cut.between(children.price, low, part)[binding],
            children.price[kept],
        )
    )
    order = np.lexsort((price, owner))
    # after the last breakpoint the count is 0
    starts = np.searchsorted(owner[order], np.arange(len(sizes) + 1))
    return (
        _PiecewiseLinear(starts, price[order], passed[order]),
        _PiecewiseLinear(starts, price[order], np.maximum(own[order], 0.0)),
    )

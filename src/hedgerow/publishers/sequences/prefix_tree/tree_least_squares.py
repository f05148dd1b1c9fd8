r"""Least squares over a whole tree, exactly, by dual prices: prices go down the tree, and counts come up.

We look for the counts $x$ of least $\sum_v w_v (x_v - c_v)^2$ with $x_v \ge \sum_{children} x_u$ and $x \ge 0$. If a
node has to pay a price $\lambda$ for its count, its best count is a piecewise linear function of the price that never
increases. With $S(\mu)$ the sum of its children's functions at the price $\mu$ they pay, a node passes on

$$\lambda = 2 w (c - S(\mu)) + \mu,$$

or lets them pay nothing where its count is large enough for theirs anyway.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["least_squares"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class _PiecewiseLinear(NamedTuple):
    """Piecewise linear functions of a price: corners by owner, then by price; 0 from the last on.

    The corners of owner `v` are `starts[v]` to `starts[v + 1]`.
    """

    starts: Integers
    price: Floats
    value: Floats

    def at(self, asked: Floats) -> tuple[Integers, Floats]:
        """For one price per owner: the corner before it, and how far the next one is reached."""
        low, high = self.starts[:-1].copy(), self.starts[1:] - 1
        last = high.copy()
        while np.any(low < high):
            middle = (low + high + 1) // 2
            under = self.price[middle] <= asked
            low, high = np.where(under, middle, low), np.where(under, high, middle - 1)
        after = np.minimum(low + 1, last)
        wide = self.price[after] - self.price[low]
        part = np.clip((asked - self.price[low]) / np.where(wide > 0, wide, 1.0), 0.0, 1.0)
        return low, np.where(wide > 0, part, 0.0)

    def between(self, column: Floats, low: Integers, part: Floats) -> Floats:
        """The value of a column of the corners at such a place."""
        after = np.minimum(low + 1, len(column) - 1)
        return column[low] + part * np.where(part > 0, column[after] - column[low], 0.0)


def least_squares(parent: Integers, level: Integers, counts: Floats, weight: Floats) -> Floats:
    """The counts of least weighted squared distance that a tree can have.

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
        summed = _summed(below, np.searchsorted(nodes, children), len(nodes))
        passed, below = _answers(summed, counts[nodes], weight[nodes])
        kept.append((passed, below))
    fitted = np.zeros(len(parent))
    price = np.zeros(len(parent))
    for nodes, (passed, own) in zip(levels, reversed(kept), strict=True):
        above = parent[nodes]
        paid = np.where(above >= 0, price[np.maximum(above, 0)], 0.0)
        fitted[nodes] = own.between(own.value, *own.at(paid))
        # `passed` is what children pay by what their parent pays
        price[nodes] = passed.between(passed.value, *passed.at(paid))
    return fitted


def _summed(lines: _PiecewiseLinear, owner: Integers, owners: int) -> _PiecewiseLinear:
    """Add up the functions of all children of each owner; no child: 0 at any price."""
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
    # every corner changes the slope by what it adds to the piece before it
    turn = slope - np.where(np.append(True, last[:-1])[: len(at)], 0.0, np.append(0.0, slope[:-1]))
    start = lines.value[lines.starts[:-1]] if len(sizes) else np.zeros(0)
    first = np.bincount(owner, start, owners)
    # every owner has a corner at no price
    at, turn = np.concatenate((np.arange(owners), at)), np.concatenate((np.zeros(owners), turn))
    price = np.concatenate((np.zeros(owners), lines.price))
    order = np.lexsort((price, at))
    at, price, turn = at[order], price[order], turn[order]
    starts = np.searchsorted(at, np.arange(owners + 1))
    slopes = _running(turn, starts)
    step = np.zeros(len(at))
    step[1:] = np.where(at[1:] == at[:-1], slopes[:-1] * (price[1:] - price[:-1]), 0.0)
    value = _running(step, starts) + first[at]
    return _PiecewiseLinear(starts, price, np.maximum(value, 0.0))


def _running(values: Floats, starts: Integers) -> Floats:
    """Running sums that begin anew at each start."""
    running = np.cumsum(values)
    sizes = np.diff(starts)
    before = running[starts[:-1]] - values[starts[:-1]]
    return running - np.repeat(before, sizes)


def _answers(children: _PiecewiseLinear, counts: Floats, weight: Floats) -> tuple[_PiecewiseLinear, _PiecewiseLinear]:
    """What each node passes on to its children by what it pays, and its own best count."""
    sizes = np.diff(children.starts)
    node = np.repeat(np.arange(len(sizes)), sizes)
    pays = 2 * weight[node] * (counts[node] - children.value) + children.price
    free = pays[children.starts[:-1]]  # up to this price the count is large enough for the children anyway
    # nodes that can: a corner at no price, with their own count
    able = np.flatnonzero(free > 0)
    # nodes that cannot: everything before price 0 is cut off
    cut = _PiecewiseLinear(children.starts, pays, children.value)
    low, part = cut.at(np.zeros(len(sizes)))
    unable = np.flatnonzero(free <= 0)
    kept = (pays > 0) & (np.arange(len(node)) > np.where(free > 0, -1, low)[node])
    kept |= (free > 0)[node]
    owner = np.concatenate((able, unable, node[kept]))
    zero = np.zeros(len(able) + len(unable))
    price = np.concatenate((zero, pays[kept]))
    own = np.concatenate(
        (
            counts[able],
            cut.between(children.value, low, part)[unable],
            children.value[kept],
        )
    )
    passed = np.concatenate(
        (
            np.zeros(len(able)),
            cut.between(children.price, low, part)[unable],
            children.price[kept],
        )
    )
    order = np.lexsort((price, owner))
    # beyond the last corner the count is 0
    starts = np.searchsorted(owner[order], np.arange(len(sizes) + 1))
    return (
        _PiecewiseLinear(starts, price[order], passed[order]),
        _PiecewiseLinear(starts, price[order], np.maximum(own[order], 0.0)),
    )

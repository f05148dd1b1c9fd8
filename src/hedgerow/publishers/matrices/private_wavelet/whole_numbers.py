r"""Estimates become whole numbers within bounds, from the total down to the cells.

Cells are the leaves of a binary tree that halves one axis after the other. The total is rounded; then each node divides
its number $T$ between its halves, whose estimates are $l$ and $r$: $(T + l - r) / 2$ for the left one, rounded and
moved into its bounds, and the rest for the right one. So sums of large blocks stay as accurate as they are, which
would be lost if every cell was moved into its bounds by itself.

Sums along whole axes are no blocks of that tree. With several axes, the cells within bounds are fitted to what is known
of each axis by iterative proportional fitting, and rounded after that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_count_grid

__all__ = ["UNLIMITED", "round_counts", "round_from_the_top"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the bound of a cell that has none; the sum over all cells fits int64
UNLIMITED = 1 << 38
#: rounds of proportional fitting, and what an empty cell has, so that an axis can be fitted whose cells are all empty
_SWEEPS, _SEED = 8, 1e-9


def round_from_the_top(estimates: Floats, most: Integers) -> Integers:
    """Return whole numbers between 0 and `most`, cell by cell, close to estimates; axes have powers of two as lengths.

    Examples
    --------
    >>> round_from_the_top(np.array([2.6, -1.2, 0.4, 9.0]), np.array([5, 5, 5, 5])).tolist()
    [2, 0, 4, 5]
    """
    return _divide_from_the_top(estimates, most, np.rint).astype(np.int64)


def round_counts(estimates: Floats, most: Integers) -> Integers:
    """Return whole numbers as `round_from_the_top` does, whose sums along axes are close to those of the estimates.

    Examples
    --------
    >>> round_counts(np.array([[9.0, -4.0], [1.0, 4.0]]), np.full((2, 2), 99)).tolist()
    [[5, 0], [5, 0]]
    """
    if estimates.ndim == 1:
        return round_from_the_top(estimates, most)
    cells = _divide_from_the_top(estimates, most, np.positive)
    axes = range(estimates.ndim)
    others = [tuple(other for other in axes if other != axis) for axis in axes]
    margins = [_divide_from_the_top(estimates.sum(rest), most.max(rest), np.positive) for rest in others]
    cells += _SEED * (most > 0)
    for _ in range(_SWEEPS):
        for rest, margin in zip(others, margins, strict=True):
            sums = np.expand_dims(cells.sum(rest), rest)
            cells *= np.divide(np.expand_dims(margin, rest), sums, out=np.zeros_like(sums), where=sums > 0)
    return round_from_the_top(cells, most)


def _divide_from_the_top(estimates: Floats, most: Integers, rounded: Callable[[Floats], Floats]) -> Floats:
    """Divide the total among the cells, within their bounds, from node to node."""
    order = _halving_order(estimates.shape)
    wanted, room = [_to_leaves(on_count_grid(estimates), order)], [_to_leaves(most.astype(np.float64), order)]
    while len(wanted[-1]) > 1:
        wanted.append(wanted[-1][::2] + wanted[-1][1::2])
        room.append(room[-1][::2] + room[-1][1::2])
    numbers = np.clip(rounded(wanted.pop()), 0, room.pop())
    while wanted:
        estimate, bound = wanted.pop(), room.pop()
        left = rounded((numbers + estimate[::2] - estimate[1::2]) / 2)
        halves = np.empty(len(estimate))
        halves[::2] = np.clip(left, np.maximum(0, numbers - bound[1::2]), np.minimum(numbers, bound[::2]))
        halves[1::2] = numbers - halves[::2]
        numbers = halves
    bits = np.transpose(numbers.reshape((2,) * len(order)), np.argsort(order))
    return bits.reshape(estimates.shape)


def _halving_order(shape: tuple[int, ...]) -> list[int]:
    """Return in which order the binary digits of positions are used: those of the longest axis that is left first."""
    bits = [length.bit_length() - 1 for length in shape]
    first = np.cumsum([0, *bits])[:-1].tolist()
    used, order = [0] * len(bits), list[int]()
    for _ in range(sum(bits)):
        axis = max(range(len(bits)), key=lambda axis: bits[axis] - used[axis])
        order.append(first[axis] + used[axis])
        used[axis] += 1
    return order


def _to_leaves(values: Floats, order: list[int]) -> Floats:
    return np.transpose(values.reshape((2,) * len(order)), order).reshape(-1)

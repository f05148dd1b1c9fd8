r"""Estimates become whole numbers within bounds, from the total down to the cells.

Cells are the leaves of a binary tree that halves one axis after the other. The total is rounded; then each node divides
its number $T$ between its halves, whose estimates are $l$ and $r$: $(T + l - r) / 2$ for the left one, rounded and
moved into its bounds, and the rest for the right one. So sums of large blocks stay as accurate as they are, which
would be lost if every cell was moved into its bounds by itself.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNLIMITED", "round_from_the_top"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the bound of a cell that has none; the sum over all cells fits int64
UNLIMITED = 1 << 38


def round_from_the_top(estimates: Floats, most: Integers) -> Integers:
    """Return whole numbers between 0 and `most`, cell by cell, close to estimates; axes have powers of two as lengths.

    Examples
    --------
    >>> round_from_the_top(np.array([2.6, -1.2, 0.4, 9.0]), np.array([5, 5, 5, 5])).tolist()
    [2, 0, 4, 5]
    """
    order = _halving_order(estimates.shape)
    wanted, room = [_to_leaves(estimates, order)], [_to_leaves(most, order)]
    while len(wanted[-1]) > 1:
        wanted.append(wanted[-1][::2] + wanted[-1][1::2])
        room.append(room[-1][::2] + room[-1][1::2])
    numbers = np.clip(np.rint(wanted.pop()), 0, room.pop()).astype(np.int64)
    while wanted:
        estimate, bound = wanted.pop(), room.pop()
        left = np.rint((numbers + estimate[::2] - estimate[1::2]) / 2)
        least, largest = np.maximum(0, numbers - bound[1::2]), np.minimum(numbers, bound[::2])
        halves = np.empty(len(estimate), np.int64)
        halves[::2] = np.clip(left, least, largest)
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


def _to_leaves(values: NDArray[Any], order: list[int]) -> NDArray[Any]:
    return np.transpose(values.reshape((2,) * len(order)), order).reshape(-1)

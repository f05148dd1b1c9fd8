"""Combinations of the elements of many short lists, and equal tuples among them."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import group_equal
from hedgerow.errors import ParameterError

__all__ = ["choose_from_lists", "number_tuples"]

Integers: TypeAlias = NDArray[np.int64]

_LARGEST = 2**62
#: combinations that fit into memory
_MOST = 200_000_000


def choose_from_lists(sizes: Integers, size: int) -> tuple[Integers, Integers]:
    """Choose `size` elements of each list, in their order, in all ways; lists of these sizes follow one another.

    Returns
    -------
    The list of each choice, and the positions of its elements in one array of all lists, one row per choice.

    Examples
    --------
    >>> of, positions = choose_from_lists(np.array([3, 1, 2]), 2)
    >>> of.tolist(), positions.tolist()
    ([2, 0, 0, 0], [[4, 5], [0, 1], [0, 2], [1, 2]])
    """
    starts = np.cumsum(sizes) - sizes
    of, positions = [np.zeros(0, np.int64)], [np.zeros((0, size), np.int64)]
    lengths: list[int] = np.unique(sizes[sizes >= size]).tolist()
    counts: list[int] = np.bincount(sizes).tolist()
    if sum(counts[length] * math.comb(length, size) for length in lengths) > _MOST:
        msg = (
            f"records are too long: they have more than {_MOST:,} sequences of labels; take a smaller l, or split "
            "them into shorter ones, such as days"
        )
        raise ParameterError(msg)
    for length in lengths:
        members = np.flatnonzero(sizes == length)
        chosen = np.array(list(combinations(range(length), size)), np.int64)
        of.append(np.repeat(members, len(chosen)))
        positions.append((starts[members][:, None, None] + chosen).reshape(-1, size))
    return np.concatenate(of), np.concatenate(positions)


def number_tuples(columns: list[Integers]) -> tuple[Integers, int]:
    """Number the distinct tuples of some columns; return the number of each, and how many there are.

    Examples
    --------
    >>> number_tuples([np.array([5, 5, 0]), np.array([1, 1, 2])])
    (array([1, 1, 0]), 2)
    """
    code, codes = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        symbols = int(column.max(initial=0)) + 1
        if codes * symbols >= _LARGEST:  # number them afresh: a code must not wrap around
            distinct, code = group_equal(code)
            codes = len(distinct)
        code, codes = code * symbols + column, codes * symbols
    distinct, code = group_equal(code)
    return code, len(distinct)

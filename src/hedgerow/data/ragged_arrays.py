"""Ragged arrays: lists of different lengths as one array of values and one of list starts."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import index_ranges

__all__ = ["cut_lists", "list_starts", "read_only", "take_lists"]

Integers: TypeAlias = NDArray[np.int64]


def list_starts(row: NDArray[Any]) -> Integers:
    """Return where each run of equal row numbers starts, and where the last one ends.

    Examples
    --------
    >>> list_starts(np.array([3, 3, 8])).tolist()
    [0, 2, 3]
    """
    new = np.ones(len(row) + 1, np.bool_)
    np.not_equal(row[1:], row[:-1], out=new[1:-1])
    return np.flatnonzero(new)


def take_lists(starts: Integers, values: NDArray[Any], chosen: NDArray[Any]) -> tuple[Integers, NDArray[Any]]:
    """Keep the chosen lists, by number or by a flag for each."""
    firsts, lengths = starts[:-1][chosen], np.diff(starts)[chosen]
    return _starts_of(lengths), values[index_ranges(firsts, lengths)]


def cut_lists(starts: Integers, values: NDArray[Any], longest: int) -> tuple[Integers, NDArray[Any]]:
    """Keep the first values of each list, at most `longest`."""
    lengths = np.diff(starts)
    if int(lengths.max(initial=0)) <= longest:
        return starts, values
    kept = np.minimum(lengths, longest)
    return _starts_of(kept), values[index_ranges(starts[:-1], kept)]


def read_only(column: NDArray[Any]) -> NDArray[Any]:
    """Return the column if it is read-only, else a copy, which the caller cannot change."""
    return column.copy() if column.flags.writeable else column


def _starts_of(lengths: Integers) -> Integers:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))

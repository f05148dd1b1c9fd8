"""Types of arrays, and small functions on them: grouping, distinct values, ranges, co-occurrences, ragged lists."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
#: whole numbers of any size, such as codes of items
Codes: TypeAlias = NDArray[np.integer[Any]]
Number = TypeVar("Number", bound=np.generic)

#: keys of more bits do not fit in one word
_KEY_BITS = 62


def floor_multiples(share: Fraction, most: int) -> Integers:
    """Return `floor(share * n)` for n = 0, 1, ..., `most`, computed exactly.

    Examples
    --------
    >>> floor_multiples(Fraction(3, 5), 5)
    array([0, 0, 1, 1, 2, 3])
    """
    above, below = share.numerator, share.denominator
    if (most + 1) * below < 1 << _KEY_BITS:
        return np.arange(most + 1) * above // below
    return np.array([number * above // below for number in range(most + 1)], np.int64)


def group_equal(codes: Integers) -> tuple[Integers, Integers]:
    """Return the distinct codes, sorted, and the position of each code among them.

    Values are sorted, which is faster than sorting indices.

    Examples
    --------
    >>> group_equal(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]))
    """
    bits = max(1, (len(codes) - 1).bit_length())
    if int(codes.max(initial=0)).bit_length() + bits > _KEY_BITS:
        distinct, at = np.unique(codes, return_inverse=True)
        return distinct, at.astype(np.int64)
    packed = (codes << bits) | np.arange(len(codes))
    packed.sort()
    row, codes = packed & ((1 << bits) - 1), packed >> bits
    new = _starts(codes)
    at = np.empty(len(codes), np.int64)
    at[row] = np.cumsum(new) - 1
    return codes[new], at


def index_ranges(starts: Codes, lengths: Codes) -> Integers:
    """Return the numbers `starts[i], starts[i] + 1, ...`, `lengths[i]` of them for each `i`, one after another.

    Examples
    --------
    >>> index_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    shift = starts - (np.cumsum(lengths) - lengths)
    return np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(shift, lengths)


def concatenate_ranges(start: Integers, end: Integers) -> tuple[Integers, Integers]:
    """Return the numbers of all ranges, one range after the other, and the range of each number.

    Examples
    --------
    >>> concatenate_ranges(np.array([5, 0]), np.array([7, 1]))
    (array([5, 6, 0]), array([0, 0, 1]))
    """
    length = end - start
    return index_ranges(start, length), np.repeat(np.arange(len(start)), length)


def number_within_groups(groups: Codes) -> Integers:
    """Number the elements of each group from 0; equal groups are adjacent.

    Examples
    --------
    >>> number_within_groups(np.array([4, 4, 9, 9, 9]))
    array([0, 1, 0, 1, 2])
    """
    position = np.arange(len(groups))
    return position - np.maximum.accumulate(np.where(_starts(groups), position, 0))


def sort_distinct(values: Integers) -> Integers:
    """Return the distinct values, sorted: `np.unique`, which hashes and is far slower on millions of large numbers.

    Examples
    --------
    >>> sort_distinct(np.array([7, 3, 7]))
    array([3, 7])
    """
    ordered = np.sort(values)
    return ordered[_starts(ordered)]


def weigh_co_occurrences(members: Codes, sizes: Integers, weights: NDArray[Number], symbols: int) -> NDArray[Number]:
    """For every pair of symbols, add up the weights of the lists that contain both.

    Parameters
    ----------
    members
        The symbols of all lists, one list after the other; in a list no symbol occurs twice.
    sizes, weights
        The number of symbols and the weight of each list. Whole weights are added up in whole numbers.
    symbols
        How many symbols there are.

    Returns
    -------
    One sum per pair, in the order (0, 1), (0, 2), ... (1, 2), ...

    Examples
    --------
    >>> weigh_co_occurrences(np.array([2, 0, 1, 0, 2]), np.array([3, 2]), np.array([10, 1]), 3).tolist()
    [10, 11, 10]
    """
    from scipy import sparse  # noqa: PLC0415 - slow to import, and needed by few

    kept = sizes > 1
    members = members[np.repeat(kept, sizes)]
    sizes, weights = sizes[kept], weights[kept]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    shape = (len(sizes), symbols)
    present: Any = sparse.csr_array((np.ones(len(members), weights.dtype), members, starts), shape)
    weighted = sparse.csr_array((np.repeat(weights, sizes), members, starts), shape)
    product: Any = present.T.tocsr() @ weighted
    table: NDArray[Number] = product.toarray()
    return table[np.triu_indices(symbols, 1)]


# Ragged arrays: lists of different lengths as one array of values and one of list starts.


def list_starts(row: Codes) -> Integers:
    """Return where each run of equal row numbers starts, and where the last one ends.

    Examples
    --------
    >>> list_starts(np.array([3, 3, 8])).tolist()
    [0, 2, 3]
    """
    new = np.ones(len(row) + 1, np.bool_)
    np.not_equal(row[1:], row[:-1], out=new[1:-1])
    return np.flatnonzero(new)


def take_lists(starts: Integers, values: NDArray[Number], chosen: Codes | Flags) -> tuple[Integers, NDArray[Number]]:
    """Keep the chosen lists, by number or by a flag for each."""
    firsts, lengths = starts[:-1][chosen], np.diff(starts)[chosen]
    return _starts_of(lengths), values[index_ranges(firsts, lengths)]


def cut_lists(starts: Integers, values: NDArray[Number], longest: int) -> tuple[Integers, NDArray[Number]]:
    """Keep the first values of each list, at most `longest`."""
    lengths = np.diff(starts)
    if int(lengths.max(initial=0)) <= longest:
        return starts, values
    kept = np.minimum(lengths, longest)
    return _starts_of(kept), values[index_ranges(starts[:-1], kept)]


def read_only(column: NDArray[Number]) -> NDArray[Number]:
    """Return the column if it is read-only, else a copy, which the caller cannot change."""
    return column.copy() if column.flags.writeable else column


def _starts(groups: Codes) -> Flags:
    """Mark where each run of equal numbers starts."""
    new = np.ones(len(groups), np.bool_)
    new[1:] = groups[1:] != groups[:-1]
    return new


def _starts_of(lengths: Integers) -> Integers:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))

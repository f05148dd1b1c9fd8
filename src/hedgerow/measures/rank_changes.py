"""How a distortion changes ranks: those of rows within each column (RP, RK), and of columns by their means (CP, CK)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["RankChanges", "compare_ranks", "expect_of_shuffled"]

Floats: TypeAlias = NDArray[np.float64]
Ties: TypeAlias = Literal["stable", "average"]

#: numbers are rounded to so many decimals before they are ranked, since equal numbers differ in their last bits
_DECIMALS = 10


class RankChanges(NamedTuple):
    """How far ranks move, and which share of them stays.

    `rp` and `rk` are about the ranks of rows within each column, `cp` and `ck` about those of columns by their means:
    the mean distance by which a rank moves, and the share of ranks that stay.
    """

    rp: float
    rk: float
    cp: float
    ck: float


def compare_ranks(original: Floats, released: Floats, *, ties: Ties = "stable", argsort: bool = False) -> RankChanges:
    """Compare the ranks of rows and of columns before and after.

    Parameters
    ----------
    ties
        Equal numbers have the ranks of their order (`stable`), or all the mean of them (`average`).
    argsort
        Compare the positions that sort a column, in place of ranks. That is not what the definition of RP and CP says,
        but what the published figures are.

    Examples
    --------
    >>> before = np.array([[1, 9, 4], [5, 2, 6], [3, 7, 8], [2, 8, 1.0]])
    >>> after = np.array([[2, 8, 5], [1, 3, 9], [4, 6, 7], [3, 9, 2.0]])
    >>> [round(value, 6) for value in compare_ranks(before, after)]
    [0.833333, 0.333333, 0.0, 1.0]
    >>> round(compare_ranks(before, after, argsort=True).rp, 6)
    1.166667
    """
    moved = stayed = 0.0
    for before, after in zip(original.T, released.T, strict=True):
        distance = np.abs(_rank(before, ties, argsort=argsort) - _rank(after, ties, argsort=argsort))
        moved += float(distance.sum(dtype=np.float64))
        stayed += int((distance == 0).sum())
    columns = [_rank(values.mean(0), ties, argsort=argsort) for values in (original, released)]
    shift = np.abs(columns[0] - columns[1])
    return RankChanges(moved / original.size, stayed / original.size, float(shift.mean()), float((shift == 0).mean()))


def expect_of_shuffled(rows: int, columns: int) -> RankChanges:
    """Return what is expected if rows and columns are put into a random order, which keeps nothing.

    Examples
    --------
    >>> round(expect_of_shuffled(699, 9).rp, 1)
    233.0
    """
    return RankChanges((rows**2 - 1) / (3 * rows), 1 / rows, (columns**2 - 1) / (3 * columns), 1 / columns)


def _rank(values: Floats, ties: Ties, *, argsort: bool) -> NDArray[np.float64] | NDArray[np.int64]:
    rounded = values.round(_DECIMALS)
    if ties == "average" and not argsort:
        from scipy import stats  # noqa: PLC0415 - slow to import

        return cast("Any", stats).rankdata(rounded)
    order = np.argsort(rounded, kind="stable")
    if argsort:
        return order
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks

"""Iterative proportional fitting (raking, Sinkhorn): scale matrices to given row and column sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.numerics.arrays import Floats, Integers

#: below this, sums count as 0: their reciprocals may not be finite
SMALLEST = 1e-290


def fit_proportionally(seeds: Floats, sums: Floats, which: Integers, columns: Floats, *, sweeps: int) -> Floats:
    """Scale rows to their sums and, in each matrix, columns to theirs, in turn.

    Row `i` is part of matrix number `which[i]`, whose columns shall add up to `columns[which[i]]`.

    Examples
    --------
    >>> seeds, one = np.array([[2.0, 1], [1, 4]]), np.zeros(2, np.int64)
    >>> fit_proportionally(seeds, np.array([4.0, 4]), one, np.array([[3.0, 5]]), sweeps=12).round(3).tolist()
    [[2.38, 1.62], [0.62, 3.38]]
    """
    order = np.argsort(which, kind="stable")
    rows, sums, which = seeds[order], sums[order], which[order]
    firsts = np.searchsorted(which, np.arange(len(columns)))
    for _ in range(sweeps):
        rows = scale_rows(rows, sums)
        total = np.add.reduceat(rows, firsts, axis=0)
        rows *= np.divide(columns, total, out=np.zeros_like(total), where=total > 0)[which]
    fitted = np.empty_like(rows)
    fitted[order] = rows
    return fitted


def scale_rows(rows: Floats, sums: Floats) -> Floats:
    """Scale each row to its sum; a row of zeros stays.

    Examples
    --------
    >>> scale_rows(np.array([[1.0, 3], [0, 0]]), np.array([2.0, 5])).tolist()
    [[0.5, 1.5], [0.0, 0.0]]
    """
    total = rows.sum(axis=1)
    return rows * np.divide(sums, total, out=np.zeros_like(total), where=total > 0)[:, None]


def fit_margins(table: Floats, rows: Floats, columns: Floats, *, rounds: int) -> Floats:
    """Scale one matrix to its row sums, then to its column sums, in turn.

    Examples
    --------
    >>> fit_margins(np.array([[2.0, 1], [1, 4]]), np.array([4.0, 4]), np.array([3.0, 5]), rounds=12).round(3).tolist()
    [[2.38, 1.62], [0.62, 3.38]]
    """
    for _ in range(rounds):
        table = table * ratio(rows, table.sum(axis=1))[:, None]
        table = table * ratio(columns, table.sum(axis=0))
    return table


def ratio(above: ArrayLike, below: ArrayLike) -> Floats:
    """Divide; 0 where there is nothing to divide by.

    Examples
    --------
    >>> ratio(6, np.array([3.0, 0])).tolist()
    [2.0, 0.0]
    """
    above, below = np.asarray(above, np.float64), np.asarray(below, np.float64)
    result = np.zeros(np.broadcast_shapes(above.shape, below.shape))
    return np.divide(above, below, out=result, where=below > SMALLEST)

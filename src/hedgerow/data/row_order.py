"""The order of rows by several columns, the first column first; later columns are compared where earlier ones tie."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["order_rows"]

Positions: TypeAlias = NDArray[np.intp]


def order_rows(columns: Iterable[NDArray[Any]], rows: int) -> Positions:
    """Return the row numbers in ascending order of the columns; stable.

    Rows that differ in the first column, as most rows of measured numbers do, are not compared any further.

    Examples
    --------
    >>> order_rows([np.array([2.0, 1.0, 2.0]), np.array([5.0, 9.0, 4.0])], 3).tolist()
    [1, 2, 0]
    """
    order = np.arange(rows)
    starts = np.zeros(rows, np.bool_)  # whether a row differs from the one before it in this order
    starts[:1] = True
    for column in columns:
        tied = np.flatnonzero(~starts | ~np.append(starts[1:], True))
        if not len(tied):
            break
        group = np.cumsum(starts)[tied]
        keys = column[order[tied]]
        moved = np.argsort(keys, kind="stable") if group[-1] == 1 else np.lexsort((keys, group))
        order[tied] = order[tied][moved]
        keys = keys[moved]
        starts[tied[1:]] |= (keys[1:] != keys[:-1]) | (group[1:] != group[:-1])
    return order

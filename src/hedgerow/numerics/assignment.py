"""The linear sum assignment problem.

SciPy solves it; here it gets types, and is imported when it is needed: listing the methods must not take so long.
"""

from __future__ import annotations

from typing import Any, cast

from hedgerow.numerics.arrays import Floats, Integers


def assign(costs: Floats, *, maximise: bool = False) -> tuple[Integers, Integers]:
    """Return the rows and columns of an assignment of least cost, or of most.

    Examples
    --------
    >>> import numpy as np
    >>> [each.tolist() for each in assign(np.array([[1.0, 2.0], [1.0, 5.0]]))]
    [[0, 1], [1, 0]]
    """
    from scipy import optimize  # noqa: PLC0415 - slow to import

    rows, columns = cast("Any", optimize).linear_sum_assignment(costs, maximize=maximise)  # SciPy is not typed
    return rows, columns

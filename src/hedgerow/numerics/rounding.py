"""Round fitted numbers to a coarse grid, so that no draw depends on their last bits; and to whole numbers together.

Processors add the terms of a product of matrices in different orders, and compute exponentials and logarithms with
errors in the last bit: a fit is the same on all of them up to about $10^{-12}$. That is harmless for a number that is
compared with a random one. It is not harmless for a *tie*: two items of equal weight are sorted by their last bits, and
a count of exactly 2.5 is rounded by them. So each fitted table is rounded before anything is drawn, sorted, compared or
rounded to whole numbers by it. Ties are then exact on every processor, and resolved by a rule.

Grids consist of powers of two, and a whole number, or a simple fraction such as 1/2, is a point of them, not half-way
between two. What remains: a number that lies within its error of the middle between two points goes one way on one
processor and the other way on another. For an error of $10^{-12}$ this happens to about one number in a million; such a
number then differs by the width of the grid, and with it changes a draw with a probability of again about one in a
million per draw. So the chance that a release of a million draws depends on the processor is about that of the error
itself, $10^{-12}$ per draw, as if there were no ties.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.numerics.arrays import Floats, Integers

#: significant binary digits of a weight, and binary digits of a count after the point: about one part in a million
_SIGNIFICANT, _FRACTION = 20, 20


def on_grid(values: ArrayLike) -> Floats:
    """Round weights, probabilities and other numbers that matter relative to each other: 20 significant binary digits.

    Examples
    --------
    >>> weights = on_grid(np.array([0.1 + 0.2, 0.3, 5e-9, 0.5, -7.0]))
    >>> bool(weights[0] == weights[1]), weights[3:].tolist(), weights.round(12).tolist()
    (True, [0.5, -7.0], [0.300000190735, 0.300000190735, 5e-09, 0.5, -7.0])
    """
    mantissa, exponent = np.frexp(np.asarray(values, np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, _SIGNIFICANT)), exponent - _SIGNIFICANT)


def on_count_grid(values: ArrayLike) -> Floats:
    """Round counts, and logarithms, that are added or subtracted: multiples of 1 / 2**20, whose sums are exact.

    Sums of numbers on this grid do not depend on the order in which they are added, up to a total of 2**33.

    Examples
    --------
    >>> counts = on_count_grid(np.array([0.1] * 10))
    >>> float(counts.sum()) == sum(counts.tolist()), on_count_grid(np.array([2.5, 3 - 1e-12, 1e-13])).tolist()
    (True, [2.5, 3.0, 0.0])
    """
    return np.ldexp(np.rint(np.ldexp(np.asarray(values, np.float64), _FRACTION)), -_FRACTION)


def round_together(values: Floats) -> Integers:
    """Round so that the sum of every contiguous run of values changes by at most one.

    Examples
    --------
    >>> round_together(np.array([0.4, 0.4, 0.4, 2.0])).tolist()
    [0, 1, 0, 2]
    """
    running = np.floor(np.cumsum(on_count_grid(values)) + 0.5).astype(np.int64)
    return np.diff(running, prepend=0)

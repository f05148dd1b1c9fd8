"""How much of the original a reconstruction has, and how much of it can be had without the attack."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAILS_AT", "Success", "fails", "judge"]

Floats: TypeAlias = NDArray[np.float64]

#: a cell of 0 has no relative error: it is recovered within p % if it is off by p % of the deviation of its column
_ONE, _FIVE = 0.01, 0.05
#: the absolute tolerance, in standard deviations of the column
_TOLERANCE = 0.1
#: a release fails if an attack errs at most this much of what a guess or the release itself does
FAILS_AT = 0.5


class Success(NamedTuple):
    """The share of cells that are recovered within 1 %, 5 % and a tenth of a standard deviation; errors of rows.

    The error of a row is the length of its difference relative to its own length: the median, and the 5 % and 95 %
    quantiles of rows that are not zero.
    """

    within_1: float
    within_5: float
    within_tolerance: float
    median_error: float
    low_error: float
    high_error: float


def judge(guess: Floats, truth: Floats, deviations: Floats) -> Success:
    """Compare a reconstruction with the truth, for rows that the attacker did not know.

    Parameters
    ----------
    deviations
        The standard deviation of each column of the original.

    Examples
    --------
    >>> truth = np.array([[100.0, 10.0], [200.0, 0.0]])
    >>> judge(np.array([[100.5, 10.4], [220.0, 0.0]]), truth, truth.std(0))[:3]
    (0.5, 0.75, 0.75)
    """
    error = np.abs(guess - truth)
    scale = np.where(truth == 0, deviations, np.abs(truth))
    # rounding must not decide whether an exact number is recovered
    slack = 1e-12 * np.abs(truth)
    sizes = np.linalg.norm(truth, axis=1)
    rows = np.linalg.norm(error, axis=1)[sizes > 0] / sizes[sizes > 0]
    median, low, high = (float(np.quantile(rows, level)) if len(rows) else np.nan for level in (0.5, 0.05, 0.95))
    return Success(
        within_1=float((error <= _ONE * scale + slack).mean()),
        within_5=float((error <= _FIVE * scale + slack).mean()),
        within_tolerance=float((error <= _TOLERANCE * deviations + slack).mean()),
        median_error=median,
        low_error=low,
        high_error=high,
    )


def fails(attack: Success, *baselines: Success) -> bool:
    """Whether an attack has at most half the error of what can be had without it.

    Examples
    --------
    >>> fails(Success(0, 0, 0, 0.1, 0, 1), Success(0, 0, 0, 0.3, 0, 1), Success(0, 0, 0, 0.2, 0, 1))
    True
    """
    return attack.median_error <= FAILS_AT * min(each.median_error for each in baselines)

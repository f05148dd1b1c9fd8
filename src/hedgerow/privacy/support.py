r"""How much of what was counted is above its noise: whether a release rests on its data or on noise.

An answer is *above its noise* if noise alone would hardly have produced it. Among $M$ cells with noise of scale $b$, no
noise reaches $b \ln(20 M)$ with a probability of at least 0.95, since $P(Z \ge t) \le e^{-t / b}$ for each.

Only answers are used, so this costs no privacy. Along a path of a forest the last count stands for those before it:
what is published rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.mechanisms import Laplace, Mechanism
from hedgerow.privacy.shares import Shares
from hedgerow.privacy.survivors import CandidateSets, Survivors

__all__ = ["Support", "describe_support", "mass_of_cells", "mass_of_survivors", "share_above"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: one question in so many has an answer above its noise that is noise
_QUESTIONS_PER_FALSE_ALARM = 20


@dataclass(frozen=True)
class Support:
    """Which share of the counts under a label is above the noise, rounded to a hundredth."""

    label: str
    share: float


def mass_of_cells(answer: Integers, mechanism: Mechanism, shares: Shares) -> Floats | None:
    """What each answer counts, and what of it is above its noise, in two columns; None if it is not a count.

    Examples
    --------
    >>> from fractions import Fraction
    >>> answer = np.array([500, 3, -4])
    >>> mass_of_cells(answer, Laplace(l1=1), Shares.spread(Fraction(1, 10), 3)).tolist()
    [[500.0, 500.0], [3.0, 0.0], [-4.0, 0.0]]
    """
    if not isinstance(mechanism, Laplace):
        return None
    return _mass(answer, mechanism, shares, math.log(max(1, len(answer))))


def mass_of_survivors(survivors: Survivors, mechanism: Laplace, shares: Shares, families: CandidateSets) -> Floats:
    """The same for survivors of a threshold; all candidates count as cells, also those below it."""
    cells = sum(families.candidates.tolist())  # Python integers: there may be more than 2**63
    return _mass(survivors.noisy, mechanism, shares[survivors.at], math.log(max(1, cells)))


def share_above(total: float, above: float) -> float:
    """The share above the noise; noise may make the total smaller than its parts, or negative."""
    return round(above / max(total, above), 2) if above > 0 else 0.0


def describe_support(support: Sequence[Support]) -> str:
    """Say in one sentence which counts are above their noise; empty if nothing was counted.

    Examples
    --------
    >>> describe_support([Support("sizes", 1.0), Support("item weights", 0.62)])
    'Above their noise: sizes 100 %, item weights 62 %; the rest is an estimate of the method.'
    """
    if not support:
        return ""
    parts = ", ".join(f"{each.label} {100 * each.share:.0f} %" for each in support)
    rest = "" if all(each.share == 1 for each in support) else "; the rest is an estimate of the method"
    return f"Above their noise: {parts}{rest}."


def _mass(answer: Integers, mechanism: Laplace, shares: Shares, log_cells: float) -> Floats:
    # a share of the table that no cell has may be 0
    limits = np.array([float(mechanism.l1 / share) if share else math.inf for share in shares.table])
    limits *= math.log(_QUESTIONS_PER_FALSE_ALARM) + log_cells
    return np.column_stack((answer, np.where(answer >= limits[shares.codes], answer, 0))).astype(np.float64)

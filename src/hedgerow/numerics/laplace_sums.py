r"""Sums of Laplace variables: their exact tail, its quantiles, and half-widths that hold for discrete noise.

$S_N$ is the sum of $N$ independent Laplace variables of scale 1. For $a \ge 0$

$$P(S_N \ge a) = \sum_{j=0}^{N-1} \binom{N-1+j}{j} 2^{-(N+j)} Q(N-j, a)$$

with $Q$ the regularised upper incomplete gamma function: $S_N$ is the difference of two gamma variables, made of $N$
exponential ones each. Take the two that are next against each other: by the lack of memory either side wins with
probability 1/2, and keeps a fresh exponential variable. If the first side wins its $N$-th time after $j$ losses,
$N - j$ variables are left over on it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from hedgerow.errors import ParameterError

#: relative; quantiles are rounded up to it, not down
_PRECISION = 1e-12


def tail(number: int, at: float) -> float:
    """$P(S_N >= a)$ of the sum of `number` Laplace variables of scale 1, by the formula above.

    Examples
    --------
    >>> [round(tail(number, at), 6) for number, at in [(1, 1), (5, 3), (200, 30), (5, -3)]]
    [0.18394, 0.159669, 0.066717, 0.840331]
    """
    from scipy import special  # noqa: PLC0415 - listing the methods does not need it

    _require_positive(number)
    if at < 0:
        return 1 - tail(number, -at)
    losses = np.arange(number)
    ways = special.gammaln(number + losses) - special.gammaln(number) - special.gammaln(losses + 1)
    weights = np.exp(ways - (number + losses) * math.log(2))
    return float(weights @ special.gammaincc(number - losses, at))


@lru_cache(maxsize=4096)
def upper_quantile(number: int, chance: float) -> float:
    """The value that the sum reaches with this probability, at most 1/2: Q1 of one-sided statements.

    Examples
    --------
    >>> round(upper_quantile(10, 0.05), 4)
    7.3369
    """
    _require_positive(number)
    if not 0 < chance <= 0.5:  # noqa: PLR2004 - beyond it the quantile is negative
        msg = f"the chance of a one-sided quantile must be above 0 and at most 1/2; got {chance}"
        raise ParameterError(msg)
    low, high = 0.0, math.sqrt(2 * number) + 1
    while tail(number, high) > chance:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high and high - low > _PRECISION * high:
        low, high = (low, middle) if tail(number, middle) <= chance else (middle, high)
    return high


def two_sided_quantile(number: int, chance: float) -> float:
    """The value that the sum exceeds in size with this probability: Q2 of two-sided statements.

    Examples
    --------
    >>> round(two_sided_quantile(6, 0.05), 4)
    6.9132
    """
    if not 0 < chance < 1:
        msg = f"the chance of a two-sided quantile must be between 0 and 1; got {chance}"
        raise ParameterError(msg)
    return upper_quantile(number, chance / 2)


def discrete_half_width(number: int, scale: float, chance: float) -> int:
    r"""The half-width of an interval that misses the sum of discrete Laplace noise with at most this probability.

    The noise is $P(z) \propto e^{-|z| / b}$ on whole numbers, $b$ its scale. The quantile $Q b$ of the continuous sum
    is not always valid: with one noise and $b = 1$, 0.99 is exceeded with probability 0.54 instead of 0.37. The
    smallest whole $m \ge Q b - 1/2$ is: an exponential variable is a geometric one plus an independent part of a whole,
    so the continuous sum is $D + F$, with $D$ the discrete sum and $F$ symmetric and independent of it. Whatever $F$
    is, $|D + F| \le m + 1/2$ for $2 m + 1$ whole numbers $D$ in a row; $D$ is symmetric and unimodal, so none of these
    intervals is more probable than the one around 0. Hence $P(|D| \le m) \ge P(|D + F| \le m + 1/2) \ge 1 - chance$.

    Examples
    --------
    >>> [discrete_half_width(1, scale, 0.05) for scale in (0.1, 1.0, 100.0)]
    [0, 3, 300]
    """
    return max(0, math.ceil(two_sided_quantile(number, chance) * scale - 0.5))


def _require_positive(number: int) -> None:
    if number < 1:
        msg = f"a sum needs at least 1 variable; got {number}"
        raise ParameterError(msg)

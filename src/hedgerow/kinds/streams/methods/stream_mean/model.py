r"""How many events must be read for an error, and the error of those that were read.

All widths are shares of `high - low`. With probability at least $1 - \lambda$ the published mean is within its half
width, at each single time; for $q$ times together, ask for $1 - \lambda / q$.

*Randomised response.* A read bit, debiased, lies in an interval of length $k = (e^\varepsilon + 1) / (e^\varepsilon -
1)$. Hoeffding's inequality bounds the error of the mean of $n$ of them: $2 \exp(-2 n \sigma^2 / k^2) \le \lambda$. It
also holds for sampling without replacement, flips included: given the sample, the moment generating function is a
product of one factor per event, which is a convex function of the sum of their logarithms.

*Laplace noise.* For $0 < u < \varepsilon$, the moment generating function of the error of the sum of $n$ values in
[0, 1], sampled out of $t$, is at most $\exp(n s u^2 / 8)$ with $s = 1 - (n - 1) / t$ (Serfling 1974; $s \le 1$ is
Hoeffding), and $s = 0$ if all are read. That of one Laplace noise of scale $1 / \varepsilon$ is $1 / (1 - u^2 /
\varepsilon^2)$. With `noises` of them (one per value, or one in all), Chernoff's bound gives

$$\sigma(n) = \min_u \frac{\ln(2 / \lambda) + n s u^2 / 8 - noises \cdot \ln(1 - u^2 / \varepsilon^2)}{n u}.$$

The noise that is drawn is discrete, on the lattice of the values. Its moment generating function is smaller: with rate
$r$, $(\cosh r - 1) / (\cosh r - \cosh v) \le 1 / (1 - v^2 / r^2)$, since $(\cosh v - 1) / v^2$ grows with $v$. So
what is computed here for continuous noise holds for it, too.
"""

from __future__ import annotations

import math

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers

#: Newton steps; they end in a float's precision after fewer, and any number of them gives a valid width
_STEPS = 16
#: no sample is looked for beyond this size
_LARGEST = 1 << 62


def debiasing_factor(epsilon: float) -> float:
    """How far apart the debiased values of a flipped 0 and a flipped 1 are.

    Examples
    --------
    >>> round(debiasing_factor(1.0), 6)
    2.163953
    """
    return 1 / math.tanh(epsilon / 2)


def flipped_half_widths(sizes: Integers, epsilon: float, confidence: float) -> Floats:
    """The half-width of the mean of so many flipped bits, debiased; at most 1, since the mean is clamped."""
    widths = debiasing_factor(epsilon) * np.sqrt(_log_inverse(confidence) / (2 * sizes))
    return np.minimum(widths, 1.0)


def flipped_size(half_width: float, epsilon: float, confidence: float) -> int:
    """The number of flipped bits for a half-width.

    Examples
    --------
    >>> [flipped_size(0.1, epsilon, 0.95) for epsilon in (0.1, 0.5, 1, 2)]
    [73901, 3075, 864, 318]
    """
    ratio = debiasing_factor(epsilon) / half_width
    size = ratio * ratio * _log_inverse(confidence) / 2  # it may be infinite
    return math.ceil(size) if size < _LARGEST else _LARGEST


def laplace_half_widths(
    sizes: Integers, times: Integers | None, epsilon: float, confidence: float, *, noise_per_value: bool
) -> Floats:
    """The half-width of a mean with Laplace noise; at most 1, since the mean is clamped.

    Parameters
    ----------
    sizes
        How many values are in the sample.
    times
        Out of how many; None for any number.
    epsilon
        The noise has scale 1 / epsilon, for values in [0, 1].
    noise_per_value
        Whether every value has its noise, or only their sum.
    """
    factors = np.ones(len(sizes)) if times is None else np.where(times > sizes, 1 - (sizes - 1) / times, 0.0)
    noises = sizes.astype(np.float64) if noise_per_value else np.ones(len(sizes))
    spread = sizes * factors * epsilon**2 / 8
    target = _log_inverse(confidence)
    odds = _best_odds(spread, noises, target)
    share = odds / (1 + odds)  # u^2 / epsilon^2
    bound = target + spread * share + noises * np.log1p(odds)
    return np.minimum(bound / (sizes * epsilon * np.sqrt(share)), 1.0)


def smallest_size(half_width: float, epsilon: float, confidence: float, *, noise_per_value: bool) -> int:
    """The number of values for a half-width, out of any number of events: the inverse of `laplace_half_widths`.

    Examples
    --------
    >>> [smallest_size(0.1, epsilon, 0.95, noise_per_value=True) for epsilon in (0.1, 0.5, 1, 2)]
    [147742, 6089, 1662, 555]
    >>> [smallest_size(0.1, epsilon, 0.95, noise_per_value=False) for epsilon in (0.1, 0.5, 1, 2)]
    [653, 220, 193, 187]
    """

    def suffices(size: int) -> bool:
        widths = laplace_half_widths(np.array([size]), None, epsilon, confidence, noise_per_value=noise_per_value)
        return bool(widths[0] <= half_width)

    enough = 1
    while enough < _LARGEST and not suffices(enough):
        enough *= 2
    short = enough // 2
    while enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (short, middle) if suffices(middle) else (middle, enough)
    return enough


def _best_odds(spread: Floats, noises: Floats, target: float) -> Floats:
    r"""The best $u$, as $z = u^2 / (\varepsilon^2 - u^2)$: the root of $b z / (1 + z) + w (2 z - \ln(1 + z)) = a$.

    That is where the derivative of the bound is 0. The left side grows with $z$, first concave and then convex, so that
    Newton's method from 0 converges.
    """
    odds = np.zeros(len(spread))
    for _ in range(_STEPS):
        value = spread * odds / (1 + odds) + noises * (2 * odds - np.log1p(odds)) - target
        slope = spread / (1 + odds) ** 2 + noises * (2 - 1 / (1 + odds))
        odds = np.maximum(odds - value / slope, 0.0)
    return odds


def _log_inverse(confidence: float) -> float:
    """ln(2 / lambda)."""
    return math.log(2 / (1 - confidence))

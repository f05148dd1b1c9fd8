r"""The noise of one coordinate, as a law: its variance, and how far weighted sums of it may be from 0.

Noise is discrete Laplace noise on a lattice, $P(z) \propto \alpha^{|z|}$ with $\alpha = e^{-r}$ for $z$ steps, or that
of randomised response after debiasing. With $r$ towards 0 the first is Laplace noise of scale $1 / r$ steps; its
variance $2 \alpha / (1 - \alpha)^2$ is smaller than $2 / r^2$: by 8 % at $r = 1$, by 0.08 % at $r = 0.1$.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hedgerow.numerics.arrays import Floats
from hedgerow.numerics.laplace_sums import discrete_half_width

#: points at which the exponent of a Chernoff bound is tried, in so many rounds
_TRIED, _ROUNDS = 25, 3
#: the exact law of a sum of equal weights is computed for so many of them
_FEW = 10_000
#: noise of this rate is 0, but for a chance that no computer sees
_CERTAIN = 700.0
#: weights that differ by less, relative to the largest, are equal
_EQUAL = 1e-12


class Noise(Protocol):
    """The law of the noise of one coordinate; the noise of different coordinates is independent, its mean 0."""

    @property
    def variance(self) -> float:
        """The variance of the noise of one coordinate."""
        ...

    def half_width(self, weights: Floats, miss: float) -> float:
        """Return what the sum of the noise of all coordinates, so weighted, exceeds with probability at most `miss`."""
        ...


@dataclass(frozen=True)
class LaplaceNoise:
    """Discrete Laplace noise: `rate` is that of one step, and a step is `step` of the units of the numbers.

    Examples
    --------
    >>> noise = LaplaceNoise(rate=1.0, step=1.0)
    >>> round(noise.variance, 4), noise.half_width(np.array([0, 1, 1, 0, 1.0]), 0.05)
    (1.8413, 5.0)
    """

    rate: float
    step: float = 1.0

    @property
    def variance(self) -> float:
        """The variance of the noise of one coordinate."""
        return laplace_variance(self.rate) * self.step**2

    def half_width(self, weights: Floats, miss: float) -> float:
        r"""Return what the weighted sum exceeds, in absolute value, with probability at most `miss`.

        If all weights that are not 0 are equal, as those of keywords, and not too many, it comes from the exact law of
        a sum of Laplace noise. Otherwise it is the Chernoff bound
        $\min_t (\ln(2 / miss) + \sum_i \ln M(t w_i)) / t$, $M(t) = 1 / (1 - v (\cosh t - 1))$.
        """
        used = np.abs(weights[weights != 0]) * self.step
        if not len(used) or self.rate >= _CERTAIN:
            return 0.0
        if len(used) <= _FEW and np.ptp(used) <= _EQUAL * used.max():
            return float(used.max()) * discrete_half_width(len(used), 1 / self.rate, miss)
        return self._chernoff(used, miss / 2)

    def _chernoff(self, weights: Floats, miss: float) -> float:
        variance, sizes = laplace_variance(self.rate), np.unique(weights, return_counts=True)
        most = self.rate / float(weights.max())

        def bound(share: float) -> float:
            if not 0 < share < 1:
                return math.inf
            angles = share * most * sizes[0]
            cumulants = -np.log1p(-variance * 2 * np.sinh(angles / 2) ** 2)
            return (math.log(1 / miss) + float(sizes[1] @ cumulants)) / (share * most)

        shares: list[float] = np.geomspace(1e-9, 1 - 1e-9, _TRIED).tolist()
        for _ in range(_ROUNDS):
            best = min(range(_TRIED), key=lambda at: bound(shares[at]))
            shares = np.linspace(shares[max(0, best - 1)], shares[min(_TRIED - 1, best + 1)], _TRIED).tolist()
        return min(map(bound, shares))


@dataclass(frozen=True)
class ResponseNoise:
    """The noise of debiased randomised response: bits are kept with odds `e^epsilon` to 1, and are `width` apart.

    Examples
    --------
    >>> round(ResponseNoise(epsilon=1.0).variance, 4), round(ResponseNoise(epsilon=1.0).half_width(np.ones(4), 0.05), 3)
    (0.9207, 5.878)
    """

    epsilon: float
    width: float = 1.0

    @property
    def variance(self) -> float:
        """The variance of the noise of one coordinate."""
        return response_variance(self.epsilon) * self.width**2

    def half_width(self, weights: Floats, miss: float) -> float:
        """Return what the weighted sum exceeds with probability at most `miss`: Hoeffding's bound."""
        span = self.width / math.tanh(self.epsilon / 2)
        return span * math.sqrt(float(weights @ weights) * math.log(2 / miss) / 2)


def laplace_variance(rate: float) -> float:
    r"""Return the variance of discrete Laplace noise, $2 \alpha / (1 - \alpha)^2$, in squared steps.

    Examples
    --------
    >>> round(laplace_variance(0.01) / (2 / 0.01**2), 6)
    0.999992
    """
    return 0.5 / math.sinh(rate / 2) ** 2 if rate < _CERTAIN else 0.0


def response_variance(epsilon: float) -> float:
    r"""Return the variance of a debiased bit, $e^\varepsilon / (e^\varepsilon - 1)^2$: half that of Laplace noise.

    Examples
    --------
    >>> round(response_variance(1.0), 4)
    0.9207
    """
    return laplace_variance(epsilon) / 2

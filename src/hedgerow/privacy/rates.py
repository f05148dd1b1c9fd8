r"""Rates of geometric distributions, known to any precision.

A sampler needs $\lambda$ twice: as a float that decides almost every draw, and as bounds that are as tight as a hard
draw requires. Bounds come from `decimal`, whose `exp` and `ln` are correctly
rounded, so one unit in the last place either way encloses the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

#: draws at a smaller rate are made in two parts, so that floats still decide the upper one
SMALLEST = -20
Bounds = tuple[Decimal, Decimal]


class Rate(Protocol):
    r"""A positive real $\lambda$."""

    @property
    def shift(self) -> int:
        r"""How often $\lambda$ must be doubled to be no longer tiny."""
        ...

    @property
    def approximate(self) -> float:
        r"""$2^{shift} \lambda$ with a relative error below $2^{-48}$."""
        ...

    def bounds(self, digits: int) -> Bounds:
        r"""Enclose $\lambda$, both ends within a relative $10^{2-digits}$ of it."""
        ...


@dataclass(frozen=True)
class RationalRate:
    """A rate that is a fraction, such as a share over a sensitivity."""

    value: Fraction

    @property
    def shift(self) -> int:
        """How often the rate must be doubled to be no longer tiny."""
        return max(0, SMALLEST - _exponent(self.value))

    @property
    def approximate(self) -> float:
        """The doubled rate, correctly rounded."""
        return float(self.value * 2**self.shift)

    def bounds(self, digits: int) -> Bounds:
        """Enclose the rate."""
        return _rational(self.value, digits)


@dataclass(frozen=True)
class GapRate:
    r"""$-\ln(1 - e^{-x})$: the rate of the gaps between successes of probability $e^{-x}$.

    For $2^{-64} \le x \le 600$.
    """

    exponent: Fraction

    @property
    def shift(self) -> int:
        """How often the rate must be doubled to be no longer tiny."""
        return max(0, SMALLEST - _exponent(Fraction(self.bounds(30)[0])))

    @property
    def approximate(self) -> float:
        """The doubled rate; 30 digits leave a relative error far below the one allowed."""
        return float(Fraction(self.bounds(30)[0]) * 2**self.shift)

    def bounds(self, digits: int) -> Bounds:
        """Enclose the rate."""
        return _gap(self.exponent, digits)


@lru_cache(maxsize=4096)
def _rational(value: Fraction, digits: int) -> Bounds:
    with localcontext(_context(digits)):
        quotient = Decimal(value.numerator) / Decimal(value.denominator)
        return quotient.next_minus(), quotient.next_plus()


@lru_cache(maxsize=4096)
def _gap(exponent: Fraction, digits: int) -> Bounds:
    # 1 - exp(-x) and its logarithm each lose about x / ln(10) digits to cancellation for large x,
    # and at most 20 for x >= 2**-64; rounding x costs three more. The guard digits are more than
    # that, so the last digit asked for encloses the truth.
    with localcontext(_context(digits + 64 + int(exponent))):
        chance = (-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
        rate = -(1 - chance).ln()
    with localcontext(_context(digits)):
        rate = +rate
        return rate.next_minus(), rate.next_plus()


def _context(digits: int) -> Context:
    return Context(prec=digits, Emin=-999_999, Emax=999_999)


def _exponent(value: Fraction) -> int:
    r"""Return an integer $k$ with $2^{k-1} < value < 2^{k+1}$."""
    return value.numerator.bit_length() - value.denominator.bit_length()

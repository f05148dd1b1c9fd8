"""Mechanisms: how a question is answered, and the privacy loss of an answer.

A mechanism is a frozen value. `draw` answers; `loss` bounds the log-ratio of the probabilities of one answer under two
exact answers, as an exact fraction. The replay law sums these losses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Protocol, Self, TypeVar

import numpy as np

from hedgerow.errors import InternalError, ParameterError
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy import samplers
from hedgerow.privacy.interval_refinement import Bits
from hedgerow.privacy.rates import RationalRate
from hedgerow.privacy.shares import Shares, Spend

M = TypeVar("M", bound="Mechanism")
#: twice the difference of two exact answers below this fits int64
_LARGEST = 2**60
_SMALLEST = Fraction(1, 2**50)


class Mechanism(Protocol):
    """A way to answer, with a proven bound on its privacy loss."""

    name: ClassVar[str]

    def check(self, exact: Integers, shares: Shares) -> None:
        """Refuse exact answers and shares that this mechanism cannot take, before anything is drawn."""
        ...

    def draw(self, exact: Integers, spend: Spend, source: Bits) -> Integers:
        """Answer, one share per row."""
        ...

    def answer_exactly(self, exact: Integers) -> Integers:
        """Answer without noise, for test vectors."""
        ...

    def loss(self, exact: Integers, other: Integers, answer: Integers, spend: Spend) -> Fraction:
        r"""Bound $\ln P(answer | exact) - \ln P(answer | other)$, summed over rows."""
        ...

    def over(self, touches: int) -> Self:
        """Return this mechanism scaled to units with up to `touches` tokens, if it was stated for one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Laplace:
    r"""Add discrete Laplace noise of scale $l_1 / spend$ to counts.

    If one unit moves the counts by at most $l_1$ in all, the question costs at most `spend`: each
    cell loses $|moved| \cdot spend / l_1$, since $P(z) \propto e^{-|z| spend / l_1}$.
    """

    name: ClassVar[str] = "discrete Laplace"
    l1: int | Fraction

    def __post_init__(self) -> None:
        _require_positive("Laplace.l1", self.l1)

    def check(self, exact: Integers, shares: Shares) -> None:
        """Accept one int64 per cell, and noise that fits into int64."""
        _require_integers(exact, axes=1)
        if any(0 < share / self.l1 < _SMALLEST for share in shares.used()):
            msg = "the scale of this noise is beyond 2**50; give a larger epsilon"
            raise ParameterError(msg)

    def draw(self, exact: Integers, spend: Spend, source: Bits) -> Integers:
        """Add noise, one share per cell."""
        shares = Shares.spread(spend, len(exact))
        return exact + samplers.discrete_laplace(self.rates(shares), shares.codes, source)

    def rates(self, shares: Shares) -> list[RationalRate]:
        """The rate of the noise for each distinct share."""
        return [RationalRate(share / self.l1) for share in shares.table]

    def answer_exactly(self, exact: Integers) -> Integers:
        """Return the exact counts."""
        return exact.copy()

    def loss(self, exact: Integers, other: Integers, answer: Integers, spend: Spend) -> Fraction:
        """Sum `|moved| * share / l1` over the cells, whatever the answer is."""
        del answer
        return Shares.spread(spend, len(exact)).weigh(np.abs(exact - other)) / self.l1

    def over(self, touches: int) -> Self:
        """Return this mechanism for units with up to `touches` tokens, all of which may move."""
        return replace(self, l1=self.l1 * touches)


@dataclass(frozen=True, kw_only=True)
class Choose:
    r"""Choose a column of each row, $P(j) \propto e^{c s_j}$, $c = spend / (2 \, sensitivity)$.

    The exponential mechanism. With $s'$ the other scores, $\ln P(j) - \ln P'(j)$ is
    $c (s_j - s'_j) + \ln \sum e^{c s'_i} - \ln \sum e^{c s_i} \le c (s_j - s'_j + \max_i (s'_i -
    s_i))$, at most `spend` if one unit moves every score of one row by at most `sensitivity`.
    """

    name: ClassVar[str] = "exponential"
    sensitivity: int | Fraction

    def __post_init__(self) -> None:
        _require_positive("Choose.sensitivity", self.sensitivity)

    def check(self, exact: Integers, shares: Shares) -> None:
        """Accept a table of int64 scores with at least one column."""
        del shares
        _require_integers(exact, axes=2)
        if exact.shape[1] == 0:
            msg = "Choose needs at least one candidate"
            raise InternalError(msg)

    def draw(self, exact: Integers, spend: Spend, source: Bits) -> Integers:
        """Choose one column per row."""
        shares = Shares.spread(spend, len(exact))
        if len(exact) == 0:
            return np.zeros(0, np.int64)
        return samplers.choose(exact, self._factors(shares), shares.codes, source)

    def answer_exactly(self, exact: Integers) -> Integers:
        """Choose the column with the highest score, the first of equals."""
        return exact.argmax(axis=1).astype(np.int64)

    def loss(self, exact: Integers, other: Integers, answer: Integers, spend: Spend) -> Fraction:
        """Sum the bound in the docstring of the class over the rows."""
        shares = Shares.spread(spend, len(exact))
        rise = other - exact
        rows = np.arange(len(exact))
        amounts = rise.max(axis=1) - rise[rows, answer]
        return shares.weigh(amounts) / (2 * self.sensitivity)

    def over(self, touches: int) -> Self:
        """Return this mechanism for units with up to `touches` tokens."""
        return replace(self, sensitivity=self.sensitivity * touches)

    def _factors(self, shares: Shares) -> list[Fraction]:
        return [share / (2 * self.sensitivity) for share in shares.table]


@dataclass(frozen=True)
class Flip:
    r"""Flip each bit with probability $1 / (1 + e^{spend / bits})$: randomised response.

    A bit that differs costs `spend / bits`: kept and flipped have odds $e^{spend / bits}$ to 1.
    `bits` is the maximum number of bits of the array per unit.
    """

    name: ClassVar[str] = "randomised response"
    bits: int = 1

    def __post_init__(self) -> None:
        _require_positive("Flip.bits", self.bits)

    def check(self, exact: Integers, shares: Shares) -> None:
        """Accept zeros and ones."""
        del shares
        _require_integers(exact, axes=1)
        if np.any((exact != 0) & (exact != 1)):
            msg = "Flip takes bits; an exact answer is neither 0 nor 1"
            raise InternalError(msg)

    def draw(self, exact: Integers, spend: Spend, source: Bits) -> Integers:
        """Flip some bits."""
        shares = Shares.spread(spend, len(exact))
        rates = [RationalRate(share / self.bits) for share in shares.table]
        return exact ^ samplers.parity(rates, shares.codes, source)

    def answer_exactly(self, exact: Integers) -> Integers:
        """Return the bits as they are."""
        return exact.copy()

    def loss(self, exact: Integers, other: Integers, answer: Integers, spend: Spend) -> Fraction:
        """Sum the shares of the bits that differ, negative where the answer agrees with `other`."""
        moved = np.where(exact == other, 0, np.where(answer == exact, 1, -1)).astype(np.int64)
        return Shares.spread(spend, len(exact)).weigh(moved) / self.bits

    def over(self, touches: int) -> Self:
        """Return this mechanism for units with up to `touches` bits."""
        return replace(self, bits=self.bits * touches)


def require_known(mechanism: M) -> M:
    """Refuse a mechanism that is not defined here: nobody has proven its privacy loss."""
    if type(mechanism) not in (Laplace, Choose, Flip):
        msg = f"{type(mechanism).__name__} is not a mechanism with a proven price; use Laplace, Choose or Flip"
        raise InternalError(msg)
    return mechanism


def _require_positive(what: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value <= 0:
        msg = f"{what} must be a positive whole number or Fraction; got {value!r}"
        raise ParameterError(msg)


def _require_integers(exact: Integers, *, axes: int) -> None:
    if exact.dtype != np.int64 or exact.ndim != axes:
        msg = f"exact answers must be int64 in {axes} dimension{'s' * (axes > 1)}; got {exact.dtype} in {exact.ndim}"
        raise InternalError(msg)
    if exact.size and (int(exact.max()) >= _LARGEST or int(exact.min()) <= -_LARGEST):
        msg = "an exact answer is beyond 2**60"
        raise InternalError(msg)

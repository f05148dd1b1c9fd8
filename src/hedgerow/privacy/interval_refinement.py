"""Interval refinement: decide what floats could not, by reading more bits until intervals no longer overlap.

A uniform number is an infinite sequence of fair bits. `top` are the first `size` bits, read so far, so the number lies
between `top` and `top + 1` over `2**size`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.rates import Bounds

#: how many bits of a uniform number are read at first: a float represents them and half of the next
BITS = 52
#: a function that encloses the rate of a cell, to a number of digits
RateEnclosure: TypeAlias = Callable[[int, int], Bounds]


class Bits(Protocol):
    """A source of fair bits."""

    def words(self, size: int) -> NDArray[np.uint64]:
        """Draw `size` words of 64 fair bits."""
        ...


def exact_floor(top: int, exact: RateEnclosure, cell: int, most: int, source: Bits) -> int:
    """Return `floor(-ln(W) / rate)`, reading bits of W until it is certain."""
    size = BITS
    while True:
        digits = size + 40
        low, high = exact(cell, digits)
        shortest, longest = _wait(top, size, digits)
        with localcontext(Context(prec=digits + 40)):
            least = min(most, int((shortest / high).next_minus())) if shortest else 0
            # unbounded while every bit is zero
            greatest = min(most, int((longest / low).next_plus())) if longest is not None else None
        if least in (greatest, most):
            return least
        top, size = (top << 64) | int(source.words(1)[0]), size + 64


def _wait(top: int, size: int, digits: int) -> tuple[Decimal, Decimal | None]:
    """Enclose `-ln W` for W between `top` and `top + 1` over `2**size`.

    A fraction over 2**size has at most `size` digits, so with more digits than that it is exact and
    the logarithm, correctly rounded, is off by less than one unit in its last place.
    """
    with localcontext(Context(prec=digits)):
        whole = Decimal(2**size)
        shortest = -(Decimal(top + 1) / whole).ln()
        longest = -(Decimal(top) / whole).ln() if top else None
        least = max(Decimal(0), shortest.next_minus())
        return least, None if longest is None else longest.next_plus()


def earliest_arrival(rivals: list[tuple[int, int]], factor: Fraction, source: Bits) -> int:
    """Return which rival arrives first, reading bits of all of them until it is certain."""
    size = BITS
    while True:
        digits = size + 60
        times = [_arrival(top, size, behind * factor, digits) for top, behind in rivals]
        bar = min(high for _, high in times)
        ahead = [rival for rival, (low, _) in enumerate(times) if low <= bar]
        if len(ahead) == 1:
            return ahead[0]
        more = source.words(len(rivals)).tolist()
        rivals = [(top << 64 | word, behind) for (top, behind), word in zip(rivals, more, strict=True)]
        size += 64


def _arrival(top: int, size: int, handicap: Fraction, digits: int) -> Bounds:
    """Enclose `ln(-ln W) - handicap`."""
    shortest, longest = _wait(top, size, digits)
    with localcontext(Context(prec=digits)):
        late = Decimal(handicap.numerator) / Decimal(handicap.denominator)
        # two correctly rounded numbers and their difference: three units in the last place enclose
        error = (abs(late) + digits * 3) * Decimal(10) ** (3 - digits)
        low = shortest.ln() - late - error if shortest > 0 else Decimal("-Infinity")
        high = longest.ln() - late + error if longest is not None else Decimal("Infinity")
        return low, high

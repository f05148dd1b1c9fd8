"""The lattice of a column of numbers: how a number becomes whole steps above the lower bound, exactly.

Noise hides steps of the lattice. So numbers that are one step apart must stay one step apart: rounding half to even
takes 2.5 to 2 and 3.5 to 4, and rounding in floating point moves 0.145 and 0.155 to one point or to two. Here a number
is a decimal: a text as it is written, a floating-point number as its shortest decimal. Either it is a point of the
lattice, or it is not, and is refused; or it is rounded half up, which commutes with adding a step. Numbers beyond the
bounds are moved to them *after* that: moved first, 99.5 would be refused and 100.5 would not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Flags, Floats, Integers

#: up to here floating-point numbers are told apart: whole numbers, and halves, quarters, ... in all; and multiples of
#: another unit with the middles between them
_WHOLE, _FRACTIONS = 2**53, 10**14
#: a number nearer to 0 than this is nearer than any point of a lattice and any middle between two
_TINY = 1000


class CellRule(NamedTuple):
    """What is declared for numbers that cannot be read, or are between two steps of their lattice.

    Parameters
    ----------
    instead
        The number that is put in their place; without it they are refused.
    rounded
        Whether a number between two steps is rounded to the nearest one, the upper one of two that are equally near.
    """

    instead: Fraction | None = None
    rounded: bool = False


class Placed(NamedTuple):
    """Where numbers are on a lattice.

    Parameters
    ----------
    steps
        How many steps above the lower bound the nearest point is, within the bounds.
    off
        Which numbers are between two steps, also beyond the bounds.
    middle
        Which numbers are as near to the next lower point.
    """

    steps: Integers
    off: Flags
    middle: Flags


@dataclass(frozen=True)
class Lattice:
    """The numbers (start + k step) / unit for k from 0 to `steps`, in whole numbers.

    Examples
    --------
    >>> tenths = Lattice.between(Fraction(-1), Fraction(1), Fraction("0.1"))
    >>> placed = tenths.place(np.array([-1, 0.1, 0.30000000000000004, 7]))
    >>> placed.steps.tolist(), placed.off.tolist()
    ([0, 11, 13, 20], [False, False, True, False])
    """

    start: int
    step: int
    unit: int
    steps: int

    @classmethod
    def between(cls, low: Fraction, high: Fraction, step: Fraction) -> Lattice:
        """Return the lattice of these bounds."""
        unit = math.lcm(low.denominator, step.denominator)
        return cls(int(low * unit), int(step * unit), unit, int((high - low) / step))

    @property
    def is_exact(self) -> bool:
        """Whether floating-point numbers tell its points, and the middles between them, apart."""
        farthest = max(abs(self.start), abs(self.start + self.steps * self.step))
        return farthest <= self._most and self.unit < 1 << 1000 and int(float(self.unit)) == self.unit

    @property
    def _most(self) -> int:
        return _WHOLE if self.unit & (self.unit - 1) == 0 else _FRACTIONS

    def is_near(self, numbers: Floats) -> Flags:
        """Return which numbers are so small that floating-point numbers tell multiples of the unit apart."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.abs(numbers * float(self.unit)) <= self._most

    def numbers(self, steps: Integers) -> Floats:
        """Return the floating-point numbers nearest to the points so many steps above the lower bound.

        Both sides of the division are exact within the bounds, so that its result is rounded once.
        """
        return (self.start + steps.astype(np.float64) * self.step) / float(self.unit)

    def place(self, numbers: Floats) -> Placed:
        """Place numbers, each by itself; what is not finite is off the lattice."""
        near = self.is_near(numbers)
        close = numbers if near.all() else np.where(near, numbers, 0)
        whole = np.rint(close * float(self.unit))
        multiple = whole / float(self.unit) == numbers
        above = whole.astype(np.int64) - self.start
        steps = above if self.step == 1 else above // self.step
        off = ~multiple if self.step == 1 else ~(multiple & (steps * self.step == above))
        middle = np.zeros(len(numbers), np.bool_)
        if off.any():
            some = np.flatnonzero(off & near)
            steps[some], middle[some] = self._round(numbers[some], above[some], multiple[some])
            self._place_far(numbers, ~near & np.isfinite(numbers), steps, off)
        return Placed(np.clip(steps, 0, self.steps), off, middle)

    def _round(self, numbers: Floats, above: Integers, multiple: Flags) -> tuple[Integers, Flags]:
        """Round half up: the middle between two points belongs to the upper one. Also return which are at a middle.

        Multiples of the unit are rounded in whole numbers. Any other number is compared with the middles: a decimal is
        below one exactly if its floating-point number is below that of the middle, since rounding changes no order.
        """
        steps, rest = np.divmod(2 * above + self.step, 2 * self.step)
        middle = rest == 0
        some = np.flatnonzero(~multiple)
        numbers, nearest = numbers[some], steps[some]
        nearest -= numbers < self._middle_below(nearest)
        nearest += numbers >= self._middle_below(nearest + 1)
        steps[some], middle[some] = nearest, numbers == self._middle_below(nearest)
        return steps, middle

    def _middle_below(self, steps: Integers) -> Floats:
        return (2 * self.start + (2 * steps - 1) * self.step) / (2 * float(self.unit))

    def _place_far(self, numbers: Floats, far: Flags, steps: Integers, off: Flags) -> None:
        """Place numbers so large that their floating-point numbers are farther apart than multiples of the unit."""
        if not far.any():
            return
        distinct, which = np.unique(numbers[far], return_inverse=True)
        placed = [self.place_one(Fraction(repr(number))) for number in distinct.tolist()]
        steps[far] = np.array([step for step, _ in placed], np.int64)[which]
        off[far] = np.array([is_off for _, is_off in placed], np.bool_)[which]

    def place_one(self, number: Fraction) -> tuple[int, bool]:
        """Return the nearest step of an exact number, within the bounds, and whether the number is off the lattice."""
        exact = (number * self.unit - self.start) / self.step
        nearest = math.floor(exact + Fraction(1, 2))
        return min(max(nearest, 0), self.steps), exact.denominator != 1

    @property
    def has_decimals(self) -> bool:
        """Whether its points are decimals; thirds are not, and their nearest floating-point numbers stand for them."""
        return pow(10, self.unit.bit_length(), self.unit) == 0


class LatticeCells(NamedTuple):
    """Cells as numbers: how many steps above the lower bound, which are no numbers, and which are between two steps."""

    numbers: Floats
    unreadable: Flags
    steps: Integers
    off: Flags

    @classmethod
    def of(cls, numbers: Floats, lattice: Lattice) -> LatticeCells:
        """Place numbers on a lattice."""
        steps, off, _ = lattice.place(numbers)
        unreadable = ~np.isfinite(numbers)
        return cls(numbers, unreadable, steps, off & ~unreadable)

    def take(self, at: Any) -> LatticeCells:
        """Return some of the cells, by a slice or positions."""
        return LatticeCells(self.numbers[at], self.unreadable[at], self.steps[at], self.off[at])


def exact_number(text: str) -> Fraction:
    """Read a finite decimal number exactly; one that is far nearer to 0 than any point of a lattice as a tiny one.

    Examples
    --------
    >>> exact_number("1.50e1"), exact_number("-1e-999999999") < 0
    (Fraction(15, 1), True)
    """
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent beyond all limits
        number = Decimal(f"{'-' if text.startswith('-') else ''}1e-{_TINY + 1}")
    if number and number.adjusted() < -_TINY:
        return Fraction(-1 if number < 0 else 1, 10**_TINY)
    return Fraction(number)


def shortest_decimals(array: NDArray[Any]) -> Floats:
    """Return the numbers of an array; a short floating-point number as its shortest decimal: 0.1 is one tenth.

    Examples
    --------
    >>> shortest_decimals(np.array([0.1], np.float32)).tolist()
    [0.1]
    """
    if array.dtype.kind != "f" or array.dtype.itemsize == 8:  # noqa: PLR2004 - 64 bits
        return array.astype(np.float64, copy=False)
    if array.dtype.itemsize == 2:  # noqa: PLR2004 - 16 bits, of which there are few different ones
        halves, which = np.unique(array, return_inverse=True)
        return halves.astype(np.str_).astype(np.float64)[which].reshape(array.shape)
    import polars as pl  # noqa: PLC0415 - numbers of 64 bits do without

    column = pl.Series(np.ravel(array))
    return column.cast(pl.String).cast(pl.Float64).to_numpy().reshape(array.shape)

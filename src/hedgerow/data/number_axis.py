"""A column of numbers as an axis of a domain: its bounds and the step of its lattice, if they are declared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from hedgerow.data.axis import Axis, Value
from hedgerow.data.lattice import Lattice
from hedgerow.errors import DomainError

#: floating-point numbers represent the numbers of so many steps exactly
_MOST_STEPS = 2**53
#: decimal places that are looked for
_DECIMALS = 12
#: numbers as people write them; a received file could have one of a billion digits, in a few characters
_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?|[+-]?[0-9]{1,40}/[0-9]{1,40}")


class Bounds(NamedTuple):
    """The least and the greatest number of a column, and the step from one number to the next."""

    low: Fraction
    high: Fraction
    step: Fraction

    def floats(self) -> tuple[float, float, float]:
        """Return all three as floating-point numbers."""
        return float(self.low), float(self.high), float(self.step)


@dataclass(frozen=True)
class NumberAxis(Axis):
    """A column of numbers; with bounds, the numbers `low`, `low + step`, ... up to `high`.

    Bounds are public knowledge, never taken from the data: differentially private methods need them, others do not.

    Examples
    --------
    >>> NumberAxis.between("0", "1", "0.25").steps
    4
    >>> NumberAxis().bounded
    False
    """

    values: tuple[Value, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    low: Fraction | None = None
    high: Fraction | None = None
    step: Fraction | None = None

    def __post_init__(self) -> None:
        given = (self.low, self.high, self.step)
        if given == (None, None, None):
            return
        low, high, step = given
        if low is None or high is None or step is None:
            msg = "the bounds of a column are low, high and step; give all of them, or none"
            raise DomainError(msg)
        if step <= 0 or low >= high or (high - low) % step or not (high - low) / step <= _MOST_STEPS:
            msg = (
                f"the bounds of a column need low < high, a step above 0 that divides their difference, and at most "
                f"2^53 steps; got low {low}, high {high} and step {step}"
            )
            raise DomainError(msg)
        if not self.lattice.is_exact:
            msg = (
                f"from low {low} to high {high} in steps of {step} there are numbers of more than 14 digits, which "
                "floating-point numbers do not tell apart; declare a larger step"
            )
            raise DomainError(msg)

    @classmethod
    def between(cls, low: Any, high: Any, step: Any) -> NumberAxis:
        """Declare bounds, as numbers or texts; 0.1 is one tenth."""
        return cls(low=_bound("low", low), high=_bound("high", high), step=_bound("step", step))

    @property
    def bounded(self) -> bool:
        """Whether bounds are declared."""
        return self.low is not None

    @property
    def bounds(self) -> Bounds:
        """The bounds and the step; a column without them is refused."""
        if self.low is None or self.high is None or self.step is None:
            msg = "the column has no bounds; declare low, high and step"
            raise DomainError(msg)
        return Bounds(self.low, self.high, self.step)

    @property
    def steps(self) -> int:
        """How many steps `high` is from `low`."""
        return self.lattice.steps

    @cached_property
    def lattice(self) -> Lattice:
        """The numbers that the column may have."""
        return Lattice.between(*self.bounds)

    @property
    def decimals(self) -> int | None:
        """How many decimal places `low` and `step` have; None if they have more than a few.

        Examples
        --------
        >>> NumberAxis.between("0.5", "1", "0.25").decimals
        2
        """
        bounds = [bound for bound in (self.low, self.step) if bound is not None]
        return next((n for n in range(_DECIMALS) if all(10**n % bound.denominator == 0 for bound in bounds)), None)

    def shown(self, name: str) -> str:
        """Describe the axis of this name in a few words."""
        return f"numbers {name} from {self.low} to {self.high}" if self.bounded else f"numbers {name}"

    def to_plain(self) -> dict[str, Any]:
        """Return the axis as plain data; bounds as texts, since they are exact."""
        bounds = {"low": str(self.low), "high": str(self.high), "step": str(self.step)} if self.bounded else {}
        return {"numbers": True, **bounds}


def axis_from_plain(plain: Mapping[str, Any]) -> Axis:
    """Read the plain data of `to_plain` of an axis of either class."""
    if "numbers" not in plain:
        return Axis.from_plain(plain)
    bounds = {name: plain.get(name) for name in ("low", "high", "step") if name in plain}
    if plain["numbers"] is not True or set(plain) - {"numbers", *bounds}:
        msg = "a column of numbers has numbers = true and, with bounds, low, high and step"
        raise DomainError(msg)
    return NumberAxis.between(**_all_bounds(bounds)) if bounds else NumberAxis()


def _all_bounds(bounds: Mapping[str, Any]) -> dict[str, Any]:
    if set(bounds) != {"low", "high", "step"}:
        msg = "the bounds of a column are low, high and step; give all of them, or none"
        raise DomainError(msg)
    return dict(bounds)


def to_number_axis(name: str, axis: Axis) -> NumberAxis:
    """Return a column of numbers; one that is declared by whole numbers at equal distances has them as bounds."""
    if isinstance(axis, NumberAxis):
        return axis
    values = axis.values
    if isinstance(values[0], int) and len(values) > 1:
        step = int(values[1]) - values[0]
        if step > 0 and values == tuple(range(values[0], int(values[-1]) + 1, step)):
            return NumberAxis.between(values[0], values[-1], step)
    msg = (
        f"column {name!r} of the domain does not hold numbers; declare it by numbers = true, and by low, high and step "
        "if its bounds are public"
    )
    raise DomainError(msg)


def _bound(what: str, number: Any) -> Fraction:
    exact = read_exact(number)
    if exact is None:
        msg = f"{what} of a column must be a number; got {_text(number)[:40]!r}"
        raise DomainError(msg)
    return exact


def read_exact(number: Any) -> Fraction | None:
    """Read a number as it is written; None if it is not one."""
    text = _text(number)
    try:
        return Fraction(text) if not isinstance(number, bool) and _NUMBER.fullmatch(text) else None
    except ZeroDivisionError:
        return None


def _text(number: Any) -> str:
    return repr(number) if isinstance(number, float) else str(number)

"""Numbers of a promise, exactly as they were written."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from hedgerow.errors import ParameterError

_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,400}/[0-9]{1,400}"
    r"|(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,2})?%?)"
)
#: larger numbers are shown in full, since a float cannot represent them
_LARGE = 10**18
_LONGEST = 18
NumberLike: TypeAlias = int | Fraction | Decimal | float | str


def is_number(text: str) -> bool:
    """Whether a text is a number, and short enough to compute with."""
    return bool(_NUMBER.fullmatch(text)) and set(text.partition("/")[2]) != {"0"}


def read_number(what: str, value: object) -> Fraction:
    """Read a number of a promise as it was written: 0.1 is 1/10, "60%" is 3/5.

    A float is read as its shortest text, which is what was typed, not as its binary value.
    """
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, Decimal, float, str)):
        msg = f"{what} must be a number; got {value!r}"
        raise ParameterError(msg)
    text = str(value).strip()
    # long numbers and large exponents are refused before anything is computed
    if not is_number(text):
        msg = f"{what} must be a finite number; got {text[:40]}"
        raise ParameterError(msg)
    return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)


def read_whole(what: str, value: object, *, most: int, remedy: str) -> int:
    """Read a whole number from 1 to `most`; a longer one is refused before it is converted or printed."""
    huge = isinstance(value, int) and value >= _LARGE
    text = "9" * (_LONGEST + 1) if huge else str(value).strip()
    digits = text.isascii() and text.isdigit() and not isinstance(value, bool)
    if digits and (len(text) > _LONGEST or int(text) > most):
        shown = text if len(text) <= _LONGEST else f"more than {_LONGEST} digits"
        msg = f"{what} must be at most {most:,}: {remedy}; got {shown}"
        raise ParameterError(msg)
    if not digits or int(text) < 1:
        msg = f"{what} must be a whole number of at least 1; got {text[:40]!r}"
        raise ParameterError(msg)
    return int(text)


@lru_cache(maxsize=1_024)
def show(value: Fraction) -> str:
    """Write a fraction as a decimal if that is short and exact, else as a quotient."""
    if value > _LARGE:
        return str(value)
    decimal = float(value)
    return f"{decimal:g}" if Fraction(f"{decimal:g}") == value else str(value)

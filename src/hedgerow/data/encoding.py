"""Encoding of values as codes over an axis, and inference of axes from values, for files and for records.

Values are compared by their texts: files do not distinguish numbers from texts, so `1` and `"1"` are the same value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any, cast

import numpy as np

from hedgerow.data.axis import Axis, is_text
from hedgerow.errors import DomainError
from hedgerow.numerics.arrays import Integers

#: floats represent whole numbers below this exactly
EXACT = 2**53
#: whole numbers with this many digits fit 64 bits
_DIGITS = 18


def codes_over(axis: Axis, values: Iterable[Any]) -> Integers:
    """Look up values on an axis by their texts; -1 for a value that is not on it.

    Examples
    --------
    >>> codes_over(Axis((1, 2, 30)), ["30", 1, True, "x"]).tolist()
    [2, 0, -1, -1]
    """
    codes = axis.by_text
    return np.array([-1 if text is None else codes.get(text, -1) for text in texts_of(values)], np.int64)


def infer_axis(values: Iterable[Any], *, numbers: bool | None = None) -> Axis:
    """Make an axis of the values that occur, in a public order: numbers by size, texts alphabetically.

    Without values, the axis has one placeholder.

    Parameters
    ----------
    numbers
        Whether the values are declared to be whole numbers, or texts. If nothing is declared, they are numbers if all
        of them are written as numbers.

    Examples
    --------
    >>> infer_axis(["10", 9, 9]).values, infer_axis(["b", 1, "a"]).values
    ((9, 10), ('1', 'a', 'b'))
    """
    texts = set(texts_of(values))
    if None in texts:
        msg = "a value is neither a text nor a whole number; round it, or put it into a bin"
        raise DomainError(msg)
    known = {text for text in texts if text is not None}
    if numbers is None:
        numbers = bool(known) and all(map(_is_number, known))
    if numbers:
        return Axis(tuple(sorted(map(int, known))) or (0,))
    return Axis(tuple(sorted(known)) or ("none",))


def narrow_axis(axis: Axis, codes: Integers, *, numbers: bool | None = None) -> tuple[Axis, Integers]:
    """Return the axis that is inferred from the values of these codes alone, and the codes over it; -1 stays.

    The other values of an inferred axis are private. They must not decide about the order of those that are published,
    or whether these are numbers either: one name that is suppressed would turn all numbers into texts.

    Examples
    --------
    >>> axis, codes = narrow_axis(infer_axis(["9", "10", "depot"]), np.array([0, 1, -1]))
    >>> axis.values, codes.tolist()
    ((9, 10), [1, 0, -1])
    """
    used = np.unique(codes[codes >= 0]).tolist()
    values = infer_axis([axis.values[code] for code in used], numbers=numbers).values
    if not used:
        return Axis(values), codes
    order = [axis.by_text[str(value)] for value in values]
    place = np.full(len(axis) + 1, -1, np.int64)  # the last is that of -1
    place[order] = np.arange(len(order))
    return replace(axis.take(order), values=values), place[codes]


def texts_of(values: Iterable[Any]) -> list[str | None]:
    """Convert values to texts; None for a value that is neither a text nor a whole number."""
    listed = list(values)
    if set(map(type, listed)) <= {str, int}:
        return list(map(str, listed))
    return list(map(text_of, listed))


def text_of(value: Any, *, fractions: bool = False) -> str | None:
    """Convert one value to text; None if it is neither a text nor a whole number.

    A truth value is not a number, and 1.0 is the whole number 1: tables convert a column of whole numbers to floats if
    one cell is empty. `fractions` allows other numbers too.

    Examples
    --------
    >>> [text_of(value) for value in ("01", 1, 1.0, 1.5, True, None)]
    ['01', '1', '1', None, None, None]
    """
    try:
        return _text(value, fractions=fractions)
    except Exception:  # noqa: BLE001 - a value of an unknown type may raise anything when it is inspected
        return None


def _text(value: Any, *, fractions: bool) -> str | None:  # noqa: PLR0911 - one per type
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[s]")
    match cast("object", value.item() if isinstance(value, np.generic) else value):
        case bool():
            return None
        case str() as text:
            return text if is_text(text) else None
        case int() as number:
            return str(number)
        case float() as number if number.is_integer() and abs(number) < EXACT:
            return str(int(number))
        case float() as number if fractions and np.isfinite(number):
            return repr(number)
        case date() as day if day == day:  # noqa: PLR0124 - a time is one, too, and so is NaT
            return day.isoformat()
        case _:
            return None


def _is_number(text: str) -> bool:
    """Whether a text is the canonical form of a whole number."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS and str(int(text)) == text

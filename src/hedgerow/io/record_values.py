"""Values of fields of nested records: numbers in one spelling, buckets, and texts of whatever a file has."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast

from hedgerow.data.domain import is_text

__all__ = ["Number", "bucket_of", "canonical_number", "is_extended", "text_of_field"]

_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?")
#: numbers from memory must be smaller than this
_LARGEST = 10**40
#: how MongoDB exports values that JSON has no type for
_EXTENDED = {"$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"}


class Number(str):
    """A number as it is spelled in a file."""

    __slots__ = ()


def canonical_number(text: str) -> str | None:
    """Spell a number in the one way that shows nothing but its value; None if it is not a number.

    Examples
    --------
    >>> [canonical_number(text) for text in ("2.170", "3e2", "-0.0", "1,5", "1e999")]
    ['2.17', '300', '0', None, None]
    """
    if not _NUMBER.fullmatch(text):
        return None
    spelled = f"{Decimal(text):f}"
    if "." in spelled:
        spelled = spelled.rstrip("0").rstrip(".")
    return spelled.removeprefix("-") if not spelled.strip("-0") else spelled.removeprefix("+")


def is_extended(value: Any) -> bool:
    """Whether a value is a number in the extended JSON of MongoDB, such as `{"$numberInt": "7"}`."""
    if not isinstance(value, dict):
        return False
    items = cast("dict[str, Any]", value)
    return len(items) == 1 and all(name in _EXTENDED and isinstance(inner, str) for name, inner in items.items())


def text_of_field(value: Any) -> str | None:
    """Return the text of a plain value: None if there is none.

    Raises
    ------
    TypeError
        If it is a list or an object; `ValueError` if the text cannot be written.
    """
    if is_extended(value):
        value = Number(*value.values())
    if type(value) in {int, float} and abs(value) < _LARGEST:  # from memory; a number that is none is not less
        value = Number(value)
    if value is None or value == "":
        return None
    if isinstance(value, Number):
        return canonical_number(value) or str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        raise TypeError
    if not is_text(value):
        raise ValueError
    return value


def bucket_of(text: str, edges: Sequence[Decimal]) -> str | None:
    """Name the bucket of a number: from an edge, up to but without the next one, except for the last.

    Examples
    --------
    >>> edges = [Decimal(0), Decimal("0.5"), Decimal(1)]
    >>> [bucket_of(text, edges) for text in ("0.49", "0.5", "1", "1.1")]
    ['[0, 0.5)', '[0.5, 1]', '[0.5, 1]', None]
    """
    number = Decimal(text)
    if not edges[0] <= number <= edges[-1]:
        return None
    place = min(bisect_right(edges, number), len(edges) - 1)
    closing = "]" if place == len(edges) - 1 else ")"
    return f"[{edges[place - 1]}, {edges[place]}{closing}"

"""Reading options: those of all kinds, and how their values are read."""

from __future__ import annotations

from collections.abc import Mapping

from hedgerow.data.lattice import CellRule
from hedgerow.data.number_axis import NumberAxis, read_exact
from hedgerow.errors import ParameterError

#: the reading options of all kinds
COMMON_OPTIONS = {
    "on_bad": "if a record cannot be read, for whatever reason: error (the default), or drop the record",
    "skip_lines": "the number of lines before the first record, or before the header, of a text file",
    "most_bytes": "the size that a compressed file may unpack to, in bytes",
}
#: the reading options of kinds of numbers
NUMBER_OPTIONS = {
    "on_bad": "if a number cannot be read, or is between two steps of its lattice: error (the default), drop the row "
    "(for a unit that can be left out), or a number that is put in its place, such as on_bad=0",
    "round": "no (the default): a number between two steps cannot be read; nearest: it is rounded half up",
}
_DIGITS = 18


def read_choice(options: Mapping[str, str], name: str, *words: str) -> str:
    """Return the value of an option: one of these words, by default the first."""
    value = options.get(name, words[0])
    if value not in words:
        msg = f"{name} must be {', '.join(words[:-1])} or {words[-1]}; got {str(value)[:40]!r}"
        raise ParameterError(msg)
    return value


def read_whole_number(options: Mapping[str, str], name: str, what: str) -> int | None:
    """Return the value of an option as a whole number, or None without the option."""
    if name not in options:
        return None
    text = str(options[name])
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        msg = f"{name} must be a whole number of {what}; got {text[:40]!r}"
        raise ParameterError(msg)
    return int(text)


def read_cell_rule(options: Mapping[str, str]) -> CellRule:
    """Return what is declared for numbers that cannot be read, and for those between two steps of their lattice."""
    rounded = read_choice(options, "round", "no", "nearest") == "nearest"
    bad = options.get("on_bad", "error")
    instead = None if bad in {"error", "drop"} else read_exact(bad)
    if instead is None and bad not in {"error", "drop"}:
        msg = f"on_bad must be error, drop or a number; got {str(bad)[:40]!r}"
        raise ParameterError(msg)
    return CellRule(instead, rounded)


def require_instead(rule: CellRule, name: str, axis: NumberAxis) -> None:
    """Refuse a number instead of unreadable ones that the column may not have."""
    if rule.instead is None or not axis.bounded:
        return
    within = axis.low is not None and axis.high is not None and axis.low <= rule.instead <= axis.high
    if not within or axis.lattice.place_one(rule.instead)[1]:
        msg = (
            f"on_bad={rule.instead} is not among the numbers of column {name!r}, which are {axis.low} to {axis.high} "
            f"in steps of {axis.step}; choose a number that every column may have"
        )
        raise ParameterError(msg)

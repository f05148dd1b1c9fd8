"""Reading options: those of all kinds, and how their values are read."""

from __future__ import annotations

from collections.abc import Mapping

from hedgerow.errors import ParameterError

__all__ = ["COMMON_OPTIONS", "read_choice", "read_whole_number"]

#: the reading options of all kinds
COMMON_OPTIONS = {
    "on_bad": "if a record cannot be read, for whatever reason: error (the default), or drop the record",
    "skip_lines": "the number of lines before the first record, or before the header, of a text file",
    "most_bytes": "the size that a compressed file may unpack to, in bytes",
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

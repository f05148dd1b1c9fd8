"""Reading options: the words that may be said, and how they are understood."""

from __future__ import annotations

from collections.abc import Mapping

from hedgerow.errors import ParameterError

__all__ = ["COMMON_OPTIONS", "choice", "whole"]

#: what every kind can be told
COMMON_OPTIONS = {
    "on_bad": "a record that cannot be read, for whatever reason: error, or drop the record",
    "skip_lines": "how many lines stand before the first record, or the header, of a text file",
    "most_bytes": "how large a compressed file may grow",
}

_DIGITS = 18


def choice(options: Mapping[str, str], name: str, *words: str) -> str:
    """Return what an option says: one of these words, the first if nothing was said."""
    said = options.get(name, words[0])
    if said not in words:
        msg = f"{name} must be {', '.join(words[:-1])} or {words[-1]}; got {str(said)[:40]!r}"
        raise ParameterError(msg)
    return said


def whole(options: Mapping[str, str], name: str, what: str) -> int | None:
    """Return the whole number an option says, or None."""
    if name not in options:
        return None
    text = str(options[name])
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        msg = f"{name} must be a whole number of {what}; got {text[:40]!r}"
        raise ParameterError(msg)
    return int(text)

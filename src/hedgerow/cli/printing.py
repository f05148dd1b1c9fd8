"""Text for a terminal: names and files are other people's, and a terminal obeys escapes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, cast

import click

__all__ = ["as_json", "for_terminal", "printable", "say"]

#: a line of text that others made may not be longer
_LONGEST = 2_000


def printable(text: str) -> str:
    r"""Write as an escape what moves the cursor, turns the direction of writing, or cannot be seen.

    Examples
    --------
    >>> printable("epsilon\x1b[2K\u202esatisfied")
    'epsilon\\x1b[2K\\u202esatisfied'
    """
    if text.isprintable():
        return text[:_LONGEST]
    return "".join(sign if sign.isprintable() else _escape(sign) for sign in text[:_LONGEST])


def for_terminal(text: str | Sequence[str], stream: Any) -> str:
    """Make lines that may hold somebody else's text fit for a stream.

    A text of our own may have line breaks.
    """
    lines = text.split("\n") if isinstance(text, str) else text
    coding = _encoding(stream)
    return "\n".join(map(printable, lines)).encode(coding, "backslashreplace").decode(coding)


def say(text: str | Sequence[str], *, err: bool = False) -> None:
    """Print lines that may hold somebody else's text."""
    click.echo(for_terminal(text, sys.stderr if err else sys.stdout), err=err)


def as_json(document: Any, indent: int = 2) -> str:
    """Write a document as JSON; what a terminal would obey stands in it as an escape of JSON."""
    import msgspec  # noqa: PLC0415 - not needed for help

    plain = _sound(msgspec.to_builtins(document))
    text = msgspec.json.format(msgspec.json.encode(plain), indent=indent).decode()
    unicode = _encoding(sys.stdout).lower().replace("-", "") == "utf8"
    if unicode and text.replace("\n", "").isprintable():
        return text
    # outside of texts JSON is plain ASCII: only what stands in a text is escaped
    kept = (sign == "\n" or (sign.isprintable() and (unicode or sign.isascii())) for sign in text)
    pairs = zip(text, kept, strict=True)
    return "".join(sign if keep else _json_escape(sign) for sign, keep in pairs)


def _encoding(stream: Any) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def _json_escape(sign: str) -> str:
    units = sign.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _sound(value: Any) -> Any:
    """Escape the bytes of names that are not UTF-8: JSON has no way to write them."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        return {_sound(name): _sound(inner) for name, inner in held.items()}
    if isinstance(value, (list, tuple)):
        return [_sound(inner) for inner in cast("list[Any]", value)]
    return value

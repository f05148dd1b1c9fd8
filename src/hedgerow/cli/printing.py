"""Text for a terminal, without the control characters that names and files of others may contain."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, cast

import click

#: the most characters of a printed line
_LONGEST = 2_000


def printable(text: str) -> str:
    r"""Replace control, direction and invisible characters by escapes.

    Examples
    --------
    >>> printable("epsilon\x1b[2K\u202esatisfied")
    'epsilon\\x1b[2K\\u202esatisfied'
    """
    if text.isprintable():
        return text[:_LONGEST]
    return "".join(sign if sign.isprintable() else _escape(sign) for sign in text[:_LONGEST])


def for_terminal(text: str | Sequence[str], stream: Any) -> str:
    """Make lines that may contain text of others safe for a stream; a text may have line breaks of our own."""
    lines = text.split("\n") if isinstance(text, str) else text
    encoding = _encoding(stream)
    return "\n".join(map(printable, lines)).encode(encoding, "backslashreplace").decode(encoding)


def say(text: str | Sequence[str], *, err: bool = False) -> None:
    """Print lines that may contain text of others."""
    click.echo(for_terminal(text, sys.stderr if err else sys.stdout), err=err)


def as_json(document: Any, indent: int = 2) -> str:
    """Write a document as JSON; control characters are JSON escapes."""
    import msgspec

    plain = _escape_bytes(msgspec.to_builtins(document))
    text = msgspec.json.format(msgspec.json.encode(plain), indent=indent).decode()
    unicode = _encoding(sys.stdout).lower().replace("-", "") == "utf8"
    if unicode and text.replace("\n", "").isprintable():
        return text
    # outside of strings JSON is plain ASCII, so only characters in strings are escaped
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


def _escape_bytes(value: Any) -> Any:
    """Escape the bytes of names that are not UTF-8, which JSON cannot write."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {_escape_bytes(name): _escape_bytes(inner) for name, inner in fields.items()}
    if isinstance(value, (list, tuple)):
        return [_escape_bytes(inner) for inner in cast("list[Any]", value)]
    return value

"""Read our TOML files, with one error for whatever is wrong, and write their values."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from hedgerow.errors import InputError
from hedgerow.formats.files import read_bytes

#: a section as we write it: one text per line, without escapes
_SECTION = r'\[\[{}\]\]\n(?:[a-z0-9_]+ = "[^"\\\x00-\x1f\x7f]*"\n)+\n*'
_FIELD = re.compile(r'([a-z0-9_]+) = "([^"]*)"\n')


def read_toml(
    path: Path, error: type[InputError], parse: Callable[[str], dict[str, Any]] = tomllib.loads
) -> dict[str, Any]:
    """Read a TOML file; if it is not TOML, raise an error of this class that names the line."""
    try:
        return parse(read_bytes(path).decode("utf-8-sig"))
    except InputError:
        raise
    except (ValueError, RecursionError) as wrong:
        line = re.search(r"line \d+", str(wrong)) if isinstance(wrong, tomllib.TOMLDecodeError) else None
        msg = f"{path} is not a TOML file{f' ({line.group()})' if line else ''}"
        raise error(msg) from None


def parse_sections(text: str, name: str) -> dict[str, Any]:
    """Parse TOML that ends in very many sections `[[name]]`, as we write them; ten times as fast as the library.

    Whatever is written otherwise is left to the library, the whole of it.
    """
    start = f"[[{name}]]\n"
    head, mark, rest = text.partition(f"\n{start}")
    if not mark or not re.fullmatch(f"(?:{_SECTION.format(name)})+", start + rest):
        return tomllib.loads(text)
    content = tomllib.loads(head)
    fields = [_FIELD.findall(section) for section in rest.split(start)]
    sections = [dict(each) for each in fields]
    if name in content or any(len(few) < len(each) for few, each in zip(sections, fields, strict=True)):
        return tomllib.loads(text)  # which says what is defined twice
    return {**content, name: sections}


def toml_key(name: str) -> str:
    """Write a key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: str | float | list[str]) -> str:
    """Write a plain value: JSON for a text, number or list is also TOML, except for one character."""
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")

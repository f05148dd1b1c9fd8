"""Read our TOML files, with one error for whatever is wrong, and write their values."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from hedgerow.errors import InputError
from hedgerow.io.files import read_bytes

__all__ = ["read_toml", "toml_key", "toml_value"]


def read_toml(path: Path, error: type[InputError]) -> dict[str, Any]:
    """Read a TOML file; if it is not TOML, raise an error of this class that names the line."""
    try:
        return tomllib.loads(read_bytes(path).decode("utf-8-sig"))
    except InputError:
        raise
    except (ValueError, RecursionError) as wrong:
        line = re.search(r"line \d+", str(wrong)) if isinstance(wrong, tomllib.TOMLDecodeError) else None
        msg = f"{path} is not a TOML file{f' ({line.group()})' if line else ''}"
        raise error(msg) from None


def toml_key(name: str) -> str:
    """Write a key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: str | float | list[str]) -> str:
    """Write a plain value: JSON for a text, number or list is also TOML, except for one character."""
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")

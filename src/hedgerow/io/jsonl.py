"""JSON lines: one array of values a line, or one object with the array and its owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import ReadError
from hedgerow.io.long import Long, Wanted, require_text
from hedgerow.io.rows import Laid, Marks

__all__ = ["check", "read", "write"]

_RECORD: msgspec.json.Decoder[list[Any] | dict[str, Any]] = msgspec.json.Decoder(
    list[str | int] | dict[str, Any]
)
_LARGEST = 2**63


def read(where: str, content: bytes, wanted: Wanted, most: int) -> Long:
    """Read arrays of texts or of whole numbers; an object has one under the role's column."""
    del most
    role, columns = wanted.role_in_lines(where), wanted.columns
    records: list[list[Any]] = []
    owners: list[Any] = []
    places: list[int] = []
    for line, text in enumerate(require_text(where, content).split(b"\n"), start=1):
        if not text.strip():
            continue
        values, owner = _parts(text, columns[role], columns["person"])
        if not _is_record(values) or not (owner is None or _is_value(owner)):
            msg = (
                f"{where}:{line}: not a JSON array of texts or whole numbers, "
                f"nor an object with one under {columns[role]!r}"
            )
            raise ReadError(msg)
        records.append(values)
        owners.append(owner)
        places.append(line)
    sizes = np.array([len(values) for values in records], np.int64)
    flat = [value for values in records for value in values]
    long = Long.of_records(where, role, _series(where, flat), sizes, np.array(places, np.int64))
    if not owners or any(owner is None for owner in owners):
        return long
    owner = _series(where, owners).gather(np.repeat(np.arange(len(sizes)), sizes))
    return Long(where, {**long.columns, "person": owner}, long.line, long.empty)


def check(values: Sequence[Value]) -> None:
    """Any value fits."""
    del values


def write(rows: Laid, columns: Mapping[str, str]) -> bytes:
    """Write arrays."""
    del columns
    return rows.lines(msgspec.json.encode, Marks(b"[", b",", b"]\n"))


def _parts(text: bytes, values: str, owner: str) -> tuple[Any, Any]:
    """Take a line apart; what cannot be read has no values."""
    try:
        held = _RECORD.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None, None
    return (held.get(values), held.get(owner)) if isinstance(held, dict) else (held, None)


def _is_record(values: Any) -> bool:
    return isinstance(values, list) and all(map(_is_value, cast("list[Any]", values)))


def _is_value(value: Any) -> bool:
    return isinstance(value, str) or (type(value) is int and -_LARGEST <= value < _LARGEST)


def _series(where: str, values: list[Any]) -> pl.Series:
    kinds: set[type] = {type(value) for value in values}
    if len(kinds) > 1:
        msg = f"{where} mixes texts and whole numbers; write all values as texts"
        raise ReadError(msg)
    return pl.Series(values, dtype=pl.Int64 if kinds == {int} else pl.String)

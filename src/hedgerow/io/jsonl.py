"""JSON lines: one array of values per line, or one object with the array and its owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
import numpy as np

from hedgerow import progress
from hedgerow.data import Value
from hedgerow.data.encoding import text_of
from hedgerow.errors import ReadError
from hedgerow.io.cells import series_of
from hedgerow.io.long import Long, Wanted
from hedgerow.io.rows import Marks, Rows
from hedgerow.io.text import text_lines

__all__ = ["check", "read", "write"]

_RECORD: msgspec.json.Decoder[list[Any] | dict[str, Any]] = msgspec.json.Decoder(list[str | int] | dict[str, Any])


def read(where: str, content: bytes, wanted: Wanted, most: int) -> Long:
    """Read arrays of texts and whole numbers; an object has one under the role's column.

    Owners are read where the caller named their key: whether records have owners cannot depend on
    what one of them holds.
    """
    del most
    values = wanted.columns[wanted.role_in_lines(where)]
    owned = "person" in wanted.named
    records: list[list[Any]] = []
    owners: list[Any] = []
    places: list[int] = []
    lines = text_lines(where, content, wanted)
    for line, text in enumerate(lines.content.split(b"\n"), start=lines.before + 1):
        if not text.strip():
            continue
        record, owner = _parts(text, values, wanted.columns["person"])
        if not _is_record(record) or (owned and not _is_value(owner)):
            if wanted.drop:
                progress.count("lines that cannot be read", 1)
                continue
            beside = f", and its owner under {wanted.columns['person']!r}" if owned else ""
            msg = (
                f"{where}:{line}: not a JSON array of texts or whole numbers, nor an object with "
                f"one under {values!r}{beside}; correct it, or leave out such lines by on_bad=drop"
            )
            raise ReadError(msg)
        records.append(record)
        owners.append(owner)
        places.append(line)
    sizes = np.array([len(record) for record in records], np.int64)
    flat, _ = series_of([value for record in records for value in record])
    beside = {"person": series_of(owners)[0]} if owned else {}
    return Long.of_records(where, wanted, flat, sizes, np.array(places, np.int64), **beside)


def check(values: Sequence[Value]) -> None:
    """Any value fits."""
    del values


def write(rows: Rows, columns: Mapping[str, str]) -> bytes:
    """Write arrays."""
    del columns
    return rows.lines(msgspec.json.encode, Marks(b"[", b",", b"]\n"))


def _parts(text: bytes, values: str, owner: str) -> tuple[Any, Any]:
    """Take a line apart; what cannot be read has no values."""
    try:
        record = _RECORD.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None, None
    return (record.get(values), record.get(owner)) if isinstance(record, dict) else (record, None)


def _is_record(values: Any) -> bool:
    return isinstance(values, list) and all(map(_is_value, cast("list[Any]", values)))


def _is_value(value: Any) -> bool:
    return type(value) in {str, int} and bool(text_of(value))

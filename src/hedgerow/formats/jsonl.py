"""JSON lines: one array of values per line, or one object that holds the array and the owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec
import numpy as np

from hedgerow import progress
from hedgerow.data.encoding import text_of
from hedgerow.errors import ReadError
from hedgerow.formats.dataframes import to_series
from hedgerow.formats.long_table import Delimiters, LongTable, OutputRecords, ReadRequest
from hedgerow.formats.text_lines import split_lines

_RECORD: msgspec.json.Decoder[list[Any] | dict[str, Any]] = msgspec.json.Decoder(list[str | int] | dict[str, Any])


def read(where: str, content: bytes, request: ReadRequest, most: int) -> LongTable:
    """Read arrays of texts and whole numbers; an object has its array under the column of the list role.

    Owners are read only if the caller named their key, because whether records have owners must not depend on the
    content of any record.
    """
    del most
    values = request.columns[request.require_list_role(where)]
    owned = "person" in request.named_roles
    records: list[list[Any]] = []
    owners: list[Any] = []
    line_numbers: list[int] = []
    lines = split_lines(where, content, request)
    for line, text in enumerate(lines.content.split(b"\n"), start=lines.skipped + 1):
        if not text.strip():
            continue
        record, owner = _parts(text, values, request.columns["person"])
        if not _is_record(record) or (owned and not _is_value(owner)):
            if request.drop_bad:
                progress.count("lines that cannot be read", 1)
                continue
            with_owner = f", and its owner under {request.columns['person']!r}" if owned else ""
            msg = (
                f"{where}:{line}: not a JSON array of texts or whole numbers, nor an object with "
                f"one under {values!r}{with_owner}; correct it, or drop such lines with on_bad=drop"
            )
            raise ReadError(msg)
        records.append(record)
        owners.append(owner)
        line_numbers.append(line)
    sizes = np.array([len(record) for record in records], np.int64)
    flat, _ = to_series([value for record in records for value in record])
    persons = {"person": to_series(owners)[0]} if owned else {}
    return LongTable.from_records(where, request, flat, sizes, np.array(line_numbers, np.int64), **persons)


def write(records: OutputRecords, columns: Mapping[str, str]) -> bytes:
    """Write one array per line."""
    del columns
    return records.to_lines(msgspec.json.encode, Delimiters(b"[", b",", b"]\n"))


def _parts(text: bytes, values: str, owner: str) -> tuple[Any, Any]:
    """Return the values and the owner of a line; None for what cannot be read."""
    try:
        record = _RECORD.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None, None
    return (record.get(values), record.get(owner)) if isinstance(record, dict) else (record, None)


def _is_record(values: Any) -> bool:
    return isinstance(values, list) and all(map(_is_value, cast("list[Any]", values)))


def _is_value(value: Any) -> bool:
    return type(value) in {str, int} and bool(text_of(value))

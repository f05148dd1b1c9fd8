"""Comma-separated tables with a header: one value a line, its unit beside it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import ReadError
from hedgerow.io.long import Long, Wanted, require_text
from hedgerow.io.rows import Laid
from hedgerow.io.tables import long_from

__all__ = ["check", "read", "write"]


def read(where: str, content: bytes, wanted: Wanted, most: int) -> Long:
    """Read a long table; everything is text."""
    del most
    content = require_text(where, content).rstrip()
    if not content:
        msg = f"{where} is empty; its first line must name the columns"
        raise ReadError(msg)
    try:
        frame = pl.read_csv(content, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError):
        # what the library says quotes cells; say where instead
        msg = (
            f"{where}{_crooked(content)} is not a table of equally many cells a line; "
            "for one record a line take the format lines or jsonl"
        )
        raise ReadError(msg) from None
    if any("_duplicated_" in name for name in frame.columns):
        msg = f"{where} has two columns of one name"
        raise ReadError(msg)
    # a quoted cell may go over several lines
    locate = partial(_line, content) if b'"' in content else None
    line = np.arange(2, len(frame) + 2, dtype=np.int64)
    return long_from(where, frame, wanted, line, locate)


def check(values: Sequence[Value]) -> None:
    """Any value fits."""
    del values


def write(rows: Laid, columns: Mapping[str, str]) -> bytes:
    """Write a long table with fresh unit numbers."""
    return rows.frame(columns).write_csv().encode()


def _crooked(content: bytes) -> str:
    """Find the first line that has more or fewer cells than the first."""
    reader = csv.reader(io.StringIO(content.decode()))
    try:
        cells = len(next(reader))
        for row in reader:
            if row and len(row) != cells:
                return f":{reader.line_num}"
    except csv.Error:
        return f":{reader.line_num}"
    return ""


def _line(content: bytes, row: int) -> int:
    """Find the line a row of the table starts at, the header being row 1."""
    reader = csv.reader(io.StringIO(content.decode()))
    start = 1
    with suppress(csv.Error):  # the other reader took it: the row is the best we know
        for number, _ in enumerate(reader, start=1):
            if number == row:
                return start
            start = reader.line_num + 1
    return row

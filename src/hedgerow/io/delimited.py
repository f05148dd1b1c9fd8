"""Comma-separated tables with a header: one value a line, its unit beside it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import numpy as np
import polars as pl

from hedgerow.errors import ReadError
from hedgerow.io.long import Long, Rows, require_text
from hedgerow.io.tables import long_from

__all__ = ["read", "write"]


def read(where: str, content: bytes, role: str, columns: Mapping[str, str]) -> Long:
    """Read a long table; everything is text."""
    content = require_text(where, content)
    if not content.strip():
        msg = f"{where} is empty; its first line must name the columns"
        raise ReadError(msg)
    try:
        frame = pl.read_csv(content, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError):
        # what the library says quotes cells; say where instead
        msg = f"{where}{_crooked(content)} is not a table of equally many cells a line"
        raise ReadError(msg) from None
    return long_from(where, frame, role, columns, np.arange(2, len(frame) + 2, dtype=np.int64))


def write(rows: Rows, columns: Mapping[str, str]) -> bytes:
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

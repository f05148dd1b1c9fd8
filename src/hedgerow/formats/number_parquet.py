"""Parquet tables of numbers: one row per record."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import polars as pl

from hedgerow.data import Value
from hedgerow.errors import ReadError
from hedgerow.formats.number_table import MatrixRequest, NumberTable, OutputRows
from hedgerow.formats.parquet import read_table, require_ends, write_table

#: bytes that a cell takes
_CELL = 8


def read(where: str, content: bytes, request: MatrixRequest, most: int) -> NumberTable:
    """Read all columns but those that are dropped; the number of cells is checked before they are read."""
    try:
        require_ends(content)
        present = tuple(pl.read_parquet_schema(io.BytesIO(content)))
        names = [name for name in present if name not in request.dropped]
        rows: int = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
        frame = read_table(content, names) if rows * _CELL * max(1, len(names)) <= most else None
    # the library reports damage by many kinds of errors, among them a panic of its core
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        msg = f"{where} is not a Parquet file, or it is damaged"
        raise ReadError(msg) from None
    request.require_dropped(where, present)
    if frame is None:
        msg = (
            f"{where} holds more than {most:,} bytes when decompressed; "
            "if that is intended, allow more with the reading option most_bytes"
        )
        raise ReadError(msg)
    return NumberTable(where, request, tuple(frame.columns), dict(frame.to_dict()))


def check(values: Sequence[Value]) -> None:
    """Accept all: numbers have no list of values."""
    del values


def write(rows: OutputRows, columns: Mapping[str, str]) -> bytes:
    """Write a table."""
    return write_table(rows.to_frame(columns))

"""Parquet: a long table, or one row per record with its values in a list."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.data import Value
from hedgerow.errors import ReadError
from hedgerow.formats.long_table import LongTable, ReadRequest
from hedgerow.formats.output_table import OutputTable
from hedgerow.formats.tables import to_long_table

_MAGIC = b"PAR1"
#: bytes that a cell takes at least
_CELL = 16


def read(where: str, content: bytes, request: ReadRequest, most: int) -> LongTable:
    """Read the requested columns; no other column is looked at.

    The number of rows is checked before they are read: a small file can claim more rows than fit into memory.
    """
    try:
        require_ends(content)
        names = pl.read_parquet_schema(io.BytesIO(content))
        requested = (*request.columns.values(), *request.extra_columns)
        columns = [name for name in dict.fromkeys(requested) if name in names]
        rows: int = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
        small = rows * _CELL * max(1, len(columns)) <= most
        frame = read_table(content, columns) if small else None
    # the library reports damage by many kinds of errors, among them a panic of its core
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        msg = f"{where} is not a Parquet file, or it is damaged"
        raise ReadError(msg) from None
    if frame is None:
        msg = (
            f"{where} holds more than {most:,} bytes when decompressed; "
            "if that is intended, allow more with the reading option most_bytes"
        )
        raise ReadError(msg)
    progress.count("columns that are not read", len(names) - len(columns))
    return to_long_table(where, frame, request, np.arange(1, len(frame) + 1, dtype=np.int64))


def read_table(content: bytes, columns: list[str] | None = None) -> pl.DataFrame:
    """Read the named columns of a table, or all columns."""
    return pl.read_parquet(io.BytesIO(content), columns=columns)


def require_ends(content: bytes) -> None:
    """Refuse a file that is cut off: the library would do so too, but print a panic of its core."""
    length = int.from_bytes(content[-8:-4], "little")
    if content[:4] != _MAGIC or content[-4:] != _MAGIC or not 0 < length <= len(content) - 12:
        raise ValueError


def check(values: Sequence[Value]) -> None:
    """Accept any value."""
    del values


def write(table: OutputTable, columns: Mapping[str, str]) -> bytes:
    """Write a table."""
    return write_table(table.to_frame(columns))


def write_table(table: pl.DataFrame) -> bytes:
    """Write a table, without statistics or metadata of our own; its chunks in memory do not change the bytes."""
    content = io.BytesIO()
    table.rechunk().write_parquet(content, compression="zstd", statistics=False)
    return content.getvalue()

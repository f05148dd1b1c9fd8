"""Parquet: a long table, or one row a record with its values in a list."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
import polars as pl

from hedgerow.errors import ReadError
from hedgerow.io.long import Long, Rows
from hedgerow.io.tables import long_from

__all__ = ["read", "write"]

#: a small file can claim more rows than any memory holds
_MOST_ROWS = 2**29


def read(where: str, content: bytes, role: str, columns: Mapping[str, str]) -> Long:
    """Read the columns of the roles; no other column is looked at."""
    try:
        names = pl.read_parquet_schema(io.BytesIO(content))
        wanted = [name for name in dict.fromkeys(columns.values()) if name in names]
        frame = pl.read_parquet(io.BytesIO(content), columns=wanted, n_rows=_MOST_ROWS)
    # the library reports damage by errors of many kinds, a panic of its core among them
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        msg = f"{where} is not a Parquet file, or it is damaged"
        raise ReadError(msg) from None
    if len(frame) == _MOST_ROWS:
        msg = f"{where} has {_MOST_ROWS:,} rows or more; split it"
        raise ReadError(msg)
    return long_from(where, frame, role, columns, np.arange(1, len(frame) + 1, dtype=np.int64))


def write(rows: Rows, columns: Mapping[str, str]) -> bytes:
    """Write a long table with fresh unit numbers, and no metadata of its own."""
    held = io.BytesIO()
    rows.frame(columns).write_parquet(held, compression="zstd", statistics=False)
    return held.getvalue()

"""Parquet: a long table, or one row per record with its values in a list."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from hedgerow.data import Value
from hedgerow.errors import ReadError
from hedgerow.io.long import Long, Wanted
from hedgerow.io.rows import Laid
from hedgerow.io.tables import long_from

__all__ = ["check", "read", "read_table", "write"]

_MAGIC = b"PAR1"

#: bytes of a cell at least
_CELL = 16


def read(where: str, content: bytes, wanted: Wanted, most: int) -> Long:
    """Read the columns of the roles; no other column is looked at.

    How many rows there are is known before they are read: a small file can claim more of them than
    any memory holds.
    """
    try:
        _require_ends(content)
        names = pl.read_parquet_schema(io.BytesIO(content))
        asked = (*wanted.columns.values(), *wanted.further)
        there = [name for name in dict.fromkeys(asked) if name in names]
        rows: int = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
        small = rows * _CELL * max(1, len(there)) <= most
        frame = read_table(content, there) if small else None
    # the library reports damage by errors of many kinds, a panic of its core among them
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        msg = f"{where} is not a Parquet file, or it is damaged"
        raise ReadError(msg) from None
    if frame is None:
        msg = (
            f"{where} holds more than {most:,} bytes when decompressed; "
            "if that is meant, allow more by the reading option most_bytes"
        )
        raise ReadError(msg)
    return long_from(where, frame, wanted, np.arange(1, len(frame) + 1, dtype=np.int64))


def read_table(content: bytes, columns: list[str] | None = None) -> pl.DataFrame:
    """Read columns of a table, or all."""
    return pl.read_parquet(io.BytesIO(content), columns=columns)


def _require_ends(content: bytes) -> None:
    """Refuse at once what is cut off: the library would say so, and print where in its core."""
    length = int.from_bytes(content[-8:-4], "little")
    if content[:4] != _MAGIC or content[-4:] != _MAGIC or not 0 < length <= len(content) - 12:
        raise ValueError


def check(values: Sequence[Value]) -> None:
    """Any value fits."""
    del values


def write(rows: Laid, columns: Mapping[str, str]) -> bytes:
    """Write a long table with fresh unit numbers, and no metadata of its own."""
    content = io.BytesIO()
    rows.frame(columns).write_parquet(content, compression="zstd", statistics=False)
    return content.getvalue()

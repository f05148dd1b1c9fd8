"""Parquet: a long table, one row per record with its values in a list, or one row of numbers per record."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.errors import ReadError
from hedgerow.formats.dataframes import to_long_table, unreadable_as
from hedgerow.formats.files import explained, require_file, too_large
from hedgerow.formats.long_table import LongTable, OutputTable, ReadRequest
from hedgerow.formats.number_table import MatrixRequest, NumberTable

_MAGIC = b"PAR1"
#: bytes that a cell of text takes at least, and those of a number
_TEXT, _NUMBER = 16, 8


def read(where: str, content: bytes, request: ReadRequest, most: int) -> LongTable:
    """Read the requested columns; no other column is looked at."""
    names = _column_names(where, content)
    requested = (*request.columns.values(), *request.extra_columns)
    columns = [name for name in dict.fromkeys(requested) if name in names]
    frame = _read_columns(where, content, columns, most // _TEXT)
    if frame is None:
        raise too_large(where, most)
    others = len(names) - len(columns)
    progress.count("columns that are not read", others)
    table = to_long_table(where, frame, request, np.arange(1, len(frame) + 1, dtype=np.int64))
    return replace(table, others=others)


def read_numbers(where: str, content: bytes, request: MatrixRequest, most: int) -> NumberTable:
    """Read all columns but those that are dropped."""
    names = _column_names(where, content)
    frame = _read_columns(where, content, [name for name in names if name not in request.dropped], most // _NUMBER)
    request.require_dropped(where, tuple(names))
    if frame is None:
        raise too_large(where, most)
    return NumberTable(where, request, tuple(frame.columns), dict(frame.to_dict()))


def write(table: OutputTable, columns: Mapping[str, str]) -> bytes:
    """Write a table."""
    return write_table(table.to_frame(columns))


def write_table(table: pl.DataFrame) -> bytes:
    """Write a table, without statistics or metadata of our own; its chunks in memory do not change the bytes."""
    content = io.BytesIO()
    table.rechunk().write_parquet(content, compression="zstd", statistics=False)
    return content.getvalue()


def read_table(content: bytes, columns: list[str] | None = None) -> pl.DataFrame:
    """Read the named columns of a table, or all columns."""
    return pl.read_parquet(io.BytesIO(content), columns=columns)


def is_same_table(content: bytes, ours: bytes) -> bool:
    """Whether a file has the table of ours; one that cannot be read has not."""
    try:
        with unreadable_as("it is not a Parquet file, or it is damaged"):
            return read_table(ours).equals(read_table(content))
    except ReadError:
        return False


class ParquetScan:
    """A file that is read piece by piece; groups of rows without a wanted one are not read."""

    def __init__(self, name: str) -> None:
        # the library would also take an address, a pattern of names, or a folder, and wait for a pipe
        with explained(Path(name)):
            require_file(Path(name))
        self._damaged = f"{name} cannot be read; it is damaged, or it is not a Parquet table"
        with unreadable_as(self._damaged):
            self._table = pl.scan_parquet(Path(name), glob=False, hive_partitioning=False)
            self.columns = self._table.collect_schema().names()
            self.rows = int(self._table.select(pl.len()).collect().item())

    def cells(self, column: str, start: int, stop: int) -> pl.Series:
        """Read some rows of a column."""
        with unreadable_as(self._damaged):
            return self._table.select(column).slice(start, max(0, stop - start)).collect().to_series()


def _column_names(where: str, content: bytes) -> list[str]:
    with unreadable_as(f"{where} is not a Parquet file, or it is damaged"):
        _require_ends(content)
        return list(pl.read_parquet_schema(io.BytesIO(content)))


def _read_columns(where: str, content: bytes, columns: list[str], most: int) -> pl.DataFrame | None:
    """Read columns; None if they have more cells than `most`.

    The number of rows is checked before they are read: a small file can claim more rows than fit into memory.
    """
    with unreadable_as(f"{where} is not a Parquet file, or it is damaged"):
        rows: int = pl.scan_parquet(io.BytesIO(content)).select(pl.len()).collect().item()
        return read_table(content, columns) if rows * max(1, len(columns)) <= most else None


def _require_ends(content: bytes) -> None:
    """Refuse a file that is cut off: the library would do so too, but print a panic of its core."""
    length = int.from_bytes(content[-8:-4], "little")
    if content[:4] != _MAGIC or content[-4:] != _MAGIC or not 0 < length <= len(content) - 12:
        raise ValueError

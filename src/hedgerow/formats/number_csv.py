"""Comma-separated tables of numbers: a header, or names that are declared, and one row per line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hedgerow.data import Value
from hedgerow.formats.delimited import read_cells
from hedgerow.formats.number_table import MatrixRequest, NumberTable, OutputRows


def read(where: str, content: bytes, request: MatrixRequest, most: int) -> NumberTable:
    """Read all cells as text."""
    del most
    names = None if request.names is None else list(request.names)
    table = read_cells(where, content, request, names=names, fill=request.rule.instead is not None)
    request.require_dropped(where, tuple(table.frame.columns))
    return NumberTable(where, request, tuple(table.frame.columns), dict(table.frame.to_dict()), table.line)


def check(values: Sequence[Value]) -> None:
    """Accept all: numbers have no list of values."""
    del values


def write(rows: OutputRows, columns: Mapping[str, str]) -> bytes:
    """Write numbers so that they are read back exactly."""
    return rows.to_frame(columns).write_csv().encode()

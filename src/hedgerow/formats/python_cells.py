"""Cells that are Python values: each is read alone, as a text or as a whole number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from hedgerow.data.encoding import EXACT, text_of
from hedgerow.numerics.arrays import Flags

_LARGEST = 2**63


def to_series(values: Sequence[Any], *, fractions: bool = False) -> tuple[pl.Series, Flags]:
    """Turn cells, None where empty, into a column; return also which cells cannot be read."""
    if _are_integers(values):
        return pl.Series(values, dtype=pl.Int64), np.zeros(len(values), np.bool_)
    texts = [None if value is None else text_of(value, fractions=fractions) for value in values]
    empty = np.array([value is None for value in values], np.bool_)
    column = pl.Series(texts, dtype=pl.String)
    return column, column.is_null().to_numpy() & ~empty


def to_list_series(records: Sequence[Any]) -> pl.Series:
    """Turn records, each a collection of cells, into a column of lists; a record that cannot be read is null."""
    lists = [_cells(record) for record in records]
    if _are_integers([value for cells in lists if cells is not None for value in cells]):
        return pl.Series(lists, dtype=pl.List(pl.Int64))
    texts = [cells if cells is None else [text_of(value) for value in cells] for cells in lists]
    readable = [cells if cells is None or None not in cells else None for cells in texts]
    return pl.Series(readable, dtype=pl.List(pl.String))


def _cells(record: Any) -> list[Any] | None:
    """List the cells of a collection; None if it is not one, and a text is not one."""
    if isinstance(record, (str, bytes, bytearray, memoryview, dict)):
        return None
    try:
        return list(record)
    except Exception:  # noqa: BLE001 - as for a cell
        return None


def to_whole_numbers(column: pl.Series) -> tuple[pl.Series, Flags]:
    """Turn a column of floating-point numbers into whole numbers; return also which cells are not whole.

    Each cell is read as `text_of` reads it.
    """
    filled = column.is_not_null() & column.is_not_nan()
    whole = (filled & (column.floor() == column) & (column.abs() < EXACT)).fill_null(value=False)
    numbers = pl.select(pl.when(whole).then(column).cast(pl.Int64)).to_series()
    return numbers, (filled & ~whole).to_numpy()


def _are_integers(values: Sequence[Any]) -> bool:
    """Whether all are whole numbers of 64 bits, which are read faster than texts and to the same effect."""
    return set(map(type, values)) == {int} and -_LARGEST <= min(values) <= max(values) < _LARGEST

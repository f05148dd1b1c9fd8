"""Cells from the caller's memory, each taken by itself: a text, or a whole number by its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from hedgerow.data.encoding import EXACT, text_of
from hedgerow.io.long import Flags

__all__ = ["lists_of", "series_of", "whole_numbers"]

_LARGEST = 2**63


def series_of(values: Sequence[Any], *, fractions: bool = False) -> tuple[pl.Series, Flags]:
    """Take cells, None where one is empty; say which of them cannot be read."""
    if _are_integers(values):
        return pl.Series(values, dtype=pl.Int64), np.zeros(len(values), np.bool_)
    texts = [None if value is None else text_of(value, fractions=fractions) for value in values]
    empty = np.array([value is None for value in values], np.bool_)
    column = pl.Series(texts, dtype=pl.String)
    return column, column.is_null().to_numpy() & ~empty


def lists_of(records: Sequence[Any]) -> pl.Series:
    """Take records, each a collection of cells; one that cannot be read is null."""
    lists = [_cells(record) for record in records]
    if _are_integers([value for cells in lists if cells is not None for value in cells]):
        return pl.Series(lists, dtype=pl.List(pl.Int64))
    texts = [cells if cells is None else [text_of(value) for value in cells] for cells in lists]
    whole = [cells if cells is None or None not in cells else None for cells in texts]
    return pl.Series(whole, dtype=pl.List(pl.String))


def _cells(record: Any) -> list[Any] | None:
    """Take a collection apart; a text is none."""
    if isinstance(record, (str, bytes, bytearray, memoryview, dict)):
        return None
    try:
        return list(record)
    except Exception:  # noqa: BLE001 - as for a cell
        return None


def whole_numbers(column: pl.Series) -> tuple[pl.Series, Flags]:
    """Take a column of fractions as whole numbers; say which cells are none.

    Each cell is read as `text_of` reads it.
    """
    there = column.is_not_null() & column.is_not_nan()
    whole = (there & (column.floor() == column) & (column.abs() < EXACT)).fill_null(value=False)
    numbers = pl.select(pl.when(whole).then(column).cast(pl.Int64)).to_series()
    return numbers, (there & ~whole).to_numpy()


def _are_integers(values: Sequence[Any]) -> bool:
    """Whether all are whole numbers of 64 bits: faster than texts, and the same by their text."""
    return set(map(type, values)) == {int} and -_LARGEST <= min(values) <= max(values) < _LARGEST

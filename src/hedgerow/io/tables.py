"""Tables with named columns, from a file or from the caller's memory, as long tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl

from hedgerow.errors import ReadError
from hedgerow.io.long import Integers, Long, Wanted

__all__ = ["as_frame", "long_from"]


def as_frame(table: Any, wanted: Wanted) -> pl.DataFrame | None:
    """Take a polars, pandas or Arrow table, or anything that speaks the Arrow interface.

    Parameters
    ----------
    wanted
        The columns that are wanted; no other is looked at.

    Returns
    -------
    The table, or None if it is no table.
    """
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, pl.DataFrame):
        return table
    is_pandas = type(table).__module__.partition(".")[0] == "pandas"
    if is_pandas and hasattr(table, "columns"):
        return _from_pandas(table, (*wanted.columns.values(), *wanted.further))
    if is_pandas or not hasattr(table, "__arrow_c_stream__"):
        return None
    try:
        return pl.DataFrame(table)
    except Exception:  # noqa: BLE001 - whatever it says may quote a cell
        msg = "the table cannot be read by the Arrow interface it offers"
        raise ReadError(msg) from None


def long_from(
    where: str,
    frame: pl.DataFrame,
    wanted: Wanted,
    line: Integers,
    locate: Callable[[int], int] | None = None,
) -> Long:
    """Pick the columns that are wanted out of a table.

    Parameters
    ----------
    wanted
        The roles and further columns of the kind.
    line
        Where each row of the table stands.
    locate
        Finds the line of the file, where that is not the same.
    """
    long = Long(where, {}, line, np.zeros(0, np.int64), locate)
    columns, role = wanted.columns, wanted.role
    kind = frame.schema.get(columns[role]) if role else None
    if role and isinstance(kind, pl.Array):
        frame, kind = frame.with_columns(pl.col(columns[role]).arr.to_list()), pl.List(pl.Null)
    lists = isinstance(kind, pl.List)
    for needed in wanted.needed:
        if columns[needed] not in frame.columns and not (lists and needed == "unit"):
            msg = (
                f"{where} has no column {columns[needed]!r}; "
                f"say which one holds the {needed}: --columns {needed}=NAME"
            )
            raise ReadError(msg)
    for name in wanted.further:
        if name not in frame.columns:
            msg = f"{where} has no column {name!r}"
            raise ReadError(msg)
    if lists and role:
        return _from_lists(long, frame, role, wanted)
    roles = (*wanted.needed, *wanted.optional)
    held = {
        name: _column(long, frame.get_column(columns[name]), name, wanted)
        for name in roles
        if columns[name] in frame.columns
    }
    held |= {name: _column(long, frame.get_column(name), name, wanted) for name in wanted.further}
    return Long(where, held, line, long.empty, locate)


def _from_lists(long: Long, frame: pl.DataFrame, role: str, wanted: Wanted) -> Long:
    """One row a record, its values in a list."""
    columns = wanted.columns
    lists = frame.get_column(columns[role])
    if lists.null_count():
        row = int(long.line[lists.is_null().arg_max() or 0])
        raise long.fail(row, f"column {columns[role]!r} is empty")
    sizes = lists.list.len().cast(pl.Int64).to_numpy()
    flat = lists.list.explode(empty_as_null=False)
    inside = Long(long.where, {}, np.repeat(long.line, sizes), long.empty)
    values = _column(inside, flat, role)
    found = Long.of_records(long.where, role, values, sizes, long.line)
    row = np.repeat(np.arange(len(sizes)), sizes)
    beside = {
        name: _column(long, frame.get_column(columns[name]), name).gather(row)
        for name in wanted.optional
        if columns[name] in frame.columns
    }
    return Long(found.where, {**found.columns, **beside}, found.line, found.empty)


def _column(long: Long, column: pl.Series, role: str, wanted: Wanted | None = None) -> pl.Series:
    """Take a column as text or whole numbers, every cell filled unless it may be empty."""
    if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    elif column.dtype.is_temporal():
        column = column.cast(pl.Datetime).dt.to_string("%Y-%m-%dT%H:%M:%S")
    if column.dtype.is_integer():
        exact = column.cast(pl.Int64, strict=False)
        column = exact if exact.null_count() == column.null_count() else column.cast(pl.String)
    elif not isinstance(column.dtype, (pl.String, pl.Null)) and not (
        wanted and role in wanted.numbers and column.dtype.is_float()
    ):
        msg = (
            f"{long.where}: column {column.name!r} must hold text or whole numbers; "
            f"it holds {column.dtype}"
        )
        raise ReadError(msg)
    gaps = column.is_null() | (column == "") if column.dtype == pl.String else column.is_null()
    if gaps.any():
        if wanted is None or role not in (*wanted.blank, *wanted.further):
            row = int(long.line[gaps.arg_max() or 0])
            raise long.fail(row, f"column {column.name!r} is empty; fill it in")
        column = pl.select(pl.when(~gaps).then(column)).to_series()
    return column.alias(role)


def _from_pandas(table: Any, names: Iterable[str]) -> pl.DataFrame:
    """Take the wanted columns one by one, as lists: no Arrow library is needed for that."""
    held: dict[str, pl.Series] = {}
    for name in dict.fromkeys(names):
        found = [column for column in table.columns if str(column) == name]
        if len(found) > 1:
            msg = f"the table has two columns {name!r}"
            raise ReadError(msg)
        if not found:
            continue
        column = table[found[0]]
        gaps: list[bool] = column.isna().tolist()
        cells: list[Any] = column.tolist()
        values = [None if gap else cell for gap, cell in zip(gaps, cells, strict=True)]
        try:
            held[name] = pl.Series(name, values, strict=True)
        except Exception:  # noqa: BLE001 - whatever it says may quote a cell
            msg = f"the table: column {name!r} must hold text only, or whole numbers only"
            raise ReadError(msg) from None
    return pl.DataFrame(held)

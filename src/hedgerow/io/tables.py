"""Tables with named columns, from a file or from the caller's memory, as long tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from hedgerow.errors import ReadError
from hedgerow.io.long import Integers, Long

__all__ = ["as_frame", "long_from"]

_OWNER = "person"


def as_frame(table: Any, names: Mapping[str, str]) -> pl.DataFrame | None:
    """Take a polars, pandas or Arrow table, or anything that speaks the Arrow interface.

    Parameters
    ----------
    names
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
        return _from_pandas(table, names)
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
    role: str,
    columns: Mapping[str, str],
    line: Integers,
    locate: Callable[[int], int] | None = None,
) -> Long:
    """Pick the columns of the roles out of a table.

    Parameters
    ----------
    role
        The role whose values are published: `item` of sets.
    columns
        The name of the column of each role.
    line
        Where each row of the table stands.
    locate
        Finds the line of the file, where that is not the same.
    """
    long = Long(where, {}, line, np.zeros(0, np.int64), locate)
    if isinstance(frame.schema.get(columns[role]), pl.Array):
        frame = frame.with_columns(pl.col(columns[role]).arr.to_list())
    lists = isinstance(frame.schema.get(columns[role]), pl.List)
    for needed in (role,) if lists else (role, "unit"):
        if columns[needed] not in frame.columns:
            msg = (
                f"{where} has no column {columns[needed]!r}; "
                f"say which one holds the {needed}: --columns {needed}=NAME"
            )
            raise ReadError(msg)
    if lists:
        return _from_lists(long, frame, role, columns)
    named = [name for name in ("unit", role, _OWNER) if columns[name] in frame.columns]
    held = {name: _column(long, frame.get_column(columns[name]), name) for name in named}
    return Long(where, held, line, long.empty, locate)


def _from_lists(long: Long, frame: pl.DataFrame, role: str, columns: Mapping[str, str]) -> Long:
    """One row a record, its values in a list."""
    lists = frame.get_column(columns[role])
    if lists.null_count():
        row = int(long.line[lists.is_null().arg_max() or 0])
        raise long.fail(row, f"column {columns[role]!r} is empty")
    sizes = lists.list.len().cast(pl.Int64).to_numpy()
    flat = lists.list.explode(empty_as_null=False)
    inside = Long(long.where, {}, np.repeat(long.line, sizes), long.empty)
    values = _column(inside, flat, role)
    found = Long.of_records(long.where, role, values, sizes, long.line)
    if columns[_OWNER] not in frame.columns:
        return found
    owner = _column(long, frame.get_column(columns[_OWNER]), _OWNER)
    row = np.repeat(np.arange(len(sizes)), sizes)
    return Long(found.where, {**found.columns, _OWNER: owner.gather(row)}, found.line, found.empty)


def _column(long: Long, column: pl.Series, role: str) -> pl.Series:
    """Take a column as text or whole numbers, every cell filled."""
    if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    if column.dtype.is_integer():
        fits = column.cast(pl.Int64, strict=False)
        column = fits if fits.null_count() == column.null_count() else column.cast(pl.String)
    elif not isinstance(column.dtype, (pl.String, pl.Null)):
        msg = (
            f"{long.where}: column {column.name!r} must hold text or whole numbers; "
            f"it holds {column.dtype}"
        )
        raise ReadError(msg)
    gaps = column.is_null() | (column == "") if column.dtype == pl.String else column.is_null()
    if gaps.any():
        row = int(long.line[gaps.arg_max() or 0])
        raise long.fail(row, f"column {column.name!r} is empty; fill it in")
    return column.alias(role)


def _from_pandas(table: Any, names: Mapping[str, str]) -> pl.DataFrame:
    """Take the wanted columns one by one, as lists: no Arrow library is needed for that."""
    held: dict[str, pl.Series] = {}
    for name in dict.fromkeys(names.values()):
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

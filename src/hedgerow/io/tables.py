"""Tables with named columns, from a file or from the caller's memory, as long tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from hedgerow.errors import ReadError
from hedgerow.io.long import Integers, Long

__all__ = ["as_frame", "long_from"]

_OWNER = "person"


def as_frame(table: Any) -> pl.DataFrame | None:
    """Take a polars, pandas or Arrow table, or anything that speaks the Arrow interface.

    Returns
    -------
    The table, or None if it is no table.
    """
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, pl.DataFrame):
        return table
    if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns"):
        # column by column: no Arrow library is needed for that
        return pl.DataFrame({str(name): _plain(table[name].tolist()) for name in table.columns})
    return pl.DataFrame(table) if hasattr(table, "__arrow_c_stream__") else None


def long_from(
    where: str, frame: pl.DataFrame, role: str, columns: Mapping[str, str], line: Integers
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
    """
    for needed in (role, "unit"):
        is_list = needed == "unit" and isinstance(frame.schema.get(columns[role]), pl.List)
        if columns[needed] not in frame.columns and not is_list:
            msg = (
                f"{where} has no column {columns[needed]!r}; "
                f"say which one holds the {needed}: --columns {needed}=NAME"
            )
            raise ReadError(msg)
    if isinstance(frame.schema[columns[role]], pl.List):
        return _from_lists(where, frame, role, columns, line)
    named = [name for name in ("unit", role, _OWNER) if columns[name] in frame.columns]
    held = {name: _column(where, frame, columns[name], name, line) for name in named}
    return Long(where, held, line, np.zeros(0, np.int64))


def _from_lists(
    where: str, frame: pl.DataFrame, role: str, columns: Mapping[str, str], line: Integers
) -> Long:
    """One row a record, its values in a list."""
    lists = frame.get_column(columns[role])
    if lists.null_count():
        row = int(line[lists.is_null().arg_max() or 0])
        msg = f"{where}:{row}: column {columns[role]!r} is empty"
        raise ReadError(msg)
    sizes = lists.list.len().cast(pl.Int64).to_numpy()
    flat = pl.DataFrame({columns[role]: lists.list.explode(empty_as_null=False)})
    values = _column(where, flat, columns[role], role, np.repeat(line, sizes))
    long = Long.of_records(where, role, values, sizes, line)
    if columns[_OWNER] not in frame.columns:
        return long
    owner = _column(where, frame, columns[_OWNER], _OWNER, line)
    row = np.repeat(np.arange(len(sizes)), sizes)
    return Long(where, {**long.columns, _OWNER: owner.gather(row)}, long.line, long.empty)


def _column(where: str, frame: pl.DataFrame, name: str, role: str, line: Integers) -> pl.Series:
    """Take a column as text or whole numbers, every cell filled."""
    column = frame.get_column(name)
    if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.String)
    if column.dtype.is_integer():
        column = column.cast(pl.Int64, strict=False)
    elif not isinstance(column.dtype, (pl.String, pl.Null)):
        msg = f"{where}: column {name!r} must hold text or whole numbers; it holds {column.dtype}"
        raise ReadError(msg)
    gaps = column.is_null() | (column == "") if column.dtype == pl.String else column.is_null()
    if gaps.any():
        msg = f"{where}:{int(line[gaps.arg_max() or 0])}: column {name!r} is empty; fill it in"
        raise ReadError(msg)
    return column.alias(role)


def _plain(values: list[Any]) -> list[Any]:
    """Take missing cells of pandas as missing."""
    return [None if value is None or value != value else value for value in values]  # noqa: PLR0124 - what is not a number is not itself

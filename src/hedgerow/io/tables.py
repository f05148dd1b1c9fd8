"""Tables with named columns, from a file or from the caller's memory, as long tables."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from hedgerow.errors import ReadError
from hedgerow.io.cells import lists_of, series_of, whole_numbers
from hedgerow.io.long import Flags, Integers, Long, Wanted

__all__ = ["Table", "as_table", "long_from"]

#: seconds of the years 1 to 9999, and how many ticks a second has in each unit of time; a date
#: counts days
_YEARS = (-62_135_596_800, 253_402_300_799)
_TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_LARGEST = 2**63 - 1


class Table(NamedTuple):
    """A table of the caller's, and the cells of it that cannot be read, by column."""

    frame: pl.DataFrame
    unreadable: Mapping[str, Flags]


def as_table(source: Any, wanted: Wanted) -> Table | None:
    """Take a polars, pandas or Arrow table, or anything that speaks the Arrow interface.

    Parameters
    ----------
    wanted
        The columns that are wanted; no other is looked at.

    Returns
    -------
    The table, or None if it is no table.
    """
    names = (*wanted.columns.values(), *wanted.further)
    try:
        if any(kind.__module__.partition(".")[0] == "pandas" for kind in type(source).__mro__):
            return _from_pandas(source, wanted) if hasattr(source, "columns") else None
        if isinstance(source, pl.LazyFrame):
            there = [name for name in source.collect_schema() if name in names]
            source = source.select(there).collect()
        if isinstance(source, pl.DataFrame):
            return Table(source, {})
        if not hasattr(source, "__arrow_c_stream__"):
            return None
        if hasattr(source, "column_names") and hasattr(source, "select"):
            source = source.select([name for name in source.column_names if name in names])
        return Table(pl.DataFrame(source), {})
    except ReadError:
        raise
    # whatever the libraries say may quote a cell, and some damage is a panic of their core
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        msg = "the table cannot be read; it is damaged, or no table of texts and numbers"
        raise ReadError(msg) from None


def long_from(
    where: str,
    frame: pl.DataFrame,
    wanted: Wanted,
    line: Integers,
    unreadable: Mapping[str, Flags] = MappingProxyType({}),
) -> Long:
    """Pick the columns that are wanted out of a table.

    Parameters
    ----------
    wanted
        The roles and further columns of the kind.
    line
        Where each row of the table stands.
    unreadable
        Cells that are known to be unreadable, by column.
    """
    columns, role = wanted.columns, wanted.role
    kind = frame.schema.get(columns[role]) if role else None
    if role and isinstance(kind, pl.Array):
        frame, kind = frame.with_columns(pl.col(columns[role]).arr.to_list()), pl.List(pl.Null)
    lists = isinstance(kind, pl.List)
    for needed in wanted.needed:
        if columns[needed] not in frame.columns and not (lists and needed == "unit"):
            msg = (
                f"{where} has no column {columns[needed]!r}; say which one holds the {needed}: --columns {needed}=NAME"
            )
            raise ReadError(msg)
    for name in (*(columns[role] for role in wanted.named), *wanted.further):
        if name not in frame.columns and not (lists and name == columns["unit"]):
            msg = f"{where} has no column {name!r}"
            raise ReadError(msg)
    if lists and role:
        return _from_lists(where, frame, wanted, line, unreadable)
    there = {name: columns[name] for name in (*wanted.needed, *wanted.optional)}
    there |= {name: name for name in wanted.further}
    cells = {
        role: _column(where, frame.get_column(name), fractions=role in wanted.numbers)
        for role, name in there.items()
        if name in frame.columns
    }
    marks = {role: unreadable.get(there[role], bad) for role, (_, bad) in cells.items()}
    held = {role: column for role, (column, _) in cells.items()}
    return Long(where, wanted, held, line, np.zeros(0, np.int64), _some(marks))


def _from_lists(
    where: str,
    frame: pl.DataFrame,
    wanted: Wanted,
    line: Integers,
    unreadable: Mapping[str, Flags],
) -> Long:
    """One row per record, its values in a list."""
    columns, role = wanted.columns, wanted.role_in_lines(where)
    lists = frame.get_column(columns[role])
    lost = lists.is_null()
    if lost.any():
        if not wanted.drop:
            at = int(line[lost.arg_max() or 0])
            what = "is no list of texts or whole numbers; correct it, or pass on_bad=drop"
            msg = f"{where}:{at}: column {columns[role]!r} {what}"
            raise ReadError(msg)
        kept = (~lost).to_numpy()
        frame, line = frame.filter(~lost), line[kept]
        unreadable = {name: bad[kept] for name, bad in unreadable.items()}
        lists = frame.get_column(columns[role])
    sizes = lists.list.len().cast(pl.Int64).to_numpy()
    values, bad = _column(where, lists.list.explode(empty_as_null=False))
    record = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    held = {"unit": pl.Series("unit", record), role: values}
    marks = {role: bad}
    for name in wanted.optional:
        if columns[name] in frame.columns:
            column, bad = _column(where, frame.get_column(columns[name]))
            bad = unreadable.get(columns[name], bad)
            held[name] = column.gather(record)
            marks[name] = None if bad is None else bad[record]
    return Long(where, wanted, held, line[record], line[sizes == 0], _some(marks))


def _some(marks: Mapping[str, Flags | None]) -> dict[str, Flags]:
    """Leave out columns that can be read throughout."""
    return {role: bad for role, bad in marks.items() if bad is not None and bad.any()}


def _column(where: str, column: pl.Series, *, fractions: bool = False) -> tuple[pl.Series, Flags | None]:
    """Take a column as text or whole numbers; empty cells are null, and so are unreadable ones.

    What a cell is depends on that cell, and on the type that the table declares for the column.
    """
    kind, bad = column.dtype, None
    if isinstance(kind, (pl.Categorical, pl.Enum, pl.Null)):
        column = column.cast(pl.String)
    elif isinstance(kind, (pl.Date, pl.Datetime)):
        column, bad = _dates(column)
    elif kind.is_integer():
        exact = column.cast(pl.Int64, strict=False)
        column = exact if exact.null_count() == column.null_count() else column.cast(pl.String)
    elif kind.is_float() and not fractions:
        column, bad = whole_numbers(column)
    elif not isinstance(kind, pl.String) and not kind.is_float():
        msg = f"{where}: column {column.name!r} must hold text or whole numbers; it holds {kind}"
        raise ReadError(msg)
    if column.dtype == pl.String:
        zero = column.str.contains("\0", literal=True).fill_null(value=False)
        if zero.any():  # such a text can be written nowhere
            bad = zero.to_numpy() | (False if bad is None else bad)
        column = pl.select(pl.when((column != "") & ~zero).then(column)).to_series()
    return column, bad


def _dates(column: pl.Series) -> tuple[pl.Series, Flags]:
    """Write dates and times as ISO 8601; those beyond the years 1 to 9999 cannot be read."""
    zone = "%z" if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone else ""
    kind = column.dtype
    ticks = _TICKS[kind.time_unit] if isinstance(kind, pl.Datetime) else Fraction(1, 86_400)
    low, high = (max(-_LARGEST, min(_LARGEST, int(second * ticks))) for second in _YEARS)
    near = column.to_physical().cast(pl.Int64).is_between(low, high)
    bad = (~near).fill_null(value=False).to_numpy()
    within = pl.select(pl.when(near).then(column)).to_series()
    whole = within if isinstance(kind, pl.Datetime) else within.cast(pl.Datetime("us"))
    return whole.dt.to_string(f"%Y-%m-%dT%H:%M:%S{zone}"), bad


def _from_pandas(table: Any, wanted: Wanted) -> Table:
    """Take the wanted columns one by one, cell by cell: no Arrow library is needed for that."""
    taken: dict[str, pl.Series] = {}
    unreadable: dict[str, Flags] = {}
    for name in dict.fromkeys((*wanted.columns.values(), *wanted.further)):
        named = [column for column in table.columns if str(column) == name]
        if len(named) > 1:
            msg = f"the table has two columns {name!r}"
            raise ReadError(msg)
        if not named:
            continue
        column = table[named[0]]
        lists = wanted.role is not None and name == wanted.columns[wanted.role]
        if lists and wanted.columns["unit"] not in map(str, table.columns):
            taken[name] = lists_of(column.tolist())
            continue
        gaps: list[bool] = column.isna().tolist()
        cells: list[Any] = column.tolist()
        values = [None if gap else cell for gap, cell in zip(gaps, cells, strict=True)]
        fractions = any(wanted.columns.get(role) == name for role in wanted.numbers)
        taken[name], unreadable[name] = series_of(values, fractions=fractions)
    return Table(pl.DataFrame(taken), unreadable)

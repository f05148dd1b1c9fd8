"""Data frames of polars, pandas or Arrow, and plain Python values, as the columns of long tables."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from hedgerow.data.encoding import EXACT, text_of
from hedgerow.errors import ReadError
from hedgerow.formats.long_table import LongTable, ReadRequest
from hedgerow.numerics.arrays import Flags, Integers

#: the years 1 to 9999 in seconds since 1970, and the ticks per second of each unit of time; a date counts days
_YEARS = (-62_135_596_800, 253_402_300_799)
_TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
#: whole numbers of 64 bits are smaller
_BEYOND = 2**63


@contextmanager
def unreadable_as(message: str) -> Generator[None]:
    """Raise one error for whatever a library raises that reads a table.

    Its messages may quote a cell, and some damage makes its core panic, which is no ordinary exception.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError, ReadError):
        raise
    except BaseException:  # noqa: BLE001 - see above
        raise ReadError(message) from None


class SourceTable(NamedTuple):
    """A table from memory, which of its cells cannot be read, by column, and how many columns are not read."""

    frame: pl.DataFrame
    unreadable: Mapping[str, Flags]
    others: int


def to_table(source: Any, request: ReadRequest) -> SourceTable | None:
    """Take a polars, pandas or Arrow table, or anything with the Arrow interface.

    Parameters
    ----------
    request
        Names the columns to read; no other column is looked at.

    Returns
    -------
    The table, or None if the source is not a table.
    """
    names = (*request.columns.values(), *request.extra_columns)
    with unreadable_as("the table cannot be read; it is damaged, or is not a table of text and numbers"):
        if is_from("pandas", source):
            return _from_pandas(source, request) if hasattr(source, "columns") else None
        if isinstance(source, pl.LazyFrame):
            listed = source.collect_schema().names()
            source = source.select([name for name in listed if name in names]).collect()
        elif isinstance(source, pl.DataFrame):
            listed = source.columns
        elif not hasattr(source, "__arrow_c_stream__"):
            return None
        elif hasattr(source, "column_names") and hasattr(source, "select"):
            listed = list(source.column_names)
            source = pl.DataFrame(source.select([name for name in listed if name in names]))
        else:
            source = pl.DataFrame(source)
            listed = source.columns
        return SourceTable(source, {}, sum(name not in names for name in listed))


def is_from(library: str, source: object) -> bool:
    """Whether an object is of a class of this library, which need not be installed."""
    return any(kind.__module__.partition(".")[0] == library for kind in type(source).__mro__)


def to_long_table(
    where: str,
    frame: pl.DataFrame,
    request: ReadRequest,
    line: Integers,
    unreadable: Mapping[str, Flags] = MappingProxyType({}),
) -> LongTable:
    """Pick the requested columns out of a table.

    Parameters
    ----------
    request
        The roles and extra columns that the kind reads.
    line
        The line of the file that each row was read from.
    unreadable
        Cells that could not be read, by column.
    """
    columns, role = request.columns, request.list_role
    dtype = frame.schema.get(columns[role]) if role else None
    if role and isinstance(dtype, pl.Array):
        frame, dtype = frame.with_columns(pl.col(columns[role]).arr.to_list()), pl.List(pl.Null)
    lists = isinstance(dtype, pl.List)
    for required in request.required:
        if columns[required] not in frame.columns and not (lists and required == "unit"):
            option = f"--columns {required}=NAME"
            msg = f"{where} has no column {columns[required]!r}; name the column that holds the {required}: {option}"
            raise ReadError(msg)
    for name in (*(columns[role] for role in request.named_roles), *request.extra_columns):
        if name not in frame.columns and not (lists and name == columns["unit"]):
            msg = f"{where} has no column {name!r}"
            raise ReadError(msg)
    if lists and role:
        return _from_lists(where, frame, request, line, unreadable)
    names = {name: columns[name] for name in (*request.required, *request.optional)}
    names |= {name: name for name in request.extra_columns}
    cells = {
        role: _column(where, frame.get_column(name), fractions=role in request.fractional)
        for role, name in names.items()
        if name in frame.columns
    }
    flags = {role: unreadable.get(names[role], bad) for role, (_, bad) in cells.items()}
    readable = {role: column for role, (column, _) in cells.items()}
    return LongTable(where, request, readable, line, np.zeros(0, np.int64), _drop_unset(flags))


def _from_lists(
    where: str,
    frame: pl.DataFrame,
    request: ReadRequest,
    line: Integers,
    unreadable: Mapping[str, Flags],
) -> LongTable:
    """Build the long table of a table with one row per record and its values in a list."""
    columns, role = request.columns, request.require_list_role(where)
    lists = frame.get_column(columns[role])
    gaps = lists.is_null()
    if gaps.any():
        if not request.drop_bad:
            at = int(line[gaps.arg_max() or 0])
            what = "is not a list of texts or whole numbers; correct it, or drop such records with on_bad=drop"
            msg = f"{where}:{at}: column {columns[role]!r} {what}"
            raise ReadError(msg)
        kept = (~gaps).to_numpy()
        frame, line = frame.filter(~gaps), line[kept]
        unreadable = {name: bad[kept] for name, bad in unreadable.items()}
        lists = frame.get_column(columns[role])
    sizes = lists.list.len().cast(pl.Int64).to_numpy()
    values, bad = _column(where, lists.list.explode(empty_as_null=False))
    record = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    cells = {"unit": pl.Series("unit", record), role: values}
    flags = {role: bad}
    for name in request.optional:
        if columns[name] in frame.columns:
            column, bad = _column(where, frame.get_column(columns[name]))
            bad = unreadable.get(columns[name], bad)
            cells[name] = column.gather(record)
            flags[name] = None if bad is None else bad[record]
    return LongTable(where, request, cells, line[record], line[sizes == 0], _drop_unset(flags))


def _drop_unset(flags: Mapping[str, Flags | None]) -> dict[str, Flags]:
    """Leave out columns without a flag."""
    return {role: bad for role, bad in flags.items() if bad is not None and bad.any()}


def _column(where: str, column: pl.Series, *, fractions: bool = False) -> tuple[pl.Series, Flags | None]:
    """Turn a column into text or whole numbers; empty and unreadable cells are null.

    How a cell is read depends on that cell and on the type that the table declares for the column, on nothing else.
    """
    dtype, bad = column.dtype, None
    if isinstance(dtype, (pl.Categorical, pl.Enum, pl.Null)) or (fractions and dtype.is_decimal()):
        column = column.cast(pl.String)
    elif isinstance(dtype, (pl.Date, pl.Datetime)):
        column, bad = _dates(column)
    elif dtype.is_integer():
        exact = column.cast(pl.Int64, strict=False)
        column = exact if exact.null_count() == column.null_count() else column.cast(pl.String)
    elif dtype.is_float() and not fractions:
        column, bad = to_whole_numbers(column)
    elif not isinstance(dtype, pl.String) and not dtype.is_float():
        msg = f"{where}: column {column.name!r} must hold text or whole numbers; its type is {dtype}"
        raise ReadError(msg)
    if column.dtype == pl.String:
        zero = column.str.contains("\0", literal=True).fill_null(value=False)
        if zero.any():  # no format can write such a text
            bad = zero.to_numpy() | (False if bad is None else bad)
        column = pl.select(pl.when((column != "") & ~zero).then(column)).to_series()
    return column, bad


def _dates(column: pl.Series) -> tuple[pl.Series, Flags]:
    """Write dates and times as ISO 8601; those outside the years 1 to 9999 cannot be read."""
    zone = "%z" if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone else ""
    dtype = column.dtype
    ticks = _TICKS[dtype.time_unit] if isinstance(dtype, pl.Datetime) else Fraction(1, 86_400)
    low, high = (max(1 - _BEYOND, min(_BEYOND - 1, int(second * ticks))) for second in _YEARS)
    near = column.to_physical().cast(pl.Int64).is_between(low, high)
    bad = (~near).fill_null(value=False).to_numpy()
    within = pl.select(pl.when(near).then(column)).to_series()
    whole = within if isinstance(dtype, pl.Datetime) else within.cast(pl.Datetime("us"))
    return whole.dt.to_string(f"%Y-%m-%dT%H:%M:%S{zone}"), bad


def _from_pandas(table: Any, request: ReadRequest) -> SourceTable:
    """Take the requested columns one by one, cell by cell, so that no Arrow library is needed."""
    taken: dict[str, pl.Series] = {}
    unreadable: dict[str, Flags] = {}
    names = dict.fromkeys((*request.columns.values(), *request.extra_columns))
    for name in names:
        named = [column for column in table.columns if str(column) == name]
        if len(named) > 1:
            msg = f"the table has two columns {name!r}"
            raise ReadError(msg)
        if not named:
            continue
        column = table[named[0]]
        lists = request.list_role is not None and name == request.columns[request.list_role]
        if lists and request.columns["unit"] not in map(str, table.columns):
            taken[name] = to_list_series(column.tolist())
            continue
        fractions = any(request.columns.get(role) == name for role in request.fractional)
        if fractions and column.dtype in (np.float16, np.float32):  # their shortest decimals are shorter
            taken[name] = pl.Series(column.to_numpy(), nan_to_null=True)
            continue
        gaps: list[bool] = column.isna().tolist()
        cells: list[Any] = column.tolist()
        values = [None if gap else cell for gap, cell in zip(gaps, cells, strict=True)]
        taken[name], unreadable[name] = to_series(values, fractions=fractions)
    return SourceTable(pl.DataFrame(taken), unreadable, sum(str(name) not in names for name in table.columns))


# Cells that are Python values: each is read alone, as a text or as a whole number.


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
    lists = [list_cells(record) for record in records]
    if _are_integers([value for cells in lists if cells is not None for value in cells]):
        return pl.Series(lists, dtype=pl.List(pl.Int64))
    texts = [cells if cells is None else [text_of(value) for value in cells] for cells in lists]
    readable = [cells if cells is None or None not in cells else None for cells in texts]
    return pl.Series(readable, dtype=pl.List(pl.String))


def list_cells(record: Any) -> list[Any] | None:
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
    return set(map(type, values)) == {int} and -_BEYOND <= min(values) <= max(values) < _BEYOND

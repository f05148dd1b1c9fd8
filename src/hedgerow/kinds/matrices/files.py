"""How matrices are read and written: numeric CSV, Parquet, NumPy files, arrays and tables in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.data import Domain, Source
from hedgerow.data.lattice import shortest_decimals
from hedgerow.data.number_axis import NumberAxis, to_number_axis
from hedgerow.errors import DomainError, ParameterError, ReadError
from hedgerow.formats import csv_table, npy, parquet
from hedgerow.formats.codec import Codec, Format
from hedgerow.formats.dataframes import is_from, unreadable_as
from hedgerow.formats.number_table import (
    MatrixRequest,
    NumberTable,
    OutputRows,
    lattice_cells,
    number_cells,
    pandas_column,
    text_cells,
)
from hedgerow.formats.options import NUMBER_OPTIONS, read_cell_rule, read_choice, read_whole_number, require_instead
from hedgerow.kinds.matrices.data import ROUND, Matrix, columns_domain
from hedgerow.numerics.arrays import Flags, Floats
from hedgerow.statement import File

_COLUMNS = {
    "id": "the name of each row, if rows have names that may be published",
    "label": "the class of each row, if there is one that may be published",
}
_OPTIONS = {
    "names": "the names of all columns, separated by commas, if the file has no header",
    "drop": "columns that are not read, separated by commas; every other column must hold numbers",
    "rows": "hashed (the default): rows are published in an order computed from their content; numbered: in the order "
    "of the file, so that whoever knows that order knows whose row it is",
    "carried": "in a release: which of id and label its file has",
    **NUMBER_OPTIONS,
}
_FORMATS = {
    "csv": Format(
        endings=("csv",),
        layout="a comma-separated table with a header: one row per line",
        read=csv_table.read_numbers,
        write=csv_table.write,
        has_columns=True,
    ),
    "npy": Format(
        endings=("npy",),
        layout="a NumPy array: one row per record, columns in the order of the domain",
        read=npy.read,
        write=npy.write,
    ),
    "parquet": Format(
        endings=("parquet",),
        layout="a Parquet table",
        read=parquet.read_numbers,
        write=parquet.write,
        has_columns=True,
        libraries=("polars",),
    ),
}
_ROLES = ("id", "label")
_CARRIED = {"", "id", "label", "id,label"}


def _request(columns: Mapping[str, str], options: Mapping[str, str]) -> MatrixRequest:
    roles = dict(columns)
    if "carried" in options:
        roles = {role: name for role, name in columns.items() if role in options["carried"].split(",")}
    dropped = frozenset(_listed(options.get("drop", "")))
    used = [*roles.values()]
    if len(set(used)) < len(used) or dropped & set(used):
        msg = "a column is the name of rows, their label, or dropped; give each column one use"
        raise ParameterError(msg)
    names = _listed(options["names"]) if "names" in options else None
    if names is not None and (len(set(names)) < len(names) or not all(names)):
        msg = "the names of columns must be distinct, and none may be empty; name each column"
        raise ParameterError(msg)
    rule = read_cell_rule(options)
    numbered = read_choice(options, "rows", "hashed", "numbered") == "numbered"
    if numbered and "id" in roles:
        msg = "rows are named by a column or numbered, not both; omit rows=numbered, or the column id"
        raise ParameterError(msg)
    return MatrixRequest(
        id_column=roles.get("id"),
        label_column=roles.get("label"),
        dropped=dropped,
        names=names,
        numbered=numbered,
        # a line that no row could be made of would be a row less
        drop_bad=options.get("on_bad") == "drop" if rule.instead is None else None,
        skip_lines=read_whole_number(options, "skip_lines", "lines") or 0,
        rule=rule,
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text.strip() else ()


def _from_memory(source: Any, request: MatrixRequest) -> NumberTable | None:
    """Take an array, or a polars, pandas or Arrow table."""
    if isinstance(source, np.ndarray):
        return npy.array_table("the array", cast("NDArray[Any]", source), request)
    if isinstance(source, (list, tuple)):
        msg = "a matrix is read from a file, an array or a table; make one of lists with Matrix.from_rows"
        raise ReadError(msg)
    with unreadable_as("the table cannot be read; it is damaged, or it is not a table of numbers"):
        cells = _columns_of(source)
    if cells is None:
        return None
    request.require_dropped("the table", tuple(cells))
    return NumberTable("the table", request, tuple(cells), cells)


def _columns_of(source: Any) -> dict[str, pl.Series] | None:
    if is_from("pandas", source):
        names = [str(name) for name in source.columns]
        if len(set(names)) < len(names):  # one of them would be lost
            msg = "the table has two columns of the same name; rename one"
            raise ReadError(msg)
        return {str(name): pandas_column(source[name]) for name in source.columns}
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if not isinstance(source, pl.DataFrame):
        if not hasattr(source, "__arrow_c_stream__"):
            return None
        source = pl.DataFrame(source)
    return dict(source.to_dict())


def _make(table: NumberTable, domain: Domain | None, source: Source, options: Mapping[str, str]) -> Matrix:
    """Make the matrix of the columns of the domain; without one, of all columns that are not dropped."""
    request = table.request
    _require_columns(table, request.carried)
    if domain is None:
        if table.line is not None and "carried" not in options:
            _require_header(table)
        own = [name for name in table.names if name not in request.dropped and name not in request.carried]
        domain = columns_domain(own, source)
    else:
        domain = replace(domain, axes=tuple((name, to_number_axis(name, axis)) for name, axis in domain.axes))
        table = _renamed(table, domain)
    columns = [name for name, _ in domain.axes]
    _require_columns(table, columns)
    if not columns:
        msg = f"{table.where} has no column of numbers"
        raise ReadError(msg)
    bad = np.zeros(len(table), np.bool_)
    if "carried" in options:  # a release may have numbers beyond the bounds, where noise led
        axes: list[NumberAxis] = [NumberAxis()] * len(columns)
    else:
        axes = [cast("NumberAxis", axis) for _, axis in domain.axes]
    values = _values(table, columns, axes, bad)
    ids, labels = (None if name is None else _texts(table, name, bad) for name in _role_columns(request))
    if request.numbered:
        ids = np.arange(1, len(table) + 1 - int(bad.sum()))
    if bad.any():
        progress.count("rows dropped", int(bad.sum()))
        values, labels = values[~bad], labels if labels is None else labels[~bad]
        ids = ids if ids is None or request.numbered else ids[~bad]
    return Matrix(domain, values, ids, labels)


def _require_header(table: NumberTable) -> None:
    """Refuse a first line of numbers: it is somebody's row, and would be published as the names of columns."""
    names = pl.Series([name.strip() for name in table.names], dtype=pl.String)
    if table.request.names is None and names.cast(pl.Float64, strict=False).is_not_null().all():
        msg = (
            f"{table.where}: the first line must name the columns, and has only numbers; give the names with the "
            "reading option names=a,b,..., and skip_lines=1 if the line is a header nevertheless"
        )
        raise ReadError(msg)


def _role_columns(request: MatrixRequest) -> tuple[str | None, str | None]:
    return request.id_column, request.label_column


def _renamed(table: NumberTable, domain: Domain) -> NumberTable:
    """Give the columns of an array the names of the domain, by position."""
    names = tuple(name for name, _ in domain.axes)
    if not isinstance(table.cells, np.ndarray) or table.request.names is not None or table.request.carried:
        return table
    if len(names) != len(table.names):
        msg = f"{table.where} has {len(table.names)} columns, and the domain {len(names)}; declare each column"
        raise DomainError(msg)
    return replace(table, names=names)


def _require_columns(table: NumberTable, names: Iterable[str]) -> None:
    for name in names:
        if name not in table.names:
            msg = f"{table.where} has no column {name!r}; name the columns that it has"
            raise ReadError(msg)
        if table.names.count(name) > 1:
            msg = f"{table.where} has two columns {name!r}; rename one"
            raise ReadError(msg)


def _values(table: NumberTable, columns: list[str], axes: list[NumberAxis], bad: Flags) -> Floats:
    """Return the numbers, and mark rows with a cell that is not one."""
    for name, axis in zip(columns, axes, strict=True):
        require_instead(table.request.rule, name, axis)
    if isinstance(table.cells, np.ndarray) and tuple(columns) == table.names and not any(axis.bounded for axis in axes):
        values = shortest_decimals(table.cells)
        wrong = ~np.isfinite(values)
        if table.request.rule.instead is not None:
            return np.where(wrong, float(table.request.rule.instead), values)
        _refuse(table, np.logical_or.reduce(wrong, axis=1), "a cell", bad)
        return values
    values = np.empty((len(table), len(columns)))
    for number, (name, axis) in enumerate(zip(columns, axes, strict=True)):
        read = _bounded_column if axis.bounded else _free_column
        values[:, number] = read(table, name, axis, bad)
    return values


def _free_column(table: NumberTable, name: str, axis: NumberAxis, bad: Flags) -> Floats:
    """Return the numbers of a column without bounds."""
    del axis
    numbers, wrong = number_cells(table.where, name, table.column(name))
    if table.request.rule.instead is not None:
        return np.where(wrong, float(table.request.rule.instead), numbers)
    _refuse(table, wrong, f"column {name!r}", bad, remedy=_remedy(name))
    return numbers


def _bounded_column(table: NumberTable, name: str, axis: NumberAxis, bad: Flags) -> Floats:
    """Return the numbers of a column with bounds: points of its lattice, within the bounds or beyond them."""
    rule, lattice = table.request.rule, axis.lattice
    cells = lattice_cells(table.where, name, table.column(name), lattice, rounded=rule.rounded)
    numbers, off = cells.numbers, cells.off
    if rule.rounded:
        numbers, off = np.where(off, lattice.numbers(cells.steps), numbers), np.zeros_like(off)
    if rule.instead is not None:
        return np.where(cells.unreadable | off, float(rule.instead), numbers)
    _refuse(table, cells.unreadable, f"column {name!r}", bad, remedy=_remedy(name))
    what = "is between two steps of its lattice"
    remedy = f"declare a finer step, or round such numbers with {ROUND}"
    _refuse(table, off, f"column {name!r}", bad, what=what, remedy=remedy)
    return numbers


def _remedy(name: str) -> str:
    return f"correct it, leave the column out with drop={name}, declare it with --columns id={name} or label={name}"


def _texts(table: NumberTable, name: str, bad: Flags) -> NDArray[Any]:
    texts, wrong = text_cells(table.where, name, table.column(name))
    _refuse(table, wrong, f"column {name!r}", bad, what="is empty, or has several lines")
    return texts


def _refuse(
    table: NumberTable,
    wrong: Flags,
    where: str,
    bad: Flags,
    *,
    what: str = "is empty, or not a finite number",
    remedy: str = "correct it",
) -> None:
    """Refuse the first of these rows, or mark all of them to be dropped."""
    if not wrong.any():
        return
    if not table.request.drop_bad:
        row = table.line_of(int(np.argmax(wrong)))
        instead = "put a number in the place of such cells with on_bad=NUMBER"
        msg = f"{table.where}:{row}: {where} {what}; {remedy}, {instead}, or drop their rows with on_bad=drop"
        raise ReadError(msg)
    bad |= wrong


def _reread_options(data: Matrix, form: str) -> dict[str, str]:
    """Which columns are not numbers, whether rows are numbered, and the names of columns where a file has none."""
    carried = [role for role, cells in (("id", data.ids), ("label", data.labels)) if cells is not None]
    if data.numbered:
        carried.remove("id")
    named = form == "npy" and data.columns != npy.default_names(len(data.columns))
    # otherwise the directions of a rotated array would be taken for the columns of the original
    options = {"carried": ",".join(carried)} | ({"names": ",".join(data.columns)} if named else {})
    return options | ({"rows": "numbered"} if data.numbered else {})


def _accepts_reread(options: Mapping[str, str]) -> bool:
    """Whether `_reread_options` can return these options."""
    known = set(options) <= {"carried", "rows", "names"} and options.get("carried", "") in _CARRIED
    names = _listed(options.get("names", "c"))
    if not names or not all(names) or len(set(names)) < len(names) or ",".join(names) != options.get("names", "c"):
        return False
    return known and ("names" not in options or "carried" in options) and options.get("rows", "numbered") == "numbered"


def _keeps_order(options: Mapping[str, str]) -> bool:
    return options.get("rows") == "numbered"


def _explain(file: File) -> str:
    """Describe the columns for a receiver."""
    carried = [role for role in file.options.get("carried", "").split(",") if role]
    meaning = {"id": "the name of the row", "label": "its class"}
    named = [f"`{file.columns[role]}` is {meaning[role]}, as it was" for role in carried]
    rows = "Row number k is row number k of the original" if "rows" in file.options else ""
    numbers = "Every other column has numbers" if named else "Every column has numbers"
    names = "The names of the columns are in `release.json`" if "names" in file.options else ""
    parts = [f"{_FORMATS[file.format].layout}", *named, numbers, names, rows]
    return ". ".join(part for part in parts if part) + "."


def _lay_out(data: Matrix) -> OutputRows:
    """Lay out published rows."""
    return OutputRows(data.columns, data.values, None if data.numbered else data.ids, data.labels)


CODEC = Codec(
    kind="matrices",
    columns=_COLUMNS,
    written=_ROLES,
    options=_OPTIONS,
    formats=_FORMATS,
    request=_request,
    from_memory=_from_memory,
    make=_make,
    lay_out=_lay_out,
    explain=_explain,
    order="Rows are in the order of their names or numbers, if they have any, and else in an order that is computed "
    "from their published content.",
    reread_options=_reread_options,
    accepts_reread=_accepts_reread,
    keeps_order=_keeps_order,
)

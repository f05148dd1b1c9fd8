"""The codec of kinds that are read from long tables: one column per role, in formats that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
import polars as pl

from hedgerow.data import Domain, Source
from hedgerow.errors import ParameterError
from hedgerow.formats.codec import Codec, Format
from hedgerow.formats.long_table import LongTable, ReadRequest
from hedgerow.formats.options import read_choice, read_whole_number
from hedgerow.formats.output_table import OutputTable
from hedgerow.formats.python_cells import to_list_series
from hedgerow.formats.tables import to_long_table, to_table
from hedgerow.statement import File

#: returns names or remarks for given reading options
ByOptions: TypeAlias = Callable[[Mapping[str, str]], tuple[str, ...]]


def table_formats(value: str) -> dict[str, Format]:
    """Formats with a column per role; `value` is what the kind calls the content of one line."""
    csv = f"a comma-separated table with a header: one {value} per line, with the record it belongs to"
    parquet = f"a Parquet table: one {value} per row, with the record it belongs to"
    return {
        "csv": Format("hedgerow.formats.delimited", ("csv",), csv, has_columns=True),
        "parquet": Format("hedgerow.formats.parquet", ("parquet",), parquet, has_columns=True, libraries=("polars",)),
    }


#: formats of records that are lists of values: one record per line, or one value per line of a table
FORMATS: dict[str, Format] = {
    "lines": Format(
        "hedgerow.formats.lines", ("dat", "txt", "seq"), "one record per line, its values separated by blanks"
    ),
    "spmf": Format(
        "hedgerow.formats.spmf", ("spmf",), "one record per line, -1 after each value and -2 at the end (SPMF)"
    ),
    "csv": table_formats("value")["csv"],
    "jsonl": Format("hedgerow.formats.jsonl", ("jsonl", "ndjson"), "one record per line, a JSON array of its values"),
    "parquet": table_formats("value")["parquet"],
}


def _no_names(options: Mapping[str, str]) -> tuple[str, ...]:
    del options
    return ()


def long_table_codec(
    request: ReadRequest,
    *,
    columns: Mapping[str, str],
    written: tuple[str, ...],
    options: Mapping[str, str],
    make: Callable[[LongTable, Domain | None, Source, Mapping[str, str]], Any],
    lay_out: Callable[[Any], OutputTable],
    formats: Mapping[str, Format] = FORMATS,
    extra_columns: ByOptions = _no_names,
    remarks: ByOptions = _no_names,
    **more: Any,
) -> Codec:
    """Make the codec of a kind that is read from long tables.

    Parameters
    ----------
    request
        What the kind reads from a table.
    extra_columns
        The columns without a role that the reading options name.
    remarks
        What else the statement says about columns, given the options a file is read with.
    """
    return Codec(
        kind=request.kind,
        columns=columns,
        written=written,
        options=options,
        formats=formats,
        request=partial(_request, request, extra_columns),
        from_memory=_from_memory,
        make=make,
        lay_out=lay_out,
        explain=partial(_explain, formats, remarks),
        **more,
    )


def _request(
    request: ReadRequest,
    extra_columns: ByOptions,
    columns: Mapping[str, str],
    options: Mapping[str, str],
) -> ReadRequest:
    """Complete a request by the columns and reading options that the caller named."""
    roles = (*request.required, *request.optional)
    names = {role: columns.get(role, role) for role in roles}
    if len(set(names.values())) < len(names):
        msg = "one column cannot have two roles; name another column"
        raise ParameterError(msg)
    extra = extra_columns(options)
    for name in extra:
        if name in names.values() or name in roles:
            msg = f"the column {name!r} has a role; it cannot be sensitive or carried as well"
            raise ParameterError(msg)
    return request._replace(
        columns=names,
        extra_columns=extra,
        named_roles=frozenset(columns),
        drop_bad=read_choice(options, "on_bad", "error", "drop") == "drop",
        skip_lines=read_whole_number(options, "skip_lines", "lines") or 0,
    )


def _from_memory(source: Any, request: ReadRequest) -> LongTable | None:
    """Read a table from memory, or plain lists as a table with a column of lists."""
    table = to_table(source, request)
    if table is not None:
        line = np.arange(1, len(table.frame) + 1)
        return to_long_table("the table", table.frame, request, line, table.unreadable)
    if not isinstance(source, (list, tuple)):
        return None
    role = request.require_list_role("the list")
    frame = pl.DataFrame({request.columns[role]: to_list_series(cast("list[Any]", source))})
    return to_long_table("the list", frame, request, np.arange(1, len(frame) + 1))


def _explain(formats: Mapping[str, Format], remarks: ByOptions, file: File) -> str:
    form = formats[file.format]
    layout = f"{form.layout}."
    if not form.has_columns:
        return layout
    columns = [f"`{name}` is the {role}" for role, name in file.columns.items()]
    return f"{layout} Column {', '.join([*columns, *remarks(file.options)])}."

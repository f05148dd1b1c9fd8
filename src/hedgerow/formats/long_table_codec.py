"""What the codecs of kinds that are long tables share: formats with a column per role, requests, tables from memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Never, TypeAlias, cast

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.formats import csv_table, parquet
from hedgerow.formats.codec import Format
from hedgerow.formats.dataframes import to_list_series, to_long_table, to_table
from hedgerow.formats.long_table import LongTable, OutputTable, ReadRequest
from hedgerow.formats.options import read_choice, read_whole_number
from hedgerow.statement import File

#: returns names or remarks for given reading options
ByOptions: TypeAlias = Callable[[Mapping[str, str]], tuple[str, ...]]


def _no_names(options: Mapping[str, str]) -> tuple[str, ...]:
    del options
    return ()


def table_formats(value: str, more: str = "") -> dict[str, Format[ReadRequest, LongTable, OutputTable]]:
    """Make the formats with a column per role.

    Parameters
    ----------
    value
        What the kind calls the content of one line.
    more
        What else the description of the formats says.
    """
    return {
        "csv": Format(
            endings=("csv",),
            layout=f"a comma-separated table with a header: one {value} per line{more}",
            read=csv_table.read,
            check=csv_table.check,
            write=csv_table.write,
            has_columns=True,
        ),
        "parquet": Format(
            endings=("parquet",),
            layout=f"a Parquet table: one {value} per row{more}",
            read=parquet.read,
            write=parquet.write,
            has_columns=True,
            libraries=("polars",),
        ),
    }


def request_of(
    request: ReadRequest, extra_columns: ByOptions = _no_names
) -> Callable[[Mapping[str, str], Mapping[str, str]], ReadRequest]:
    """Return what completes a request by the columns and reading options that the caller named.

    Parameters
    ----------
    request
        What the kind reads from a table.
    extra_columns
        The columns without a role that the reading options name.
    """

    def complete(columns: Mapping[str, str], options: Mapping[str, str]) -> ReadRequest:
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

    return complete


def from_memory(source: Any, request: ReadRequest) -> LongTable | None:
    """Read a table from memory, or plain lists as a table with a column of lists."""
    table = table_from_memory(source, request)
    if table is not None or not isinstance(source, (list, tuple)):
        return table
    role = request.require_list_role("the list")
    frame = pl.DataFrame({request.columns[role]: to_list_series(cast("list[Any]", source))})
    return to_long_table("the list", frame, request, np.arange(1, len(frame) + 1))


def table_from_memory(source: Any, request: ReadRequest) -> LongTable | None:
    """Read a table from memory; None if the source is not one."""
    table = to_table(source, request)
    if table is None:
        return None
    line = np.arange(1, len(table.frame) + 1)
    long = to_long_table("the table", table.frame, request, line, table.unreadable)
    progress.count("columns that are not read", table.others)
    return replace(long, others=table.others)


def explain_columns(
    formats: Mapping[str, Format[Never, object, Never]], remarks: ByOptions = _no_names
) -> Callable[[File], str]:
    """Return what describes a file for its statement: its format, and the role of each column.

    Parameters
    ----------
    remarks
        What else the statement says about columns, given the options a file is read with.
    """

    def explain(file: File) -> str:
        form = formats[file.format]
        layout = f"{form.layout}."
        if not form.has_columns:
            return layout
        columns = [f"`{name}` is the {role}" for role, name in file.columns.items()]
        return f"{layout} Column {', '.join([*columns, *remarks(file.options)])}."

    return explain

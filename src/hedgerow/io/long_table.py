"""The codec of kinds that are long tables: a column per role, in formats that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
import polars as pl

from hedgerow.data import Domain, Source
from hedgerow.errors import ParameterError
from hedgerow.io.cells import lists_of
from hedgerow.io.codec import Codec, Format
from hedgerow.io.long import Long, Wanted
from hedgerow.io.options import choice, whole
from hedgerow.io.rows import Laid
from hedgerow.io.tables import as_table, long_from
from hedgerow.statement import File

__all__ = ["FORMATS", "long_table_codec", "table_formats"]

#: names, or sentences, that follow from the reading options
ByOptions: TypeAlias = Callable[[Mapping[str, str]], tuple[str, ...]]


def table_formats(value: str) -> dict[str, Format]:
    """Formats with a column per role; what stands on a line, one `value`, is what the kind calls it."""
    csv = f"a comma-separated table with a header: one {value} per line, beside the record it is of"
    parquet = f"a Parquet table: one {value} per row, beside the record it is of"
    return {
        "csv": Format("hedgerow.io.delimited", ("csv",), csv, named=True),
        "parquet": Format("hedgerow.io.parquet", ("parquet",), parquet, named=True),
    }


#: formats of records that are lists of values: one per line, or a value per line of a table
FORMATS: dict[str, Format] = {
    "lines": Format("hedgerow.io.lines", ("dat", "txt", "seq"), "one record per line, its values split by blanks"),
    "spmf": Format("hedgerow.io.spmf", ("spmf",), "one record per line, -1 after each value and -2 at the end (SPMF)"),
    "csv": table_formats("value")["csv"],
    "jsonl": Format("hedgerow.io.jsonl", ("jsonl", "ndjson"), "one record per line, a JSON array of its values"),
    "parquet": table_formats("value")["parquet"],
}


def _no_names(options: Mapping[str, str]) -> tuple[str, ...]:
    del options
    return ()


def long_table_codec(
    wanted: Wanted,
    *,
    columns: Mapping[str, str],
    written: tuple[str, ...],
    options: Mapping[str, str],
    make: Callable[[Long, Domain | None, Source, Mapping[str, str]], Any],
    lay_out: Callable[[Any], Laid],
    formats: Mapping[str, Format] = FORMATS,
    further: ByOptions = _no_names,
    remarks: ByOptions = _no_names,
    **more: Any,
) -> Codec:
    """Make the codec of a kind that is a long table.

    Parameters
    ----------
    wanted
        What the kind wants of a table.
    further
        The columns beyond those of the roles that the reading options name.
    remarks
        What else the statement says of columns, by the options a file is read with.
    """
    return Codec(
        kind=wanted.kind,
        columns=columns,
        written=written,
        options=options,
        formats=formats,
        request=partial(_request, wanted, further),
        take=_take,
        make=make,
        lay_out=lay_out,
        explain=partial(_explain, formats, remarks),
        **more,
    )


def _request(
    wanted: Wanted,
    further: ByOptions,
    columns: Mapping[str, str],
    options: Mapping[str, str],
) -> Wanted:
    """What is read: the column of every role, further columns, and how bad records are met."""
    roles = (*wanted.needed, *wanted.optional)
    names = {role: columns.get(role, role) for role in roles}
    if len(set(names.values())) < len(names):
        msg = "one column cannot have two roles; name another one"
        raise ParameterError(msg)
    beside = further(options)
    for name in beside:
        if name in names.values() or name in roles:
            msg = f"the column {name!r} says who, where or when; it cannot be sensitive or carried"
            raise ParameterError(msg)
    return wanted._replace(
        columns=names,
        further=beside,
        named=frozenset(columns),
        drop=choice(options, "on_bad", "error", "drop") == "drop",
        skip=whole(options, "skip_lines", "lines") or 0,
    )


def _take(source: Any, wanted: Wanted) -> Long | None:
    """Take a table of the caller's, or plain lists by way of a table with a list column."""
    table = as_table(source, wanted)
    if table is not None:
        line = np.arange(1, len(table.frame) + 1)
        return long_from("the table", table.frame, wanted, line, table.unreadable)
    if not isinstance(source, (list, tuple)):
        return None
    role = wanted.role_in_lines("the list")
    frame = pl.DataFrame({wanted.columns[role]: lists_of(cast("list[Any]", source))})
    return long_from("the list", frame, wanted, np.arange(1, len(frame) + 1))


def _explain(formats: Mapping[str, Format], remarks: ByOptions, file: File) -> str:
    form = formats[file.format]
    layout = f"{form.layout}."
    if not form.named:
        return layout
    named = [f"`{name}` is the {role}" for role, name in file.columns.items()]
    return f"{layout} Column {', '.join([*named, *remarks(file.options)])}."

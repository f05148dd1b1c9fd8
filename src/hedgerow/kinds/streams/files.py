"""How streams are read and written: events from files, pipes and iterators; estimates as a table, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.data import Domain, Source
from hedgerow.data.lattice import CellRule
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ReadError
from hedgerow.formats.codec import Codec, Format
from hedgerow.formats.dataframes import is_from, unreadable_as
from hedgerow.formats.files import ending_of
from hedgerow.formats.number_table import lattice_cells, pandas_column
from hedgerow.formats.options import NUMBER_OPTIONS, read_cell_rule, read_choice, read_whole_number, require_instead
from hedgerow.kinds.streams.data import (
    ESTIMATED,
    VALUE,
    Estimates,
    Rows,
    RowsToCome,
    Stream,
    relative_precision,
    value_domain,
)
from hedgerow.kinds.streams.event_files import (
    BitEvents,
    EventRequest,
    ParquetEvents,
    SeekableBits,
    TextEvents,
    open_parts,
    read_table,
)
from hedgerow.kinds.streams.events import ArrayEvents, encode_events
from hedgerow.statement import File

_ESTIMATES = ("time", "value", "half_width")


@dataclass(frozen=True)
class _EventFile:
    """A file or pipe that is not read yet."""

    name: str
    form: str
    request: EventRequest
    most: int | None


def _request(columns: Mapping[str, str], options: Mapping[str, str]) -> EventRequest:
    return EventRequest(
        value=columns.get("value", "value"),
        estimates=read_choice(options, "rows", "events", *ESTIMATED),
        skip_lines=read_whole_number(options, "skip_lines", "lines") or 0,
        rule=read_cell_rule(options),
    )


def _from_memory(source: Any, request: EventRequest) -> Iterable[Any] | None:
    """Take an array, a list, an iterator, or a column of a polars, pandas or Arrow table."""
    if isinstance(source, (np.ndarray, list, tuple, Iterator)):
        return cast("Any", source)
    if is_from("pandas", source):
        return _pandas_values(source, request)
    if not isinstance(source, (pl.Series, pl.DataFrame)):
        if not hasattr(source, "__arrow_c_stream__"):
            return None
        with unreadable_as("the table cannot be read; it is damaged, or it is not a table"):
            source = pl.DataFrame(source)
    if isinstance(source, pl.Series):
        return source
    if request.value not in source.columns:
        msg = f"the table has no column {request.value!r}; name the column of the values"
        raise ReadError(msg)
    return source[request.value]


def _pandas_values(source: Any, request: EventRequest) -> pl.Series:
    """Take a pandas column, or the column of the values of a pandas table, cell by cell."""
    if hasattr(source, "columns"):
        if list(source.columns).count(request.value) != 1:
            msg = f"the table has no column {request.value!r}, or several; name the column of the values"
            raise ReadError(msg)
        source = source[request.value]
    return pandas_column(source)


def _make(
    content: _EventFile | Iterable[Any], domain: Domain | None, source: Source, options: Mapping[str, str]
) -> Stream | Estimates:
    """Make a stream of a file that is read while it is published; or the estimates that a release has."""
    rule = read_cell_rule(options)
    declared = value_domain(domain)
    if domain is None and source is Source.ASSERTED:
        declared = replace(declared, source=source)
    axis = cast("NumberAxis", declared.axes[0][1])
    require_instead(rule, VALUE, axis)
    if not isinstance(content, _EventFile):
        if _is_column(content):
            return Stream(declared, ArrayEvents(_encode_column(content, axis, rule)))
        return Stream.from_values(content, declared, rule=rule)
    if content.request.estimates in ESTIMATED:
        return _read_estimates(content, declared)
    return Stream(declared, _open_events(content, axis))


def _is_column(content: Any) -> bool:
    return hasattr(content, "dtype") and not isinstance(content, np.ndarray)


def _encode_column(column: Any, axis: NumberAxis, rule: CellRule) -> Any:
    """Turn the column of a table into steps."""
    cells = lattice_cells("the table", column.name, column, axis.lattice, rounded=rule.rounded)
    return encode_events(cells, axis, "the values", range(len(column)), rule)


def _open_events(file: _EventFile, axis: NumberAxis) -> Any:
    parts = open_parts(file.name, file.most)
    if file.form == "parquet":
        if parts.once:
            msg = f"{parts.where}: a Parquet table cannot be read from a pipe; write it to a file first"
            raise ReadError(msg)
        return ParquetEvents(file.name, file.request.value, axis, file.request.rule)
    if file.form != "bits":
        return TextEvents(parts, axis, file.request, header=file.form == "csv")
    if Path(file.name).is_file() and not ending_of(Path(file.name)).compression:
        return SeekableBits(Path(file.name), file.request.rule)
    return BitEvents(parts, file.request.rule)


def _read_estimates(file: _EventFile, domain: Domain) -> Estimates:
    """Check the rows of a file, and read them again whenever they are needed: they may not fit into memory."""
    if file.form != "csv":
        msg = f"estimates are in CSV files; got the format {file.form!r}"
        raise ReadError(msg)

    def rows() -> Iterator[Rows]:
        last = 0
        for table in read_table(open_parts(file.name, file.most), _ESTIMATES, file.request, header=True):
            times, values, half_widths = table.columns()
            rows = Rows(times.astype(np.int64), values, half_widths)
            if not (np.isfinite(times).all() and np.isfinite(values).all() and not np.isnan(half_widths).any()):
                msg = f"{file.name} has a cell that is not a number; it was changed or damaged"
                raise ReadError(msg)
            if np.any(half_widths < 0):
                msg = f"{file.name} has a half-width below 0; it was changed or damaged"
                raise ReadError(msg)
            if np.any(times != rows.times) or np.any(np.diff(rows.times, prepend=last) < 0) or rows.times[0] < 1:
                msg = f"{file.name}: times must be whole numbers from 1 on, in order; it was changed or damaged"
                raise ReadError(msg)
            last = int(rows.times[-1])
            yield rows

    of = file.request.estimates
    checked = RowsToCome(rows(), lambda some: relative_precision(some, domain, of))
    for _ in checked:
        pass
    return Estimates(domain, _RowsInFile(rows, len(checked), checked.best), of)


class _RowsInFile:
    """Rows that are read whenever they are needed."""

    once = False

    def __init__(self, open_rows: Callable[[], Iterator[Rows]], count: int, best: float) -> None:
        self._open_rows = open_rows
        self._count = count
        self.best = best

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Rows]:
        return self._open_rows()


def _write(data: Estimates, columns: Mapping[str, str]) -> Iterator[bytes]:
    """Write estimates as they come, so that they are read back exactly."""
    names = [columns.get(role, role) for role in _ESTIMATES]
    yield (",".join(names) + "\n").encode()
    for rows in data.rows():
        table = pl.DataFrame(dict(zip(names, map(pl.Series, rows), strict=True)))
        yield table.write_csv(include_header=False).encode()
        progress.tell("publishing", int(rows.times[-1]))


def _lay_out(data: Estimates) -> Estimates:
    return data


def _reread_options(data: Estimates, form: str) -> dict[str, str]:
    del form
    return {"rows": data.of}


def _accepts_reread(options: Mapping[str, str]) -> bool:
    return set(options) == {"rows"} and options["rows"] in ESTIMATED


def _explain(file: File) -> str:
    estimated = {"means": "mean", "sums": "sum"}[file.options["rows"]]
    return (
        "comma-separated, with a header. `time` is the number of the event after which a row was published, counted "
        f"from 1; `value` is the estimated {estimated} of all events up to this one; `half_width` is how far it is "
        "from the truth at most, with the confidence that is a parameter of the method, for each row by itself."
    )


def _format(
    name: str, layout: str, *endings: str, has_columns: bool = False
) -> Format[EventRequest, _EventFile, Estimates]:
    """Make a format of events; estimates are written as CSV."""

    def open_file(path: str, request: EventRequest, most: int | None) -> _EventFile:
        return _EventFile(path, name, request, most)

    return Format(
        endings=endings,
        layout=layout,
        open_file=open_file,
        write=_write,
        has_columns=has_columns,
        written_as="" if name == "csv" else "csv",
    )


CODEC = Codec(
    kind="streams",
    columns={"value": "the value of an event; default value"},
    written=(),
    options={
        "rows": "what a file has: events (the default), or published estimates of means or sums",
        **NUMBER_OPTIONS,
    },
    formats={
        "csv": _format("csv", "comma-separated, with a header", "csv", has_columns=True),
        "bits": _format("bits", "one sign per event, 0 or 1", "bits"),
        "lines": _format("lines", "one number per line", "txt", "dat"),
        "parquet": _format("parquet", "a Parquet table", "parquet", has_columns=True),
    },
    request=_request,
    from_memory=_from_memory,
    make=_make,
    lay_out=_lay_out,
    explain=_explain,
    order="Rows are in the order of time.",
    reread_options=_reread_options,
    accepts_reread=_accepts_reread,
    keeps_order=_accepts_reread,
    in_parts=True,
)

"""How trajectories are read from long tables, and written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from hedgerow.data import Axis, Domain, Source, Trajectories, Value
from hedgerow.data.coarse_trajectories import CoarseTrajectories
from hedgerow.data.encoding import infer_axis
from hedgerow.errors import ReadError
from hedgerow.io import coarse_labels, times
from hedgerow.io.grid_cells import name_cells, read_grid, with_cell_centres
from hedgerow.io.long_table import Flags, Integers, LongTable, ReadRequest, codes_of
from hedgerow.io.long_table_codec import long_table_codec, table_formats
from hedgerow.io.options import read_choice
from hedgerow.io.output_table import OutputTable
from hedgerow.io.record_checker import RecordChecker
from hedgerow.io.times import read_times

__all__ = ["CODEC"]

_REQUEST = ReadRequest(
    "trajectories",
    list_role=None,
    required=("unit", "time"),
    optional=("place", "lon", "lat", "person"),
    columns={},
    nullable=("time", "place", "lon", "lat"),
    fractional=("lon", "lat"),
)

_COLUMNS = {
    "unit": "the record that a line belongs to",
    "time": "the time of the visit",
    "place": "the place of the visit",
    "lon": "the longitude of the visit in degrees, if places are cells of a grid",
    "lat": "the latitude of the visit in degrees, likewise",
    "person": "the owner of the record; needed for unit person",
}
_OPTIONS = {
    "sensitive": "the sensitive columns, separated by commas",
    "carry": "columns to publish as they are, one value per record; no promise covers them",
    **times.OPTIONS,
    "grid": "the size of a grid cell in degrees, for lon and lat",
    "collisions": "if a record has two places at one time: error (the default), keep the first or the last line "
    "of the file (first, last), or keep all (keep)",
    "on_unknown": "if a time or place is not in the domain: error (the default), or drop the visit",
    "on_missing": "if a visit has no time or no place: error (the default), or drop the visit",
    "on_conflict": "if a record has two values of a sensitive or carried column: error (the default), first or last",
    **coarse_labels.OPTIONS,
}

_DEGREES = {"lat": 90, "lon": 360}


def _trait_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns with one value per record, as named by the reading options."""
    texts = (options.get("sensitive", ""), options.get("carry", ""))
    names = (name.strip() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _extra_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns without a role: attributes of records, and those of labels."""
    return (*_trait_columns(options), *(coarse_labels.COLUMNS if "labels" in options else ()))


def _reread_options(data: Trajectories | CoarseTrajectories, form: str) -> dict[str, str]:
    """The reading options with which a release is read again."""
    del form
    sensitive = {"sensitive": ",".join(data.sensitive)} if data.sensitive else {}
    if isinstance(data, CoarseTrajectories):
        return coarse_labels.label_options(data) | sensitive
    options = {"times": "number" if isinstance(data.domain.values("time")[0], int) else "text"}
    if data.several:
        options["collisions"] = "keep"
    return options | sensitive


def _accepts_reread(options: Mapping[str, str]) -> bool:
    """Whether `_reread_options` can return these options."""
    visits = {"times": r"number|text", "collisions": r"keep"}
    patterns = {**(coarse_labels.PATTERNS if "labels" in options else visits), "sensitive": r"(?s).+"}
    known = all(re.fullmatch(patterns.get(name, "(?!)"), value) for name, value in options.items())
    return known and ",".join(_trait_columns(options)) == options.get("sensitive", "")


def _remarks(options: Mapping[str, str]) -> tuple[str, ...]:
    """What a receiver must know beyond the columns of time and place."""
    order = ("visits of a record at the same time are in their order",) if options.get("collisions") == "keep" else ()
    traits = (f"`{name}` is a value of the record, on each of its lines" for name in _trait_columns(options))
    return (*order, *coarse_labels.label_remarks(options), *traits)


def _make(
    table: LongTable, domain: Domain | None, source: Source, options: Mapping[str, str]
) -> Trajectories | CoarseTrajectories:
    """Make the data set of a long table; a line without time and place is a record without visits."""
    checker = RecordChecker(table)
    if "labels" in options:
        public = coarse_labels.require_domain(table, domain)
        columns = {name: checker.table.columns[name] for name in _trait_columns(options)}
        codes = {name: _trait(checker, name, column, public.axis(name), options) for name, column in columns.items()}
        return coarse_labels.read_labels(checker, public, codes, options)
    visits = _Visits.read(checker, domain, options)
    traits = {name: checker.table.columns[name] for name in _trait_columns(options)}
    domain = domain or visits.infer_domain(traits, source)
    if "grid" in options:
        domain = with_cell_centres(domain, options["grid"])
    coded = visits.encode(checker, domain, options)
    coded = coded.resolve_collisions(checker, options)
    sensitive = {name: _trait(checker, name, column, domain.axis(name), options) for name, column in traits.items()}
    persons = checker.owners()
    kept = checker.kept()
    number = np.cumsum(kept) - 1  # the number of each record among the kept ones
    line = coded.line[kept[checker.row[coded.line]]]
    return Trajectories.from_columns(
        records=int(kept.sum()),
        row=number[checker.row[line]],
        time=coded.time[line],
        place=coded.place[line],
        sensitive={name: codes[kept] for name, codes in sensitive.items()},
        domain=domain,
        persons=None if persons is None else persons[kept],
        several=options.get("collisions") == "keep",
    )


@dataclass(frozen=True, eq=False)
class _Visits:
    """Which lines are visits, and the times and places of all lines as texts or numbers."""

    line: Integers
    times: pl.Series
    places: pl.Series

    @classmethod
    def read(cls, checker: RecordChecker, domain: Domain | None, options: Mapping[str, str]) -> _Visits:
        table = checker.table
        column = table.columns["time"]
        times, unreadable, expected = read_times(column, options, domain)
        unreadable |= table.unreadable.get("time", False)
        places = _places(checker, options)
        unreadable_place = table.unreadable.get("place", np.zeros(len(column), np.bool_))
        no_time = column.is_null().to_numpy() & ~unreadable
        half = no_time != (places.is_null().to_numpy() & ~unreadable_place)
        if read_choice(options, "on_missing", "error", "drop") == "error":
            what = (
                "a line needs both a time and a place, or neither; fill them in, drop such visits with on_missing=drop"
            )
            checker.refuse(half, what)
        if read_choice(options, "on_unknown", "error", "drop") == "error":
            name = table.request.columns["time"]
            checker.refuse(unreadable & ~half, f"column {name!r} must hold {expected}; correct it")
            what = f"column {table.request.columns['place']!r} must hold text or whole numbers"
            checker.refuse(unreadable_place, f"{what}; correct it")
        complete = (times.is_not_null() & places.is_not_null()).to_numpy()
        return cls(np.flatnonzero(complete), times, places)

    def infer_domain(self, traits: Mapping[str, pl.Series], source: Source) -> Domain:
        """Make a domain of the values that occur."""
        line = pl.Series(self.line)
        columns = {"time": self.times.gather(line), "place": self.places.gather(line), **traits}
        values = {name: column.drop_nulls().unique().to_list() for name, column in columns.items()}
        # whether times are numbers was declared
        numbers = {"time": self.times.dtype.is_integer()}
        axes = ((name, infer_axis(column, numbers=numbers.get(name))) for name, column in values.items())
        return Domain(tuple(axes), source)

    def encode(self, checker: RecordChecker, domain: Domain, options: Mapping[str, str]) -> _CodedVisits:
        """Look times and places up in the domain."""
        codes: dict[str, Integers] = {}
        line = self.line
        for role, column in (("time", self.times), ("place", self.places)):
            codes[role] = codes_of(column, domain.axis(role))
            unknown = line[codes[role][line] < 0]
            if options.get("on_unknown", "error") == "error":
                bad = np.zeros(len(column), np.bool_)
                bad[unknown] = True
                declare = f"a {role} is not in the domain; declare it (blanks around it count)"
                what = f"{declare}, drop such visits with on_unknown=drop"
                checker.refuse(bad, what)
        known = (codes["time"][line] >= 0) & (codes["place"][line] >= 0)
        return _CodedVisits(line[known], codes["time"], codes["place"])


@dataclass(frozen=True, eq=False)
class _CodedVisits:
    """Which lines are visits within the domain, and the codes of all lines."""

    line: Integers
    time: Integers
    place: Integers

    def resolve_collisions(self, checker: RecordChecker, options: Mapping[str, str]) -> _CodedVisits:
        """Keep one visit per record and time, by the declared rule."""
        rule = read_choice(options, "collisions", "error", "first", "last", "keep")
        if rule == "keep":
            return self
        row, time, place = checker.row[self.line], self.time[self.line], self.place[self.line]
        visits = pl.DataFrame({"row": row, "time": time, "place": place}).with_row_index("at")
        if rule == "error":
            several = pl.col("place").n_unique().over("row", "time") > 1
            bad = np.zeros(checker.records, np.bool_)
            bad[visits.filter(several)["row"].to_numpy()] = True
            what = (
                "the record on this line has two places at one time; choose which one counts "
                "(collisions=first, last or keep), use finer times"
            )
            checker.refuse_records(bad, what)
            return self
        kept = visits.unique(["row", "time"], keep=rule, maintain_order=True)["at"]  # pyright: ignore[reportArgumentType]
        return _CodedVisits(self.line[kept.to_numpy()], self.time, self.place)


@dataclass(frozen=True, eq=False)
class _VisitTable(OutputTable):
    """Published trajectories, to be written as a table."""

    data: Trajectories

    def to_frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay out one visit per row; a record without visits is a row without time and place."""
        starts, pairs, traits = self.data.arrays()
        sizes = np.diff(starts)
        lines = np.repeat(np.arange(len(sizes)), np.maximum(1, sizes))
        filled = sizes[lines] > 0
        columns: dict[str, Any] = {names["unit"]: lines + 1}
        size = self.data.domain.size("place")
        for role, codes in (("time", pairs // size), ("place", pairs % size)):
            column = np.full(len(lines), -1, np.int64)
            column[filled] = codes
            columns[names[role]] = _decode(column, self.data.domain.values(role))
        for name, codes in traits.items():
            columns[name] = _decode(codes[lines], self.data.domain.values(name))
        return pl.DataFrame(columns)


def _lay_out(data: Trajectories | CoarseTrajectories) -> OutputTable:
    return coarse_labels.LabelTable(data) if isinstance(data, CoarseTrajectories) else _VisitTable(data)


def _decode(codes: Integers, values: Sequence[Value]) -> pl.Series:
    names = pl.Series([*values, None])
    return names.gather(np.where(codes < 0, len(values), codes))


def _places(checker: RecordChecker, options: Mapping[str, str]) -> pl.Series:
    """Take places as they are, or the cell of the grid that holds lon and lat."""
    table = checker.table
    if "grid" not in options:
        if "place" not in table.columns:
            msg = f"{table.where} has no column 'place'; name it with --columns place=NAME, or give lon, lat and a grid"
            raise ReadError(msg)
        return table.columns["place"].cast(pl.String)
    step = read_grid(options["grid"])
    return _cells(checker, "lat", step) + "," + _cells(checker, "lon", step)


def _cells(checker: RecordChecker, role: str, step: Decimal) -> pl.Series:
    """The lower bounds of the grid cells, as texts; null where there are no degrees."""
    table = checker.table
    if role not in table.columns:
        msg = f"{table.where} has no column {role!r}; a grid needs the columns lon and lat"
        raise ReadError(msg)
    name = table.request.columns[role]
    numbers = table.columns[role].cast(pl.Float64, strict=False)
    unreadable = (numbers.is_null() & table.columns[role].is_not_null()).to_numpy()
    unreadable |= table.unreadable.get(role, False)
    checker.refuse(unreadable, f"column {name!r} must hold numbers; correct it")
    valid = (numbers.is_finite() & (numbers.abs() <= _DEGREES[role])).fill_null(value=False)
    invalid = (~valid & numbers.is_not_null()).to_numpy()
    checker.refuse(invalid, f"column {name!r} must hold degrees from -{_DEGREES[role]} to {_DEGREES[role]}; correct it")
    return name_cells(pl.select(pl.when(valid).then(numbers)).to_series(), step)


def _trait(checker: RecordChecker, name: str, column: pl.Series, axis: Axis, options: Mapping[str, str]) -> Integers:
    """The one value of each record, as a code; -1 where there is none."""
    rule = read_choice(options, "on_conflict", "error", "first", "last")
    if rule == "error":
        what = f"the record on this line has two values of {name!r}; choose one with on_conflict=first or last"
        checker.refuse_two_values(column, what)
    codes = codes_of(column, axis)
    unknown: Flags = (codes < 0) & column.is_not_null().to_numpy()
    checker.refuse(unknown, f"a value of {name!r} is not in the domain; declare it")
    return checker.one_per_record(codes, last=rule == "last")


CODEC = long_table_codec(
    _REQUEST,
    columns=_COLUMNS,
    written=("unit", "time", "place"),
    options=_OPTIONS,
    make=_make,
    lay_out=_lay_out,
    formats=table_formats("visit"),
    extra_columns=_extra_columns,
    remarks=_remarks,
    reread_options=_reread_options,
    accepts_reread=_accepts_reread,
)

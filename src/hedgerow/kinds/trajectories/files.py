"""How trajectories are read from long tables, with times and cells of a grid as declared, and written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Axis, Domain, Source, Value
from hedgerow.data.encoding import infer_axis
from hedgerow.errors import ParameterError, ReadError
from hedgerow.formats.codec import Codec
from hedgerow.formats.long_table import LongTable, OutputTable, ReadRequest, codes_of
from hedgerow.formats.long_table_codec import explain_columns, from_memory, request_of, table_formats
from hedgerow.formats.options import read_choice
from hedgerow.formats.record_checker import RecordChecker
from hedgerow.kinds.trajectories import label_files as coarse_labels
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.numerics.arrays import Flags, Integers

TIME_OPTIONS = {
    "times": "how times are given: number (the default), date (dates and times) or text",
    "time_format": "the format of dates and times, such as %m/%d/%y %H:%M; by default ISO 8601",
    "time_zone": "the time zone that times with an offset are converted to, such as Europe/Paris or UTC",
    "bin": "the length of a time bin: a number, or 15min, 1h, 1d for dates and times",
    "fold": "the period after which times start again, such as a day or a week: a number, or 1d, 7d",
}
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
    **TIME_OPTIONS,
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


# Times: each cell alone, as declared; whole numbers, dates and times, or text.

_SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}
_ISO = (
    r"^(?<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?<time>[0-9]{2}:[0-9]{2})(?<second>:[0-9]{2})?(?:[.,][0-9]+)?"
    r"(?<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?$"
)
#: the directives of `time_format` that are supported
_DIRECTIVES = "YmdyHIpMSjbBeTFDRzs%"
#: the years 1 to 9999 in seconds since 1970, and the range of whole numbers that binning cannot overflow
_YEARS = (-62_135_596_800, 253_402_300_799)
_WHOLE = (-(2**62), 2**62)
_WRITTEN = "%Y-%m-%dT%H:%M:%S"


def read_times(
    column: pl.Series, options: Mapping[str, str], domain: Domain | None
) -> tuple[pl.Series, NDArray[np.bool_], str]:
    """Put times into bins.

    Returns
    -------
    The times, null where a cell is empty or cannot be read; which cells cannot be read; and what cells must hold.
    """
    kind = _kind(options, domain)
    if "fold" in options and "bin" not in options:
        msg = "fold needs a bin; pass bin as well"
        raise ParameterError(msg)
    if kind == "text":
        times, expected = column.cast(pl.String), "text"
    elif kind == "number":
        numbers = column.cast(pl.Int64, strict=False)
        times = _binned(numbers, options, dates=False)
        expected = "whole numbers; for dates and times pass bin=1h or times=date, for text times=text"
    else:
        times = _binned(_seconds(column.cast(pl.String), options), options, dates=True)
        form = options.get("time_format")
        expected = f"dates and times as {form}" if form else "ISO 8601 times, or pass time_format="
        if "time_zone" not in options:
            expected += "; times with an offset need a time_zone"
    return times, (times.is_null() & column.is_not_null()).to_numpy(), expected


def _kind(options: Mapping[str, str], domain: Domain | None) -> str:
    """How times are given: as declared, by an option or by the times of the domain, never by how the cells look.

    Otherwise a single odd cell would decide whether all of them are numbers.
    """
    kind = read_choice(options, "times", "", "number", "date", "text")
    dated = any(name in options for name in ("time_format", "time_zone"))
    binned = "bin" in options
    if binned:
        dated = dated or not options["bin"].isdigit()
    if kind in {"number", "text"} and dated:
        msg = f"times={kind} cannot be combined with dates (time_format, time_zone, or a bin such as 1h)"
        raise ParameterError(msg)
    if kind == "text" and binned:
        msg = "times=text has no bins; omit bin"
        raise ParameterError(msg)
    if kind or dated or binned:
        return kind or ("date" if dated else "number")
    declared = domain is not None and isinstance(domain.values("time")[0], str)
    return "text" if declared else "number"


def _seconds(column: pl.Series, options: Mapping[str, str]) -> pl.Series:
    """Read dates and times as seconds since 1970, in the declared zone."""
    zone = options.get("time_zone")
    try:
        ZoneInfo(zone or "UTC")
    except (KeyError, ValueError, OSError):
        msg = f"time_zone must be a time zone such as Europe/Paris or UTC; got {str(zone)[:40]!r}"
        raise ParameterError(msg) from None
    form = options.get("time_format")
    if form is None:
        return _iso_seconds(column, zone)
    _check_format(form)
    if "%z" in form:
        if zone is None:
            msg = "time_format reads an offset (%z); pass the time_zone of the bins as well"
            raise ParameterError(msg)
        moments = column.str.to_datetime(form, strict=False, time_unit="us", time_zone="UTC")
        return _local(moments.dt.replace_time_zone(None), zone)
    return column.str.to_datetime(form, strict=False, time_unit="us").dt.epoch("s")


def _check_format(form: str) -> None:
    """Refuse a format that cannot be read: it needs known directives, and minutes with an hour."""
    plain = re.sub(rf"%[{_DIRECTIVES}]|%\.f", "", form)
    readable = plain != form and "%" not in plain
    try:
        if readable:
            pl.Series(["-"]).str.to_datetime(form, strict=False, time_unit="us")
    except pl.exceptions.PolarsError:
        readable = False
    if not readable:
        known = f"%{' %'.join(_DIRECTIVES)} %.f"
        msg = f"time_format must consist of {known}, with minutes if it has hours; got {form[:40]!r}"
        raise ParameterError(msg)


def _iso_seconds(column: pl.Series, zone: str | None) -> pl.Series:
    """Read ISO 8601: a date, and a time of day with or without seconds, fraction and offset."""
    parts = column.str.extract_groups(_ISO).struct.unnest()
    day, minute = parts["date"], parts["time"].fill_null("00:00")
    plain = (day + "T" + minute + parts["second"].fill_null(":00")).str.to_datetime(
        _WRITTEN, strict=False, time_unit="us"
    )
    offset = parts["zone"]
    if zone is None:
        # an offset cannot be ignored silently, nor be applied to some cells only
        return pl.select(pl.when(offset.is_null()).then(plain.dt.epoch("s"))).to_series()
    sign = offset.str.starts_with("-").cast(pl.Int64) * -2 + 1
    hours = offset.str.slice(1, 2).cast(pl.Int64, strict=False).fill_null(0)
    minutes = offset.str.slice(3).str.strip_prefix(":").cast(pl.Int64, strict=False).fill_null(0)
    ahead = sign * (hours * 60 + minutes) * 60_000_000
    moments = plain - ahead.cast(pl.Duration("us"))
    local = _local(moments, zone)
    return pl.select(pl.when(offset.is_null()).then(plain.dt.epoch("s")).otherwise(local)).to_series()


def _local(moments: pl.Series, zone: str) -> pl.Series:
    """Convert moments in UTC to the local time of a zone, in seconds."""
    local = moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return local.dt.replace_time_zone(None).dt.epoch("s")


def _binned(numbers: pl.Series, options: Mapping[str, str], *, dates: bool) -> pl.Series:
    width = _width("bin", options["bin"], dates=dates) if "bin" in options else 1
    binned = _within(numbers, _YEARS if dates else _WHOLE) // width
    if "fold" in options:
        period = _width("fold", options["fold"], dates=dates)
        if period % width:
            msg = f"fold must be a multiple of bin; got {options['fold']!r}"
            raise ParameterError(msg)
        return binned % (period // width)
    if not dates:
        return binned * width
    return pl.from_epoch(_within(binned * width, _YEARS), "s").dt.to_string(_WRITTEN)


def _within(numbers: pl.Series, limits: tuple[int, int]) -> pl.Series:
    """Replace numbers beyond the limits by null."""
    return pl.select(pl.when(numbers.is_between(*limits)).then(numbers)).to_series()


def _width(name: str, text: str, *, dates: bool) -> int:
    parts = re.fullmatch(r"([1-9][0-9]{0,8})(s|min|h|d)?", text)
    if not parts or (dates and not parts[2]) or (parts[2] and not dates):
        what = "such as 15min, 1h or 1d" if dates else "a whole number"
        msg = f"{name} must be {what} here; got {text!r}"
        raise ParameterError(msg)
    return int(parts[1]) * _SECONDS.get(parts[2] or "", 1)


# Cells of a grid of degrees: their names, and the coordinates of their centres, which follow from the names.

_NAME = re.compile(r"(-?[0-9]{1,3}(?:\.[0-9]{1,9})?),(-?[0-9]{1,3}(?:\.[0-9]{1,9})?)")
_MOST_LON, _MOST_LAT = Decimal(360), Decimal(90)


def read_grid(text: str) -> Decimal:
    """Read the size of a cell in degrees."""
    if not re.fullmatch(r"[0-9]{0,3}\.?[0-9]{1,9}", text) or Decimal(text) == 0:
        msg = f"grid must be a size in degrees, such as 0.01; got {text!r}"
        raise ParameterError(msg)
    return Decimal(text)


def name_cells(degrees: pl.Series, step: Decimal) -> pl.Series:
    """The lower bound of the cell of each number of degrees, as a text; null where there is none.

    Bounds are compared as decimal numbers, since 0.29 / 0.01 is less than 29 in floating point.

    Examples
    --------
    >>> name_cells(pl.Series([0.29, -1.2, None]), Decimal("0.01")).to_list()
    ['0.29', '-1.20', None]
    """
    nearest = (degrees / float(step)).round()
    numbers = nearest.unique().drop_nulls()
    bounds = pl.Series([float(int(number) * step) for number in numbers], dtype=pl.Float64)
    bound = nearest.replace_strict(numbers, bounds, return_dtype=pl.Float64)
    cell = pl.select(pl.when(degrees < bound).then(nearest - 1).otherwise(nearest)).to_series()
    digits = max(0, -int(step.as_tuple().exponent))
    names = {number: f"{int(number) * step:.{digits}f}" for number in cell.unique().drop_nulls()}
    return cell.replace_strict(names, return_dtype=pl.String) if names else cell.cast(pl.String)


def with_cell_centres(domain: Domain, grid: str) -> Domain:
    """The domain with the centre of each place, a grid cell; the same if places have coordinates, or are no cells.

    Examples
    --------
    >>> domain = Domain.declare(place=["48.8,2.3", "48.9,2.3"], time=range(24))
    >>> with_cell_centres(domain, "0.1").axis("place").coordinates
    ((2.35, 48.85), (2.35, 48.95))
    """
    axis = domain.axis("place")
    names = [_NAME.fullmatch(str(value)) for value in axis.values]
    if axis.coordinates or not all(names):
        return domain
    half = read_grid(grid) / 2
    lats, lons = ([Decimal(name.group(part)) + half for name in names if name] for part in (1, 2))
    # a cell at the pole, or one larger than the Earth, has its centre beyond
    centres = zip((_bound(lon, _MOST_LON) for lon in lons), (_bound(lat, _MOST_LAT) for lat in lats), strict=True)
    return domain.with_coordinates("place", centres)


def _bound(degrees: Decimal, most: Decimal) -> float:
    return float(max(-most, min(most, degrees)))


_FORMATS = table_formats("visit", ", with the record it belongs to")
CODEC = Codec(
    kind="trajectories",
    columns=_COLUMNS,
    written=("unit", "time", "place"),
    options=_OPTIONS,
    formats=_FORMATS,
    request=request_of(_REQUEST, _extra_columns),
    from_memory=from_memory,
    make=_make,
    lay_out=_lay_out,
    explain=explain_columns(_FORMATS, _remarks),
    reread_options=_reread_options,
    accepts_reread=_accepts_reread,
)

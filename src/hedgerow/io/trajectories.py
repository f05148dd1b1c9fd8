"""Trajectories from long tables, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from hedgerow.data import Axis, Domain, Source, Trajectories, Value
from hedgerow.data.encoding import infer_axis
from hedgerow.errors import ParameterError, ReadError
from hedgerow.io import times
from hedgerow.io.long import Flags, Integers, Long, Wanted, codes_of
from hedgerow.io.long_table import long_table_codec, table_formats
from hedgerow.io.options import choice
from hedgerow.io.rows import Laid
from hedgerow.io.screen import Screen
from hedgerow.io.times import read_times

__all__ = ["CODEC"]

_WANTED = Wanted(
    "trajectories",
    None,
    ("unit", "time"),
    ("place", "lon", "lat", "person"),
    {},
    blank=("time", "place", "lon", "lat"),
    numbers=("lon", "lat"),
)

_COLUMNS = {
    "unit": "which record a line is of",
    "time": "when the visit was",
    "place": "where it was",
    "lon": "its longitude in degrees, where places are cells of a grid",
    "lat": "its latitude in degrees",
    "person": "who owns the record, for unit person",
}
_OPTIONS = {
    "sensitive": "columns that hold what is sensitive, split by commas",
    "carry": "columns that are carried along, one value per record; no promise covers them",
    **times.OPTIONS,
    "grid": "the size of a cell in degrees, for lon and lat",
    "collisions": "two places at one time: error, the first or the last line of the file, or keep",
    "on_unknown": "a time or place outside the domain: error, or drop the visit",
    "on_missing": "a visit without its time or its place: error, or drop the visit",
    "on_conflict": ("two values of a sensitive or carried column in one record: error, first or last"),
}

_DEGREES = {"lat": 90, "lon": 360}


def _trait_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns with one value per record that the reading options name."""
    texts = (options.get("sensitive", ""), options.get("carry", ""))
    names = (name.strip() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _reread(data: Trajectories) -> dict[str, str]:
    """The reading options by which a release is read."""
    options = {"times": "number" if isinstance(data.domain.values("time")[0], int) else "text"}
    if data.several:
        options["collisions"] = "keep"
    return {**options, "sensitive": ",".join(data.sensitive)} if data.sensitive else options


def _is_reread(options: Mapping[str, str]) -> bool:
    """Whether `_reread` can have said this."""
    said = {"times": r"number|text", "collisions": r"keep", "sensitive": r"(?s).+"}
    known = all(re.fullmatch(said.get(name, "(?!)"), value) for name, value in options.items())
    return known and ",".join(_trait_columns(options)) == options.get("sensitive", "")


def _remarks(options: Mapping[str, str]) -> tuple[str, ...]:
    """What a receiver must know beyond the columns of place and time."""
    order = ("visits of a record at one time stand in their order",) if options.get("collisions") == "keep" else ()
    traits = (f"`{name}` is a value of the record, on each of its lines" for name in _trait_columns(options))
    return (*order, *traits)


def _make(long: Long, domain: Domain | None, source: Source, options: Mapping[str, str]) -> Trajectories:
    """Make data of the visits of a long table; a line without time and place is a record without visits."""
    screen = Screen(long)
    visits = _Visits.read(screen, domain, options)
    traits = {name: screen.long.columns[name] for name in _trait_columns(options)}
    domain = domain or visits.seen(traits, source)
    coded = visits.coded(screen, domain, options)
    coded = coded.one_place_at_a_time(screen, options)
    sensitive = {name: _trait(screen, name, column, domain.axis(name), options) for name, column in traits.items()}
    persons = screen.owners()
    kept = screen.kept()
    number = np.cumsum(kept) - 1  # the number of a record among those that are kept
    line = coded.line[kept[screen.row[coded.line]]]
    return Trajectories.from_columns(
        records=int(kept.sum()),
        row=number[screen.row[line]],
        time=coded.time[line],
        place=coded.place[line],
        sensitive={name: codes[kept] for name, codes in sensitive.items()},
        domain=domain,
        persons=None if persons is None else persons[kept],
        several=options.get("collisions") == "keep",
    )


@dataclass(frozen=True, eq=False)
class _Visits:
    """The lines that are visits, with the times and places of all lines as texts and numbers."""

    line: Integers
    times: pl.Series
    places: pl.Series

    @classmethod
    def read(cls, screen: Screen, domain: Domain | None, options: Mapping[str, str]) -> _Visits:
        long = screen.long
        column = long.columns["time"]
        times, unreadable, should = read_times(column, options, domain)
        unreadable |= long.unreadable.get("time", False)
        places = _places(screen, options)
        nowhere = long.unreadable.get("place", np.zeros(len(column), np.bool_))
        timeless = column.is_null().to_numpy() & ~unreadable
        half = timeless != (places.is_null().to_numpy() & ~nowhere)
        if choice(options, "on_missing", "error", "drop") == "error":
            what = "a visit needs a time and a place, or neither; pass on_missing=drop"
            screen.refuse(half, what)
        if choice(options, "on_unknown", "error", "drop") == "error":
            name = long.wanted.columns["time"]
            screen.refuse(unreadable & ~half, f"column {name!r} must hold {should}; correct it")
            what = f"column {long.wanted.columns['place']!r} must hold texts or whole numbers"
            screen.refuse(nowhere, f"{what}; correct it")
        there = (times.is_not_null() & places.is_not_null()).to_numpy()
        return cls(np.flatnonzero(there), times, places)

    def seen(self, traits: Mapping[str, pl.Series], source: Source) -> Domain:
        """Take what occurs."""
        line = pl.Series(self.line)
        columns = {"time": self.times.gather(line), "place": self.places.gather(line), **traits}
        seen = {name: column.drop_nulls().unique().to_list() for name, column in columns.items()}
        # what times are was declared
        numbers = {"time": self.times.dtype.is_integer()}
        axes = ((name, infer_axis(values, numbers=numbers.get(name))) for name, values in seen.items())
        return Domain(tuple(axes), source)

    def coded(self, screen: Screen, domain: Domain, options: Mapping[str, str]) -> _Coded:
        """Look times and places up in the domain."""
        codes: dict[str, Integers] = {}
        line = self.line
        for role, column in (("time", self.times), ("place", self.places)):
            codes[role] = codes_of(column, domain.axis(role))
            unknown = line[codes[role][line] < 0]
            if options.get("on_unknown", "error") == "error":
                bad = np.zeros(len(column), np.bool_)
                bad[unknown] = True
                what = f"a {role} is not in the domain; declare it, pass on_unknown=drop"
                screen.refuse(bad, what)
        known = (codes["time"][line] >= 0) & (codes["place"][line] >= 0)
        return _Coded(line[known], codes["time"], codes["place"])


@dataclass(frozen=True, eq=False)
class _Coded:
    """The lines that are visits of the domain, with the codes of all lines."""

    line: Integers
    time: Integers
    place: Integers

    def one_place_at_a_time(self, screen: Screen, options: Mapping[str, str]) -> _Coded:
        """Keep one visit per record and time, by the declared rule."""
        rule = choice(options, "collisions", "error", "first", "last", "keep")
        if rule == "keep":
            return self
        row, time, place = screen.row[self.line], self.time[self.line], self.place[self.line]
        visits = pl.DataFrame({"row": row, "time": time, "place": place}).with_row_index("at")
        if rule == "error":
            several = pl.col("place").n_unique().over("row", "time") > 1
            bad = np.zeros(screen.records, np.bool_)
            bad[visits.filter(several)["row"].to_numpy()] = True
            what = (
                "the record that stands here is at two places at one time; say which one counts "
                "(collisions=first, last or keep), take finer times"
            )
            screen.refuse_records(bad, what)
            return self
        kept = visits.unique(["row", "time"], keep=rule, maintain_order=True)["at"]  # pyright: ignore[reportArgumentType]
        return _Coded(self.line[kept.to_numpy()], self.time, self.place)


@dataclass(frozen=True, eq=False)
class _Laid(Laid):
    """A release of trajectories, to be written as a table."""

    data: Trajectories

    def frame(self, names: Mapping[str, str]) -> pl.DataFrame:
        """Lay out one visit a line; a record without visits is a line without time and place."""
        starts, pairs, traits = self.data.arrays()
        sizes = np.diff(starts)
        lines = np.repeat(np.arange(len(sizes)), np.maximum(1, sizes))
        filled = sizes[lines] > 0
        columns: dict[str, Any] = {names["unit"]: lines + 1}
        size = self.data.domain.size("place")
        for role, codes in (("time", pairs // size), ("place", pairs % size)):
            column = np.full(len(lines), -1, np.int64)
            column[filled] = codes
            columns[names[role]] = _named(column, self.data.domain.values(role))
        for name, codes in traits.items():
            columns[name] = _named(codes[lines], self.data.domain.values(name))
        return pl.DataFrame(columns)


def _named(codes: Integers, values: Sequence[Value]) -> pl.Series:
    names = pl.Series([*values, None])
    return names.gather(np.where(codes < 0, len(values), codes))


def _places(screen: Screen, options: Mapping[str, str]) -> pl.Series:
    """Take places as they are, or the cell of the grid that holds lon and lat."""
    long = screen.long
    if "grid" not in options:
        if "place" not in long.columns:
            msg = f"{long.where} has no column 'place'; name it, or give lon, lat and a grid"
            raise ReadError(msg)
        return long.columns["place"].cast(pl.String)
    if not re.fullmatch(r"[0-9]{0,3}\.?[0-9]{1,9}", options["grid"]) or Decimal(options["grid"]) == 0:
        msg = f"grid must be a size in degrees, such as 0.01; got {options['grid']!r}"
        raise ParameterError(msg)
    step = Decimal(options["grid"])
    return _cells(screen, "lat", step) + "," + _cells(screen, "lon", step)


def _cells(screen: Screen, role: str, step: Decimal) -> pl.Series:
    """The lower ends of the cells of the grid, as texts; null where there are no degrees."""
    long = screen.long
    if role not in long.columns:
        msg = f"{long.where} has no column {role!r}; a grid needs lon and lat"
        raise ReadError(msg)
    name = long.wanted.columns[role]
    numbers = long.columns[role].cast(pl.Float64, strict=False)
    unreadable = (numbers.is_null() & long.columns[role].is_not_null()).to_numpy()
    unreadable |= long.unreadable.get(role, False)
    screen.refuse(unreadable, f"column {name!r} must hold numbers; correct it")
    near = (numbers.is_finite() & (numbers.abs() <= _DEGREES[role])).fill_null(value=False)
    far = (~near & numbers.is_not_null()).to_numpy()
    screen.refuse(far, f"column {name!r}: no such degrees; correct it")
    cell = pl.select(pl.when(near).then((numbers / float(step)).floor())).to_series()
    digits = max(0, -int(step.as_tuple().exponent))
    names = {number: f"{Decimal(int(number)) * step:.{digits}f}" for number in cell.unique().drop_nulls()}
    return cell.replace_strict(names, return_dtype=pl.String) if names else cell.cast(pl.String)


def _trait(screen: Screen, name: str, column: pl.Series, axis: Axis, options: Mapping[str, str]) -> Integers:
    """The one value of each record, as a code; -1 where there is none."""
    rule = choice(options, "on_conflict", "error", "first", "last")
    if rule == "error":
        what = f"the record that stands here has two values of {name!r}; say which (on_conflict)"
        screen.refuse_two_values(column, what)
    codes = codes_of(column, axis)
    unknown: Flags = (codes < 0) & column.is_not_null().to_numpy()
    screen.refuse(unknown, f"a value of {name!r} is not in the domain; declare it")
    return screen.one_per_record(codes, last=rule == "last")


CODEC = long_table_codec(
    _WANTED,
    columns=_COLUMNS,
    written=("unit", "time", "place"),
    options=_OPTIONS,
    make=_make,
    lay_out=_Laid,
    formats=table_formats("visit"),
    further=_trait_columns,
    remarks=_remarks,
    reread=_reread,
    is_reread=_is_reread,
)

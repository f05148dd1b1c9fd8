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
from hedgerow.errors import ParameterError, ReadError
from hedgerow.io.long import Integers, Long, Wanted, first_seen, numbered
from hedgerow.io.rows import Laid

__all__ = ["OPTIONS", "WANTED", "again", "rows_of", "trait_columns", "trajectories_from"]

WANTED = Wanted(
    "trajectories",
    None,
    ("unit", "time"),
    ("place", "lon", "lat", "person"),
    {},
    blank=("time", "place", "lon", "lat"),
    numbers=("lon", "lat"),
)

OPTIONS = {
    "sensitive": "columns that hold what is sensitive, split by commas",
    "carry": "columns that are carried along, one value a record; no promise covers them",
    "bin": "how long a time bin is: a number, or 15min, 1h, 1d for dates and times",
    "fold": "after how long times begin anew: a number, or 1d, 7d",
    "grid": "the size of a cell in degrees, for lon and lat",
    "collisions": "two places at one time: error, the first or the last line of the file, or keep",
    "on_unknown": "a time or place outside the domain: error, or drop the visit",
    "times": "whether times are numbers or text; else by what they are",
}

_DEGREES = {"lat": 90, "lon": 360}
_SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}


def trait_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns with one value a record that the reading options name."""
    texts = (options.get("sensitive", ""), options.get("carry", ""))
    names = (name.strip() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def again(data: Trajectories) -> dict[str, str]:
    """The reading options by which a release is read."""
    times = data.domain.values("time")
    held = {"times": "number" if isinstance(times[0], int) else "text"}
    if data.several:
        held["collisions"] = "keep"
    return {**held, "sensitive": ",".join(data.sensitive)} if data.sensitive else held


def trajectories_from(
    long: Long, domain: Domain | None, source: Source, options: Mapping[str, str]
) -> Trajectories:
    """Hold the visits of a long table; a line without time and place is a record without visits."""
    row = first_seen(long.columns["unit"])
    there = ~long.columns["time"].is_null().to_numpy()
    places = _places(long, options)
    if np.any(there != ~places.is_null().to_numpy()):
        at = int(np.argmax(there != ~places.is_null().to_numpy()))
        raise long.fail(int(long.line[at]), "a visit needs a time and a place, or neither")
    visits = pl.Series(np.flatnonzero(there))
    drop = options.get("on_unknown", "error")
    if drop not in {"error", "drop"}:
        msg = f"on_unknown must be error or drop; got {drop!r}"
        raise ParameterError(msg)
    times = _times(long.columns["time"].gather(visits), options, domain)
    if times.null_count() and drop == "error":
        at = int(long.line[there][times.is_null().arg_max() or 0])
        what = "whole numbers (with bins such as 60), or dates and times (1h)"
        raise long.fail(at, f"column 'time' must hold {what}")
    places = places.gather(visits)
    traits = {name: long.columns[name] for name in trait_columns(options)}
    domain = domain or _seen(times, places, traits, source)
    time = _codes(long, times, domain.axis("time"), "time", drop=drop == "drop")
    place = _codes(long, places, domain.axis("place"), "place", drop=drop == "drop")
    known = np.flatnonzero((time >= 0) & (place >= 0))
    kept = known[_apart(row[there][known], times.gather(known), options)]
    return Trajectories.from_columns(
        records=int(row.max(initial=-1)) + 1,
        row=row[there][kept],
        time=time[kept],
        place=place[kept],
        sensitive={name: _trait(long, row, traits[name], domain.axis(name)) for name in traits},
        domain=domain,
        persons=_trait(long, row, *_owners(long)) if "person" in long.columns else None,
        several=options.get("collisions") == "keep",
    )


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


def rows_of(data: Trajectories) -> _Laid:
    """Lay out what is published."""
    return _Laid(data)


def _named(codes: Integers, values: Sequence[Value]) -> pl.Series:
    held = pl.Series([*values, None])
    return held.gather(np.where(codes < 0, len(values), codes))


def _places(long: Long, options: Mapping[str, str]) -> pl.Series:
    """Take places as they are, or the cell of the grid that holds lon and lat."""
    if "grid" not in options:
        if "place" not in long.columns:
            msg = f"{long.where} has no column 'place'; name it, or give lon, lat and a grid"
            raise ReadError(msg)
        return long.columns["place"].cast(pl.String)
    if (
        not re.fullmatch(r"[0-9]{0,3}\.?[0-9]{1,9}", options["grid"])
        or Decimal(options["grid"]) == 0
    ):
        msg = f"grid must be a size in degrees, such as 0.01; got {options['grid']!r}"
        raise ParameterError(msg)
    step = Decimal(options["grid"])
    digits = max(0, -int(step.as_tuple().exponent))
    cells: list[pl.Series] = []
    for role in ("lat", "lon"):
        if role not in long.columns:
            msg = f"{long.where} has no column {role!r}; a grid needs lon and lat"
            raise ReadError(msg)
        numbers = long.columns[role].cast(pl.Float64, strict=False)
        if numbers.null_count() != long.columns[role].null_count():
            at = (numbers.is_null() & ~long.columns[role].is_null()).arg_max() or 0
            raise long.fail(int(long.line[at]), f"column {role!r} must hold numbers")
        far = ~(numbers.is_finite() & (numbers.abs() <= _DEGREES[role])).fill_null(value=True)
        if far.any():
            raise long.fail(int(long.line[far.arg_max() or 0]), f"column {role!r}: no such degrees")
        cell = (numbers / float(step)).floor()
        names = {
            number: f"{Decimal(int(number)) * step:.{digits}f}"
            for number in cell.unique().drop_nulls()
        }
        cells.append(
            cell.replace_strict(names, return_dtype=pl.String) if names else cell.cast(pl.String)
        )
    return cells[0] + "," + cells[1]


def _times(column: pl.Series, options: Mapping[str, str], domain: Domain | None) -> pl.Series:
    """Put times into bins: whole numbers, or dates and times; what is neither is null.

    What a cell is depends on that cell and on what was declared: the option `times`, the bins
    (`60`, or `1h` for dates), the times of the domain. Only where nothing was, it depends on all.
    """
    numbers = column.cast(pl.Int64, strict=False)
    plain = _are_numbers(numbers, options, domain)
    if "bin" not in options:
        if "fold" in options:
            msg = "fold needs a bin"
            raise ParameterError(msg)
        return numbers if plain else column.cast(pl.String)
    width = _width("bin", options["bin"], dates=not plain)
    if not plain:
        try:
            dates = column.cast(pl.String).str.to_datetime(strict=False, time_unit="us")
        except pl.exceptions.PolarsError:
            dates = pl.Series([None] * len(column), dtype=pl.Datetime)
        numbers = dates.dt.epoch("s")
    binned = numbers // width
    if "fold" in options:
        around = _width("fold", options["fold"], dates=not plain)
        if around % width:
            msg = f"fold must be a multiple of bin; got {options['fold']!r}"
            raise ParameterError(msg)
        return binned % (around // width)
    if plain:
        return binned * width
    return pl.from_epoch(binned * width, "s").dt.to_string("%Y-%m-%dT%H:%M:%S")


def _are_numbers(numbers: pl.Series, options: Mapping[str, str], domain: Domain | None) -> bool:
    """Whether times are whole numbers: as declared, or as they look."""
    said = options.get("times")
    if said not in {None, "number", "text"}:
        msg = f"times must be number or text; got {said!r}"
        raise ParameterError(msg)
    if said is not None:
        return said == "number"
    if "bin" in options:
        return options["bin"].isdigit()
    if domain is not None:
        return isinstance(domain.values("time")[0], int)
    return numbers.null_count() == 0


def _width(name: str, text: str, *, dates: bool) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,8})(s|min|h|d)?", text)
    if not found or (dates and not found[2]) or (found[2] and not dates):
        what = "such as 15min, 1h or 1d" if dates else "a whole number"
        msg = f"{name} must be {what} here; got {text!r}"
        raise ParameterError(msg)
    return int(found[1]) * _SECONDS.get(found[2] or "", 1)


def _apart(row: Integers, times: pl.Series, options: Mapping[str, str]) -> Integers:
    """Keep one visit a record and time, by the declared rule."""
    rule = options.get("collisions", "error")
    if rule not in {"error", "first", "last", "keep"}:
        msg = f"collisions must be error, first, last or keep; got {rule!r}"
        raise ParameterError(msg)
    if rule in {"error", "keep"}:
        return np.arange(len(row))
    held = pl.DataFrame({"row": row, "time": times}).with_row_index("at")
    kept = held.unique(["row", "time"], keep=rule, maintain_order=True)["at"]  # pyright: ignore[reportArgumentType]
    return kept.to_numpy().astype(np.int64)


def _seen(
    times: pl.Series, places: pl.Series, traits: Mapping[str, pl.Series], source: Source
) -> Domain:
    """Take what occurs: numbers in order, texts in order."""
    columns = {"time": times, "place": places, **traits}
    axes = tuple(
        (name, Axis(tuple(column.unique().drop_nulls().sort().to_list()) or ("none",)))
        for name, column in columns.items()
    )
    return Domain(axes, source)


def _codes(long: Long, column: pl.Series, axis: Axis, role: str, *, drop: bool = False) -> Integers:
    """The code of each value in the domain, by its text; -1 for unknown ones, if they may be."""
    codes, values = numbered(column.drop_nulls())
    known = np.array([axis.by_text.get(str(value), -1) for value in values] or [-1], np.int64)
    found = np.full(len(column), -1, np.int64)
    found[column.is_not_null().to_numpy()] = known[codes]
    if len(found) and found.min() < 0 and not drop:
        at = int(long.line[np.argmin(found)])
        raise long.fail(at, f"a {role} is not in the domain; declare it")
    return found


def _owners(long: Long) -> tuple[pl.Series, Axis]:
    column = long.columns["person"].cast(pl.String)
    return column, Axis(tuple(column.unique().to_list()) or ("none",))


def _trait(long: Long, row: Integers, column: pl.Series, axis: Axis) -> Integers:
    """The one value of each record, as a code; -1 where there is none."""
    codes = np.full(len(row), -1, np.int64)
    filled = ~column.is_null().to_numpy()
    codes[filled] = _codes(long, column.drop_nulls(), axis, column.name)
    records = int(row.max(initial=-1)) + 1
    least, most = np.full(records, 2**62), np.full(records, -1)
    np.minimum.at(least, row, codes)
    np.maximum.at(most, row, codes)
    if np.any(least != most):
        at = int(long.line[np.argmax(np.isin(row, np.flatnonzero(least != most)))])
        raise long.fail(at, f"the record that stands here has two values of {column.name!r}")
    return most

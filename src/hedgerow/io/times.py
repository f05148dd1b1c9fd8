"""Read times: each cell alone, as declared; whole numbers, dates and times, or text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Domain
from hedgerow.errors import ParameterError
from hedgerow.io.options import read_choice

__all__ = ["OPTIONS", "read_times"]

OPTIONS = {
    "times": "how times are given: number (the default), date (dates and times) or text",
    "time_format": "the format of dates and times, such as %m/%d/%y %H:%M; by default ISO 8601",
    "time_zone": "the time zone that times with an offset are converted to, such as Europe/Paris or UTC",
    "bin": "the length of a time bin: a number, or 15min, 1h, 1d for dates and times",
    "fold": "the period after which times start again, such as a day or a week: a number, or 1d, 7d",
}

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

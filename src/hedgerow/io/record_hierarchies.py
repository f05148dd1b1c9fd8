"""The hierarchy of a quasi-identifier, as a schema file declares it: a file, a list, ranges of numbers or dates."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from hedgerow.data import Axis, Value
from hedgerow.data.domain import MOST_VALUES
from hedgerow.data.hierarchy import ROOT, Hierarchy
from hedgerow.errors import DomainError
from hedgerow.io.named_files import read_named

__all__ = ["HIERARCHY_KEYS", "MISSING", "read_hierarchy"]

#: the leaf of a value that is not given; it is never written, and no cell of a file means it
MISSING = "(missing)"
HIERARCHY_KEYS = {"file", "values", "paths", "prefix", "low", "high", "widths", "missing", "numbers", "first", "name"}

_SOURCES = ("file", "values", "low")
_WHOLE = re.compile(r"-?[1-9][0-9]{0,17}|0")
_DATES = {"month": "%Y-%m", "year": "%Y", "decade": ""}


def read_hierarchy(section: Mapping[str, Any], folder: Path, where: str) -> Axis:
    """Build the axis of a quasi-identifier.

    Parameters
    ----------
    folder
        Where the files that the section names are.
    where
        The file and the field, for messages.

    Examples
    --------
    >>> read_hierarchy({"low": 1998, "high": 2001, "widths": [2, 10]}, Path(), "born").paths[2:]
    (('2000-2001',), ('2000-2001',))
    >>> read_hierarchy({"values": ["94110", "94117"], "prefix": [2, 4]}, Path(), "zip").paths
    (('94***', '9411*'), ('94***', '9411*'))
    """
    unknown = [key for key in section if key not in HIERARCHY_KEYS]
    if unknown or sum(key in section for key in _SOURCES) != 1:
        what = f"has an unknown entry {unknown[0]!r}; it " if unknown else ""
        msg = f"{where} {what}needs one of file, values, or low and high"
        raise DomainError(msg)
    if "low" in section:
        axis = _range(section, where)
    elif "file" in section:
        axis = _from_file(*read_named(folder, section["file"], where), where)
    else:
        axis = _listed(section, where)
    if "prefix" in section:
        axis = Axis(axis.values, tuple(_prefixes(str(value), section["prefix"], where) for value in axis.values))
    if section.get("missing") is True:
        axis = Axis((*map(str, axis.values), MISSING), (*(axis.paths or [()] * len(axis)), ()))
    _check(axis, where)
    return axis


def _check(axis: Axis, where: str) -> None:
    try:
        Hierarchy.from_axis(axis)
    except DomainError as error:
        msg = f"{where}: {error}"
        raise DomainError(msg) from None


def _listed(section: Mapping[str, Any], where: str) -> Axis:
    values, paths = section["values"], section.get("paths", [])
    if not _is_list(values) or not _is_list(paths) or not all(isinstance(path, str) for path in paths):
        msg = f"{where}: values must be a list, and paths a list of texts such as 'Science/Physics'"
        raise DomainError(msg)
    return Axis(tuple(cast("list[Value]", values)), tuple(tuple(text.split("/")) if text else () for text in paths))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _from_file(path: Path, content: bytes, where: str) -> Axis:
    """Read one value per line with its groups, the narrowest first: `CS301;CS3**;CS;*`, also with commas or tabs.

    Values are taken exactly, since those of the data are; blanks around groups are nobody's.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        msg = f"{path} is not UTF-8 text"
        raise DomainError(msg) from None
    first = text.partition("\n")[0]
    sign = next((sign for sign in ";\t" if sign in first), ",")
    above: dict[str, tuple[str, ...]] = {}
    values: dict[str, tuple[str, ...]] = {}
    rows = _split(text, sign, path)
    numbers = all(_WHOLE.fullmatch(row[0].strip()) for row in rows if row)
    for line, row in enumerate(rows, start=1):
        if not row:
            continue
        if not row[0].strip():
            msg = f"{path}:{line}: the line has no value; remove it ({where})"
            raise DomainError(msg)
        if numbers and row[0] != row[0].strip():
            msg = f"{path}:{line}: there are blanks around the number; remove them ({where})"
            raise DomainError(msg)
        value, groups = row[0], [cell.strip() for cell in row[1:]]
        path_of_value = _climb(value, groups)
        if value in values:
            msg = f"{path}:{line}: the value of this line is listed twice; list it once ({where})"
            raise DomainError(msg)
        for depth, group in enumerate(path_of_value):
            if above.setdefault(group, path_of_value[:depth]) != path_of_value[:depth]:
                msg = f"{path}:{line}: a group of this line is also within another group; rename one of them ({where})"
                raise DomainError(msg)
        values[value] = path_of_value
    if not values:
        msg = f"{path} is empty; list one value per line, with its groups ({where})"
        raise DomainError(msg)
    return Axis(tuple(values), tuple(values.values()) if any(values.values()) else ())


def _split(text: str, sign: str, path: Path) -> list[list[str]]:
    """Split a text into lines, at line breaks only, and each line into cells."""
    try:
        return list(csv.reader(text.replace("\r\n", "\n").split("\n"), delimiter=sign))
    except csv.Error:
        msg = f"{path} is not a table of values and groups: a cell is too long, or a line break stands within a line"
        raise DomainError(msg) from None


def _climb(value: str, groups: Sequence[str]) -> tuple[str, ...]:
    """Return the groups of a value, the widest first, without the root and without repetitions."""
    path: list[str] = []
    for group in groups:
        if group and group not in {ROOT, value, *path[-1:]}:
            path.append(group)
    return tuple(reversed(path))


def _prefixes(text: str, lengths: Any, where: str) -> tuple[str, ...]:
    whole = _is_list(lengths) and all(type(length) is int and length > 0 for length in lengths)
    if not whole or sorted(set(lengths)) != lengths:
        msg = f"{where}: prefix must be a list of lengths, the shortest first, such as [2, 4]"
        raise DomainError(msg)
    return tuple(text[:length] + "*" * (len(text) - length) for length in lengths if length < len(text))


def _range(section: Mapping[str, Any], where: str) -> Axis:
    low, high, widths = section["low"], section.get("high"), section.get("widths", [])
    if isinstance(low, (str, date)) or isinstance(high, (str, date)):
        return _dates(str(low), str(high), widths, where)
    if type(low) is not int or type(high) is not int or not 0 <= high - low < MOST_VALUES:
        msg = f"{where}: low and high must be whole numbers, or dates such as '2001-12-31', with values between them"
        raise DomainError(msg)
    whole = _is_list(widths) and all(type(width) is int and width > 1 for width in widths)
    if not whole or any(wide % narrow for narrow, wide in pairwise(widths)):
        msg = f"{where}: widths must be whole numbers, each a multiple of the one before, such as [5, 10]"
        raise DomainError(msg)
    values = range(low, high + 1)
    return Axis(tuple(values), tuple(_intervals(value, low, high, widths) for value in values) if widths else ())


def _intervals(value: int, low: int, high: int, widths: Iterable[int]) -> tuple[str, ...]:
    """Return the intervals that contain a number, the widest first; one with a single number, or all, is none."""
    path: list[str] = []
    for width in widths:
        start = value // width * width
        first, last = max(low, start), min(high, start + width - 1)
        if first < last and (first, last) != (low, high) and f"{first}-{last}" not in path:
            path.append(f"{first}-{last}")
    return tuple(reversed(path))


def _dates(low: str, high: str, widths: Any, where: str) -> Axis:
    """List the days between two dates, in months, years and decades."""
    try:
        first, last = date.fromisoformat(low), date.fromisoformat(high)
    except ValueError:
        msg = f"{where}: low and high must both be dates such as '2001-12-31', or both whole numbers"
        raise DomainError(msg) from None
    if not _is_list(widths) or [name for name in _DATES if name in widths] != widths or last < first:
        msg = f"{where}: widths of dates must be some of 'month', 'year', 'decade', in this order, and low before high"
        raise DomainError(msg)
    days = [first + timedelta(days=day) for day in range((last - first).days + 1)]
    paths = (tuple(f"{day.year // 10}0s" if w == "decade" else day.strftime(_DATES[w]) for w in widths) for day in days)
    return Axis(tuple(map(str, days)), tuple(tuple(reversed(path)) for path in paths) if widths else ())

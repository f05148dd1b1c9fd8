"""Domain files: public knowledge in TOML, one section per axis, and the stops of a feed as an axis."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, cast

from hedgerow.data import Axis, Domain, Source, Value
from hedgerow.data.axis import MOST_VALUES
from hedgerow.data.grids import propose_paths
from hedgerow.data.number_axis import axis_from_plain
from hedgerow.errors import DomainError, UndeclaredDomain
from hedgerow.formats.referenced_files import read_named
from hedgerow.formats.toml import read_toml, toml_key, toml_value

#: what a draft says about regions that were made of coordinates
_PROPOSED = (
    "# a proposal: cells of a grid, the widest first, each in one cell of the next size; districts that people know\n"
    "# are better, and without regions omit the paths\n"
)
#: marks a draft until its owner removes it
_DRAFT = "read_from_private_data"
_KEYS = {"values", "file", "gtfs", "low", "high", "step", "paths", "coordinates", "numbers"}
#: the columns of a file of values before those of the path, if it has coordinates: value, longitude and latitude
_WITH_COORDINATES = 3
_WHOLE = re.compile(r"-?[1-9][0-9]{0,17}|0")


def read_domain(path: str | Path) -> Domain:
    """Read a declared domain.

    There is one section per axis. Its values are listed (`values`), or are in a text file in the same folder or below
    (`file`, one value per line, exactly as it is), or are whole numbers (`low`, `high`, `step`). A taxonomy is one path
    per value: a list `paths` of texts such as `"food/dairy"`, or further columns of the file, separated by tabs.

    Places may have coordinates: a list `coordinates` of pairs of longitude and latitude in degrees; or, with
    `coordinates = true`, the second and third column of the file. The stops of a public transport feed are declared by
    `gtfs = "stops.txt"`.

    A column of a matrix has `numbers = true` and, if its bounds are public, `low`, `high` and `step`, which need not be
    whole numbers. `records_per_person` before the sections declares how many records one person may own.
    """
    path = Path(path)
    sections = read_toml(path, DomainError)
    if _DRAFT in sections:
        msg = (
            f"{path} is a draft that was read from private data; make sure that every value in it "
            f"is public knowledge, add the values that could occur but do not, then remove {_DRAFT}"
        )
        raise UndeclaredDomain(msg)
    most = sections.pop("records_per_person", None)
    if not sections:
        msg = f"{path} declares no axis; write a section such as [item] with values = [...]"
        raise DomainError(msg)
    axes = tuple((name, _axis(path, name, section)) for name, section in sections.items())
    return Domain(axes, Source.DECLARED, most)


def draft_domain(domain: Domain) -> str:
    """Write a domain file for the owner to check against public knowledge.

    Examples
    --------
    >>> print(draft_domain(Domain.declare(item=[1, 2, 3])))
    # A draft. What the data shows is private: make sure that every value is public
    # knowledge, add the values that could occur but do not, then remove the next line.
    read_from_private_data = true
    <BLANKLINE>
    [item]
    low = 1
    high = 3
    <BLANKLINE>
    """
    head = (
        "# A draft. What the data shows is private: make sure that every value is public\n"
        "# knowledge, add the values that could occur but do not, then remove the next line.\n"
        f"{_DRAFT} = true\n"
    )
    return head + "".join(f"\n[{toml_key(name)}]\n{_draft(axis)}" for name, axis in domain.axes)


def _axis(path: Path, name: str, section: Any) -> Axis:
    if not isinstance(section, dict):
        msg = f"{path}: {name!r} must be a section [{name}] with values, a file or low and high"
        raise DomainError(msg)
    fields = cast("dict[str, Any]", section)
    if "numbers" in fields:
        return _numbers(path, name, fields)
    unknown = [key for key in fields if key not in _KEYS]
    if unknown or sum(key in fields for key in ("values", "file", "gtfs", "low")) != 1:
        what = f"has an unknown field {unknown[0]!r}; it " if unknown else ""
        msg = f"{path}: section [{name}] {what}needs one of values, file, gtfs, or low and high"
        raise DomainError(msg)
    if ("file" in fields and "paths" in fields) or ("low" not in fields and "step" in fields):
        msg = f"{path}: section [{name}]: with a file the paths are columns of it, and step needs low and high"
        raise DomainError(msg)
    where = f"{path}: section [{name}]"
    if "file" in fields:
        with_coordinates = _is_set(fields, where)
        return _from_file(*read_named(path.parent, fields["file"], where), with_coordinates=with_coordinates)
    if "gtfs" in fields:
        return _from_feed(path.parent, fields, where)
    paths = fields.get("paths", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in cast("Any", paths)):
        msg = f"{where}: paths must be a list of texts such as 'food/dairy'"
        raise DomainError(msg)
    values, split = _values(fields, where), tuple(tuple(text.split("/")) for text in cast("list[str]", paths))
    return Axis(values, split, fields.get("coordinates", ()))


def _is_set(fields: Mapping[str, Any], where: str) -> bool:
    """Whether the file of values has columns of coordinates."""
    if not isinstance(fields.get("coordinates", False), bool):
        msg = f"{where}: with a file, coordinates = true says that its second and third column are longitude, latitude"
        raise DomainError(msg)
    return fields.get("coordinates", False)


def _from_feed(folder: Path, fields: Mapping[str, Any], where: str) -> Axis:
    if set(fields) != {"gtfs"}:
        msg = f"{where}: stops.txt has places, stations and coordinates; omit the other fields"
        raise DomainError(msg)
    return read_stops(*read_named(folder, fields["gtfs"], where))


def _numbers(path: Path, name: str, fields: Mapping[str, Any]) -> Axis:
    try:
        return axis_from_plain(fields)
    except DomainError as error:
        msg = f"{path}: section [{name}]: {error}"
        raise DomainError(msg) from None


def _values(section: Mapping[str, Any], where: str = "the domain") -> tuple[Value, ...]:
    if "values" in section:
        values = section["values"]
        if not isinstance(values, list):
            msg = f"{where}: values must be a list"
            raise DomainError(msg)
        return tuple(cast("list[Value]", values))
    low, high, step = section.get("low"), section.get("high"), section.get("step", 1)
    if type(low) is not int or type(high) is not int or type(step) is not int or step < 1:
        msg = (
            f"{where}: low, high and step must be whole numbers, and step at least 1; a column of a matrix, "
            "and a stream, may have others, with numbers = true"
        )
        raise DomainError(msg)
    if not 0 <= (high - low) // step < MOST_VALUES:
        msg = f"{where}: low to high must hold between 1 and {MOST_VALUES:,} values"
        raise DomainError(msg)
    return tuple(range(low, high + 1, step))


def _from_file(path: Path, content: bytes, *, with_coordinates: bool) -> Axis:
    """Read values, one per line; further columns, separated by tabs, are coordinates if said so, and the path.

    Values are taken exactly, since those of the data are: the blank at the end of `"tea "` belongs to it. Blanks around
    the groups of a path are nobody's, and refused.
    """
    try:
        lines = content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError:
        msg = f"{path} is not UTF-8 text"
        raise DomainError(msg) from None
    before = _WITH_COORDINATES if with_coordinates else 1
    _refuse_blanks(path, lines, before)
    rows = [line.split("\t") for line in lines if line]
    texts = [row[0] for row in rows]
    whole = all(map(_WHOLE.fullmatch, texts))
    coordinates = tuple(read_degrees(row[1:before], path) for row in rows) if with_coordinates else ()
    paths = tuple(tuple(row[before:]) for row in rows)
    return Axis(tuple(map(int, texts)) if whole else tuple(texts), paths if any(paths) else (), coordinates)


def _refuse_blanks(path: Path, lines: list[str], before: int) -> None:
    """Refuse lines of blanks, and blanks around whole numbers and groups: nobody sees them, and they would count.

    Parameters
    ----------
    before
        How many columns stand before those of the path.
    """
    values = [line.split("\t")[0] for line in lines]
    numbers = all(_WHOLE.fullmatch(value.strip()) for value in values if value)
    for line, value in enumerate(values, start=1):
        groups = lines[line - 1].split("\t")[before:]
        if value and any(not group or group != group.strip() for group in groups):
            msg = f"{path}:{line}: a group has blanks around it, or no name; remove the blanks, or the tab before it"
            raise DomainError(msg)
        if lines[line - 1] and (not value.strip() or (numbers and value != value.strip())):
            what = "there are blanks around the number" if value.strip() else "the line has blanks and no value"
            msg = f"{path}:{line}: {what}; remove them, or list the values in the domain file: values = [...]"
            raise DomainError(msg)


def _draft(axis: Axis) -> str:
    fields = axis.to_plain()
    if "numbers" in fields:
        bounds = "".join(f"{name} = {toml_value(fields[name])}\n" for name in ("low", "high", "step") if name in fields)
        return f"numbers = true\n{bounds or '# low, high and step, if they are public knowledge'}\n".replace(
            "\n\n", "\n"
        )
    if "low" in fields:
        listed = f"low = {fields['low']}\nhigh = {fields['high']}\n"
    else:
        listed = _listed("values", map(toml_value, axis.values))
    known, note = (axis.paths, "") if axis.paths else (propose_paths(axis), _PROPOSED)
    paths = note + _listed("paths", (toml_value("/".join(path)) for path in known)) if known else ""
    pairs = (f"[{lon!r}, {lat!r}]" for lon, lat in axis.coordinates)
    return listed + paths + (_listed("coordinates", pairs) if axis.coordinates else "")


def _listed(name: str, values: Iterable[str]) -> str:
    lines = ",\n".join(f"  {value}" for value in values)
    return f"{name} = [\n{lines},\n]\n"


# The stops of a public transport feed (GTFS `stops.txt`) as places with coordinates.

#: degrees as people write them
_DEGREES = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{0,30})?|[+-]?\.[0-9]{1,30}")
#: what travellers board or enter: stops and platforms (0, or nothing), and stations (1); not entrances, nodes and
#: boarding areas
_PLACES = {"", "0", "1"}
_COLUMNS = ("stop_id", "stop_lat", "stop_lon")


def read_stops(path: Path, content: bytes) -> Axis:
    """Read the stops and stations of a feed: `stop_id`, exactly as it is, with `stop_lon` and `stop_lat`.

    Where a stop names its station (`parent_station`), each place has a path of one group, its station; a stop without
    one, and a station, are their own. Entrances, nodes and boarding areas are no places.
    """
    rows = _rows(path, content)
    places = [row for row in rows if row.get("location_type", "").strip() in _PLACES]
    if not places:
        msg = f"{path} has no stops"
        raise DomainError(msg)
    stations = [row.get("parent_station", "") for row in places]
    names = [row["stop_id"] for row in places]
    paths = tuple((station or name,) for station, name in zip(stations, names, strict=True)) if any(stations) else ()
    coordinates = tuple(read_degrees((row["stop_lon"], row["stop_lat"]), path) for row in places)
    return Axis(tuple(names), paths, coordinates)


def read_degrees(cells: Sequence[str], path: Path) -> tuple[float, float]:
    """Read a longitude and a latitude from two cells of a file."""
    texts = [cell.strip() for cell in cells]
    if len(texts) != len(("lon", "lat")) or not all(map(_DEGREES.fullmatch, texts)):
        msg = f"{path}: each place needs a longitude and a latitude in degrees, such as 103.82 and 1.26"
        raise DomainError(msg)
    return float(texts[0]), float(texts[1])


def _rows(path: Path, content: bytes) -> list[dict[str, str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        msg = f"{path} is not UTF-8 text"
        raise DomainError(msg) from None
    # a line that lacks its last columns has them empty
    reader = csv.DictReader(StringIO(text, newline=""), restval="")
    try:
        reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
        rows = list(reader)
    except csv.Error:
        msg = f"{path} is not a comma-separated table"
        raise DomainError(msg) from None
    if not set(_COLUMNS) <= set(reader.fieldnames or ()):
        msg = f"{path} is not a stops.txt of GTFS: it needs the columns {', '.join(_COLUMNS)}"
        raise DomainError(msg)
    return [row for row in rows if any(value.strip() for value in row.values() if isinstance(value, str))]

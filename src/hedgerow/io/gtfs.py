"""The stops of a public transport feed (GTFS `stops.txt`) as places with coordinates."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from hedgerow.data import Axis
from hedgerow.errors import DomainError

__all__ = ["read_degrees", "read_stops"]

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

"""Coordinates of places: one pair of longitude and latitude per value of an axis, as public knowledge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from hedgerow.errors import DomainError

__all__ = ["Coordinates", "checked_coordinates"]

Coordinates: TypeAlias = tuple[tuple[float, float], ...]

#: the largest longitude and latitude, in degrees; longitudes beyond 180 serve maps around the date line
_MOST_LON, _MOST_LAT = 360.0, 90.0
_PAIR = 2


def checked_coordinates(pairs: Any, values: int) -> Coordinates:
    """Return pairs of longitude and latitude as floating-point numbers; refuse anything else.

    Examples
    --------
    >>> checked_coordinates([[103.8, 1]], values=1)
    ((103.8, 1.0),)
    """
    if not isinstance(pairs, (list, tuple)) or not all(map(_is_pair, cast("Sequence[Any]", pairs))):
        msg = "the coordinates of an axis must be pairs of longitude and latitude, such as [103.8, 1.35]"
        raise DomainError(msg)
    known = cast("Sequence[Sequence[float]]", pairs)
    if known and len(known) != values:
        msg = f"an axis of {values} values needs as many coordinates; got {len(known)}"
        raise DomainError(msg)
    # + 0.0 since -0.0 is the same place
    floats = tuple((float(lon) + 0.0, float(lat) + 0.0) for lon, lat in known)
    if not all(abs(lon) <= _MOST_LON and abs(lat) <= _MOST_LAT for lon, lat in floats):
        msg = "coordinates must be degrees: longitudes from -360 to 360, then latitudes from -90 to 90"
        raise DomainError(msg)
    return floats


def _is_pair(pair: Any) -> bool:
    # an integer may have more digits than a floating-point number can
    return (
        isinstance(pair, (list, tuple)) and len(cast("Any", pair)) == _PAIR and all(map(_is_degree, cast("Any", pair)))
    )


def _is_degree(number: Any) -> bool:
    if type(number) is int:
        return abs(number) <= _MOST_LON
    return type(number) is float and math.isfinite(number)

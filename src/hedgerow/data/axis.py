"""One axis of a domain: the values that a column may take, in their public order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias, TypeGuard, cast

from hedgerow.errors import DomainError

Value: TypeAlias = str | int
#: the maximum number of values of a public domain: a receiver of a release keeps them in memory, some 300 bytes each,
#: and a short file can declare a large range of whole numbers
MOST_VALUES = 2_000_000


@dataclass(frozen=True)
class Axis:
    """The values one column may take, in their public order; a value's position is its code.

    `paths` may place each value in a public taxonomy: the groups that contain it, the widest first. `coordinates` may
    place each value on the map: its longitude and latitude in degrees, for instance of a stop, or of the centre of a
    grid cell.

    Examples
    --------
    >>> Axis(("harbour", "museum"), coordinates=((103.82, 1.26), (103.85, 1.29))).coordinates[1]
    (103.85, 1.29)
    """

    values: tuple[Value, ...]
    paths: tuple[tuple[str, ...], ...] = ()
    coordinates: Coordinates = ()

    def __post_init__(self) -> None:
        # whole numbers become floating-point numbers, so that equal axes are written alike
        object.__setattr__(self, "coordinates", checked_coordinates(self.coordinates, len(self.values)))
        if self.paths and len(self.paths) != len(self.values):
            msg = f"an axis of {len(self.values)} values needs as many paths; got {len(self.paths)}"
            raise DomainError(msg)
        if not self.values:
            msg = "an axis of the domain needs at least one value"
            raise DomainError(msg)
        if {type(value) for value in self.values} not in ({str}, {int}):
            msg = "the values of an axis must be all text or all whole numbers"
            raise DomainError(msg)
        if "" in self.codes:
            msg = "a value of an axis is an empty text, which files do not distinguish from a missing value; rename it"
            raise DomainError(msg)
        if any(isinstance(value, str) and not is_text(value) for value in self.values):
            msg = "a value of an axis cannot be written as text: it has a zero byte or a lone surrogate"
            raise DomainError(msg)
        if len(self.codes) != len(self.values):
            msg = "the values of an axis must be distinct"
            raise DomainError(msg)

    @cached_property
    def codes(self) -> Mapping[Value, int]:
        """The code of each value."""
        return MappingProxyType({value: code for code, value in enumerate(self.values)})

    @cached_property
    def by_text(self) -> Mapping[str, int]:
        """The code of each value by its text, since files do not distinguish numbers from texts."""
        return MappingProxyType({str(value): code for code, value in enumerate(self.values)})

    def __len__(self) -> int:
        return len(self.values)

    def shown(self, name: str) -> str:
        """Describe the axis of this name in a few words."""
        return f"{len(self)} values of {name}"

    def to_plain(self) -> dict[str, Any]:
        """Return the axis as plain data; consecutive whole numbers as low and high."""
        first, last = self.values[0], self.values[-1]
        more: dict[str, Any] = {"paths": [list(path) for path in self.paths]} if self.paths else {}
        if self.coordinates:
            more["coordinates"] = [list(pair) for pair in self.coordinates]
        if isinstance(first, int) and isinstance(last, int) and last - first == len(self) - 1:
            consecutive = self.values == tuple(range(first, last + 1))
        else:
            consecutive = False
        if consecutive:
            return {"low": first, "high": last, **more}
        return {"values": list(self.values), **more}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Axis:
        """Read the plain data of `to_plain`."""
        paths = plain.get("paths", [])
        if not _are_paths(paths):
            msg = "the paths of an axis must be lists of texts"
            raise DomainError(msg)
        return cls(
            tuple(plain_values(plain)),
            tuple(map(tuple, paths)),
            plain.get("coordinates", ()),
        )

    def content(self) -> tuple[Any, ...]:
        """All that the axis declares, in order; coordinates only if there are any."""
        return (self.values, self.paths, *([self.coordinates] if self.coordinates else []))

    def take(self, codes: Sequence[int]) -> Axis:
        """The axis of some of the values, at least one, in this order."""
        return Axis(
            tuple(self.values[code] for code in codes),
            tuple(self.paths[code] for code in codes) if self.paths else (),
            tuple(self.coordinates[code] for code in codes) if self.coordinates else (),
        )


def plain_values(plain: Mapping[str, Any]) -> Sequence[Value]:
    """Return the values of an axis given as plain data; consecutive numbers as a range, not yet expanded."""
    names = set(plain) - {"paths", "coordinates"}
    if plain.get("numbers") is True:
        return ()  # a column of numbers has bounds at most, and no list of values
    if names == {"values"} and isinstance(plain["values"], list):
        return cast("list[Value]", plain["values"])
    if names == {"low", "high"}:
        low, high = plain["low"], plain["high"]
        if type(low) is int and type(high) is int and 0 <= high - low < MOST_VALUES:
            return range(low, high + 1)
    msg = f"an axis needs either values, or low and high, with at most {MOST_VALUES:,} values"
    raise DomainError(msg)


def _are_paths(plain: object) -> TypeGuard[list[list[str]]]:
    return _is_list(plain) and all(_is_list(path) and all(isinstance(part, str) for part in path) for path in plain)


def _is_list(plain: object) -> TypeGuard[list[object]]:
    return isinstance(plain, list)


def is_text(value: str) -> bool:
    """Whether a text can be written to a file and read back: no zero byte, no lone surrogate."""
    try:
        return b"\0" not in value.encode()
    except UnicodeEncodeError:
        return False


# Coordinates of places.

#: one pair of longitude and latitude per value of an axis, as public knowledge
Coordinates: TypeAlias = tuple[tuple[float, float], ...]
#: the largest longitude and latitude, in degrees; longitudes beyond 180 serve maps around the date line
_MOST_LON, _MOST_LAT = 360.0, 90.0
_PAIR = 2


def checked_coordinates(pairs: object, values: int) -> Coordinates:
    """Return pairs of longitude and latitude as floating-point numbers; refuse anything else.

    Examples
    --------
    >>> checked_coordinates([[103.8, 1]], values=1)
    ((103.8, 1.0),)
    """
    if not _are_pairs(pairs):
        msg = "the coordinates of an axis must be pairs of longitude and latitude, such as [103.8, 1.35]"
        raise DomainError(msg)
    if pairs and len(pairs) != values:
        msg = f"an axis of {values} values needs as many coordinates; got {len(pairs)}"
        raise DomainError(msg)
    # + 0.0 since -0.0 is the same place
    floats = tuple((float(lon) + 0.0, float(lat) + 0.0) for lon, lat in pairs)
    if not all(abs(lon) <= _MOST_LON and abs(lat) <= _MOST_LAT for lon, lat in floats):
        msg = "coordinates must be degrees: longitudes from -360 to 360, then latitudes from -90 to 90"
        raise DomainError(msg)
    return floats


def _are_pairs(pairs: object) -> TypeGuard[Sequence[Sequence[float]]]:
    return _is_sequence(pairs) and all(
        _is_sequence(pair) and len(pair) == _PAIR and all(map(_is_degree, pair)) for pair in pairs
    )


def _is_sequence(plain: object) -> TypeGuard[Sequence[object]]:
    return isinstance(plain, (list, tuple))


def _is_degree(number: object) -> bool:
    if type(number) is int:  # it may have more digits than a floating-point number can
        return abs(number) <= _MOST_LON
    return type(number) is float and math.isfinite(number)

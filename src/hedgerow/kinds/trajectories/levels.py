"""Public hierarchies of places and times: regions that contain regions, and bins that contain bins."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from hedgerow.data.axis import Axis
from hedgerow.data.domain import Domain
from hedgerow.errors import DomainError, ParameterError
from hedgerow.numerics.arrays import Integers

_GRID = r"[0-9]{0,3}\.?[0-9]{1,9}"
_WIDTHS = r"[1-9][0-9]{0,17}(,[1-9][0-9]{0,17})*"
_MOST_DOUBLINGS = 30
#: labels are numbered; together they must fit into a part of an int64
_MOST_LABELS = 2**40


@dataclass(frozen=True, eq=False)
class PlaceTimeLevels:
    """The levels of places and of times, the finest first; a label is a region of one level in a bin of another.

    Labels are numbered: `code` gives the number of a label, and `split` the level of places, the region, the level of
    times and the bin of each number.

    Examples
    --------
    >>> place = Axis(("quay", "pier", "mall"), (("port",), ("port",), ("centre",)))
    >>> levels = PlaceTimeLevels.of(Domain.declare(place=place, time=range(4)))
    >>> [level.regions for level in levels.places], levels.times.widths
    ([('quay', 'pier', 'mall'), ('centre', 'port')], (1, 2, 4))
    """

    places: tuple[RegionLevel, ...]
    times: TimeBins
    #: how the levels are made of the domain, for a reader of the release: the regions, and the widths of the bins
    regions_by: str
    bins: str

    @classmethod
    def of(cls, domain: Domain, *, grid: str = "", doublings: int = 0, widths: str = "") -> PlaceTimeLevels:
        """Make the levels of a domain: of cells of a grid over its coordinates, or of the paths of its places."""
        axis, times = domain.axis("place"), domain.values("time")
        if not isinstance(times[0], int):
            msg = (
                "coarser times need times that are whole numbers, such as hours of the day; declare them, and read "
                "dates with bin and fold"
            )
            raise DomainError(msg)
        bins = TimeBins.of([int(value) for value in times], widths)
        finest = RegionLevel("0", tuple(map(str, axis.values)), np.arange(len(axis)))
        coarser = _grid_levels(axis, grid, doublings) if grid else _path_levels(axis)
        by = f"grid {grid} {doublings}" if grid else ("paths" if coarser else "places")
        levels = cls((finest, *coarser), bins, by, ",".join(map(str, bins.widths)))
        if int(levels.offsets[-1]) > _MOST_LABELS:
            msg = "there are too many labels; declare fewer places, or coarser times"
            raise ParameterError(msg)
        return levels

    @classmethod
    def read(cls, domain: Domain, regions_by: str, bins: str) -> PlaceTimeLevels:
        """Make the levels of a domain again, as `regions_by` and `bins` describe them."""
        parts = regions_by.split(" ")
        grid, doublings = (parts[1], int(parts[2])) if parts[0] == "grid" else ("", 0)
        levels = cls.of(domain, grid=grid, doublings=doublings, widths=bins)
        if (levels.regions_by, levels.bins) != (regions_by, bins):
            msg = "the levels of labels are not those of the domain"
            raise DomainError(msg)
        return levels

    @cached_property
    def offsets(self) -> Integers:
        """The first number of the labels of each pair of levels, and the number of all labels."""
        sizes = [len(level.regions) * bins for level in self.places for bins in self.times.counts()]
        return np.concatenate(([0], np.cumsum(np.array(sizes, np.int64))))

    @property
    def coarsest(self) -> tuple[int, int]:
        """The numbers of the coarsest levels of places and of times."""
        return len(self.places) - 1, len(self.times.widths) - 1

    def bins_of(self, times: Sequence[int]) -> list[Integers]:
        """The bin of each of these times, on each level."""
        values = np.array(times, np.int64) - self.times.origin
        return [values // width for width in self.times.widths]

    def code(self, place_level: int, region: Integers, time_level: int, number: Integers) -> Integers:
        """The numbers of labels of one pair of levels."""
        bins = self.times.counts()
        return self.offsets[place_level * len(bins) + time_level] + region * bins[time_level] + number

    def split(self, codes: Integers) -> tuple[Integers, Integers, Integers, Integers]:
        """The level of places, the region, the level of times and the bin of each label."""
        at = np.searchsorted(self.offsets, codes, "right") - 1
        bins = np.array(self.times.counts(), np.int64)
        place_level, time_level = np.divmod(at, len(bins))
        region, number = np.divmod(codes - self.offsets[at], bins[time_level])
        return place_level, region, time_level, number

    def sort_key(self, codes: Integers) -> tuple[Integers, ...]:
        """The keys of the canonical order, the last first: start of the bin, its width, level of places, region."""
        place_level, region, time_level, number = self.split(codes)
        start = number * np.array(self.times.widths, np.int64)[time_level]
        return region, place_level, time_level, start

    def find(self, typed: str) -> tuple[int, int]:
        """The numbers of two levels that are typed as the name of a level of places and a width of bins: `1,4`."""
        place, _, width = typed.partition(",")
        names = [level.name for level in self.places]
        widths = [str(width) for width in self.times.widths]
        if place.strip() not in names or width.strip() not in widths:
            msg = (
                f"levels are typed as a level of places and a width of time bins, such as {names[-1]},{widths[-1]}; "
                f"there are {', '.join(names)} and {', '.join(widths)}"
            )
            raise ParameterError(msg)
        return names.index(place.strip()), widths.index(width.strip())


@dataclass(frozen=True, eq=False)
class RegionLevel:
    """One level of places: its name, the names of its regions, and the region of each place of the domain."""

    name: str
    regions: tuple[str, ...]
    of_place: Integers

    @cached_property
    def sizes(self) -> Integers:
        """How many places each region has."""
        return np.bincount(self.of_place, minlength=len(self.regions))


@dataclass(frozen=True)
class TimeBins:
    """Levels of times: bins of each width, from the origin on; each width divides the next, the last is the period.

    Examples
    --------
    >>> TimeBins.of(range(24), "")
    TimeBins(origin=0, widths=(1, 2, 4, 8, 24))
    >>> TimeBins.of(range(300, 1440, 60), "120,240")
    TimeBins(origin=0, widths=(60, 120, 240, 1440))
    """

    origin: int
    widths: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[int], typed: str) -> TimeBins:
        """Make the levels of these times: the declared widths, or doublings of the finest as long as they fit."""
        low, high = min(values), max(values)
        step = math.gcd(*(value - low for value in values)) or 1
        span = high + step - low
        # hours of the day start at 0 even if nobody is out before 5
        origin = 0 if low % step == 0 and 0 <= low < span else low
        period = high + step - origin
        widths = [step]
        if typed:
            widths += [width for width in _read_widths(typed) if width != step]
        else:
            while 2 * widths[-1] < period and period % (2 * widths[-1]) == 0:
                widths.append(2 * widths[-1])
        widths += [period] if widths[-1] != period else []
        if any(next_ <= width or next_ % width for width, next_ in itertools.pairwise(widths)):
            msg = (
                f"each width of time bins must divide the next, from the finest ({step}) to the whole period ({period})"
                f"; got {','.join(map(str, widths))}"
            )
            raise ParameterError(msg)
        return cls(origin, tuple(widths))

    def counts(self) -> list[int]:
        """The number of bins of each level."""
        return [self.widths[-1] // width for width in self.widths]

    def interval(self, level: int, number: int) -> tuple[int, int]:
        """The times of a bin: from the first on, and before the second."""
        start = self.origin + number * self.widths[level]
        return start, start + self.widths[level]


def propose_bins(values: Sequence[int]) -> list[int]:
    """Propose widths of time bins, each of which divides the next: doublings of the finest, then the whole period.

    Examples
    --------
    >>> propose_bins(range(24)), propose_bins(range(0, 1440, 15)), propose_bins([3])
    ([1, 2, 4, 8, 24], [15, 30, 60, 120, 240, 480, 1440], [])
    """
    return list(TimeBins.of(values, "").widths) if len(values) > 1 else []


def _read_widths(typed: str) -> list[int]:
    text = typed.replace(" ", "")
    if not re.fullmatch(_WIDTHS, text):
        msg = f"widths of time bins are whole numbers separated by commas, such as 2,4,24; got {typed[:40]!r}"
        raise ParameterError(msg)
    return [int(width) for width in text.split(",")]


def _path_levels(axis: Axis) -> tuple[RegionLevel, ...]:
    """The levels of declared paths, the narrowest groups first; groups are compared with their level."""
    if not axis.paths:
        return ()
    if len({len(path) for path in axis.paths}) > 1:
        msg = "all paths of places must have the same number of groups; fill in the missing ones"
        raise DomainError(msg)
    names = list(zip(*axis.paths, strict=True))[::-1]
    levels = tuple(_numbered(str(number), column, column) for number, column in enumerate(names, 1))
    _require_nested(levels)
    return levels


def _numbered(name: str, keys: Sequence[Hashable], names: Sequence[str]) -> RegionLevel:
    """Number the regions of a level in the order of their names."""
    shown = dict(zip(keys, names, strict=True))
    ordered = sorted(shown, key=lambda key: shown[key])
    numbers = {key: number for number, key in enumerate(ordered)}
    of_place = np.array([numbers[key] for key in keys], np.int64)
    return RegionLevel(name, tuple(shown[key] for key in ordered), of_place)


def _require_nested(levels: Sequence[RegionLevel]) -> None:
    """Refuse a group of a finer level that lies in two groups of a coarser one."""
    for fine, coarse in itertools.pairwise(levels):
        pairs = set(zip(fine.of_place.tolist(), coarse.of_place.tolist(), strict=True))
        if len(pairs) != len(fine.regions):
            msg = (
                f"the paths of places do not nest: a group of level {fine.name} lies in two groups of level "
                f"{coarse.name}; give the two groups different names"
            )
            raise DomainError(msg)


def _grid_levels(axis: Axis, grid: str, doublings: int) -> tuple[RegionLevel, ...]:
    """The cells of a grid over the coordinates, and of coarser grids with cells of twice the size each."""
    if not re.fullmatch(_GRID, grid) or Decimal(grid) == 0:
        msg = f"grid must be a size in degrees, such as 0.01; got {grid[:40]!r}"
        raise ParameterError(msg)
    if not 0 <= doublings <= _MOST_DOUBLINGS:
        msg = f"a grid is doubled at most {_MOST_DOUBLINGS} times; got {doublings}"
        raise ParameterError(msg)
    if not axis.coordinates:
        msg = "a grid needs places with coordinates; declare them in the domain"
        raise DomainError(msg)
    size = Fraction(grid)
    # the exact decimals that are written: no rounding puts a place into the cell beside its own
    cells = np.array([[_floor(degrees, size) for degrees in pair] for pair in axis.coordinates], np.int64)
    levels: list[RegionLevel] = []
    for doubling in range(doublings + 1):
        halved = (cells >> doubling).tolist()  # halving with floor, so that grids nest
        keys: list[Hashable] = [(column, row) for column, row in halved]
        names = [f"{column}:{row}" for column, row in halved]
        levels.append(_numbered(f"{(Decimal(grid) * 2**doubling).normalize():f}", keys, names))
    return tuple(levels)


def _floor(degrees: float, size: Fraction) -> int:
    return math.floor(Fraction(repr(degrees)) / size)

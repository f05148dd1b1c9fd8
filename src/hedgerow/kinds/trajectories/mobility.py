"""When, where, from where to where and how long: the distributions of trajectories that people ask about.

Where labels are coarser than the original's places and times, they are spread evenly over what they stand for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any, TypeAlias

import numpy as np

from hedgerow.data import Axis, Domain
from hedgerow.errors import ParameterError
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.numerics.arrays import Floats, Integers

#: a sparse matrix of scipy, which is slow to import and has no types
Sparse: TypeAlias = Any
#: tables with so many cells are counted in an array, larger ones by sorting
_DENSE = 2**24


@dataclass(frozen=True, eq=False)
class Mobility:
    """Distributions of one data set over a frame; each sums to 1, or to 0 if the data is empty."""

    visits: LabelledVisits
    frame: Frame

    @cached_property
    def start_hours(self) -> Floats:
        """Times of first visits."""
        return self._hours(self.visits.ends[0])

    @cached_property
    def end_hours(self) -> Floats:
        """Times of last visits."""
        return self._hours(self.visits.ends[1])

    @cached_property
    def hours(self) -> Floats:
        """Times of all visits."""
        return self._hours(slice(None))

    @cached_property
    def places(self) -> Floats:
        """Places of all visits."""
        return self.visits.regions.distribution(self.visits.places)

    @cached_property
    def hours_and_places(self) -> Sparse:
        """Time and place of all visits."""
        visits, each = self.visits, np.arange(self.visits.regions.values)
        return _normal(_joint(visits.bins, self.frame.hours, visits.times, visits.regions, each, visits.places))

    @cached_property
    def parts_and_places(self) -> Sparse:
        """Part of the day and region of all visits."""
        return self._parts_and_places(slice(None))

    @cached_property
    def parts_and_origins(self) -> Sparse:
        """Part of the day and region of first visits."""
        return self._parts_and_places(self.visits.ends[0])

    @cached_property
    def flows(self) -> Sparse:
        """Regions of the first and of the last visit of a record; the same one if it has a single visit."""
        return self._pairs(*self.visits.ends)

    @cached_property
    def transitions(self) -> Sparse:
        """Regions of two consecutive visits of a record."""
        return self._pairs(self.visits.steps, self.visits.steps + 1)

    @cached_property
    def durations(self) -> Floats:
        """Time steps from the first to the last visit of a record; 0 where coarse labels leave the order open."""
        first, last = (self.visits.times[at] for at in self.visits.ends)
        each, spread = np.arange(self.visits.bins.values), self.visits.bins
        table = _normal(_joint(spread, each, first, spread, each, last)).tocoo()
        rows, columns = np.asarray(table.row, np.int64), np.asarray(table.col, np.int64)
        weights = np.asarray(table.data, np.float64)
        return np.bincount(np.maximum(0, columns - rows), weights, spread.values).astype(np.float64)

    @property
    def records(self) -> int:
        """Records with visits."""
        return len(self.visits.ends[0])

    def lengths(self, longest: int) -> Floats:
        """Numbers of visits of the records that have visits; those of `longest` and more together."""
        counted = np.minimum(self.visits.lengths[self.visits.lengths > 0], longest)
        return np.bincount(counted, minlength=longest + 1) / max(1, len(counted))

    def share_of_trips(self) -> float:
        """The share of records with two visits or more, among all records."""
        lengths = self.visits.lengths
        return float((lengths > 1).mean()) if len(lengths) else 0.0

    def precision(self) -> tuple[float, float]:
        r"""The mean precision of the places and of the times of labels.

        It is $1 - \ln(s) / \ln(S)$ for a label that stands for $s$ of all $S$ values: 1 for a single value, 0 for a
        label that could be anything. 1 if there is one value only, 0 if there are no labels.
        """
        visits = self.visits
        return _precision(visits.regions, visits.places), _precision(visits.bins, visits.times)

    def _hours(self, at: Integers | slice) -> Floats:
        return self.visits.bins.distribution(self.visits.times[at], self.frame.hours)

    def _parts_and_places(self, at: Integers | slice) -> Sparse:
        visits, regions = self.visits, self.frame.regions.of_place
        return _normal(
            _joint(visits.bins, self.frame.parts, visits.times[at], visits.regions, regions, visits.places[at])
        )

    def _pairs(self, first: Integers, second: Integers) -> Sparse:
        visits, regions = self.visits, self.frame.regions.of_place
        places = visits.places
        return _normal(_joint(visits.regions, regions, places[first], visits.regions, regions, places[second]))


def total_variation(first: Floats | Sparse, second: Floats | Sparse) -> float:
    """Half the sum of differences of two distributions, dense or sparse; 1 if just one of them is empty.

    Examples
    --------
    >>> total_variation(np.array([0.5, 0.5, 0]), np.array([0, 0.5, 0.5])), total_variation(np.ones(1), np.zeros(1))
    (0.5, 1.0)
    """
    one, other = (bool(distribution.sum() > 0) for distribution in (first, second))
    if not (one and other):
        return float(one != other)
    return min(1.0, 0.5 * float(abs(first - second).sum()))


def most_frequent_cells(table: Sparse, many: int) -> list[tuple[int, int]]:
    """The cells with most weight of a sparse matrix, as row and column; among equals those that come first."""
    cells = table.tocoo()
    # spread weights are sums of fractions: nearly equal ones count as equal
    weights = np.round(np.asarray(cells.data, np.float64), 12)
    order = np.lexsort((cells.col, cells.row, -weights))[:many]
    return list(zip(cells.row[order].tolist(), cells.col[order].tolist(), strict=True))


def _joint(first: Spread, groups: Integers, a: Integers, second: Spread, others: Integers, b: Integers) -> Sparse:
    """How often labels `a` of the first spread, in groups, occur with labels `b` of the second: a sparse matrix."""
    shape, pairs = (first.labels, second.labels), a * second.labels + b
    if shape[0] * shape[1] <= _DENSE:
        counted = np.bincount(pairs, minlength=shape[0] * shape[1])
        codes = np.flatnonzero(counted)
        counts = counted[codes]
    else:
        codes, counts = np.unique(pairs, return_counts=True)
    table = _sparse(counts.astype(np.float64), *np.divmod(codes, second.labels), shape)
    return (first.grouped(groups).T @ table @ second.grouped(others)).tocsr()


def _sparse(weights: Floats, rows: Integers, columns: Integers, shape: tuple[int, int]) -> Sparse:
    """Make a sparse matrix of these cells."""
    from scipy import sparse  # noqa: PLC0415 - slow to import

    return sparse.csr_array((weights, (rows, columns)), shape=shape)


def _normal(table: Sparse) -> Sparse:
    """Scale a table to 1, unless it is empty."""
    whole = float(table.sum())
    return table / whole if whole else table


def _precision(spread: Spread, labels: Integers) -> float:
    """The mean precision of labels of one axis: see `Mobility.precision`."""
    if not len(labels):
        return 0.0
    if spread.values == 1:
        return 1.0
    return float((1 - np.log(np.maximum(1, spread.sizes[labels])) / math.log(spread.values)).mean())


# ---- visits as labels over the places and times of the original, exact or coarser


@dataclass(frozen=True, eq=False)
class LabelledVisits:
    """The visits of records, each a label of a place and one of a time, in their order.

    Record `r` has the labels `starts[r] : starts[r + 1]`. `regions` and `bins` say which places and times of the
    original's domain the labels stand for: exactly one, unless a release has coarser places or times.
    """

    starts: Integers
    places: Integers
    times: Integers
    regions: Spread
    bins: Spread

    @classmethod
    def of(cls, data: Trajectories, domain: Domain) -> LabelledVisits:
        """The visits of trajectories over the domain of the original."""
        starts, pairs, _ = data.arrays()
        size = data.domain.size("place")
        same = data.domain is domain
        regions, bins = (
            Spread.exact(domain.size(name)) if same else Spread.renamed(data.domain.axis(name), domain.axis(name))
            for name in ("place", "time")
        )
        times, places = np.divmod(pairs, size)
        if len(pairs) and not (regions.sizes[places].all() and bins.sizes[times].all()):
            msg = (
                "the release has visits that are not in the data; "
                "give the same --columns and --read options as for publishing"
            )
            raise ParameterError(msg)
        return cls(starts, places, times, regions, bins)

    @property
    def coarser(self) -> bool:
        """Whether a label stands for several places or times."""
        return bool((self.regions.sizes > 1).any() or (self.bins.sizes > 1).any())

    @cached_property
    def lengths(self) -> Integers:
        """The number of visits of each record."""
        return np.diff(self.starts)

    @cached_property
    def ends(self) -> tuple[Integers, Integers]:
        """The positions of the first and of the last visit of each record that has visits."""
        filled = self.lengths > 0
        return self.starts[:-1][filled], self.starts[1:][filled] - 1

    @cached_property
    def steps(self) -> Integers:
        """The positions of visits that another visit of the same record follows."""
        last = np.zeros(len(self.places), np.bool_)
        last[self.ends[1]] = True
        return np.flatnonzero(~last)

    def independent(self, rng: np.random.Generator) -> LabelledVisits:
        """The control *independent visits*: all visits dealt to the records at random; each record keeps its number."""
        order = rng.permutation(len(self.places))
        row = np.repeat(np.arange(len(self.lengths)), self.lengths)
        places, times = self.places[order], self.times[order]
        sorted_ = np.lexsort((times, row))
        return replace(self, places=places[sorted_], times=times[sorted_])

    def with_shuffled_times(self, rng: np.random.Generator) -> LabelledVisits:
        """The control *shuffled times*: each record has the times of another record with as many visits."""
        times = self.times.copy()
        for length in np.unique(self.lengths[self.lengths > 0]).tolist():
            at = self.starts[:-1][self.lengths == length, None] + np.arange(length, dtype=np.int64)
            times[at] = self.times[at[rng.permutation(len(at))]]
        return replace(self, times=times)


@dataclass(frozen=True, eq=False)
class Spread:
    """Which values of an axis each label stands for: label `rows[i]` stands for value `columns[i]`.

    A label that stands for several values is taken to be each of them with equal weight.

    Examples
    --------
    >>> halves = Spread(labels=2, values=4, rows=np.array([0, 0, 1, 1]), columns=np.arange(4))
    >>> halves.distribution(np.array([0, 0, 1])).round(3).tolist()
    [0.333, 0.333, 0.167, 0.167]
    """

    labels: int
    values: int
    rows: Integers
    columns: Integers

    @classmethod
    def exact(cls, values: int) -> Spread:
        """Each label is one value."""
        return cls(values, values, np.arange(values), np.arange(values))

    @classmethod
    def renamed(cls, released: Axis, original: Axis) -> Spread:
        """Labels are the values of one axis, looked up by their text in another."""
        codes = np.array([original.by_text.get(str(value), -1) for value in released.values], np.int64)
        return cls(len(released), len(original), np.flatnonzero(codes >= 0), codes[codes >= 0])

    @cached_property
    def sizes(self) -> Integers:
        """How many values each label stands for."""
        return np.bincount(self.rows, minlength=self.labels)

    def grouped(self, groups: Integers) -> Sparse:
        """A sparse matrix: the share of each label in each group of values."""
        shape = (self.labels, int(groups.max(initial=-1)) + 1)
        return _sparse(1 / self.sizes[self.rows], self.rows, groups[self.columns], shape)

    def distribution(self, labels: Integers, groups: Integers | None = None) -> Floats:
        """The distribution of the groups of some labels; all zeros if there are no labels."""
        shares = self.grouped(np.arange(self.values) if groups is None else groups)
        counts = np.bincount(labels, minlength=self.labels) / max(1, len(labels))
        return np.asarray(counts @ shares)


# ---- the public frame: hours, parts of the day, and regions if there are too many places to compare all pairs of them

#: parts of the day in which places are compared: 4 hours each, if the times are those of a day
_PARTS = 6
_ISO_HOUR = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([0-9]{2}):")
_HOURS = 24
#: from this number of places on, flows are compared between regions
_MOST = 1_000
_DOUBLINGS = 40


@dataclass(frozen=True, eq=False)
class Frame:
    """The public frame in which data is compared: the regions of places, the hour and the part of each time."""

    regions: Regions
    hours: Integers
    hour_names: tuple[str, ...]
    parts: Integers

    @classmethod
    def of(cls, domain: Domain) -> Frame:
        """Make the frame of a domain."""
        hours, names = _hours_of(domain.axis("time"))
        return cls(evaluation_regions(domain.axis("place")), hours, names, hours * _PARTS // len(names))


def _hours_of(axis: Axis) -> tuple[Integers, tuple[str, ...]]:
    """The hour of each time if times are dates with hours, else each time by itself; and what they are called."""
    hours = [_ISO_HOUR.match(str(value)) for value in axis.values]
    if all(hours):
        return np.array([int(hour.group(1)) for hour in hours if hour], np.int64), tuple(map(str, range(_HOURS)))
    return np.arange(len(axis)), tuple(map(str, axis.values))


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of places: the number of the region of each place, and the names of the regions."""

    of_place: Integers
    names: tuple[str, ...]
    #: what the regions are: places, groups of them, or cells of a grid
    called: str


def evaluation_regions(axis: Axis, most: int = _MOST) -> Regions:
    """The regions in which flows are compared: each place by itself, unless there are too many.

    Regions are public: the narrowest groups of the declared paths of which there are few enough, or cells of a grid
    over the coordinates, of the smallest size 0.005, 0.01, 0.02, ... degrees that has few enough of them.

    Examples
    --------
    >>> axis = Axis(("a", "b", "c"), coordinates=((2.30, 48.80), (2.301, 48.801), (2.4, 48.9)))
    >>> regions = evaluation_regions(axis, most=2)
    >>> regions.of_place.tolist(), regions.names, regions.called
    ([0, 0, 1], ('48.8,2.3', '48.9,2.4'), 'cells of 0.005 degrees')
    """
    if len(axis) > most and axis.paths:
        for level in range(max(map(len, axis.paths)), 0, -1):
            regions = _numbered(["/".join(path[:level]) for path in axis.paths], "groups of places")
            if len(regions.names) <= most:
                return regions
    size = Fraction(1, 200)
    for _ in range(_DOUBLINGS if len(axis) > most and axis.coordinates else 0):
        names = [",".join(_lower(degree, size) for degree in reversed(pair)) for pair in axis.coordinates]
        regions = _numbered(names, f"cells of {float(size):g} degrees")
        if len(regions.names) <= most:
            return regions
        size *= 2
    return Regions(np.arange(len(axis)), tuple(map(str, axis.values)), "places")


def _lower(degree: float, size: Fraction) -> str:
    """The lower bound of the cell of a degree, as a text."""
    return f"{float(floor(Fraction(repr(degree)) / size) * size):g}"


def _numbered(names: Sequence[str], called: str) -> Regions:
    """Number names in the order in which they first occur."""
    numbers: dict[str, int] = {}
    of_place = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    return Regions(of_place, tuple(numbers), called)

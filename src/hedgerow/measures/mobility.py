"""When, where, from where to where and how long: the distributions of trajectories that people ask about.

Where labels are coarser than the original's places and times, they are spread evenly over what they stand for.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Axis, Domain
from hedgerow.measures.evaluation_regions import Regions, evaluation_regions
from hedgerow.measures.labelled_visits import LabelledVisits, Spread

__all__ = ["Frame", "Mobility", "most_frequent_cells"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

#: parts of the day in which places are compared: 4 hours each, if the times are those of a day
_PARTS = 6
_ISO_HOUR = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([0-9]{2}):")
_HOURS = 24
#: tables with so many cells are counted in an array, larger ones by sorting
_DENSE = 2**24


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
    def hours_and_places(self) -> Any:
        """Time and place of all visits."""
        visits, each = self.visits, np.arange(self.visits.regions.values)
        return _normal(_joint(visits.bins, self.frame.hours, visits.times, visits.regions, each, visits.places))

    @cached_property
    def parts_and_places(self) -> Any:
        """Part of the day and region of all visits."""
        return self._parts_and_places(slice(None))

    @cached_property
    def parts_and_origins(self) -> Any:
        """Part of the day and region of first visits."""
        return self._parts_and_places(self.visits.ends[0])

    @cached_property
    def flows(self) -> Any:
        """Regions of the first and of the last visit of a record; the same one if it has a single visit."""
        return self._pairs(*self.visits.ends)

    @cached_property
    def transitions(self) -> Any:
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

    def _hours(self, at: Any) -> Floats:
        return self.visits.bins.distribution(self.visits.times[at], self.frame.hours)

    def _parts_and_places(self, at: Any) -> Any:
        visits, regions = self.visits, self.frame.regions.of_place
        return _normal(
            _joint(visits.bins, self.frame.parts, visits.times[at], visits.regions, regions, visits.places[at])
        )

    def _pairs(self, first: Integers, second: Integers) -> Any:
        visits, regions = self.visits, self.frame.regions.of_place
        places = visits.places
        return _normal(_joint(visits.regions, regions, places[first], visits.regions, regions, places[second]))


def most_frequent_cells(table: Any, many: int) -> list[tuple[int, int]]:
    """The cells with most weight of a sparse matrix, as row and column; among equals those that come first."""
    cells = table.tocoo()
    # spread weights are sums of fractions: nearly equal ones count as equal
    weights = np.round(np.asarray(cells.data, np.float64), 12)
    order = np.lexsort((cells.col, cells.row, -weights))[:many]
    return list(zip(cells.row[order].tolist(), cells.col[order].tolist(), strict=True))


def _joint(first: Spread, groups: Integers, a: Integers, second: Spread, others: Integers, b: Integers) -> Any:
    """How often labels `a` of the first spread, in groups, occur with labels `b` of the second: a sparse matrix."""
    from scipy import sparse  # noqa: PLC0415 - slow to import

    shape, pairs = (first.labels, second.labels), a * second.labels + b
    if shape[0] * shape[1] <= _DENSE:
        counted = np.bincount(pairs, minlength=shape[0] * shape[1])
        codes = np.flatnonzero(counted)
        counts = counted[codes]
    else:
        codes, counts = np.unique(pairs, return_counts=True)
    table = sparse.csr_array((counts.astype(np.float64), np.divmod(codes, second.labels)), shape=shape)
    return sparse.csr_array(first.grouped(groups).T @ table @ second.grouped(others))


def _normal(table: Any) -> Any:
    whole = float(table.sum())
    return table / whole if whole else table


def _precision(spread: Spread, labels: Integers) -> float:
    if not len(labels):
        return 0.0
    if spread.values == 1:
        return 1.0
    return float((1 - np.log(np.maximum(1, spread.sizes[labels])) / math.log(spread.values)).mean())


def _hours_of(axis: Axis) -> tuple[Integers, tuple[str, ...]]:
    """The hour of each time if times are dates with hours, else each time by itself; and what they are called."""
    hours = [_ISO_HOUR.match(str(value)) for value in axis.values]
    if all(hours):
        return np.array([int(hour.group(1)) for hour in hours if hour], np.int64), tuple(map(str, range(_HOURS)))
    return np.arange(len(axis)), tuple(map(str, axis.values))

"""Visits of a release as labels over the places and times of the original, exact or coarser, ready to be compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Axis, Domain, Trajectories
from hedgerow.errors import ParameterError

__all__ = ["LabelledVisits", "Spread", "total_variation"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


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

    def grouped(self, groups: Integers) -> Any:
        """A sparse matrix: the share of each label in each group of values."""
        from scipy import sparse  # noqa: PLC0415 - slow to import

        shape = (self.labels, int(groups.max(initial=-1)) + 1)
        weights = 1 / self.sizes[self.rows]
        return sparse.csr_array((weights, (self.rows, groups[self.columns])), shape=shape)

    def distribution(self, labels: Integers, groups: Integers | None = None) -> Floats:
        """The distribution of the groups of some labels; all zeros if there are no labels."""
        shares = self.grouped(np.arange(self.values) if groups is None else groups)
        counts = np.bincount(labels, minlength=self.labels) / max(1, len(labels))
        return np.asarray(counts @ shares)


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


def total_variation(first: Any, second: Any) -> float:
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

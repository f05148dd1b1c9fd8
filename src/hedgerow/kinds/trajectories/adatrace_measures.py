"""The seven measures of AdaTrace, for trajectories whose places have coordinates [1]_.

Distances are Euclidean in degrees, longitudes multiplied by the cosine of the mean latitude; the box and its grids are
those of the public places, never those of the visits. A coarser label is a point: the mean of its places. The paper
leaves some choices open; these are ours.

1. *Query error*: 200 discs, the centre uniform in the box and the radius uniform up to a quarter of its diagonal; how
   many records have a visit in the disc. Mean relative error, relative to at least 1 % of all records.
2. *Coverage*: Kendall's tau of the visits in the cells of a 15 x 15 grid that have a place: pairs of cells in the same
   strict order minus those in the opposite one, over all pairs.
3. *Pattern F1*: patterns are runs of two or three cells of a 6 x 6 grid, where a cell that repeats counts once; the
   support is the number of records that have it. F1 of the 100 most frequent ones.
4. *Pattern support error*: mean relative error of the support of the 100 most frequent patterns of the original.
5. *Trip error*: Jensen-Shannon divergence (base 2: 0 to 1) of the pairs of first and last cell of the 6 x 6 grid.
6. *Diameter error*: the same of the largest distance of two visits of a record, in 20 buckets from 0 to the largest of
   the original; beyond counts as the last.
7. *Travel distance error*: the same of the sum of the distances of consecutive visits. Where one record travels much
   farther than all others, nearly all are in the first bucket, and the measure says little.

References
----------
.. [1] M. E. Gursoy, L. Liu, S. Truex, L. Yu, W. Wei. "Utility-aware synthesis of differentially private and
   attack-resilient location traces". CCS 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.data import Axis
from hedgerow.kinds.trajectories.mobility import LabelledVisits
from hedgerow.measures.scoring import compared_score, mean_score
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.score import Better, Score

_QUERIES, _SANITY = 200, 0.01
_COARSE, _FINE = 6, 15
_PATTERNS = 100
_BUCKETS = 20
#: queries that are answered at once: one bit each
_BITS = 64


def map_scores(
    axis: Axis,
    original: LabelledVisits,
    released: LabelledVisits,
    controls: Mapping[str, LabelledVisits],
    rng: np.random.Generator,
) -> list[Score]:
    """Compare a release with the original by the seven measures; none if the places have no coordinates."""
    box = Map.of(axis)
    if box is None or not original.lengths.any():
        return []
    truth = Traces(original, box)
    compared = {"": Traces(released, box), **{name: Traces(visits, box) for name, visits in controls.items()}}
    centres = box.low + rng.random((_QUERIES, 2)) * box.size
    radii = rng.random(_QUERIES) * float(np.hypot(*box.size)) / 4
    exact = truth.counts_in(centres, radii)
    least = np.maximum(exact, max(1.0, _SANITY * len(original.lengths)))
    errors = {name: np.abs(data.counts_in(centres, radii) - exact) / least for name, data in compared.items()}
    others = {name: float(error.mean()) for name, error in errors.items() if name}
    placed = np.unique(box.cells(box.points, _FINE))

    def score(name: str, read: Callable[[Traces], float], better: Better = "lower") -> Score:
        return compared_score(name, {who: read(data) for who, data in compared.items()}, better=better)

    return [
        mean_score("AdaTrace, query error", errors[""], others),
        score("AdaTrace, coverage (Kendall's tau)", lambda data: _tau(truth, data, placed), "higher"),
        score("AdaTrace, F1 of frequent patterns", lambda data: _f1(truth.patterns, data.patterns), "higher"),
        score("AdaTrace, support error of frequent patterns", lambda data: _support(truth.patterns, data.patterns)),
        score("AdaTrace, trip error", lambda data: divergence(truth.trips, data.trips)),
        score("AdaTrace, diameter error", lambda data: _bucketed(truth.diameters, data.diameters)),
        score("AdaTrace, travel distance error", lambda data: _bucketed(truth.distances, data.distances)),
    ]


@dataclass(frozen=True, eq=False)
class Map:
    """The public places on a plane: their points, and the box that contains them."""

    points: Floats
    low: Floats
    size: Floats

    @classmethod
    def of(cls, axis: Axis) -> Map | None:
        """Make the map of an axis; None without coordinates, or if all places are at one point."""
        if not axis.coordinates:
            return None
        degrees = np.array(axis.coordinates)
        points = degrees * np.array([np.cos(np.radians(degrees[:, 1].mean())), 1.0])
        low, high = points.min(axis=0), points.max(axis=0)
        return cls(points, low, high - low) if (high > low).any() else None

    def cells(self, points: Floats, side: int) -> Integers:
        """The cell of each point, in a grid of `side` x `side` cells over the box."""
        share = (points - self.low) / np.where(self.size > 0, self.size, 1.0)
        column, row = np.clip((share * side).astype(np.int64), 0, side - 1).T
        return row * side + column


@dataclass(frozen=True, eq=False)
class Traces:
    """The records of one data set on the map."""

    visits: LabelledVisits
    map: Map

    @cached_property
    def points(self) -> Floats:
        """The point of each label: its place, or the mean of its places."""
        spread = self.visits.regions
        return np.asarray(spread.grouped(np.arange(spread.values)) @ self.map.points)

    def counts_in(self, centres: Floats, radii: Floats) -> Integers:
        """How many records have a visit in each disc."""
        counts: list[Integers] = []
        first = self.visits.ends[0]
        for start in range(0, len(radii), _BITS):
            some = slice(start, start + _BITS)
            apart = ((self.points[:, None, :] - centres[None, some, :]) ** 2).sum(axis=2)
            inside = (apart <= radii[some] ** 2).astype(np.uint64)
            bits = np.arange(inside.shape[1], dtype=np.uint64)
            masks = (inside << bits).sum(axis=1, dtype=np.uint64)
            met = np.bitwise_or.reduceat(masks[self.visits.places], first) if len(first) else np.zeros(0, np.uint64)
            counts.append(np.array([int(((met >> bit) & np.uint64(1)).sum()) for bit in bits], np.int64))
        return np.concatenate(counts)

    @cached_property
    def coverage(self) -> Integers:
        """The number of visits in each cell of the fine grid."""
        cells = self.map.cells(self.points, _FINE)[self.visits.places]
        return np.bincount(cells, minlength=_FINE**2)

    @cached_property
    def trips(self) -> Floats:
        """The number of records by first and last cell of the coarse grid."""
        cells = self.map.cells(self.points, _COARSE)[self.visits.places]
        first, last = (cells[at] for at in self.visits.ends)
        return np.bincount(first * _COARSE**2 + last, minlength=_COARSE**4).astype(np.float64)

    @cached_property
    def patterns(self) -> Integers:
        """The number of records that have each run of two, or of three, cells of the coarse grid."""
        cells = self.map.cells(self.points, _COARSE)[self.visits.places]
        row = np.repeat(np.arange(len(self.visits.lengths)), self.visits.lengths)
        new = np.ones(len(cells), np.bool_)
        new[1:] = (cells[1:] != cells[:-1]) | (row[1:] != row[:-1])
        cells, row, size = cells[new], row[new], _COARSE**2
        two = row[1:] == row[:-1]
        pairs = cells[:-1] * size + cells[1:]
        three = two[:-1] & two[1:]
        runs = pairs[:-1] * size + cells[2:]
        counts = [_count_once(row[:-1][two], pairs[two], size**2), _count_once(row[:-2][three], runs[three], size**3)]
        return np.concatenate(counts)

    @cached_property
    def diameters(self) -> Floats:
        """The largest distance of two visits of each record that has visits."""
        return self._by_length(_largest_distance)

    @cached_property
    def distances(self) -> Floats:
        """The sum of the distances of consecutive visits of each record that has visits."""
        return self._by_length(_travelled)

    def _by_length(self, read: Callable[[Floats], Floats]) -> Floats:
        lengths, starts = self.visits.lengths, self.visits.starts[:-1]
        values = [np.zeros(0)]
        for length in np.unique(lengths[lengths > 0]).tolist():
            at = starts[lengths == length, None] + np.arange(length, dtype=np.int64)
            values.append(read(self.points[self.visits.places[at]]))
        return np.concatenate(values)


def _count_once(row: Integers, code: Integers, size: int) -> Integers:
    """How many rows have each code."""
    pairs = np.sort(row * size + code)  # np.unique would hash, which is far slower for millions
    new = np.ones(len(pairs), np.bool_)
    new[1:] = pairs[1:] != pairs[:-1]
    return np.bincount(pairs[new] % size, minlength=size)


def _largest_distance(points: Floats) -> Floats:
    """The largest distance between two points of each row of points."""
    largest = np.zeros(len(points))
    for apart in range(1, points.shape[1]):
        squares = ((points[:, apart:] - points[:, :-apart]) ** 2).sum(axis=2)
        np.maximum(largest, squares.max(axis=1), out=largest)
    return np.sqrt(largest)


def _travelled(points: Floats) -> Floats:
    """The length of the way through each row of points."""
    steps = points[:, 1:] - points[:, :-1]
    return np.sqrt((steps**2).sum(axis=2)).sum(axis=1)


# ---- what histograms are compared by


def divergence(first: Floats, second: Floats) -> float:
    """The Jensen-Shannon divergence of two histograms, to base 2; 1 if just one of them is empty.

    Examples
    --------
    >>> divergence(np.array([1.0, 0]), np.array([0, 3.0])), divergence(np.array([1.0, 1]), np.array([2.0, 2]))
    (1.0, 0.0)
    """
    if not first.sum() or not second.sum():
        return float(bool(first.sum()) != bool(second.sum()))
    p, q = first / first.sum(), second / second.sum()
    middle = (p + q) / 2
    return float(sum(0.5 * (part[part > 0] * np.log2(part[part > 0] / middle[part > 0])).sum() for part in (p, q)))


def kendall_tau(first: Integers, second: Integers) -> float:
    """Pairs in the same strict order minus those in the opposite one, over all pairs; ties count as neither.

    Examples
    --------
    >>> kendall_tau(np.array([1, 2, 3]), np.array([1, 3, 2])), kendall_tau(np.array([1, 2]), np.array([0, 0]))
    (0.3333333333333333, 0.0)
    """
    pairs = len(first) * (len(first) - 1)
    if not pairs:
        return 1.0
    agreed = np.sign(first[:, None] - first) * np.sign(second[:, None] - second)
    return float(agreed.sum()) / pairs


def _tau(truth: Traces, data: Traces, placed: Integers) -> float:
    """Kendall's tau of the visits in the cells that have a place."""
    return kendall_tau(truth.coverage[placed], data.coverage[placed])


def _top(counts: Integers) -> Integers:
    """The most frequent codes that occur; among equals the first."""
    order = np.argsort(-counts, kind="stable")[:_PATTERNS]
    return order[counts[order] > 0]


def _f1(truth: Integers, counts: Integers) -> float:
    """F1 of the most frequent patterns."""
    ours, theirs = _top(counts), _top(truth)
    both = len(np.intersect1d(ours, theirs))
    return 2 * both / max(1, len(ours) + len(theirs)) if len(theirs) else 1.0


def _support(truth: Integers, counts: Integers) -> float:
    """The mean relative error of the support of the most frequent patterns of the original."""
    top = _top(truth)
    return float((np.abs(counts[top] - truth[top]) / truth[top]).mean()) if len(top) else 0.0


def _bucketed(truth: Floats, values: Floats) -> float:
    """The divergence of two distributions of lengths, in buckets up to the largest of the original."""
    width = float(truth.max(initial=0)) / _BUCKETS or 1.0
    first, second = (
        np.bincount(np.minimum((each / width).astype(np.int64), _BUCKETS - 1), minlength=_BUCKETS).astype(np.float64)
        for each in (truth, values)
    )
    return divergence(first, second)

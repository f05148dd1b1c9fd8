r"""Which weights make an arc look like enough of the arcs beside it, and which of them is taken.

Let $a_1 \le \dots \le a_g$ be the other weights beside an arc. With weight $x$ it is one of $k$ alike if and only if
some window $a_q, \dots, a_{q + k - 2}$ no wider than $2\mu$ satisfies $a_{q + k - 2} - \mu \le x \le a_q + \mu$. So the
weights that will do are closed intervals, and how many arcs of the row are anonymous is a function of $x$ with steps at
the ends of closed intervals: where it is largest are closed intervals again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.numerics.short_decimals import shorten_within

#: differences of weights are computed up to so many units of rounding
_UNITS = 8
_CONTEXT = Context(prec=60)
#: how often a weight that misses its interval by rounding is moved to the next number
_NUDGES = 4


class Interval(NamedTuple):
    """An interval of weights; what it contains of its ends does not matter here."""

    low: float
    high: float


class Distance(NamedTuple):
    """When two weights are alike: a difference of at most `mu`, of their logarithms if it is relative."""

    mu: Fraction
    relative: bool

    @property
    def reach(self) -> float:
        """Mu in double precision."""
        return float(self.mu)

    def scaled(self, weights: Floats) -> Floats:
        """The numbers that are compared."""
        return np.log(weights) if self.relative else weights

    def unscaled(self, numbers: Floats) -> Floats:
        """The weights with these numbers."""
        return np.exp(numbers) if self.relative else numbers

    def slack(self, numbers: Floats) -> Floats:
        """How far off a computed difference from a number may be."""
        return _UNITS * np.spacing(np.maximum(np.abs(numbers), max(self.reach, float(self.relative))))

    def count_near(self, weights: Floats, at: Floats) -> Integers:
        """Count the weights, which are sorted, that are alike to each of some others, exactly."""
        numbers, points = self.scaled(weights), self.scaled(at)
        slack, mu = self.slack(points), self.reach
        # outermost positions that may be near, and innermost ones that certainly are
        first, low = (np.searchsorted(numbers, points - mu + margin, side="left") for margin in (-slack, slack))
        high, last = (np.searchsorted(numbers, points + mu + margin, side="right") for margin in (-slack, slack))
        low, high = np.minimum(low, last), np.maximum(np.minimum(high, last), np.minimum(low, last))
        counts = high - low
        for number in np.flatnonzero((first < low) | (high < last)).tolist():
            unsure = np.concatenate((weights[first[number] : low[number]], weights[high[number] : last[number]]))
            distinct, repeats = np.unique(unsure, return_counts=True)  # weights on a grain are many and few
            for weight, repeat in zip(distinct.tolist(), repeats.tolist(), strict=True):
                counts[number] += repeat * self.are_near(weight, float(at[number]))
        return counts

    def are_near(self, one: float, other: float) -> bool:
        """Whether two weights are alike, as the decimal numbers that are written for them."""
        return _are_near(max(one, other), min(one, other), self)


@lru_cache(maxsize=100_000)
def _are_near(larger: float, smaller: float, distance: Distance) -> bool:
    """Decide in double precision where that is certain, else exactly."""
    top, bottom = (math.log(larger), math.log(smaller)) if distance.relative else (larger, smaller)
    slack = _UNITS * math.ulp(max(abs(top), abs(bottom), distance.reach, float(distance.relative)))
    if abs(top - bottom - distance.reach) > slack:
        return top - bottom < distance.reach
    if distance.relative:
        digits = Decimal(repr(larger)).ln(_CONTEXT) - Decimal(repr(smaller)).ln(_CONTEXT)
        return Fraction(digits) <= distance.mu
    return Fraction(repr(larger)) - Fraction(repr(smaller)) <= distance.mu


def find_windows(others: Floats, k: int, distance: Distance, elsewhere: Floats | None) -> Floats:
    """The closed intervals, one per row, of weights that make an arc one of k alike.

    Parameters
    ----------
    others
        The other weights beside the arc, sorted.
    elsewhere
        All weights elsewhere, sorted, by which an arc with fewer than k - 1 others may be anonymous; None if it may
        not.

    Examples
    --------
    >>> find_windows(np.array([5.0, 6, 20, 21]), 3, Distance(Fraction(1), False), None).tolist()
    [[5.0, 6.0], [20.0, 21.0]]
    """
    if k == 1:
        return np.array([[0.0, np.inf]])
    numbers = distance.scaled(others)
    if len(others) >= k - 1:
        return _merge(distance.unscaled(_windows(numbers, k - 1, distance)))
    if elsewhere is None:
        return np.zeros((0, 2))
    windows = _windows(distance.scaled(elsewhere), k - 1 - len(others), distance)
    if len(others):
        all_near = _windows(numbers, len(others), distance)
        if not len(all_near):
            return np.zeros((0, 2))
        windows = np.column_stack(
            (np.maximum(windows[:, 0], all_near[0, 0]), np.minimum(windows[:, 1], all_near[0, 1]))
        )
        windows = windows[windows[:, 0] <= windows[:, 1]]
    return _merge(distance.unscaled(windows))


def _windows(numbers: Floats, size: int, distance: Distance) -> Floats:
    """The numbers that are near to all of `size` consecutive ones."""
    if len(numbers) < size:
        return np.zeros((0, 2))
    first, last = numbers[: len(numbers) - size + 1], numbers[size - 1 :]
    low, high = last - distance.reach, first + distance.reach
    exact = low > high  # of a window as wide as can be, one point is left, which rounding may miss
    middle = (first + last) / 2
    near = last - first <= 2 * distance.reach + distance.slack(last)
    return np.column_stack((np.where(exact, middle, low), np.where(exact, middle, high)))[near]


def _merge(intervals: Floats) -> Floats:
    """Unite closed intervals that overlap; both of their ends ascend."""
    if len(intervals) < 2:  # noqa: PLR2004 - nothing to unite
        return intervals
    apart = intervals[1:, 0] > np.maximum.accumulate(intervals[:, 1])[:-1]
    starts = np.concatenate(([True], apart))
    ends = np.concatenate((apart, [True]))
    return np.column_stack((intervals[starts, 0], intervals[ends, 1]))


# ---- what a weight is worth


class Steps(NamedTuple):
    """Functions of a weight on pieces between two bounds: points and the open intervals between them, in turn.

    Piece 2 i is the point `points[i]`, piece 2 i + 1 what lies between it and the next one.
    """

    points: Floats

    @classmethod
    def between(cls, bounds: Interval, closed: Sequence[Floats]) -> Steps:
        """Cut the interval at the ends of closed intervals."""
        ends = np.concatenate([part.ravel() for part in closed])
        within = ends[(ends > bounds.low) & (ends < bounds.high)]
        return cls(np.unique(np.concatenate(([bounds.low], within, [bounds.high]))))

    def cover(self, closed: Floats) -> Integers:
        """How many of these closed intervals contain each piece."""
        low, high = np.sort(closed[:, 0]), np.sort(closed[:, 1])
        begun = np.searchsorted(low, self.points, side="right")
        counts = np.empty(2 * len(self.points) - 1, np.int64)
        counts[::2] = begun - np.searchsorted(high, self.points, side="left")
        counts[1::2] = (begun - np.searchsorted(high, self.points, side="right"))[:-1]
        return counts

    def intervals(self, chosen: Flags) -> list[Interval]:
        """Unite chosen pieces that follow each other."""
        edges = np.flatnonzero(np.diff(np.concatenate(([False], chosen, [False])).astype(np.int8)))
        pairs = edges.reshape(-1, 2).tolist()
        return [Interval(float(self.points[a // 2]), float(self.points[b // 2])) for a, b in pairs]


def find_nearest(intervals: Sequence[Interval], weight: float) -> Interval | None:
    """The interval that is nearest to a weight, the lower one of two."""
    return min(intervals, key=lambda part: (_gap(part, weight), part.low), default=None)


def _gap(part: Interval, weight: float) -> float:
    return max(part.low - weight, weight - part.high, 0.0)


def draw_within(part: Interval, grain: Fraction, digits: int, coins: np.random.Generator) -> float:
    """Draw a weight uniformly, on multiples of a grain above 0 where the interval contains one, else with few digits.

    Few are at least so many, and as many as it takes to stay in the interval.
    """
    if grain:
        low, high = -(-Fraction(part.low) // grain), Fraction(part.high) // grain
        if low <= high:
            return float((low + int(coins.integers(0, int(high - low) + 1))) * grain)
    return shorten_within(float(coins.uniform(part.low, part.high)), part.low, part.high, least=digits)


def take_closest(part: Interval, weight: float, grain: Fraction) -> float:
    """The point of an interval that is closest to a weight; on multiples of a grain where it contains one."""
    closest = min(max(weight, part.low), part.high)
    if grain:
        low, high = -(-Fraction(part.low) // grain), Fraction(part.high) // grain
        if low <= high:
            return float(min(max(round(Fraction(closest) / grain), low), high) * grain)
    return closest


def list_nearby(weight: float) -> list[float]:
    """A weight, and the next numbers to both sides of it: an end of an interval may miss it by rounding."""
    tried, above, below = [weight], weight, weight
    for _ in range(_NUDGES):
        above, below = math.nextafter(above, math.inf), math.nextafter(below, 0.0)
        tried += [above, below]
    return tried


def find_most_near(weight: float, rows: Sequence[Floats], bounds: Interval, distance: Distance) -> tuple[int, float]:
    """The weight strictly within bounds with most arcs near, and their number; the closest, then the smaller one.

    Examples
    --------
    >>> find_most_near(12, [np.array([5.0, 6, 20, 21])], Interval(6.5, 19), Distance(Fraction(1), False))
    (1, 7.0)
    """
    numbers = distance.scaled(np.concatenate(rows))
    ends = distance.unscaled(np.concatenate((numbers - distance.reach, numbers, numbers + distance.reach)))
    points = np.concatenate(([weight], ends[(ends > bounds.low) & (ends < bounds.high)]))
    counts = np.sum([distance.count_near(np.sort(row), points) for row in rows], axis=0)
    order = np.lexsort((points, np.abs(points - weight), -counts))
    best = order[0]
    if counts[best] == counts[0]:
        best = 0
    return int(counts[best]), float(points[best])

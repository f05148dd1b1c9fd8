"""Trip synthesis: timed trajectories from low-dimensional noisy tables.

The publisher and its questions: the only part that reads private visits, counted on a frontier. What `model` fits and
`draw` makes of the answers sees neither visits nor ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain
from hedgerow.errors import ParameterError
from hedgerow.frontiers import Counts, FirstAndLast, Frontier, InnerVisit, ListSize, Step, StepType
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.methods.trip_synthesis.draw import bridge, couple
from hedgerow.kinds.trajectories.methods.trip_synthesis.model import (
    CLOSENESS,
    ENDS,
    Closeness,
    CrossTables,
    Kernels,
    Noisy,
    PlaceMargins,
    TripModel,
    count_departures,
    fit_ends,
    fit_steps,
    fit_times,
    fresh_part,
    group_by_weight,
    inner_visits,
    length_classes,
    most_inner_visits,
    place_kernel,
    place_margins,
    simplex,
    time_kernel,
    time_margins,
)
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.rounding import on_count_grid
from hedgerow.numerics.visit_classes import NEW, STAY, STEP_POSITIONS, duration_classes
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publisher import SCALES, Publisher, param, require_little_noise

#: most places, and most times
_VALUES = 2_000


@dataclass(frozen=True, kw_only=True)
class TripSynthesis(Publisher[Trajectories]):
    r"""Publish timed trajectories, synthesised from noisy tables of their ends, times, lengths and steps.

    The number of visits, the first and last time and the first and last place of a record are one point in a table of
    five dimensions. Each margin of it is a histogram of records, hence cheap whatever the length of records is. Only
    visits between the first and the last cost more. No threshold decides what is published: every table starts from a
    coarse model (a gravity model for pairs of places) and is corrected by finer noisy answers as far as these differ
    by more than noise. Records are sampled by exchanging cards between decks that keep the fitted tables; inner visits
    are bridges between the first and the last. The idea of synthesis from noisy mobility statistics is known [1]_,
    [2]_; the questions, the shrinkage, the coupling and the bridges are our own.

    Privacy
    -------
    A record is truncated to its first `l_max` visits; one without visits is in no question. Questions about whole
    records (lengths, times, places, pairs and the tables that join two of them): a record is in one cell of each
    (L1 = 1). Questions about inner visits and steps: whole-number weights, public for each number of visits, so that
    all inner visits, or all steps, of a record weigh at most 27,720 together (L1 = 27,720). Lengths get three
    hundredths of the budget; the shares of all other questions depend on the noisy lengths only and add up to the rest,
    exactly. Blocks of times and groups of places depend on noisy answers and on the public order of places; classes of
    distances and of gaps are public. Fitting, coupling and bridges use noisy answers only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(place=["centre", "harbour", "station"], time=range(24))
    >>> trips = [[("station", 7), ("centre", 8)]] * 3000 + [[("harbour", 12)]] * 1000
    >>> data = Trajectories.from_records(trips, domain=domain)
    >>> release = TripSynthesis(l_max=4).publish(data, PureDP(epsilon=1, unit="trajectory"), seed=3)
    >>> visits = [visits for visits, _ in release.data.records()]
    >>> round(len(visits), -3), round(visits.count((("station", 7), ("centre", 8))), -3)
    (4000, 3000)

    References
    ----------
    .. [1] M. E. Gursoy, L. Liu, S. Truex, L. Yu, W. Wei. "Utility-aware synthesis of differentially private and
       attack-resilient location traces". CCS 2018.
    .. [2] X. He, G. Cormode, A. Machanavajjhala, C. M. Procopiuc, D. Srivastava. "DPT: differentially private
       trajectory synthesis using hierarchical reference systems". PVLDB 8(11), 2015.
    """

    name: ClassVar[str] = "trip-synthesis"
    kinds: ClassVar = ("trajectories",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("trajectory", "person")
    recommended: ClassVar[str] = "visits with times: when, from where to where, and how long"

    l_max: int = param(8, "how many visits of a record are used, from the first on", ge=1, le=60)
    closeness: str = param(
        "auto", "how close places are: by coordinates, by declared paths, or unknown", choices=CLOSENESS
    )

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Ask for margins, fit the tables of pairs, couple them to records, and bridge their first and last visits."""
        times, gap = data.domain.size("time"), data.labels.gap
        # where times increase strictly, no record has more visits than there are times
        longest = min(self.l_max, times) if gap else self.l_max
        _require_feasible(data.domain, longest, float(ledger.budget))
        closeness = Closeness.of(data.domain.axis("place"), self.closeness)
        visits, coins = data.positions(longest), ledger.coins()
        # the shares of all other questions follow from the noisy lengths
        lengths = ask_lengths(visits, longest, ledger)
        ask = Questions(visits, closeness, times, longest, ledger, share_out(ledger.budget, lengths))
        # when records start and end, and where
        number = float(lengths.sum())
        first, last = (simplex(noisy.values, number) for noisy in (ask.first_times(), ask.last_times()))
        single = float(lengths[0]) if gap else None
        when = fit_times(first, last, ask.durations(), ask.gaps, ask.time_blocks, single=single)
        inner_answers = ask.inner_places() if longest > ENDS else []
        margins = place_margins(ask.first_places(), ask.last_places(), inner_answers, number, inner_visits(lengths))
        close = ask.lengths_and_closeness()
        where = fit_ends(margins, close.values.reshape(longest, -1).sum(axis=0), closeness.classes, ask.ends())
        # records: a length, a pair of times and a pair of places each
        cross = ask.cross_tables(when, where)
        model = TripModel(lengths, when, where, ask.lengths_and_gaps(), close, cross, ask.gaps, closeness.classes, gap)
        trips = couple(model, coins)
        # the visits between the first and the last
        kernels, inner_times = None, np.zeros((0, times))
        if longest > ENDS:
            inner_times = time_margins(ask.inner_times(), first + last, inner_visits(lengths))
            kernels = self._kernels(ask, lengths, (first, last, inner_times), margins, where, gap)
        hours, places = bridge(trips, longest, kernels, (margins.inner, inner_times), coins)
        table = np.where(hours < 0, -1, hours * len(where) + places)
        return data.from_labels(table, np.ones(len(table), np.int64))

    @staticmethod
    def _kernels(
        ask: Questions,
        lengths: Floats,
        times: tuple[Floats, Floats, Floats],
        margins: PlaceMargins,
        where: Floats,
        gap: int,
    ) -> Kernels:
        """Ask for steps, and fit how places and times follow each other."""
        types = ask.step_types()
        fresh, classes = fresh_part(types), ask.closeness.classes
        rows, columns = (
            fresh * count_departures(lengths, ends, margins.inner) for ends in (margins.first, margins.last)
        )
        steps = fit_steps(rows, columns, where, ask.closeness_of_steps(), classes, ask.steps())
        first, last, inner = times
        departures = count_departures(lengths, first, inner)
        block, gaps = ask.gaps_of_steps(departures)
        hours = time_kernel(departures, block, gaps, ask.gaps, first + last, gap)
        return Kernels(place_kernel(types, steps), hours, gap)

    @property
    def workload(self) -> Mapping[str, int]:
        """The first `l_max` visits of a record are used."""
        return {"longest": self.l_max}


def _require_feasible(domain: Domain, longest: int, epsilon: float) -> None:
    """Refuse more places or times than tables of pairs can have, and noise that alone produces too many records."""
    for axis in ("place", "time"):
        if domain.size(axis) > _VALUES:
            msg = (
                f"trip-synthesis counts all pairs of {axis}s, so there may be {_VALUES:,} of them; declare coarser ones"
            )
            raise ParameterError(msg)
    noise = SCALES * sqrt(2 * longest) / (float(LENGTHS) * epsilon)
    require_little_noise(noise * longest, "visits", "take a larger epsilon, or a smaller l_max")


# ---- the budget, shared out as fractions by the noisy lengths alone

#: the part of the budget for lengths
LENGTHS = Fraction(3, 100)
#: parts of the rest for questions about whole records, and for those about visits between the first and the last
_OUTER = {
    "first times": 4,
    "last times": 4,
    "durations": 1,
    "first and last times": 7,
    "first places": 11,
    "last places": 11,
    "origin-destination pairs": 15,
    "lengths and durations": 2,
    "lengths and distances": 2,
    "first times and places": 6,
    "last times and places": 6,
}
_INNER = {
    "inner places": 36,
    "inner times": 12,
    "types of steps": 6,
    "distances of steps": 5,
    "steps": 14,
    "times and gaps of steps": 8,
}
#: the part for inner questions, relative to the part of visits that are inner ones, and its bounds in hundredths
_INNER_PART, _LEAST, _MOST = 80, 10, 50


def ask_lengths(visits: Frontier, longest: int, ledger: Ledger) -> Floats:
    """Ask how many records have 1, 2, ... `longest` visits."""
    # a record has one length: L1 = 1
    exact = visits.first().count(ListSize(_numbered_lengths(longest))).by_code()
    noisy = ledger.ask(exact, Laplace(l1=1), spend=ledger.budget * LENGTHS, label="lengths")
    return simplex(noisy.astype(np.float64), max(0, int(noisy.sum())))


def share_out(budget: Fraction, lengths: Floats) -> dict[str, Fraction]:
    """The share of each other question, by the noisy lengths; together they are all that is left of the budget."""
    rest, inner = budget * (1 - LENGTHS), inner_share(lengths)
    return {
        label: rest * part * weight / sum(weights.values())
        for weights, part in ((_OUTER, 1 - inner), (_INNER, inner))
        for label, weight in weights.items()
    }


def inner_share(lengths: Floats) -> Fraction:
    """The part of the budget for visits between the first and the last, from the noisy lengths 1, 2, ..."""
    if len(lengths) <= ENDS:
        return Fraction(0)
    visits, inner = float(np.arange(1, len(lengths) + 1) @ lengths), float(inner_visits(lengths).sum())
    part = floor(float(on_count_grid(_INNER_PART * inner / visits)) + 0.5) if visits > 0 else 0
    return Fraction(min(_MOST, max(_LEAST, part)), 100)


# ---- the other questions

#: what a record weighs in a question about its visits or steps; divisible by 1, 2, ... 12
SCALE = 27_720
#: records times epsilon per cell: of a table of times, and of a table that couples two decks
_TIME_CELLS, _CROSS_CELLS = 4, 6
#: the least number of blocks of times in such a table
_BLOCKS = 8


@dataclass(frozen=True, eq=False)
class Questions:
    """All questions but that about lengths; `visits` are the rows of all visits of the truncated records.

    One method per question returns its noisy answers; the L1 sensitivity stands where the exact answer is computed.
    """

    visits: Frontier
    closeness: Closeness
    times: int
    longest: int
    ledger: Ledger
    shares: Mapping[str, Fraction]

    @cached_property
    def gaps(self) -> Integers:
        """The class of the time between each pair of times; earlier ones are in class 0."""
        apart = np.arange(self.times) - np.arange(self.times)[:, None]
        return duration_classes(self.times)[np.maximum(apart, 0)]

    @cached_property
    def _records(self) -> Frontier:
        return self.visits.first()

    @property
    def _places(self) -> int:
        return len(self.closeness.classes)

    # ---- whole records: a record is in one cell of each of these tables, so L1 = 1

    def first_times(self) -> Noisy:
        """Records by their first time."""
        share = self.shares["first times"]
        exact = self._count(times=_by_first(np.arange(self.times)))
        return _noisy(self.ledger.ask(exact, Laplace(l1=1), spend=share, label="first times"), share)

    def last_times(self) -> Noisy:
        """Records by their last time."""
        share = self.shares["last times"]
        exact = self._count(times=_by_last(np.arange(self.times)))
        return _noisy(self.ledger.ask(exact, Laplace(l1=1), spend=share, label="last times"), share)

    def durations(self) -> Noisy:
        """Records by the class of the time from their first to their last visit."""
        share = self.shares["durations"]
        exact = self._count(times=self.gaps)
        return _noisy(self.ledger.ask(exact, Laplace(l1=1), spend=share, label="durations"), share)

    def time_blocks(self, weight: Floats) -> tuple[Integers, Noisy]:
        """Cut times of these weights into blocks, and ask for records by the blocks of first and last time."""
        number, share = weight.sum() / 2, self.shares["first and last times"]
        most = floor(sqrt(number * float(share) / _TIME_CELLS))
        block = group_by_weight(weight, np.arange(self.times), max(1, most))
        blocks = int(block.max()) + 1
        exact = self._count(times=block[:, None] * blocks + block)
        noisy = self.ledger.ask(exact, Laplace(l1=1), spend=share, label="first and last times")
        return block, _noisy(noisy, share)

    def first_places(self) -> Noisy:
        """Records by their first place."""
        share = self.shares["first places"]
        exact = self._count(ends=_by_first(np.arange(self._places)))
        return _noisy(self.ledger.ask(exact, Laplace(l1=1), spend=share, label="first places"), share)

    def last_places(self) -> Noisy:
        """Records by their last place."""
        share = self.shares["last places"]
        exact = self._count(ends=_by_last(np.arange(self._places)))
        return _noisy(self.ledger.ask(exact, Laplace(l1=1), spend=share, label="last places"), share)

    def ends(self) -> Noisy:
        """Records by their first and last place."""
        share = self.shares["origin-destination pairs"]
        exact = self._count(ends=self._all_pairs)
        return _noisy(self.ledger.ask(exact, Laplace(l1=1), spend=share, label="origin-destination pairs"), share)

    def lengths_and_gaps(self) -> Noisy:
        """Records by their length and the class of the time from first to last."""
        share = self.shares["lengths and durations"]
        exact = self._count(lengths=_numbered_lengths(self.longest), times=self.gaps)
        return _noisy(self.ledger.ask(exact, Laplace(l1=1), spend=share, label="lengths and durations"), share)

    def lengths_and_closeness(self) -> Noisy:
        """Records by their length and the closeness of their first and last place."""
        share = self.shares["lengths and distances"]
        exact = self._count(lengths=_numbered_lengths(self.longest), ends=self.closeness.classes)
        return _noisy(self.ledger.ask(exact, Laplace(l1=1), spend=share, label="lengths and distances"), share)

    def cross_tables(self, times: Floats, ends: Floats) -> CrossTables:
        """Cut times into blocks and places into groups by the fitted tables, and ask for records by both."""
        # both tables have the same share
        share = self.shares["first times and places"]
        # the tables add up to a whole number of records, but for the grid that they are on
        cells = round(float(times.sum())) * float(share) / _CROSS_CELLS
        blocks = floor(cells / self._places)
        blocks = min(self.times, max(min(self.times, _BLOCKS), blocks))
        groups = min(self._places, max(1, floor(cells / blocks)))
        block = [group_by_weight(times.sum(axis=axis), np.arange(self.times), blocks) for axis in (1, 0)]
        weight = [ends.sum(axis=axis) for axis in (1, 0)]
        order = self.closeness.ordered(weight[0] + weight[1])
        group = [group_by_weight(mass, order, groups) for mass in weight]
        exact = self._count(times=_by_first(block[0]), ends=_by_first(group[0]))
        first = self.ledger.ask(exact, Laplace(l1=1), spend=share, label="first times and places")
        exact = self._count(times=_by_last(block[1]), ends=_by_last(group[1]))
        last = self.ledger.ask(exact, Laplace(l1=1), spend=share, label="last times and places")
        return CrossTables(_noisy(first, share), _noisy(last, share), *block, *group)

    # ---- visits between the first and the last: weights make a record weigh at most SCALE, so L1 = SCALE

    @cached_property
    def _by_class(self) -> Frontier:
        classes = length_classes(self.longest)
        number = int(classes[-1]) + 1
        return self.visits.count(ListSize(classes)).move(np.zeros(number, np.int64), np.arange(number))

    @property
    def _visit_weight(self) -> Integers:
        """The weight of each inner visit, by class: a record has at most as many as SCALE is divided by."""
        return SCALE // most_inner_visits(self.longest)

    def inner_places(self) -> list[Noisy]:
        """Inner visits by place, one answer per class of lengths."""
        share = self.shares["inner places"]
        exact = self._weigh_inner(InnerVisit(np.arange(self.times * self._places) % self._places))
        noisy = self.ledger.ask(exact, Laplace(l1=SCALE), spend=share, label="inner places")
        return self._split_classes(noisy, share)

    def inner_times(self) -> list[Noisy]:
        """Inner visits by time, one answer per class of lengths."""
        share = self.shares["inner times"]
        exact = self._weigh_inner(InnerVisit(np.arange(self.times * self._places) // self._places))
        noisy = self.ledger.ask(exact, Laplace(l1=SCALE), spend=share, label="inner times")
        return self._split_classes(noisy, share)

    def _weigh_inner(self, rule: InnerVisit) -> Integers:
        """Add up the weights of inner visits by class of lengths and code; a record is in one class."""
        counted, weight = self._by_class.count(rule), self._visit_weight
        exact = np.zeros((len(weight), rule.size), np.int64)
        exact[counted.cells, counted.codes] = counted.counts * weight[counted.cells]
        return exact.ravel()

    def _split_classes(self, noisy: Integers, share: Fraction) -> list[Noisy]:
        """One answer per class of lengths, in visits."""
        weight = self._visit_weight
        rows = noisy.reshape(len(weight), -1)
        return [_noisy(row, share, unit=int(by), l1=SCALE) for row, by in zip(rows, weight, strict=True)]

    @cached_property
    def _steps(self) -> Frontier:
        """The visits of records of three visits and more, in one cell per length."""
        classes = np.maximum(-1, np.arange(self.longest + 1) - 3)
        number = self.longest - 2
        return self.visits.count(ListSize(classes)).move(np.zeros(number, np.int64), np.arange(number))

    @property
    def _step_weight(self) -> Integers:
        """The weight of each step of a record of 3, 4, ... visits: all its steps together weigh at most SCALE."""
        return SCALE // np.arange(2, self.longest)

    @cached_property
    def _typed(self) -> Counts:
        return self._steps.count(StepType(self._places))

    @cached_property
    def _fresh(self) -> tuple[Frontier, Integers]:
        """The steps that stay or go to a new place, and the weight of each cell."""
        kinds = (4 * np.arange(STEP_POSITIONS)[:, None] + np.array([STAY, NEW])).ravel()
        cells = np.repeat(np.arange(self.longest - 2), len(kinds))
        return self._typed.move(cells, np.tile(kinds, self.longest - 2)), self._step_weight[cells]

    def step_types(self) -> Floats:
        """Steps by their number (0, 1, 2, 3 and more) and their type (stay, back, seen, new)."""
        share = self.shares["types of steps"]
        exact = _weigh(self._typed, self._step_weight, STEP_POSITIONS * 4)
        noisy = self.ledger.ask(exact, Laplace(l1=SCALE), spend=share, label="types of steps")
        return noisy.reshape(STEP_POSITIONS, 4) / SCALE

    def closeness_of_steps(self) -> Floats:
        """Steps that stay or are new, by the closeness of their places."""
        share, exact = self.shares["distances of steps"], self._weigh_fresh(self.closeness.classes)
        return self.ledger.ask(exact, Laplace(l1=SCALE), spend=share, label="distances of steps") / SCALE

    def steps(self) -> Noisy:
        """Steps that stay or are new, by their places."""
        share, exact = self.shares["steps"], self._weigh_fresh(self._all_pairs)
        noisy = self.ledger.ask(exact, Laplace(l1=SCALE), spend=share, label="steps")
        return _noisy(noisy, share, unit=SCALE, l1=SCALE)

    def _weigh_fresh(self, ends: NDArray[np.integer]) -> Integers:
        """Add up the weights of steps that stay or are new, by the classes of their places."""
        fresh, weight = self._fresh
        counted = fresh.count(Step(self._one(self.times), ends))
        return _weigh(counted, weight, counted.size)

    def gaps_of_steps(self, departures: Floats) -> tuple[Integers, Noisy]:
        """Cut times of departure into blocks by these weights, and ask for steps by block and class of the gap."""
        share = self.shares["times and gaps of steps"]
        most = floor(float(departures.sum()) * float(share) / (_CROSS_CELLS * self._gap_classes))
        block = group_by_weight(departures, np.arange(self.times), min(self.times, max(1, most)))
        rule = Step(block[:, None] * self._gap_classes + self.gaps, self._one(self._places))
        # all classes of gaps in every block, also in the last one, where long gaps are impossible
        size = (int(block.max()) + 1) * self._gap_classes
        exact = _weigh(self._steps.count(rule), self._step_weight, size)
        noisy = self.ledger.ask(exact, Laplace(l1=SCALE), spend=share, label="times and gaps of steps")
        return block, _noisy(noisy, share, unit=SCALE, l1=SCALE)

    # ---- counting

    @property
    def _gap_classes(self) -> int:
        return int(self.gaps.max()) + 1

    @property
    def _all_pairs(self) -> Integers:
        return np.arange(self._places**2).reshape(self._places, self._places)

    @staticmethod
    def _one(size: int) -> NDArray[np.int8]:
        """One class for all pairs."""
        return np.zeros((size, size), np.int8)

    def _count(
        self,
        *,
        lengths: NDArray[np.integer] | None = None,
        times: NDArray[np.integer] | None = None,
        ends: NDArray[np.integer] | None = None,
    ) -> Integers:
        """Count records by the classes of their length, of their first and last time, and of their ends."""
        rule = FirstAndLast(
            np.zeros(1, np.int8) if lengths is None else lengths,
            self._one(self.times) if times is None else times,
            self._one(self._places) if ends is None else ends,
        )
        return self._records.count(rule).by_code()


def _noisy(answers: Integers, share: Fraction, *, unit: int = 1, l1: int = 1) -> Noisy:
    """Noisy answers of a question of this sensitivity, and the scale of their noise, in units."""
    return Noisy(answers / unit, l1 / unit / float(share), float(share))


def _numbered_lengths(longest: int) -> Integers:
    """The class of each length 0, 1, ...: length 1 is class 0."""
    return np.maximum(0, np.arange(longest + 1) - 1)


def _by_first(classes: Integers) -> Integers:
    """A table of pairs, by the class of the first of a pair."""
    return np.broadcast_to(classes[:, None], (len(classes), len(classes)))


def _by_last(classes: Integers) -> Integers:
    """A table of pairs, by the class of the last of a pair."""
    return _by_first(classes).T


def _weigh(counted: Counts, weight: Integers, size: int) -> Integers:
    """Add up counts by code, each with the weight of its cell, in whole numbers."""
    exact = np.zeros(size, np.int64)
    np.add.at(exact, counted.codes, counted.counts * weight[counted.cells])
    return exact

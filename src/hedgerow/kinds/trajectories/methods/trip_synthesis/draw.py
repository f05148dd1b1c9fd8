"""Draw records: couple their lengths, times and places, then bridge their first and last visits.

Only noisy and public values are used here, as `model` fits them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.trajectories.methods.trip_synthesis.model import (
    Kernels,
    Noisy,
    PlaceKernel,
    TripModel,
    chances_of_types,
    length_classes,
)
from hedgerow.numerics.arrays import Flags, Floats, Integers, group_equal
from hedgerow.numerics.proportional_fitting import SMALLEST, fit_margins, ratio
from hedgerow.numerics.rounding import on_count_grid, on_grid
from hedgerow.numerics.sampling import draw_systematically
from hedgerow.numerics.shrinkage import shrink_by_size
from hedgerow.numerics.visit_classes import BACK, NEW, SEEN, STAY, STEP_POSITIONS

Generator: TypeAlias = np.random.Generator


class Trips(NamedTuple):
    """The number of visits, the first and last time, and the first and last place of each record."""

    length: Integers
    first_time: Integers
    last_time: Integers
    first_place: Integers
    last_place: Integers

    def only(self, chosen: Integers) -> Trips:
        """Some of them."""
        return Trips(*(part[chosen] for part in self))


# ---- coupling: decks of lengths, of first and last times, and of first and last places

#: sweeps of exchanges, those before factors are fitted, and those after
_SWEEPS, _BEFORE, _AFTER = 30, 2, 4
#: how far factors move per sweep, and the logarithm of the factor of an impossible cell
_RATE, _NEVER = 0.7, -30.0
#: rounds of proportional fitting, and the part of the model that keeps every cell possible
_ROUNDS, _LITTLE = 50, 0.01
#: how often a record whose visits do not fit between its times looks for another one
_TRIALS = 20
#: rows of the state: lengths; cells of pairs of times, and their classes; cells of pairs of places, and their classes
_LENGTH, _TIME, _GAP, _FIRST_BLOCK, _LAST_BLOCK, _PLACE, _CLOSENESS, _FIRST_GROUP, _LAST_GROUP = range(9)
#: the rows that are exchanged together: a card of the deck of times, or of places
_TIMES, _PLACES = slice(_TIME, _PLACE), slice(_PLACE, _LAST_GROUP + 1)


def couple(model: TripModel, coins: Generator) -> Trips:
    """Deal the three decks, exchange cards until the noisy tables are met, and make every record possible.

    Each deck has one card per record and agrees with its fitted table to within one card per cell, whatever the
    exchanges do. These sample a log-linear model whose factors are fitted to the noisy tables that name two decks.
    """
    number = round(float(model.lengths.sum()))
    if number == 0:
        return Trips(*(np.zeros(0, np.int64) for _ in Trips._fields))
    cards = _Cards.dealt(model, number, coins)
    tables = cards.tables(model)
    for sweep in range(1, _SWEEPS + 1):
        for deck in (_TIMES, _PLACES):
            cards.rotate(coins)
            cards.exchange(deck, tables, coins)
        if _BEFORE < sweep <= _SWEEPS - _AFTER:
            for table in tables:
                table.refit(cards.state)
    trips = cards.trips(len(model.times), len(model.ends))
    return _shortened(trips, coins) if model.gap else trips


@dataclass
class _Cards:
    """One column per record: its cards, as the rows of `state`."""

    state: NDArray[np.int32]

    @classmethod
    def dealt(cls, model: TripModel, number: int, coins: Generator) -> _Cards:
        """Deal the decks; without any weight, all lengths are as likely, and no record moves.

        Records of one visit get cards on which nothing moves, as many as there are: by exchanges alone they would find
        them slowly. All other cards are in random order.
        """
        cross = model.cross
        weights = (model.lengths, model.times, model.ends)
        still = (np.ones_like(model.lengths), np.eye(len(model.times)), np.eye(len(model.ends)))
        length, time, place = (
            draw_systematically((some if some.any() else even).ravel(), number, coins.random())
            for some, even in zip(weights, still, strict=True)
        )
        single = int(np.count_nonzero(length == 0))
        time, place = (
            _still_first(card, len(table), single, coins) for card, table in ((time, still[1]), (place, still[2]))
        )
        times, places = (np.divmod(card, len(table)) for card, table in ((time, model.times), (place, model.ends)))
        state = np.empty((_LAST_GROUP + 1, number), np.int32)
        state[_LENGTH], state[_TIME], state[_PLACE] = length, time, place
        state[_GAP], state[_CLOSENESS] = model.gaps[times], model.closeness[places]
        state[_FIRST_BLOCK], state[_LAST_BLOCK] = cross.first_block[times[0]], cross.last_block[times[1]]
        state[_FIRST_GROUP], state[_LAST_GROUP] = cross.first_group[places[0]], cross.last_group[places[1]]
        return cls(state)

    def tables(self, model: TripModel) -> list[_Coupling]:
        """The noisy tables that name two decks, fitted to the margins of the decks."""
        cross, steps = model.cross, np.arange(len(model.lengths))
        longest = np.zeros(int(model.gaps.max()) + 1, np.int64)
        np.maximum.at(longest, model.gaps[0], np.arange(len(model.times)))
        # a record of one visit takes no time and goes nowhere; where times increase, every further visit takes time
        gap_possible = np.where(
            steps[:, None] == 0, np.arange(len(longest)) == 0, longest >= model.gap * steps[:, None]
        )
        close_possible = (steps[:, None] > 0) | (np.arange(int(model.closeness.max()) + 1) == 0)
        first, last = (
            np.ones((int(block.max()) + 1, int(group.max()) + 1), np.bool_)
            for block, group in ((cross.first_block, cross.first_group), (cross.last_block, cross.last_group))
        )
        return [
            _Coupling.of(model.lengths_and_gaps, (_LENGTH, _GAP), self.state, gap_possible),
            _Coupling.of(model.lengths_and_closeness, (_LENGTH, _CLOSENESS), self.state, close_possible),
            _Coupling.of(cross.start, (_FIRST_BLOCK, _FIRST_GROUP), self.state, first),
            _Coupling.of(cross.end, (_LAST_BLOCK, _LAST_GROUP), self.state, last),
        ]

    def rotate(self, coins: Generator) -> None:
        """Rotate all records, and then one half of them against the other, so that other records become pairs."""
        number = int(self.state.shape[1])
        half = number // 2
        self.state = np.roll(self.state, int(coins.integers(number)), axis=1)
        self.state[:, :half] = np.roll(self.state[:, :half], int(coins.integers(max(1, half))), axis=1)

    def exchange(self, deck: slice, tables: list[_Coupling], coins: Generator) -> None:
        """Exchange the cards of a deck between the records of each pair, if the factors say so (Metropolis)."""
        half = int(self.state.shape[1]) // 2
        one, other = self.state[:, :half], self.state[:, half : 2 * half]
        gain = np.zeros(half)
        for table in tables:
            if any(deck.start <= row < deck.stop for row in table.rows):
                gain += table.gain(one, other)
        accepted = np.flatnonzero(coins.random(half) < np.exp(np.minimum(gain, 0.0)))
        ours, theirs = one[deck], other[deck]
        ours[:, accepted], theirs[:, accepted] = theirs[:, accepted], ours[:, accepted]

    def trips(self, times: int, places: int) -> Trips:
        """The records; one of a single visit ends where and when it starts."""
        length = self.state[_LENGTH].astype(np.int64) + 1
        first_time, last_time = np.divmod(self.state[_TIME].astype(np.int64), times)
        first_place, last_place = np.divmod(self.state[_PLACE].astype(np.int64), places)
        single = length == 1
        last_time[single], last_place[single] = first_time[single], first_place[single]
        return Trips(length, first_time, last_time, first_place, last_place)


def _still_first(card: Integers, states: int, number: int, coins: Generator) -> Integers:
    """Shuffle cards of pairs, and put so many of those with twice the same state in front."""
    card = coins.permutation(card)
    front = np.flatnonzero(card // states == card % states)[:number]
    return np.concatenate((card[front], np.delete(card, front)))


@dataclass
class _Coupling:
    """One table that names two decks: `rows` are the rows of the state by which it counts."""

    rows: tuple[int, int]
    target: Floats
    factor: Floats
    possible: Flags

    @classmethod
    def of(cls, noisy: Noisy, rows: tuple[int, int], state: NDArray[np.int32], possible: Flags) -> _Coupling:
        """Shrink the noisy table towards independent decks, and fit it to their margins."""
        ours, theirs = (
            np.bincount(state[row], minlength=size).astype(np.float64)
            for row, size in zip(rows, possible.shape, strict=True)
        )
        model = np.outer(ours, theirs) / state.shape[1]
        shrunk = shrink_by_size(noisy.values.reshape(model.shape), model, noisy.scale).values
        target = fit_margins(np.where(possible, shrunk + _LITTLE * model, 0.0), ours, theirs, rounds=_ROUNDS)
        factor = np.where(possible, on_count_grid(np.log((target + 0.5) / (model + 0.5))), _NEVER)
        return cls(rows, target, factor, possible)

    def gain(self, one: NDArray[np.int32], other: NDArray[np.int32]) -> Floats:
        """How the sum of the factors of two records changes if they exchange the cards of one deck."""
        row, column = self.rows
        factor, width = self.factor.ravel(), int(self.factor.shape[1])
        ours, theirs = one[row] * width, other[row] * width
        return (
            factor[ours + other[column]]
            + factor[theirs + one[column]]
            - factor[ours + one[column]]
            - factor[theirs + other[column]]
        )

    def refit(self, state: NDArray[np.int32]) -> None:
        """Move the factors towards those with which the table is as wanted."""
        row, column = self.rows
        cells = np.bincount(state[row] * int(self.factor.shape[1]) + state[column], minlength=self.factor.size)
        step = on_count_grid(_RATE * np.log((self.target + 1) / (cells.reshape(self.factor.shape) + 1)))
        self.factor = np.where(self.possible, self.factor + step, self.factor)


def _shortened(trips: Trips, coins: Generator) -> Trips:
    """Make times increase strictly: exchange times between records if both then fit, and shorten what is left."""
    length, first, last = trips.length, trips.first_time.copy(), trips.last_time.copy()
    for _ in range(_TRIALS):
        wrong = last - first < length - 1
        tried = np.flatnonzero(wrong)
        partner = coins.integers(0, len(length), len(tried))
        once = np.unique(partner, return_index=True)[1]
        tried, partner = tried[once], partner[once]
        fits = (
            ~wrong[partner]
            & (last[partner] - first[partner] >= length[tried] - 1)
            & (last[tried] - first[tried] >= length[partner] - 1)
        )
        one, other = tried[fits], partner[fits]
        for time in (first, last):
            time[one], time[other] = time[other], time[one]
    fitting = np.minimum(length, last - first + 1)
    single = fitting == 1
    place = np.where(single, trips.first_place, trips.last_place)
    return trips._replace(length=fitting, first_time=first, last_time=last, last_place=place)


# ---- bridges: the visits between the first and the last

#: rounds of calibration, those in which the look-ahead of places is computed anew, and records of a trial
_BRIDGE_ROUNDS, _ANEW, _TRIAL = 8, (1, 3, 6), 30_000
#: the exponent of a correction, and the pseudo-count of each place and time
_BRIDGE_RATE, _FEW = 0.7, 0.5
#: the largest chance to stay in a step
_MOST_STAY = 0.97
#: what keeps every goal reachable
_LEAST = 1e-12
#: weights that are computed at once
_CHUNK = 1 << 20


def bridge(
    trips: Trips, longest: int, kernels: Kernels | None, wanted: tuple[Floats, Floats], coins: Generator
) -> tuple[Integers, Integers]:
    """Draw all visits: times and places, one row per record, padded with -1.

    Inner visits are walks from the first to the last visit of a record, calibrated to the noisy inner visits. They are
    drawn one after the other, each by its step and by the chance to reach the last visit from there in the steps that
    are left (look-ahead).

    `wanted` are the inner visits by place and by time, one row per class of lengths. Without kernels there are none.
    """
    times, places = (np.full((len(trips.length), longest), -1, np.int64) for _ in range(2))
    row = np.arange(len(trips.length))
    times[:, 0], times[row, trips.length - 1] = trips.first_time, trips.last_time
    places[:, 0], places[row, trips.length - 1] = trips.first_place, trips.last_place
    if kernels is None:
        return times, places
    classes = length_classes(longest)[trips.length]
    for number, (visits_by_place, visits_by_time) in enumerate(zip(*wanted, strict=True)):
        rows = np.flatnonzero(classes == number)
        if len(rows):
            some = trips.only(rows)
            tilts = calibrate(some, kernels, visits_by_place, visits_by_time, coins)
            walked = walk(some, kernels, tilts, coins)
            for table, drawn in zip((times, places), walked, strict=True):
                table[rows, : drawn.shape[1]] = drawn
    return times, places


def walk(trips: Trips, kernels: Kernels, tilts: Tilts, coins: Generator) -> tuple[Integers, Integers]:
    """Draw times and places of all visits: one row per record, padded with -1."""
    longest = int(trips.length.max())
    times, places = (np.full((len(trips.length), longest), -1, np.int64) for _ in range(2))
    steps = kernels.times * tilts.time
    for length in np.unique(trips.length).tolist():
        rows = np.flatnonzero(trips.length == length)
        some = trips.only(rows)
        times[rows, :length] = bridge_times(some, length, steps, tilts.time_ahead, kernels.gap, coins)
        places[rows, :length] = _PlaceWalk(kernels.places, tilts.place, tilts.place_ahead, coins).places(some, length)
    return times, places


def bridge_times(trips: Trips, length: int, step: Floats, ahead: list[Floats], gap: int, coins: Generator) -> Integers:
    """The times of all visits of records of one length; `step` is the tilted kernel."""
    times = np.empty((len(trips.length), length), np.int64)
    times[:, 0], times[:, -1] = trips.first_time, trips.last_time
    for visit in range(1, length - 1):
        drawn, total = draw_bridge(step, ahead[length - 2 - visit], times[:, visit - 1], trips.last_time, coins)
        times[:, visit] = np.where(total > 0, drawn, times[:, visit - 1] + gap)
    return times


@dataclass(frozen=True, eq=False)
class _PlaceWalk:
    """The places of all visits of records of one length, drawn from the first to the last."""

    kernel: PlaceKernel
    tilt: Floats
    ahead: list[Floats]
    coins: Generator

    def places(self, trips: Trips, length: int) -> Integers:
        """Draw the places of all inner visits."""
        places = np.empty((len(trips.length), length), np.int64)
        places[:, 0], places[:, -1] = trips.first_place, trips.last_place
        for visit in range(1, length - 1):
            places[:, visit] = self._next(places[:, :visit], trips.last_place, self.ahead[length - 2 - visit])
        return places

    def _next(self, past: Integers, goal: Integers, ahead: Floats) -> Integers:
        """Draw the next place: the type of the step by its chance and the weight of its places, then the place."""
        records, visit = len(past), int(past.shape[1])
        here, types = past[:, -1], self.kernel.types[min(visit - 1, STEP_POSITIONS - 1)]
        stay = np.minimum(_MOST_STAY, types[STAY] * self.kernel.stay[here])
        moving = chances_of_types(np.append(0.0, types[1:])[None, :])[0]
        weight, options = np.zeros((records, 4)), np.repeat(here[:, None], 4, axis=1)
        weight[:, STAY] = stay * self._worth(here, goal, ahead)
        options[:, NEW], worth = draw_bridge(self.kernel.new * self.tilt, ahead, here, goal, self.coins)
        new = np.full(records, moving[NEW])
        if visit > 1:
            options[:, BACK] = past[:, -2]
            possible = past[:, -2] != here
            weight[:, BACK] = np.where(possible, moving[BACK] * self._worth(past[:, -2], goal, ahead), 0.0)
            new += np.where(possible, 0.0, moving[BACK])
        earlier = past[:, :-2]  # a place seen before is that of a visit before the last two
        if earlier.shape[1]:
            seen = self._worth(earlier, goal[:, None], ahead)
            upto = np.cumsum(seen, axis=1)
            weight[:, SEEN] = moving[SEEN] * upto[:, -1] / earlier.shape[1]
            target: Floats = self.coins.random(records) * upto[:, -1]
            at = np.minimum(np.count_nonzero(upto <= target[:, None], axis=1), earlier.shape[1] - 1)
            options[:, SEEN] = earlier[np.arange(records), at]
        else:
            new += moving[SEEN]
        weight[:, NEW] = new * worth
        weight[:, 1:] *= (1 - stay)[:, None]
        return self._choose(weight, options)

    def _worth(self, place: Integers, goal: Integers, ahead: Floats) -> Floats:
        return self.tilt[place] * ahead[place, goal]

    def _choose(self, weight: Floats, options: Integers) -> Integers:
        """Choose by weight; if there is none, as with a single place, stay."""
        upto = np.cumsum(weight, axis=1)
        target = self.coins.random(len(weight)) * upto[:, -1]
        kind = np.count_nonzero(upto[:, :-1] <= target[:, None], axis=1)
        kind = np.where(upto[:, -1] > 0, kind, STAY)
        return options[np.arange(len(kind)), kind]


def draw_bridge(
    step: Floats, ahead: Floats, here: Integers, goal: Integers, coins: Generator
) -> tuple[Integers, Floats]:
    """Draw a state each, by the weight of the step to it and of the ways from it to the goal; and the total weight.

    Where the total is 0, the state means nothing.
    """
    states = len(step)
    pairs, number = group_equal(here.astype(np.int64) * states + goal)
    onward = np.ascontiguousarray(ahead.T)
    drawn, total = np.empty(len(here), np.int64), np.empty(len(pairs))
    order = np.argsort(number, kind="stable")
    # below 1 by more than sums are rounded, so that no state of weight 0 is drawn
    part = coins.random(len(here)) * (1 - 1e-9)
    rows = max(1, _CHUNK // states)
    chunks = np.arange(0, len(pairs) + rows, rows)
    ends = np.searchsorted(number[order], chunks)
    upto = np.zeros(1 + min(rows, len(pairs)) * states)
    for low, start, end in zip(chunks[:-1].tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        at, to = np.divmod(pairs[low : low + rows], states)
        weight = step[at] * onward[to]
        sums = weight.sum(axis=1)
        total[low : low + rows] = np.where(sums > SMALLEST, sums, 0.0)
        weight *= ratio(1.0, sums)[:, None]
        np.cumsum(weight, out=upto[1 : 1 + weight.size])
        mine = order[start:end]
        first = (number[mine] - low) * states
        state = np.searchsorted(upto[: 1 + weight.size], upto[first] + part[mine], side="right") - 1 - first
        drawn[mine] = np.clip(state, 0, states - 1)
    return drawn, total[number]


def calibrate(trips: Trips, kernels: Kernels, visits: Floats, times: Floats, coins: Generator) -> Tilts:
    """Calibrate the factors of places and times in trial walks, to the wanted inner visits by place and by time.

    Visits cluster, so that corrections of times may overshoot: the best ones are taken, and after a worse round the
    corrections become smaller.
    """
    trial = trips.only(coins.permutation(len(trips.length))[:_TRIAL])
    steps = int(trips.length.max()) - 2
    place, time = np.ones(len(visits)), np.ones(len(times))
    ahead: list[Floats] = []
    best, least, before, rate = time, np.inf, np.inf, _BRIDGE_RATE
    for number in range(1, _BRIDGE_ROUNDS + 1):
        if number in _ANEW:
            ahead = look_ahead(kernels.places.ahead, place, steps, least=_LEAST)
        tilts = Tilts(place, time, ahead, look_ahead(kernels.times, time, steps))
        walked_times, walked_places = walk(trial, kernels, tilts, coins)
        place = place * _correction(visits, _inner(walked_places, trial.length, len(visits)), _BRIDGE_RATE)
        walked = _inner(walked_times, trial.length, len(times))
        error = float(on_grid(np.abs(walked - _scaled(times, walked)).sum() / 2))
        if error < least:
            best, least = time, error
        rate = rate / 2 if error > before else rate
        time, before = time * _correction(times, walked, rate), error
    return Tilts(place, best, ahead, look_ahead(kernels.times, best, steps))


class Tilts(NamedTuple):
    """Factors of inner visits at each place and time, and the look-ahead by the number of steps that are left."""

    place: Floats
    time: Floats
    place_ahead: list[Floats]
    time_ahead: list[Floats]


def look_ahead(kernel: Floats, tilt: Floats, steps: int, *, least: float = 0.0) -> list[Floats]:
    """The weight of all ways from a state to a goal in 1, 2, ... steps; visits on the way weigh `tilt`."""
    ways = [np.maximum(kernel, least)]
    # tilts weigh visits: scaling rows would take out again what they put in
    tilted = kernel * tilt
    for _ in range(steps - 1):
        longer = tilted @ ways[-1]
        ways.append(np.maximum(on_grid(longer * float(ratio(1.0, longer.max(initial=0.0)))), least))
    return ways


def _inner(table: Integers, length: Integers, states: int) -> Floats:
    """Count inner visits by state."""
    visit = np.arange(int(table.shape[1]))
    inner = (visit > 0) & (visit < length[:, None] - 1)
    return np.bincount(table[inner], minlength=states).astype(np.float64)


def _scaled(wanted: Floats, walked: Floats) -> Floats:
    """The wanted visits, as many as were walked."""
    return wanted * float(ratio(walked.sum(), wanted.sum()))


def _correction(wanted: Floats, walked: Floats, rate: float) -> Floats:
    """By what factor visits of each state are to become more frequent."""
    return on_grid(((_scaled(wanted, walked) + _FEW) / (walked + _FEW)) ** rate)

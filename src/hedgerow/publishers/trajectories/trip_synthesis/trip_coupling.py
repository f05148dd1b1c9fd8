"""Couple three decks, of lengths, of first and last times, and of first and last places, by exchanging cards.

Each deck has one card per record and agrees with its fitted table to within one card per cell, whatever the coupling
does. Exchanges sample a log-linear model whose factors are fitted to the noisy tables that name two decks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.trajectories.trip_synthesis.pair_table import Noisy, shrink_by_size
from hedgerow.publishers.trajectories.trip_synthesis.trip_questions import CrossTables
from hedgerow.steps.coarse_grid import on_count_grid, on_grid
from hedgerow.steps.proportional_fitting import fit_margins

__all__ = ["TripModel", "Trips", "couple", "deal"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Generator: TypeAlias = np.random.Generator

#: sweeps of exchanges, those before factors are fitted, and those after
_SWEEPS, _BEFORE, _AFTER = 30, 2, 4
#: how far factors move per sweep, and the logarithm of the factor of an impossible cell
_RATE, _NEVER = 0.7, -30.0
#: rounds of proportional fitting, and the part of the model that keeps every cell possible
_ROUNDS, _LITTLE = 50, 0.01
#: how often a record whose visits do not fit between its times looks for another one
_TRIALS = 20


class Trips(NamedTuple):
    """The number of visits, the first and last time, and the first and last place of each record."""

    length: Integers
    first_time: Integers
    last_time: Integers
    first_place: Integers
    last_place: Integers

    def only(self, chosen: NDArray[Any]) -> Trips:
        """Some of them."""
        return Trips(*(part[chosen] for part in self))


class TripModel(NamedTuple):
    """What is known of whole records: fitted tables, noisy tables that name two of them, and public classes.

    `lengths` are records by length, `times` and `ends` by pairs of times and of places. `gaps` and `closeness` are the
    classes of all pairs. `gap` is the least time between two visits.
    """

    lengths: Floats
    times: Floats
    ends: Floats
    lengths_and_gaps: Noisy
    lengths_and_closeness: Noisy
    cross: CrossTables
    gaps: Integers
    closeness: Integers
    gap: int


def deal(weight: Floats, cards: int, shift: float) -> Integers:
    """Systematic sampling: so many cards that each cell occurs its expected number of times, rounded up or down.

    Examples
    --------
    >>> deal(np.array([2.5, 1.5, 0, 4]), 8, 0.25).tolist()
    [0, 0, 0, 1, 3, 3, 3, 3]
    """
    upto = np.cumsum(on_grid(weight))
    last = int(np.flatnonzero(weight)[-1])
    at = np.searchsorted(upto * (cards / upto[-1]), np.arange(cards) + shift, side="right")
    return np.minimum(at, last)


def couple(model: TripModel, coins: Generator) -> Trips:
    """Deal the three decks, exchange cards until the noisy tables are met, and make every record possible."""
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


#: rows of the state: lengths; cells of pairs of times, and their classes; cells of pairs of places, and their classes
_LENGTH, _TIME, _GAP, _FIRST_BLOCK, _LAST_BLOCK, _PLACE, _CLOSENESS, _FIRST_GROUP, _LAST_GROUP = range(9)
#: the rows that are exchanged together: a card of the deck of times, or of places
_TIMES, _PLACES = slice(_TIME, _PLACE), slice(_PLACE, _LAST_GROUP + 1)


def _still_first(card: Integers, states: int, number: int, coins: Generator) -> Integers:
    """Shuffle cards of pairs, and put so many of those with twice the same state in front."""
    card = coins.permutation(card)
    front = np.flatnonzero(card // states == card % states)[:number]
    return np.concatenate((card[front], np.delete(card, front)))


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
            deal((some if some.any() else even).ravel(), number, coins.random())
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

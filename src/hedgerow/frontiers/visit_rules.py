"""Rules for records of timed visits: symbol `time * places + place`, in the order of time.

Each rule is a function of one row's own list, and of public numbers and tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers.rows import Rows, Rule

__all__ = ["BACK", "NEW", "SEEN", "STAY", "STEP_POSITIONS", "FirstAndLast", "InnerVisit", "Step", "StepType"]

Integers: TypeAlias = NDArray[np.int64]

#: types of steps from one visit to the next, in the order of precedence
STAY, BACK, SEEN, NEW = range(4)
#: steps are numbered from 0; the last number stands for all further steps
STEP_POSITIONS = 4


@dataclass(frozen=True, eq=False)
class FirstAndLast(Rule):
    """The class of a record by its number of visits, its first and last time, and its first and last place.

    The code is the index of a cell in a table of three axes. A row must be at the first visit of its record.

    Parameters
    ----------
    lengths
        The class of each number of visits; the last entry stands for more.
    times, ends
        The class of each pair of first and last time, and of each pair of first and last place: one row per first one.
    """

    lengths: NDArray[Any]
    times: NDArray[Any]
    ends: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of classes of each axis."""
        return int(self.lengths.max()) + 1, int(self.times.max()) + 1, int(self.ends.max()) + 1

    @property
    def size(self) -> int:
        """All cells of the table."""
        return int(np.prod(self.shape))

    def encode(self, rows: Rows) -> Integers:
        """Look up the class of each part."""
        length = rows.length
        places = len(self.ends)
        first_time, first_place = np.divmod(rows.next.astype(np.int64), places)
        last_time, last_place = np.divmod(rows.lists.symbols[rows.at + length - 1].astype(np.int64), places)
        _, times, ends = self.shape
        code = self.lengths[np.minimum(length, len(self.lengths) - 1)].astype(np.int64) * times
        return (code + self.times[first_time, last_time]) * ends + self.ends[first_place, last_place]


@dataclass(frozen=True, eq=False)
class InnerVisit(Rule):
    """The class of a visit that is neither the first nor the last of its record: `classes[s]` for symbol `s`."""

    classes: Integers

    @property
    def size(self) -> int:
        """All classes."""
        return int(self.classes.max()) + 1

    def encode(self, rows: Rows) -> Integers:
        """Look up the class, unless the previous or the next symbol is an end marker."""
        last = rows.lists.symbols[rows.at + 1] == rows.lists.size
        return np.where(rows.first | last, -1, self.classes[rows.next])


@dataclass(frozen=True)
class StepType(Rule):
    """The type of the step from a visit to the next one, by the number of the step in its record.

    A step stays at the place (type 0), goes back to the place of the previous visit (1), goes to a place that was
    visited earlier (2) or to a new one (3); the first that applies. Code `4 min(i, 3) + t` is step number `i` of type
    `t`. The last visit of a record has no step.
    """

    places: int

    @property
    def size(self) -> int:
        """Four types of each step number."""
        return STEP_POSITIONS * 4

    def encode(self, rows: Rows) -> NDArray[np.int8]:
        """Compare the next place with those of all visits so far."""
        symbols, end = rows.lists.symbols, rows.lists.size
        place = (symbols.astype(np.int64) % self.places).astype(np.min_scalar_type(self.places))
        index, following = rows.index, place[rows.at + 1]
        kind = np.full(len(rows), NEW, np.int8)
        # from the earliest visit on, so that the type of the latest one remains
        for back in range(int(index.max(initial=0)), -1, -1):
            at = np.flatnonzero(index >= back)
            same = place[rows.at[at] - back] == following[at]
            kind[at[same]] = min(back, SEEN)
        code = 4 * np.minimum(index, STEP_POSITIONS - 1).astype(np.int8) + kind
        return np.where(symbols[rows.at + 1] == end, np.int8(-1), code)


@dataclass(frozen=True, eq=False)
class Step(Rule):
    """The class of the step from a visit to the next one, by the times and the places of both.

    The code is the index of a cell in a table of two axes. The last visit of a record has no step.

    Parameters
    ----------
    times, ends
        The class of each pair of times, and of each pair of places: one row per earlier one.
    """

    times: NDArray[Any]
    ends: NDArray[Any]

    @property
    def size(self) -> int:
        """All pairs of classes."""
        return (int(self.times.max()) + 1) * (int(self.ends.max()) + 1)

    def encode(self, rows: Rows) -> Integers:
        """Look up both classes."""
        places = len(self.ends)
        following = rows.lists.symbols[rows.at + 1]
        last = following == rows.lists.size
        time, place = np.divmod(rows.next.astype(np.int64), places)
        # the end marker is no visit: any symbol may stand for it
        next_time, next_place = np.divmod(np.where(last, 0, following).astype(np.int64), places)
        code = self.times[time, next_time].astype(np.int64) * (int(self.ends.max()) + 1) + self.ends[place, next_place]
        return np.where(last, -1, code)

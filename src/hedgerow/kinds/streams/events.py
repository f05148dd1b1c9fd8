"""Where the events of a stream come from: an array, an iterator, or (in `event_files`) a file or a pipe.

Events are read forward, and those that are skipped are not looked at. A source that can be read again starts anew when
an earlier event is asked for.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.axis import Axis
from hedgerow.data.lattice import CellRule, LatticeCells, shortest_decimals
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import DomainError, InternalError, ReadError
from hedgerow.numerics.arrays import Flags, Integers

#: where some events are in their stream, counted from 0
Positions: TypeAlias = Integers | range
#: the axis of bits
BITS = NumberAxis.between(0, 1, 1)
#: without options, what cannot be read is refused
REFUSE = CellRule()
#: events that are read together, and publications that are made together
BLOCK, BATCH = 2**20, 2**14
#: publications of an iterator that are made together, and the seconds that they should take
SLOW_BATCH, _SOON = 2**8, 0.1
#: numbers of these types have other decimals once an array of longer ones holds them
_SHORT = frozenset({np.float16, np.float32})


class Events(ABC):
    """The events of a stream, each as a number of steps above the lower bound of its axis."""

    #: how many events there are, which is public; None if that is not known before the end
    length: int | None = None

    @abstractmethod
    def read(self, start: int, stop: int) -> Integers:
        """Return the events from number `start` (counted from 0) up to `stop`; fewer if the stream ends before."""

    def take(self, positions: Integers) -> Integers:
        """Return the events at ascending positions; fewer if the stream ends before."""
        taken: list[Integers] = []
        for block in np.split(positions, np.flatnonzero(np.diff(positions // BLOCK)) + 1):
            if len(block):
                taken.append(self._pick(block))
                if len(taken[-1]) < len(block):
                    break
        return np.concatenate(taken) if taken else np.zeros(0, np.int64)

    def _pick(self, positions: Integers) -> Integers:
        """Return the events at positions of which the last is not far from the first."""
        first = int(positions[0])
        events = self.read(first, int(positions[-1]) + 1)
        return events[positions[positions - first < len(events)] - first]

    def sums(self, start: int, ends: Integers) -> Integers:
        """Add up the events from number `start` to each of the ascending ends, one gap after another.

        Returns
        -------
        NDArray
            One sum per gap that the stream has completely: fewer than there are ends if it ends before.
        """
        sums = np.zeros(len(ends), np.int64)
        edges = np.concatenate(([start], ends))
        while start < edges[-1]:
            events = self.read(start, min(start + BLOCK, int(edges[-1])))
            if not len(events):
                break
            gaps = np.searchsorted(edges, (start, start + len(events) - 1), side="right") - 1
            inner = edges[gaps[0] + 1 : gaps[1] + 1] - start
            sums[gaps[0] : gaps[1] + 1] += np.add.reduceat(events, np.concatenate(([0], inner)))
            start += len(events)
        return sums[: int(np.searchsorted(ends, start, side="right"))]

    def reach(self, position: int) -> int:
        """Move forward to a position without decoding events; return it, or the length of a stream that ends before."""
        if self.length is None:
            msg = "events whose number is not known must say how far they reach"
            raise InternalError(msg)
        return min(position, self.length)

    def count(self) -> int | None:
        """Count the events, reading through them if necessary; None if they can be read only once."""
        return self.length

    def reopened(self) -> Events | None:
        """Return the same events, to be read independently of these; None if they can be read only once.

        Without a place of their own in a file, both can be the same.
        """
        return self

    def batch_size(self) -> int:
        """How many publications are made together at most."""
        return BATCH

    def ready(self) -> int | None:
        """How many events have come already, so that a publication after them need not wait; None for all of them."""
        return None

    def blocks(self, size: int = BLOCK) -> Iterator[Integers]:
        """Yield all events in order, up to `size` at a time."""
        start = 0
        while len(block := self.read(start, start + size)):
            yield block
            start += len(block)


class ArrayEvents(Events):
    """Events in memory."""

    def __init__(self, codes: Integers) -> None:
        self.codes = codes
        self.length = len(codes)
        self.codes.flags.writeable = False

    def read(self, start: int, stop: int) -> Integers:
        """Return a view of the array."""
        return self.codes[start:stop]

    def take(self, positions: Integers) -> Integers:
        """Look the positions up."""
        return self.codes[positions[positions < len(self.codes)]]

    def reach(self, position: int) -> int:
        """The position, or the length of the array."""
        return min(position, len(self.codes))


class IteratorEvents(Events):
    """Values that an iterator yields; it can be read once."""

    def __init__(self, values: Iterable[Any], axis: NumberAxis, rule: CellRule = REFUSE) -> None:
        self._values = iter(values)
        self._axis = axis
        self._rule = rule
        self._position = 0
        self._clock = time.monotonic()
        self._batch = 1

    def batch_size(self) -> int:
        """As many as took little time before, and never many: nobody knows how long the next event takes."""
        now = time.monotonic()
        self._batch = min(SLOW_BATCH, 2 * self._batch) if now - self._clock < _SOON else 1
        self._clock = now
        return self._batch

    def reopened(self) -> None:
        """Return nothing: an iterator can be read once."""

    def read(self, start: int, stop: int) -> Integers:
        """Skip values up to `start`, and read the next ones."""
        self._require_later(start)
        skipped = sum(1 for _ in islice(self._values, start - self._position))
        self._position += skipped
        values = list(islice(self._values, stop - start))
        stop = self._position + len(values)
        codes = encode_values(values, self._axis, "the iterator", range(self._position, stop), self._rule)
        self._position = stop
        return codes

    def _require_later(self, position: int) -> None:
        if position < self._position:
            msg = "an iterator of events can be read once; make a new one"
            raise ReadError(msg)

    def take(self, positions: Integers) -> Integers:
        """Pick the values at these positions; those between them are not checked."""
        self._require_later(int(positions[0]) if len(positions) else self._position)
        values: list[Any] = []
        for position in positions.tolist():
            self.reach(position)
            value = list(islice(self._values, 1))
            if not value:
                break
            values += value
            self._position += 1
        return encode_values(values, self._axis, "the iterator", positions[: len(values)], self._rule)

    def reach(self, position: int) -> int:
        """Skip values up to a position."""
        self._position += sum(1 for _ in islice(self._values, max(0, position - self._position)))
        return min(position, self._position)


def encode_values(
    values: Any, axis: NumberAxis, where: str, positions: Positions | None = None, rule: CellRule = REFUSE
) -> Integers:
    """Turn values from memory into steps above the lower bound; `positions`, from 0 on by default, are for errors."""
    numbers = cast("NDArray[Any]", values) if isinstance(values, np.ndarray) else _number_array(values)
    if numbers.ndim != 1:
        msg = f"{where}: events must be numbers, one per event; got {numbers.ndim} dimensions"
        raise ReadError(msg)
    kind = numbers.dtype.kind
    if kind not in "biuf":  # texts, dates and other objects, each by itself
        numbers = np.array([_to_number(value) if kind == "O" else math.nan for value in numbers.tolist()], np.float64)
    decimals = shortest_decimals(np.ma.getdata(numbers))
    if np.ma.is_masked(numbers):  # what is under a mask is no number
        decimals = np.where(np.ma.getmaskarray(numbers), math.nan, decimals)
    cells = LatticeCells.of(decimals, axis.lattice)
    return encode_events(cells, axis, where, range(len(numbers)) if positions is None else positions, rule)


def _number_array(values: Any) -> NDArray[Any]:
    """Make an array of values; of objects, if some are not plain numbers, so that none changes the type of others."""
    try:
        array = np.asarray(values)
        if array.ndim != 1 or (array.dtype.kind in "biuf" and _SHORT.isdisjoint(map(type, values))):
            return array
    except (TypeError, ValueError):  # such as lists of different lengths
        pass
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _to_number(value: Any) -> float:
    """Return a number as it is, and NaN for anything else: a text is not a number.

    A decimal is taken if it is the shortest one of its floating-point number, so that none is rounded unseen.
    """
    if isinstance(value, Decimal):
        number = math.nan if value.is_nan() else float(value)
        return number if Decimal(repr(number)) == value else math.nan
    try:
        short = str(value) if type(value) in _SHORT else value
        return float(cast("Any", short)) if isinstance(value, (Real, np.bool_)) else math.nan
    except OverflowError:
        return math.inf


def encode_events(
    cells: LatticeCells, axis: NumberAxis, where: str, positions: Positions, rule: CellRule = REFUSE
) -> Integers:
    """Return the events as steps above the lower bound, each by itself; refuse or replace what is no event.

    A bit must be 0 or 1. Any other number must be on its lattice, or is rounded, and is moved to the declared bounds.

    Examples
    --------
    >>> axis = NumberAxis.between(0, 5, "0.5")
    >>> encode_events(LatticeCells.of(np.array([0.5, 7, -3]), axis.lattice), axis, "x", range(3)).tolist()
    [1, 10, 0]
    """
    bits = is_bits(axis)
    off = np.zeros_like(cells.off) if rule.rounded else cells.off
    unreadable = cells.unreadable | (off | (cells.numbers < 0) | (cells.numbers > 1)) if bits else cells.unreadable
    if rule.instead is not None:
        return np.where(unreadable | off, axis.lattice.place_one(rule.instead)[0], cells.steps)
    instead = "or put a number in the place of such events with on_bad=NUMBER"
    if bits:
        _refuse(unreadable, where, positions, f"is neither 0 nor 1; declare other values with --domain, {instead}")
    _refuse(unreadable, where, positions, f"is missing, or not a finite number; correct it, {instead}")
    what = f"is between two steps; declare a finer step, round such numbers with round=nearest, {instead}"
    _refuse(off, where, positions, what)
    return cells.steps


def is_bits(axis: NumberAxis) -> bool:
    """Whether values are 0 or 1."""
    return (axis.low, axis.high, axis.step) == (BITS.low, BITS.high, BITS.step)


def _refuse(bad: Flags, where: str, positions: Positions, what: str) -> None:
    if bad.any():
        msg = f"{where}: event {int(positions[int(np.argmax(bad))]) + 1:,} {what}"
        raise ReadError(msg)


def require_axis(axis: Axis) -> NumberAxis:
    """Refuse an axis of values without bounds: bounds from the data are private."""
    if not isinstance(axis, NumberAxis) or not axis.bounded:
        msg = "the values of a stream need declared low, high and step; declare them in section [value] (--domain FILE)"
        raise DomainError(msg)
    return axis

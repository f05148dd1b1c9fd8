"""Streams: events in order, each a bit or a number, and the estimates that are published of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import msgspec
import numpy as np

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain, Source
from hedgerow.data.lattice import CellRule
from hedgerow.data.number_axis import NumberAxis, to_number_axis
from hedgerow.errors import DomainError, ParameterError, UnsupportedGuarantee
from hedgerow.kinds.streams.events import BITS, REFUSE, ArrayEvents, Events, IteratorEvents, encode_values, require_axis
from hedgerow.numerics.arrays import Floats, Integers

#: the name of the axis of values
VALUE = "value"
#: what can be estimated of all events up to one of them
ESTIMATED = ("means", "sums")
#: in how many ways an event of a neighbour is changed: to either bound, and by one step
_WAYS = 3


class Rows(NamedTuple):
    """Some published estimates in order of time.

    Parameters
    ----------
    times
        After which event each was published, counted from 1.
    values
        The estimates.
    half_widths
        How far each is from the truth at most, with the probability that the method states.
    """

    times: Integers
    values: Floats
    half_widths: Floats

    def take(self, at: Integers | slice) -> Rows:
        """Return some of the rows, by a slice or positions."""
        return Rows(self.times[at], self.values[at], self.half_widths[at])

    @staticmethod
    def join(slices: Iterable[Rows]) -> Rows:
        """Return rows that come one after another."""
        nothing = Rows(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
        times, values, half_widths = zip(nothing, *slices, strict=True)
        return Rows(np.concatenate(times), np.concatenate(values), np.concatenate(half_widths))


@dataclass(frozen=True, eq=False, repr=False)
class Stream(Dataset):
    """Events in order, each a number of a declared lattice; how many there are is public, their values are private.

    Examples
    --------
    >>> data = Stream.from_values([0, 1, 1])
    >>> data, data.events.read(0, 5).tolist()
    (<Stream: numbers value from 0 to 1, declared>, [0, 1, 1])
    """

    kind: ClassVar[str] = "streams"
    units: ClassVar[tuple[str, ...]] = ("event",)

    events: Events

    @classmethod
    def from_values(cls, values: Iterable[Any], domain: Domain | None = None, *, rule: CellRule = REFUSE) -> Stream:
        """Make a stream of an array, a list or an iterator; of bits, unless a domain declares other values.

        An iterator is read while the stream is published, and only once. The rule says what becomes of values that are
        no numbers, or between two steps.
        """
        domain = value_domain(domain)
        axis = axis_of(domain)
        if isinstance(values, Iterator):
            return cls(domain, IteratorEvents(values, axis, rule))
        array = cast("Any", values) if isinstance(values, np.ndarray) else list(values)
        codes = encode_values(array, axis, "the values", rule=rule)
        return cls(domain, ArrayEvents(codes))

    @property
    def axis(self) -> NumberAxis:
        """The declared bounds and the step of the values."""
        return axis_of(self.domain)

    def publishing(self, rows: Iterator[Rows], *, of: str) -> Estimates:
        """Return estimates of `means` or `sums`, which are made while they are read, once."""
        domain = self.domain
        return Estimates(domain, RowsToCome(rows, lambda some: relative_precision(some, domain, of)), of)

    def count_units(self, unit: str) -> int:
        """Count the events."""
        self.require_unit(unit)
        return len(self._codes())

    def count_neighbours(self, unit: str) -> int:
        """Count the neighbours: several per event, or one per bit."""
        return self.count_units(unit) * self._ways

    @property
    def _ways(self) -> int:
        return _WAYS if self.axis.steps > 1 else 1

    def neighbour(self, index: int, *, unit: str) -> Stream:
        """Return this stream with another value of one event."""
        self.require_unit(unit)
        event, way = divmod(index, self._ways)
        codes, most = self._codes().copy(), self.axis.steps
        before = int(codes[event])
        nearest = before + 1 if before < most else before - 1
        codes[event] = (0 if before else most, most if before < most else 0, nearest)[way]
        return replace(self, events=ArrayEvents(codes))

    def _codes(self) -> Integers:
        """All events in memory: for checks."""
        if isinstance(self.events, ArrayEvents):
            return self.events.codes
        return np.concatenate([np.zeros(0, np.int64), *self.events.blocks()])

    def bounded(self, unit: str) -> Stream:
        """Return the same: each event is one unit, so there is nothing to bound."""
        self.require_unit(unit)
        return self

    def canonical(self) -> Stream:
        """Return the same: events are in their public order."""
        return self

    def narrowed(self) -> Stream:
        """Return the same: bounds are declared."""
        return self

    def shuffled(self, order: np.random.Generator) -> Stream:
        """Return the same: there is only one order."""
        del order
        return self

    def to_bytes(self) -> bytes:
        """Encode kind, domain and events."""
        return msgspec.json.encode([self.kind, self.domain.to_plain(), self._codes().tolist()])


class RowSource(Protocol):
    """Where published rows are."""

    #: whether they are made while they are read, which is possible once
    once: bool

    @property
    def best(self) -> float | None:
        """The best `relative_precision` of the rows that were read; None if nobody looked."""
        ...

    def __len__(self) -> int:
        """Count the rows; those that are made while they are read, so far."""
        ...

    def __iter__(self) -> Iterator[Rows]:
        """Yield the rows from the first one on, some at a time."""
        ...


class RowsInMemory:
    """Rows that are there."""

    once = False
    best = None

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._rows.times)

    def __iter__(self) -> Iterator[Rows]:
        """Yield all at once."""
        return iter([self._rows] if len(self) else [])


class RowsToCome:
    """Rows that are made while they are read; how many, and the best of them, is remembered."""

    once = True

    def __init__(self, rows: Iterator[Rows], precision: Callable[[Rows], float]) -> None:
        self._rows = rows
        self._precision = precision
        self._count = 0
        self.best = math.inf

    def __len__(self) -> int:
        """Count the rows so far."""
        return self._count

    def __iter__(self) -> Iterator[Rows]:
        """Make the rows."""
        for rows in self._rows:
            if len(rows.times):
                self._count += len(rows.times)
                self.best = min(self.best, self._precision(rows))
                yield rows


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Dataset):
    """What is published of a stream: estimates of the mean, or of the sum, of all events up to some of them.

    Parameters
    ----------
    source
        The rows, in memory, in a file, or not made yet; then they can be read once, and `canonical` reads them into
        memory.
    of
        What is estimated: `means` or `sums`.

    Examples
    --------
    >>> one = Rows(np.array([2]), np.array([0.5]), np.array([0.1]))
    >>> estimates = Estimates.from_rows(value_domain(), one, of="means")
    >>> [rows.times.tolist() for rows in estimates.rows()], len(estimates)
    ([[2]], 1)
    """

    kind: ClassVar[str] = "streams"
    units: ClassVar[tuple[str, ...]] = ("event",)

    source: RowSource
    of: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of not in ESTIMATED:
            msg = f"estimates are of {' or '.join(ESTIMATED)}; got {self.of!r}"
            raise ParameterError(msg)

    @classmethod
    def from_rows(cls, domain: Domain, rows: Rows, *, of: str) -> Estimates:
        """Make estimates of rows in memory."""
        return cls(domain, RowsInMemory(rows), of)

    def __len__(self) -> int:
        """Count the rows; those that are made while they are read, so far."""
        return len(self.source)

    @property
    def comes_in_slices(self) -> bool:
        """Whether the rows are made while they are read."""
        return self.source.once

    def rows(self) -> Iterator[Rows]:
        """Yield the rows, some at a time."""
        return iter(self.source)

    def all_rows(self) -> Rows:
        """Return all rows in memory."""
        return Rows.join(self.rows())

    def rests_on_noise(self) -> bool:
        """Whether no row, so far, tells more than the middle of all that is possible.

        Times and half-widths are public, so this is known without looking at any event.
        """
        best = self.source.best
        if best is None:
            best = min((relative_precision(rows, self.domain, self.of) for rows in self.rows()), default=math.inf)
        return len(self) > 0 and best >= 1

    def canonical(self) -> Estimates:
        """Return the same, read into memory if the rows can be read only once."""
        return Estimates.from_rows(self.domain, self.all_rows(), of=self.of) if self.comes_in_slices else self

    def count_units(self, unit: str) -> int:
        """Refuse: what is published has no private events."""
        return self._refuse(unit)

    def neighbour(self, index: int, *, unit: str) -> Estimates:
        """Refuse: what is published has no private events."""
        del index
        return self._refuse(unit)

    def bounded(self, unit: str) -> Estimates:
        """Refuse: what is published has no private events."""
        return self._refuse(unit)

    def narrowed(self) -> Estimates:
        """Return the same: bounds are declared."""
        return self

    def shuffled(self, order: np.random.Generator) -> Estimates:
        """Return the same: estimates are in the order of time."""
        del order
        return self

    def to_bytes(self) -> bytes:
        """Encode kind, domain and rows."""
        columns = [column.tolist() for column in self.all_rows()]
        return msgspec.json.encode([self.kind, self.domain.to_plain(), self.of, columns])

    def _refuse(self, unit: str) -> Any:
        msg = f"these are published estimates, which have no {unit} to protect; read the events of a stream"
        raise UnsupportedGuarantee(msg)


def relative_precision(rows: Rows, domain: Domain, of: str) -> float:
    """Return the smallest half-width of some rows, relative to half of the range of what they estimate.

    Examples
    --------
    >>> rows = Rows(np.array([10, 20]), np.array([3.0, 9.0]), np.array([5.0, 5.0]))
    >>> relative_precision(rows, value_domain(), "sums")
    0.5
    """
    low, high, _ = axis_of(domain).bounds
    half = float(high - low) / 2
    return float(np.min(rows.half_widths / (half * (rows.times if of == "sums" else 1))))


def value_domain(domain: Domain | None = None) -> Domain:
    """Return the domain of the values of a stream; without one, they are bits."""
    if domain is None:
        return Domain(((VALUE, BITS),), Source.DECLARED)
    if [name for name, _ in domain.axes] != [VALUE]:
        msg = f"the domain of a stream has one axis, {VALUE}; declare a section [{VALUE}] with low, high and step"
        raise DomainError(msg)
    axis = require_axis(to_number_axis(VALUE, domain.axes[0][1]))
    return replace(domain, axes=((VALUE, axis),))


def axis_of(domain: Domain) -> NumberAxis:
    """Return the axis of values of the domain of a stream, which has bounds."""
    return require_axis(domain.axes[0][1])

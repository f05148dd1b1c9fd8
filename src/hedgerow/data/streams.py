"""Streams: events in order, each a bit or a number, and the estimates that are published of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain, Source
from hedgerow.data.event_sources import BITS, ArrayEvents, Events, IteratorEvents, encode_values, require_axis
from hedgerow.data.number_axis import NumberAxis, to_number_axis
from hedgerow.errors import DomainError, ParameterError, UnsupportedGuarantee

__all__ = ["VALUE", "Estimates", "Rows", "Stream", "value_domain"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the name of the axis of values
VALUE = "value"
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

    def take(self, at: Any) -> Rows:
        """Return some of the rows, by a slice, positions or flags."""
        return Rows(self.times[at], self.values[at], self.half_widths[at])


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
    def from_values(cls, values: Iterable[Any], domain: Domain | None = None) -> Stream:
        """Make a stream of an array, a list or an iterator; of bits, unless a domain declares other values.

        An iterator is read while the stream is published, and only once.
        """
        domain = value_domain(domain)
        axis = domain.axes[0][1]
        if isinstance(values, Iterator):
            return cls(domain, IteratorEvents(values, cast("NumberAxis", axis)))
        array = np.asarray(values)
        return cls(domain, ArrayEvents(encode_values(array, cast("NumberAxis", axis), "the values", range(array.size))))

    @property
    def axis(self) -> NumberAxis:
        """The declared bounds and the step of the values."""
        return cast("NumberAxis", self.domain.axes[0][1])

    def publishing(self, rows: Iterator[Rows]) -> Estimates:
        """Return estimates that are made while they are read, once."""
        return Estimates(self.domain, lambda: rows)

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


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Dataset):
    """What is published of a stream: estimates after some of the events.

    `open_rows` returns the rows from the first one on, some at a time. They may be in a file, or not be made yet; then
    they can be read once, and `canonical` reads them into memory.

    Examples
    --------
    >>> one = Rows(np.array([2]), np.array([0.5]), np.array([0.1]))
    >>> estimates = Estimates.of(value_domain(), one)
    >>> [rows.times.tolist() for rows in estimates.rows()], len(estimates)
    ([[2]], 1)
    """

    kind: ClassVar[str] = "streams"
    units: ClassVar[tuple[str, ...]] = ("event",)

    open_rows: Callable[[], Iterable[Rows]]
    #: how many rows there are; None if they are made while they are read
    count: int | None = None

    @classmethod
    def of(cls, domain: Domain, rows: Rows) -> Estimates:
        """Make estimates of rows in memory."""
        return cls(domain, lambda: iter([rows] if len(rows.times) else []), len(rows.times))

    def __len__(self) -> int:
        """Count the rows."""
        if self.count is None:
            msg = "these estimates are made while they are read; how many there are is known in the end"
            raise ParameterError(msg)
        return self.count

    @property
    def comes_in_slices(self) -> bool:
        """Whether the rows are not made yet."""
        return self.count is None

    def rows(self) -> Iterator[Rows]:
        """Yield the rows, some at a time."""
        return iter(self.open_rows())

    def all_rows(self) -> Rows:
        """Return all rows in memory."""
        slices = list(self.rows())
        if not slices:
            return Rows(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
        times = np.concatenate([rows.times for rows in slices])
        values = np.concatenate([rows.values for rows in slices])
        return Rows(times, values, np.concatenate([rows.half_widths for rows in slices]))

    def canonical(self) -> Estimates:
        """Return the same, read into memory if the rows could be read only once."""
        return Estimates.of(self.domain, self.all_rows()) if self.comes_in_slices else self

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
        return msgspec.json.encode([self.kind, self.domain.to_plain(), columns])

    def _refuse(self, unit: str) -> Any:
        msg = f"these are published estimates, which have no {unit} to protect; read the events of a stream"
        raise UnsupportedGuarantee(msg)


def value_domain(domain: Domain | None = None) -> Domain:
    """Return the domain of the values of a stream; without one, they are bits."""
    if domain is None:
        return Domain(((VALUE, BITS),), Source.DECLARED)
    if [name for name, _ in domain.axes] != [VALUE]:
        msg = f"the domain of a stream has one axis, {VALUE}; declare a section [{VALUE}] with low, high and step"
        raise DomainError(msg)
    axis = require_axis(to_number_axis(VALUE, domain.axes[0][1]))
    return replace(domain, axes=((VALUE, axis),))

"""After which events something is published: public, and fixed before the first event is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.errors import ParameterError, ReadError
from hedgerow.kinds.streams.data import Rows
from hedgerow.kinds.streams.events import Events
from hedgerow.numerics.arrays import Integers

_LARGEST = 2**53


@dataclass(frozen=True, eq=False)
class Schedule:
    """Publication after listed events, or after every so many events.

    Parameters
    ----------
    listed
        The listed times in order, a time perhaps several times; empty if there is no list.
    every
        The distance between publications without a list.
    last
        No event after this one is read; None if the stream is published to its end, whenever that is.

    Examples
    --------
    >>> from hedgerow.kinds.streams.data import Stream
    >>> [batch.tolist() for batch in Schedule.of("", 3, 0, length=10).batches(Stream.from_values([0] * 10).events)]
    [[3, 6, 9]]
    >>> Schedule.of("5,5,8", 1, 0, length=None).count
    2
    """

    listed: Integers
    every: int
    last: int | None

    @classmethod
    def of(cls, times: str, every: int, horizon: int, length: int | None) -> Schedule:
        """Read the parameters of a method: listed times, or every so many events up to the horizon.

        The horizon is the most events that there can be, 0 for the length of the stream, if that is known.
        """
        listed = read_times(times)
        if every > _LARGEST:
            msg = "every must be at most 2^53 events; give a smaller one"
            raise ParameterError(msg)
        limits = [limit for limit in (horizon or None, length) if limit is not None]
        last = int(listed[-1]) if len(listed) else min(limits, default=None)
        if len(listed) and limits and int(listed[-1]) > min(limits):
            msg = f"times has an event after the last one, number {min(limits):,}; list only times that are reached"
            raise ParameterError(msg)
        return cls(listed, every, last)

    @property
    def count(self) -> int | None:
        """How many distinct times there are; None if that is not known in advance."""
        if len(self.listed):
            return len(self._distinct)
        return None if self.last is None else self.last // self.every

    def require_count(self) -> int:
        """Return how many distinct times there are, for a method that must know it in advance."""
        if self.count is None:
            msg = "this method must know in advance how long the stream is at most; give it with --set horizon=N"
            raise ParameterError(msg)
        return self.count

    def batches(self, events: Events) -> Iterator[Integers]:
        """Yield the distinct times in order, some at a time; without an end if the end of the stream is not known.

        Those that are due after events of a pipe that have come already are not kept until more have come.
        """
        start = 0
        while self.count is None or start < self.count:
            stop = start + events.batch_size()
            ready = events.ready()
            stop = stop if ready is None else max(start + 1, min(stop, self._count_due(ready)))
            stop = stop if self.count is None else min(stop, self.count)
            yield self._distinct[start:stop] if len(self.listed) else self.every * np.arange(start + 1, stop + 1)
            start = stop

    def _count_due(self, events: int) -> int:
        """Count the distinct times up to so many events."""
        if len(self.listed):
            return int(np.searchsorted(self._distinct, events, side="right"))
        return events // self.every

    def repeat(self, rows: Rows) -> Rows:
        """Publish a time as often as it is listed, each time the same."""
        if not len(self.listed):
            return rows
        times = np.searchsorted(self.listed, rows.times, side="right") - np.searchsorted(self.listed, rows.times)
        return rows.take(np.repeat(np.arange(len(times)), times))

    def require_reached(self, events: int) -> None:
        """Refuse a stream that has ended before the last listed time; what was due before is published."""
        if len(self.listed) and events < self.listed[-1]:
            msg = "the stream has ended before the last of the listed times; list only times that it reaches"
            raise ReadError(msg)

    @cached_property
    def _distinct(self) -> Integers:
        return self.listed[np.append(True, np.diff(self.listed) > 0)] if len(self.listed) else self.listed


def read_times(text: str) -> Integers:
    """Read the parameter `times`: event numbers in order, separated by commas; none if it is empty."""
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not all(re.fullmatch(r"[1-9][0-9]{0,15}", part) for part in parts):
        msg = "times must be whole numbers of at least 1, separated by commas, such as 1000,2000,5000"
        raise ParameterError(msg)
    times = np.array([int(part) for part in parts], np.int64)
    if np.any(np.diff(times) < 0) or np.any(times > _LARGEST):
        msg = "times must be in order, and each at most 2^53"
        raise ParameterError(msg)
    return times

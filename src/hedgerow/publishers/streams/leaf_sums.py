"""The leaves of a stream: the sums of its events between publications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.event_sources import Events
from hedgerow.errors import ReadError
from hedgerow.publishers.streams.schedule import Schedule

__all__ = ["Leaves", "read_leaves", "require_end"]

Integers: TypeAlias = NDArray[np.int64]


class Leaves(NamedTuple):
    """Several leaves in a row."""

    #: the number of the last event of each, from 1
    times: Integers
    #: the sum of the codes of the events of each: private
    sums: Integers


def read_leaves(events: Events, schedule: Schedule) -> Iterator[Leaves]:
    """Add up the events up to each time since the one before; the stream may end before the last time.

    Raises
    ------
    ReadError
        After the leaves that are due, if the stream ends before a listed time, or goes on after the horizon.
    """
    before = 0
    for times in schedule.batches(events):
        sums = events.sums(before, times)
        yield Leaves(times[: len(sums)], sums)
        if len(sums) < len(times):
            schedule.require_reached(before)
            return
        before = int(times[-1])
    require_end(events, schedule)


def require_end(events: Events, schedule: Schedule) -> None:
    """Refuse a stream that goes on after the horizon: not all of it was published."""
    if not len(schedule.listed) and schedule.last is not None and events.reach(schedule.last + 1) > schedule.last:
        msg = f"the stream goes on after event {schedule.last:,}, the horizon; give a larger one with --set horizon=N"
        raise ReadError(msg)

"""The mean of all events so far by a binary tree of noisy partial sums, for which every event is read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hedgerow.data.streams import Rows, Stream
from hedgerow.privacy import Ledger
from hedgerow.publishers.streams.running_sums import estimate_sums
from hedgerow.publishers.streams.schedule import Schedule
from hedgerow.publishers.streams.trees import BinaryTree

__all__ = ["estimate_by_tree"]


def estimate_by_tree(data: Stream, ledger: Ledger, schedule: Schedule, confidence: float) -> Iterator[Rows]:
    """Estimate the sums at all times, the whole budget being charged by this call, and divide them by the times."""
    count = schedule.require_count()
    last = int(schedule.listed[-1]) if len(schedule.listed) else schedule.every * count
    sums = estimate_sums(data, ledger, schedule, BinaryTree(max(1, count)), confidence)
    return _to_means(data, sums, last, ledger)


def _to_means(data: Stream, sums: Iterator[Rows], last: int, ledger: Ledger) -> Iterator[Rows]:
    low, high = float(data.axis.low or 0), float(data.axis.high or 0)
    for times, values, half_widths in sums:
        means = np.clip(values / times, low, high)
        yield Rows(times, means, np.minimum(half_widths / times, high - low))
    ledger.note("events read", data.events.reach(last))

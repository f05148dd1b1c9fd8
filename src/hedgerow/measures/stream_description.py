"""What the owner of a stream sees of it before publishing; computed in one pass and constant memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.event_sources import is_bits
from hedgerow.data.number_axis import NumberAxis
from hedgerow.data.streams import Stream

__all__ = ["describe_events"]

Integers: TypeAlias = NDArray[np.int64]

#: values are counted in so many cells between the bounds, or one per value if there are fewer
_CELLS = 2**16
#: digits of means
_DIGITS = 6


def describe_events(data: Stream) -> dict[str, Any]:
    """Describe the events of a stream: how many, their values, and whether they drift; for the owner only.

    Quartiles are exact to a 65,536th of the range. A pipe is read to its end, and its first and last events are not
    compared, since its length is not known before.

    Examples
    --------
    >>> for name, fact in describe_events(Stream.from_values([0, 0, 0, 1, 1, 1, 1, 1, 1, 1])).items():
    ...     print(name, fact)
    values 0 or 1
    events 10
    mean 0.7
    ones 7
    mean of the first tenth 0.0
    mean of the last tenth 1.0
    can be read again yes
    """
    axis, events = data.axis, data.events
    length = events.count()
    tenth = -(-length // 10) if length else 0
    # the events are three parts: the first tenth, the last one, and what is between
    edges = np.array([0, tenth, max(tenth, (length or 0) - tenth), np.iinfo(np.int64).max])
    cell = max(1, -(-(axis.steps + 1) // _CELLS))
    counts = np.zeros(axis.steps // cell + 1, np.int64)
    count, totals, least, most = 0, [0, 0, 0], axis.steps, 0
    for block in events.blocks():
        counts += np.bincount(block // cell, minlength=len(counts))
        least, most = min(least, int(block.min())), max(most, int(block.max()))
        inside = np.clip(edges - count, 0, len(block)).tolist()
        for part, (start, stop) in enumerate(pairwise(inside)):
            totals[part] += int(block[start:stop].sum())
        count += len(block)
    facts: dict[str, Any] = {"values": _describe_axis(axis), "events": count}
    if count:
        facts["mean"] = _mean(axis, sum(totals), count)
        facts |= {"ones": int(counts[-1])} if is_bits(axis) else _spread(axis, counts, cell, least, most)
    if tenth and count > 1:
        facts["mean of the first tenth"] = _mean(axis, totals[0], tenth)
        facts["mean of the last tenth"] = _mean(axis, totals[2], count - int(edges[2]))
    facts["can be read again"] = "no, only once" if events.reopened() is None else "yes"
    return facts


def _describe_axis(axis: NumberAxis) -> str:
    return "0 or 1" if is_bits(axis) else f"{axis.low} to {axis.high}, in steps of {axis.step}"


def _mean(axis: NumberAxis, total: int, count: int) -> float:
    return round(_value(axis, total / count), _DIGITS)


def _value(axis: NumberAxis, steps: float) -> float:
    return float(axis.low or 0) + float(axis.step or 1) * steps


def _spread(axis: NumberAxis, counts: Integers, cell: int, least: int, most: int) -> dict[str, Any]:
    """The least and the most, quartiles, and how many values are at a bound: they may have been beyond it."""
    so_far, size = np.cumsum(counts), int(counts.sum())
    cells = [int(np.searchsorted(so_far, -(-size * quarter // 4))) for quarter in (1, 2, 3)]
    quartiles = [min(max(each * cell + (cell - 1) // 2, least), most) for each in cells]
    names = ("least", "lower quartile", "median", "upper quartile", "most")
    numbers = [round(_value(axis, code), _DIGITS) for code in (least, *quartiles, most)]
    facts: dict[str, Any] = {"spread": dict(zip(names, numbers, strict=True))}
    if cell == 1:
        facts["events at the bounds"] = int(counts[0] + counts[-1])
    return facts

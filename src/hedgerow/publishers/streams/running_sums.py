"""What is published of noisy partial sums: an estimate of the sum of all events so far, and its half-width."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.number_axis import NumberAxis
from hedgerow.data.streams import Rows, Stream
from hedgerow.errors import ParameterError
from hedgerow.privacy import Ledger
from hedgerow.publishers.streams.leaf_sums import read_leaves
from hedgerow.publishers.streams.partial_sums import NoisySums, noisy_sums
from hedgerow.publishers.streams.schedule import Schedule
from hedgerow.publishers.streams.trees import Tree
from hedgerow.steps.laplace_sums import discrete_half_width

__all__ = ["estimate_sums", "fixed_schedule", "require_within_horizon"]

Floats: TypeAlias = NDArray[np.float64]

#: sums of steps stay below this: floating-point numbers represent them exactly
_LARGEST_SUM = 1 << 52


def fixed_schedule(data: Stream, times: str, every: int, horizon: int) -> Schedule:
    """Read the parameters of a method that must know in advance how often it publishes.

    The events of a file are counted if neither times nor a horizon are given; those of a pipe cannot be.
    """
    length = data.events.length if times or horizon else data.events.count()
    require_within_horizon(times, horizon, length)
    schedule = Schedule.of(times, every, horizon, length)
    schedule.require_count()
    return schedule


def require_within_horizon(times: str, horizon: int, length: int | None) -> None:
    """Refuse a horizon that is shorter than a stream, if no times are listed: not all of it would be published."""
    if horizon and not times and length is not None and length > horizon:
        msg = f"there are {length:,} events, more than the horizon of {horizon:,}; leave it out, or list times"
        raise ParameterError(msg)


def estimate_sums(data: Stream, ledger: Ledger, schedule: Schedule, tree: Tree, confidence: float) -> Iterator[Rows]:
    """Estimate the sum of all events so far at each time; the whole budget is charged by this call."""
    axis = data.axis
    _require_small_sums(axis, schedule)
    scale = float(axis.steps * tree.ranks / ledger.budget)
    answers = noisy_sums(read_leaves(data.events, schedule), tree, ledger, l1=axis.steps)

    def rows(answer: NoisySums) -> Rows:
        numbers, each = np.unique(answer.noises, return_inverse=True)
        steps = [discrete_half_width(number, scale, 1 - confidence) for number in numbers.tolist()]
        half_widths = float(axis.step or 1) * np.array(steps, np.float64)[each]
        return schedule.repeat(Rows(answer.times, _values(axis, answer), half_widths))

    return map(rows, answers)


def _values(axis: NumberAxis, answer: NoisySums) -> Floats:
    """Turn sums of steps above the lower bound into sums of values."""
    values = float(axis.low or 0) * answer.times + float(axis.step or 1) * answer.sums
    return values if axis.decimals is None else np.round(values, axis.decimals)


def _require_small_sums(axis: NumberAxis, schedule: Schedule) -> None:
    """Refuse lattices of so many steps that sums over all events, whose number is public, are no longer exact."""
    if schedule.last is not None and axis.steps * schedule.last > _LARGEST_SUM:
        msg = (
            f"values have {axis.steps:,} steps, too many for sums over {schedule.last:,} events; "
            "declare a larger step, or give a smaller horizon"
        )
        raise ParameterError(msg)

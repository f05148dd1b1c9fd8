"""Measures of streams: how far published estimates are from the truth, over time.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgerow.data import Dataset
from hedgerow.data.streams import Estimates, Stream
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.score import Score

__all__ = ["controls", "describe", "measure"]


def describe(data: Stream) -> dict[str, Any]:
    """Describe a stream; every figure is a function of the private data: for the owner only.

    Examples
    --------
    >>> describe(Stream.from_values([0, 1, 1, 1]))
    {'events': 4, 'mean': 0.75, 'values': '0 to 1, in steps of 1'}
    """
    events = total = 0
    for block in data.events.blocks():
        events, total = events + len(block), total + int(block.sum())
    axis = data.axis
    mean = float(axis.low or 0) + float(axis.step or 1) * total / max(1, events)
    return {"events": events, "mean": round(mean, 6), "values": f"{axis.low} to {axis.high}, in steps of {axis.step}"}


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """Compare with nothing yet."""
    del compared
    return {}


def measure(compared: Comparison, controls: Mapping[str, Estimates], rng: np.random.Generator) -> list[Score]:
    """Measure nothing yet."""
    del compared, controls, rng
    return []

"""Charts of a release of trajectories."""

from __future__ import annotations

import numpy as np

from hedgerow.data import Trajectories
from hedgerow.report.charts import Chart, bar_chart

__all__ = ["charts"]

_MOST = 15


def charts(data: Trajectories, *, compared: bool) -> list[Chart]:
    """Draw the places and times with most visits; nothing if a comparison shows both."""
    _, pairs, _ = data.arrays()
    if compared or not len(pairs):
        return []
    size = data.domain.size("place")
    drawings: list[Chart] = []
    for axis, codes in (("place", pairs % size), ("time", pairs // size)):
        occurring, counts = np.unique(codes, return_counts=True)
        top = np.argsort(-counts, kind="stable")[:_MOST]
        # times are in their order, places by number of visits
        order = np.sort(top) if axis == "time" else top
        values = data.domain.values(axis)
        rows = [{axis: str(values[occurring[number]]), "visits": int(counts[number])} for number in order]
        drawings.append(bar_chart(f"Visits by {axis} in the release", rows, axis, "visits"))
    return drawings

"""What a release of trajectories holds, drawn."""

from __future__ import annotations

import numpy as np

from hedgerow.data import Trajectories
from hedgerow.report.charts import Chart, bar_chart

__all__ = ["charts"]

_MOST = 15


def charts(data: Trajectories, *, compared: bool) -> list[Chart]:
    """Draw the places and the times of most visits; a comparison shows both."""
    _, pairs, _ = data.arrays()
    if compared or not len(pairs):
        return []
    size = data.domain.size("place")
    drawn: list[Chart] = []
    for axis, codes in (("place", pairs % size), ("time", pairs // size)):
        seen, counts = np.unique(codes, return_counts=True)
        top = np.argsort(-counts, kind="stable")[:_MOST]
        # times stand in their order, places by their visits
        shown = np.sort(top) if axis == "time" else top
        values = data.domain.values(axis)
        rows = [{axis: str(values[seen[number]]), "visits": int(counts[number])} for number in shown]
        drawn.append(bar_chart(f"Visits by {axis} in the release", rows, axis, "visits"))
    return drawn

"""The charts of trajectories that people look at first: the profile of the day, and the largest flows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.measures.mobility import Mobility, most_frequent_cells
from hedgerow.score import Score, exact_score

__all__ = ["PROFILES", "mobility_charts"]

Floats: TypeAlias = NDArray[np.float64]

#: the charts of the profile of the day
PROFILES = ("records by time of first visit", "records by time of last visit", "visits by time")
_FLOWS = "the most frequent origin-destination pairs"
_DURATIONS = "records by duration, in time steps"
_SHOWN = 20
#: times that a chart shows; more are put together
_MOST_TIMES = 48


def mobility_charts(truth: Mobility, ours: Mobility) -> list[Score]:
    """The counts of the charts: profile of starts, ends and visits, the largest flows, and durations."""
    flows = most_frequent_cells(truth.flows, _SHOWN)
    names = truth.frame.regions.names
    titles = [f"{names[row]} to {names[column]}" for row, column in flows]
    before, after = ([float(data.flows[row, column]) * data.records for row, column in flows] for data in (truth, ours))
    steps = range(min(_SHOWN, truth.visits.bins.values))
    return [
        *_profiles(truth, ours),
        *_bars(_FLOWS, titles, before, after),
        *_bars(
            _DURATIONS,
            map(str, steps),
            (truth.durations * truth.records)[steps],
            (ours.durations * ours.records)[steps],
        ),
    ]


def _profiles(truth: Mobility, ours: Mobility) -> list[Score]:
    # how many times are put together, and what they are called
    several = -(-len(truth.frame.hour_names) // _MOST_TIMES)
    names = truth.frame.hour_names[::several]
    scores: list[Score] = []
    for chart, (before, after) in zip(PROFILES, zip(_counts(truth), _counts(ours), strict=True), strict=True):
        at = np.arange(0, len(before), several)
        scores += _bars(chart, names, np.add.reduceat(before, at), np.add.reduceat(after, at))
    return scores


def _counts(data: Mobility) -> tuple[Floats, Floats, Floats]:
    """The number of records that start and that end, and of visits, at each time."""
    visits = len(data.visits.times)
    return data.start_hours * data.records, data.end_hours * data.records, data.hours * visits


def _bars(chart: str, names: Iterable[str], before: Iterable[float], after: Iterable[float]) -> list[Score]:
    """One score per name; counts are whole numbers unless labels were spread."""
    return [
        exact_score(f"{chart}: {name}", round(float(new), 3), {"original": round(float(old), 3)}, chart=chart, at=name)
        for name, old, new in zip(names, before, after, strict=True)
    ]

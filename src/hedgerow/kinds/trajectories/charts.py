"""Charts of a release of trajectories: first the profile of the day and the largest flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hedgerow.charts import OURS, Chart, bar_chart, base_chart, colour_by_series, rounded
from hedgerow.kinds.trajectories.coarse_trajectories import CoarseTrajectories
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.measures import count_levels
from hedgerow.kinds.trajectories.mobility_measures import PROFILES
from hedgerow.numerics.arrays import Integers
from hedgerow.score import Score

_MOST = 15
_ORIGINAL = "original"


def charts(data: Trajectories | CoarseTrajectories, *, compared: bool) -> list[Chart]:
    """Draw starts, ends and visits by time, the largest flows and the busiest places; nothing if a comparison does."""
    if isinstance(data, CoarseTrajectories):
        return [] if compared or not len(data.labels) else _label_charts(data)
    starts, pairs, _ = data.arrays()
    if compared or not len(pairs):
        return []
    names = list(map(str, data.domain.values("place")))
    times, places = np.divmod(pairs, len(names))
    filled = np.flatnonzero(np.diff(starts))
    first, last = starts[filled], starts[filled + 1] - 1
    series = {"visits": times, "first visits": times[first], "last visits": times[last]}
    flows = _most_frequent(places[first] * len(names) + places[last])
    moved = [(f"{names[flow // len(names)]} to {names[flow % len(names)]}", count) for flow, count in flows]
    visited = [(names[place], count) for place, count in _most_frequent(places)]
    return [
        _profile_chart("Visits, starts and ends by time in the release", _profile(data, series)),
        _bars("Largest flows, from first to last place, in the release", moved, "flow", "records"),
        _bars("Visits by place in the release", visited, "place", "visits"),
    ]


def _label_charts(data: CoarseTrajectories) -> list[Chart]:
    """Draw the levels of labels, and the most frequent ones."""
    counted = _most_frequent(data.labels)
    names = data.decode(np.array([label for label, _ in counted], np.int64))
    frequent = [
        (f"{region} (level {level}), {begin} to {end}", count)
        for (level, region, begin, end), (_, count) in zip(names, counted, strict=True)
    ]
    return [
        _bars(
            "Labels by level of places and width of time bins in the release", count_levels(data), "levels", "labels"
        ),
        _bars("The most frequent labels in the release", frequent, "label", "records"),
    ]


def _profile(data: Trajectories, series: Mapping[str, Integers]) -> list[dict[str, Any]]:
    """The number of visits of each series at each time that occurs."""
    values = data.domain.values("time")
    counts = {name: np.bincount(codes, minlength=len(values)) for name, codes in series.items()}
    return [
        {"at": str(values[code]), "series": name, "value": int(counts[name][code])}
        for name in series
        for code in np.flatnonzero(counts["visits"]).tolist()
    ]


def _most_frequent(codes: Integers) -> list[tuple[int, int]]:
    occurring, counts = np.unique(codes, return_counts=True)
    top = np.argsort(-counts, kind="stable")[:_MOST]
    return list(zip(occurring[top].tolist(), counts[top].tolist(), strict=True))


def _bars(title: str, counted: Sequence[tuple[str, int]], name: str, value: str) -> Chart:
    return bar_chart(title, [{name: each, value: count} for each, count in counted], name, value)


def _compared_profile(title: str, scores: Sequence[Score]) -> list[Chart]:
    """Draw the profile of the original and of the release."""
    rows = [
        {"at": score.at, "series": series, "value": value}
        for score in scores
        for series, value in ((_ORIGINAL, dict(score.controls).get(_ORIGINAL, 0.0)), (OURS, score.value))
    ]
    return [_profile_chart(f"{title[:1].upper()}{title[1:]}", rows)]


#: charts of scores that are drawn as lines over the day
SCORE_CHARTS: dict[str, Callable[[Sequence[Score]], list[Chart]]] = {
    title: partial(_compared_profile, title) for title in PROFILES
}


def _profile_chart(title: str, rows: list[dict[str, Any]]) -> Chart:
    """Draw one line per `series` over the places `at`, which are in their order."""
    axis = {"labelOverlap": True, "labelAngle": 0}
    return base_chart(
        title,
        rows,
        height=200,
        mark={"type": "line", "interpolate": "step", "strokeWidth": 2},
        encoding={
            "x": {"field": "at", "type": "ordinal", "sort": None, "title": None, "axis": axis},
            "y": {"field": "value", "type": "quantitative", "title": None},
            "color": colour_by_series(rows),
            "tooltip": [{"field": "at"}, {"field": "series"}, rounded("value")],
        },
    )

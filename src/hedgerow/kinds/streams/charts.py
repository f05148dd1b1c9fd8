"""Charts of a release of a stream: estimates over time with their half-width, and their errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from hedgerow.charts import GREEN, OURS, Chart, base_chart, capitalised, colour_by_series, rounded
from hedgerow.data import Dataset
from hedgerow.kinds.streams.data import Estimates, Rows
from hedgerow.kinds.streams.measures import ERRORS_OVER_TIME, ESTIMATES_OVER_TIME, HALF_WIDTH, ORIGINAL
from hedgerow.score import Score

#: the most estimates that are drawn; at least half as many if there are more
_DRAWN = 500
_TIME = "event"
#: so many estimates make an area, fewer are drawn as bars
_AREA = 3


def charts(data: Dataset, *, compared: bool) -> list[Chart]:
    """Draw the estimates with their half-width, unless a comparison shows them beside the truth."""
    if compared or not isinstance(data, Estimates):
        return []
    rows = thin(data.rows(), _DRAWN)
    if not len(rows.times):
        return []
    numbers = zip(rows.times.tolist(), rows.values.tolist(), rows.half_widths.tolist(), strict=True)
    points = [_point(time, OURS, value, (value - half, value + half)) for time, value, half in numbers]
    return [_band_chart("Estimates of the release, with their half-width", points)]


def thin(slices: Iterable[Rows], most: int) -> Rows:
    """Return every n-th row and the last one, at most so many and one, without reading all into memory.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(np.arange(1, 10), np.zeros(9), np.zeros(9))
    >>> thin([rows], 4).times.tolist()
    [1, 5, 9]
    """
    kept, step, count, last = Rows.join([]), 1, 0, Rows.join([])
    for rows in slices:
        size = len(rows.times)
        chosen = rows.take(slice(-count % step, None, step))
        kept = Rows.join([kept, chosen])
        while len(kept.times) > most:
            kept, step = kept.take(slice(None, None, 2)), 2 * step
        count += size
        last = rows.take(slice(-1, None)) if size else last
    return kept if (count - 1) % step == 0 else Rows.join([kept, last])


def _point(time: float, series: str, value: float, band: tuple[float, float] | None = None) -> dict[str, Any]:
    """Make a point of a chart; an infinite band is not drawn."""
    point: dict[str, Any] = {_TIME: time, "series": series, "value": value}
    if band is not None and math.isfinite(band[0]) and math.isfinite(band[1]):
        point |= {"low": band[0], "high": band[1]}
    return point


def _compare_estimates(scores: Sequence[Score]) -> list[Chart]:
    """Draw estimates with their half-width, and the truth."""
    points: list[dict[str, Any]] = []
    for score, time in _timed(scores):
        truth = dict(score.controls).get(ORIGINAL)
        points += [] if truth is None else [_point(time, ORIGINAL, truth)]
        points.append(_point(time, OURS, score.value, (score.low, score.high)))
    return [_band_chart(capitalised(ESTIMATES_OVER_TIME), points)] if points else []


def _compare_errors(scores: Sequence[Score]) -> list[Chart]:
    """Draw the error of the release and of controls over time, and the half-width that was published."""
    points = [
        _point(time, series, value)
        for score, time in _timed(scores)
        for series, value in ((OURS, score.value), *score.controls)
        if value > 0  # the scale is logarithmic
    ]
    if not points:
        return []
    dash = {"condition": {"test": {"field": "series", "equal": HALF_WIDTH}, "value": [5, 4]}, "value": [1, 0]}
    lines = _lines(points, scale={"type": "log"})
    lines["encoding"]["strokeDash"] = dash
    return [base_chart(f"{capitalised(ERRORS_OVER_TIME)} (RMSE, lower is better)", points, height=260, **lines)]


def _timed(scores: Sequence[Score]) -> list[tuple[Score, int]]:
    """Return scores with their time; a file of scores may have been changed, and one without a time is left out."""
    return [(score, int(score.at)) for score in scores if score.at.isdecimal() and len(score.at) < len(str(2**63))]


def _band_chart(title: str, points: list[dict[str, Any]]) -> Chart:
    """Draw lines, and an area or bars from `low` to `high` around those that have them."""
    bands = [point for point in points if "low" in point]
    band: dict[str, Any] = {
        "data": {"values": bands},
        "mark": {"type": "area", "color": GREEN, "opacity": 0.2}
        if len(bands) >= _AREA
        else {"type": "rule", "color": GREEN, "strokeWidth": 4, "opacity": 0.3},
        "encoding": {
            "x": _time_axis(),
            "y": {"field": "low", "type": "quantitative", "title": None},
            "y2": {"field": "high"},
        },
    }
    layer = [*([band] if bands else []), _lines(points, scale={"zero": False})]
    return base_chart(title, points, height=260, layer=layer)


def _lines(points: Sequence[dict[str, Any]], *, scale: dict[str, Any]) -> dict[str, Any]:
    """Draw one line per series, with its points if they can be told apart."""
    dots = {"filled": True, "size": 14} if len(points) <= _DRAWN // 2 else False
    axis = {"format": ",.6~g", "labelOverlap": True, "gridOpacity": 0.5}
    return {
        "mark": {"type": "line", "point": dots, "strokeWidth": 1.5},
        "encoding": {
            "x": _time_axis(),
            "y": {"field": "value", "type": "quantitative", "title": None, "scale": scale, "axis": axis},
            "color": colour_by_series(points),
            "tooltip": [
                {"field": _TIME, "type": "quantitative", "format": ","},
                {"field": "series", "type": "nominal"},
                rounded("value"),
            ],
        },
    }


def _time_axis() -> dict[str, Any]:
    axis = {"format": ",d", "labelOverlap": True}
    return {"field": _TIME, "type": "quantitative", "title": "events so far", "axis": axis, "scale": {"zero": False}}


#: charts of scores that are drawn here
SCORE_CHARTS = {ERRORS_OVER_TIME: _compare_errors, ESTIMATES_OVER_TIME: _compare_estimates}

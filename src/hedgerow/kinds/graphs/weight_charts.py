"""Charts of a release of a weighted network: a part of it before and after, changes of weights, lengths of paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.charts import GREEN, OURS, Chart, base_chart, capitalised, colour_by_series, column_chart, rounded
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.layout import lay_out
from hedgerow.kinds.graphs.weight_measures import DRAWING, LENGTHS_WITHIN, LEVELS, RATIOS, WEIGHTS_WITHIN, draw
from hedgerow.numerics.arrays import Floats
from hedgerow.score import Score

_ORIGINAL = "original"
#: bars of the histogram of weights, and names beside vertices if there are no more than so many
_BARS, _NAMED = 24, 40
#: pixels of the thinnest and the widest line, and how far two arcs of opposite directions are apart
_THIN, _WIDE, _APART = 0.3, 6.0, 0.012
_WEIGHT, _EDGES = "weight", "edges of that weight"


def draw_weights(data: Graph) -> list[Chart]:
    """Draw the weights of a release alone: how large they are, and the part of it where they are largest."""
    weights = data.require_weights()
    low, high = float(weights.min()), float(weights.max())
    ends = np.geomspace(low, high, _BARS + 1) if high > low else np.array([low, np.nextafter(low, np.inf)])
    ends[0], ends[-1] = low, high  # rounding must leave none out
    counts, ends = np.histogram(weights, ends)
    middles = np.sqrt(ends[:-1] * ends[1:])
    rows = [
        {_WEIGHT: f"{middle:.3g}", _EDGES: count}
        for middle, count in zip(middles.tolist(), counts.tolist(), strict=True)
    ]
    parts = draw(data, data)
    return [
        column_chart("Edges by weight in the release", rows, _WEIGHT, _EDGES),
        *([_draw_network("The heaviest part of the released network", parts, _weights_after(parts))] if parts else []),
    ]


def _draw_both(scores: Sequence[Score]) -> list[Chart]:
    """Draw the same part of the network before and after, each vertex at the same place, on one scale."""
    before = [dict(score.controls).get(_ORIGINAL, 0.0) for score in scores]
    return [
        _draw_network(f"{capitalised(DRAWING)}: {_ORIGINAL}", scores, before),
        _draw_network(f"{capitalised(DRAWING)}: {OURS}", scores, _weights_after(scores)),
    ]


def _weights_after(scores: Sequence[Score]) -> list[float]:
    return [score.value for score in scores]


def _draw_network(title: str, scores: Sequence[Score], weights: Sequence[float]) -> Chart:
    """Draw edges as lines as wide as their weights; where vertices stand depends on the edges alone."""
    names = list(dict.fromkeys(name for score in scores for name in (score.at, score.across)))
    place = {name: number for number, name in enumerate(names)}
    first = np.array([place[score.at] for score in scores], np.int64)
    second = np.array([place[score.across] for score in scores], np.int64)
    points = lay_out(len(names), first, second).round(4)
    lines = _beside(points[first], points[second]).round(4).tolist()
    edges: list[dict[str, Any]] = [
        {"x": x, "y": y, "x2": x2, "y2": y2, "from": score.at, "to": score.across, _WEIGHT: weight}
        for (x, y, x2, y2), score, weight in zip(lines, scores, weights, strict=True)
    ]
    vertices = [{"x": x, "y": y, "name": name} for name, (x, y) in zip(names, points.tolist(), strict=True)]
    both = [value for score in scores for value in (score.value, *(value for _, value in score.controls))]
    return _network_chart(title, vertices, edges, most=max(both))


def _beside(begin: Floats, end: Floats) -> Floats:
    """Move lines a little to the left of their direction, so that two of opposite directions can be told apart."""
    along = end - begin
    aside = np.stack((-along[:, 1], along[:, 0]), axis=1)
    aside *= _APART / np.maximum(np.linalg.norm(aside, axis=1, keepdims=True), 1e-9)
    return np.concatenate((begin + aside, end + aside), axis=1)


def _network_chart(title: str, vertices: list[dict[str, Any]], edges: list[dict[str, Any]], *, most: float) -> Chart:
    scale: dict[str, Any] = {"domain": [-1.1, 1.1], "nice": False}
    place: dict[str, Any] = {
        name: {"field": name, "type": "quantitative", "scale": scale, "axis": None} for name in ("x", "y")
    }
    width = {"type": "linear", "domain": [0, most], "range": [_THIN, _WIDE]}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": edges},
            "mark": {"type": "rule", "color": GREEN, "opacity": 0.6},
            "encoding": {
                **place,
                "x2": {"field": "x2"},
                "y2": {"field": "y2"},
                "strokeWidth": {"field": _WEIGHT, "type": "quantitative", "scale": width, "legend": None},
                "tooltip": [{"field": "from"}, {"field": "to"}, rounded(_WEIGHT)],
            },
        },
        {
            "mark": {"type": "circle", "color": "#7b8794", "opacity": 1, "size": 40},
            "encoding": {**place, "tooltip": [{"field": "name"}]},
        },
    ]
    if len(vertices) <= _NAMED:
        layers.append(
            {
                "mark": {"type": "text", "color": "currentColor", "fontSize": 10, "dy": -9, "limit": 80},
                "encoding": {**place, "text": {"field": "name"}},
            }
        )
    return base_chart(title, vertices, height=360, layer=layers)


def _draw_shares(scores: Sequence[Score]) -> list[Chart]:
    """Draw the share within each relative change, as a curve for the release and for each control."""
    rows = [
        {"change": float(score.at), "share": value, "series": series}
        for score in scores
        for series, value in ((OURS, score.value), *score.controls)
    ]
    percent: dict[str, Any] = {"type": "quantitative", "axis": {"format": ".0%"}}
    spec = base_chart(
        f"Share of {scores[0].chart}",
        rows,
        height=240,
        mark={"type": "line", "point": {"filled": True, "size": 40}, "strokeWidth": 2},
        encoding={
            "x": {"field": "change", "title": "relative change", **percent},
            "y": {"field": "share", "title": None, "scale": {"domain": [0, 1]}, **percent},
            "color": colour_by_series(rows),
            "tooltip": [{"field": "series", "type": "nominal"}, rounded("change"), rounded("share")],
        },
    )
    return [spec]


def _draw_ratios(scores: Sequence[Score]) -> list[Chart]:
    rows = [{"ratio": score.at, "share of pairs": score.value} for score in scores]
    chart = column_chart(capitalised(RATIOS), rows, "ratio", "share of pairs")
    chart["spec"]["encoding"]["x"]["axis"] = {"labelAngle": -40}
    return [chart]


def _draw_levels(scores: Sequence[Score]) -> list[Chart]:
    """Draw released weights by original weight: the middle of each group of edges, and where 90 % of it lie."""
    rows = [
        {"original": float(score.at), "released": value, "low": low, "high": high, "series": series}
        for score in scores
        for series, value, low, high in (
            (OURS, score.value, score.low, score.high),
            *((name, told, told, told) for name, told in score.controls),
        )
    ]
    scale: dict[str, Any] = {"type": "log", "nice": False}
    axis = {"format": ",~g", "labelOverlap": True, "gridOpacity": 0.5}
    x = {"field": "original", "type": "quantitative", "scale": scale, "title": "original weight", "axis": axis}
    y: dict[str, Any] = {"type": "quantitative", "scale": scale, "title": "released weight", "axis": axis}
    return [
        base_chart(
            "Weights before and after: the middle, and 90 % of the edges",
            rows,
            height=260,
            layer=[
                {
                    "data": {"values": [row for row in rows if row["series"] == OURS]},
                    "mark": {"type": "area", "color": GREEN, "opacity": 0.25},
                    "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}},
                },
                {
                    "mark": {"type": "line", "point": {"filled": True, "size": 40}, "strokeWidth": 2},
                    "encoding": {
                        "x": x,
                        "y": {"field": "released", **y},
                        "color": colour_by_series(rows),
                        "tooltip": [{"field": "series", "type": "nominal"}, rounded("original"), rounded("released")],
                    },
                },
            ],
        )
    ]


#: charts of scores that are drawn here
WEIGHT_CHARTS = {
    DRAWING: _draw_both,
    WEIGHTS_WITHIN: _draw_shares,
    LENGTHS_WITHIN: _draw_shares,
    RATIOS: _draw_ratios,
    LEVELS: _draw_levels,
}

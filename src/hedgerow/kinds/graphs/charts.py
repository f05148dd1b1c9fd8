"""Charts of a release of graphs: degrees, density of the adjacency matrix, and a small drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.charts import GREEN, OURS, Chart, base_chart, heat_map, line_chart
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.layout import lay_out
from hedgerow.kinds.graphs.measures import (
    BLOCKS,
    DEGREES,
    DENSITIES,
    bin_means,
    bin_middles,
    block_densities,
    block_starts,
    degree_bins,
    degree_counts,
)
from hedgerow.kinds.graphs.weight_charts import WEIGHT_CHARTS, draw_weights
from hedgerow.score import Score

_ORIGINAL = "original"
#: vertices of the drawing; names beside all of them if there are no more than the second number, else beside the third
_DRAWN, _FEW, _NAMED = 60, 40, 12
_HEIGHT = 320
#: labels of an axis of the density map
_LABELS = 4
_DEGREE, _VERTICES = "degree", "vertices of that degree"


def charts(data: Graph, *, compared: bool) -> list[Chart]:
    """Draw a part of the network; degrees and densities too, unless a comparison shows them.

    Of a network with weights, the weights are drawn; a comparison shows more than the release alone.
    """
    if not len(data):
        return []
    if data.weights is not None:
        return [] if compared else draw_weights(data)
    if compared:
        return [_draw_part(data)]
    return [_draw_degrees(data), _draw_density(data), _draw_part(data)]


def _draw_degrees(data: Graph) -> Chart:
    [counts] = degree_counts(data)
    bins = degree_bins(len(counts) - 1)
    rows = [
        {_DEGREE: middle, _VERTICES: mean, "series": OURS}
        for middle, mean in zip(bin_middles(bins).tolist(), bin_means(counts, bins).tolist(), strict=True)
        if mean
    ]
    return line_chart("Vertices by degree in the release", rows, _DEGREE, _VERTICES)


def _draw_density(data: Graph) -> Chart:
    densities = block_densities(data, BLOCKS)
    starts = [str(start + 1) for start in block_starts(data.domain.size("vertex"), BLOCKS)[:-1].tolist()]
    rows = [
        {"at": column, "across": row, "value": value}
        for row, line in zip(starts, densities.tolist(), strict=True)
        for column, value in zip(starts, line, strict=True)
    ]
    return _density_map("Density of the adjacency matrix of the release", rows, float(densities.max()))


def _draw_part(data: Graph) -> Chart:
    """Draw the vertices with most edges, and the edges among them."""
    degrees = data.degrees()
    shown = np.sort(np.argsort(-degrees, kind="stable")[:_DRAWN])
    place = np.full(len(degrees), -1, np.int64)
    place[shown] = np.arange(len(shown))
    first, second = place[data.first], place[data.second]
    inside = (first >= 0) & (second >= 0)
    first, second = first[inside], second[inside]
    points = lay_out(len(shown), first, second).round(4)
    values = data.domain.values("vertex")
    named = len(shown) if len(shown) <= _FEW else _NAMED
    labelled = set(np.argsort(-degrees[shown], kind="stable")[:named].tolist())
    codes: list[int] = shown.tolist()
    vertices: list[dict[str, Any]] = [
        {
            "x": x,
            "y": y,
            "name": str(values[code]),
            "edges": int(degrees[code]),
            "label": str(values[code]) if number in labelled else "",
        }
        for number, (code, (x, y)) in enumerate(zip(codes, points.tolist(), strict=True))
    ]
    lines = np.concatenate((points[first], points[second]), axis=1).tolist()
    edges: list[dict[str, Any]] = [{"x": x, "y": y, "x2": x2, "y2": y2} for x, y, x2, y2 in lines]
    whole = len(shown) == len(degrees)
    title = "The released network" if whole else f"The {len(shown)} vertices with most edges in the release"
    return _draw_network(title, vertices, edges)


def _draw_network(title: str, vertices: list[dict[str, Any]], edges: list[dict[str, Any]]) -> Chart:
    """Draw a small network: vertices at `x`, `y` with `name` and `edges`, and lines from `x`, `y` to `x2`, `y2`.

    A vertex has its name beside it if it has a `label`.
    """
    scale: dict[str, Any] = {"domain": [-1.08, 1.08], "nice": False}
    place: dict[str, Any] = {
        name: {"field": name, "type": "quantitative", "scale": scale, "axis": None} for name in ("x", "y")
    }
    size = {"field": "edges", "type": "quantitative", "legend": None, "scale": {"range": [25, 260], "zero": True}}
    faint = max(0.12, min(0.6, 40 / max(1, len(edges))))
    return base_chart(
        title,
        vertices,
        height=380,
        layer=[
            {
                "data": {"values": edges},
                "mark": {"type": "rule", "color": "currentColor", "opacity": faint, "strokeWidth": 1},
                "encoding": {**place, "x2": {"field": "x2"}, "y2": {"field": "y2"}},
            },
            {
                "mark": {"type": "circle", "color": GREEN, "opacity": 0.9},
                "encoding": {**place, "size": size, "tooltip": [{"field": "name"}, {"field": "edges"}]},
            },
            {
                "mark": {"type": "text", "color": "currentColor", "fontSize": 10, "dy": -10, "limit": 90},
                "encoding": {**place, "text": {"field": "label"}},
            },
        ],
    )


def _compare_degrees(scores: Sequence[Score]) -> list[Chart]:
    """Draw the degrees of the original, the release and the controls; degrees that do not occur have no point."""
    rows: list[dict[str, Any]] = []
    for score in scores:
        others = dict(score.controls)
        for series in (_ORIGINAL, OURS, *(name for name in others if name != _ORIGINAL)):
            value = score.value if series == OURS else others.get(series, 0)
            if value > 0:
                rows.append({_DEGREE: float(score.at), _VERTICES: value, "series": series})
    return [line_chart("Vertices by degree, before and after", rows, _DEGREE, _VERTICES)] if rows else []


def _compare_densities(scores: Sequence[Score]) -> list[Chart]:
    """Draw the adjacency matrix before and after, on one scale."""
    before = [dict(score.controls).get(_ORIGINAL, 0.0) for score in scores]
    after = [score.value for score in scores]
    top = max(*before, *after, 0.0)
    return [
        _density_map(f"Density of the adjacency matrix: {series}", _mirrored(scores, values), top)
        for series, values in ((_ORIGINAL, before), (OURS, after))
    ]


def _mirrored(scores: Sequence[Score], values: Sequence[float]) -> list[dict[str, Any]]:
    """Rows of both triangles, from scores of the upper one; in the order of the vertices."""
    tiles = {(score.across, score.at): value for score, value in zip(scores, values, strict=True)}
    places = list(dict.fromkeys(score.at for score in scores))
    return [
        {"at": column, "across": row, "value": tiles.get((row, column), tiles.get((column, row), 0.0))}
        for row in places
        for column in places
    ]


def _density_map(title: str, rows: list[dict[str, Any]], top: float) -> Chart:
    # from transparent to green, so that empty blocks have the colour of the page; sparse blocks stay visible
    shades = {"type": "sqrt", "domain": [0, top], "range": [f"{GREEN}00", GREEN]}
    places = list(dict.fromkeys(row["at"] for row in rows))
    labels = places[:: max(1, len(places) // _LABELS)]
    return heat_map(title, rows, height=_HEIGHT, shades=shades, axes="position of the vertex", labels=labels)


#: charts of scores that are drawn here
SCORE_CHARTS = {DEGREES: _compare_degrees, DENSITIES: _compare_densities, **WEIGHT_CHARTS}

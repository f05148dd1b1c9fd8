"""Charts of a release of graphs: degrees, density of the adjacency matrix, and a small drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.data import Graph
from hedgerow.measures.degree_distributions import bin_means, bin_middles, degree_bins, degree_counts
from hedgerow.measures.edge_agreement import block_densities, block_starts
from hedgerow.measures.graphs import BLOCKS, DEGREES, DENSITIES
from hedgerow.report.charts import OURS, Chart, heat_map, line_chart, network_drawing
from hedgerow.report.graph_layout import lay_out
from hedgerow.score import Score

__all__ = ["SCORE_CHARTS", "charts"]

_ORIGINAL = "original"
#: vertices of the drawing; names beside all of them if there are no more than the second number, else beside the third
_DRAWN, _FEW, _NAMED = 60, 40, 12
_HEIGHT = 320
#: labels of an axis of the density map
_LABELS = 4
_DEGREE, _VERTICES = "degree", "vertices of that degree"


def charts(data: Graph, *, compared: bool) -> list[Chart]:
    """Draw a part of the network; degrees and densities too, unless a comparison shows them."""
    if not len(data):
        return []
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
    return network_drawing(title, vertices, edges)


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
    shades = {"type": "sqrt", "domain": [0, top], "range": ["#2a9d5c00", "#2a9d5c"]}
    places = list(dict.fromkeys(row["at"] for row in rows))
    labels = places[:: max(1, len(places) // _LABELS)]
    return heat_map(title, rows, height=_HEIGHT, shades=shades, axes="position of the vertex", labels=labels)


#: charts of scores that are drawn here
SCORE_CHARTS = {DEGREES: _compare_degrees, DENSITIES: _compare_densities}

"""Charts as Vega-Lite specifications, readable in light and dark mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from hedgerow.data import Dataset
from hedgerow.kind_registry import KINDS
from hedgerow.privacy import Evidence
from hedgerow.score import Score

Chart: TypeAlias = dict[str, Any]
OURS = "this release"
#: the colour of the release
GREEN = "#2a9d5c"
_ORIGINAL = "original"
_COLOURS = {OURS: GREEN, _ORIGINAL: "#7b8794", "empty release": "#d1495b"}
_OTHERS = ("#e0a030", "#5b8def", "#a066c9", "#3aa6a6")


def budget_chart(evidence: Evidence, budget: str = "epsilon") -> Chart | None:
    """Draw how the budget, called so, was split among the questions."""
    rows = [
        {"question": entry.label, "epsilon": float(entry.spend)}
        for entry in evidence.entries
        if entry.spend > Fraction(0)
    ]
    if not rows:
        return None
    return base_chart(
        f"{budget[0].upper()}{budget[1:]} spent, by question",
        rows,
        mark={"type": "bar", "color": GREEN, "cornerRadiusEnd": 3},
        height=26 * len(rows),
        encoding={
            "y": {"field": "question", "type": "nominal", "sort": None, "title": None},
            "x": {"field": "epsilon", "type": "quantitative", "title": budget},
            "tooltip": [{"field": "question"}, {"field": "epsilon", "title": budget}],
        },
    )


def release_charts(outputs: Mapping[str, Dataset], *, compared: bool) -> list[Chart]:
    """Draw the content of a release, from the release alone; these charts are public.

    If the page also compares with the original (`compared`), what the comparison shows is left out. A kind draws data
    sets together if their names are those of `PARTS` in its module.
    """
    modules = [(data, KINDS[data.kind].module("charts")) for data in outputs.values() if data.kind in KINDS]
    if modules and set(outputs) == getattr(modules[0][1], "PARTS", None):
        return modules[0][1].part_charts(outputs, compared=compared)
    return [chart for data, module in modules for chart in module.charts(data, compared=compared)]


def score_charts(scores: Sequence[Score], *, kind: str) -> list[Chart]:
    """Draw the scores that belong to a chart, together with their controls.

    A kind may draw some charts in its own way: `SCORE_CHARTS` in its module, by name.
    """
    groups: dict[str, list[Score]] = {}
    for score in scores:
        if score.chart:
            groups.setdefault(score.chart, []).append(score)
    own = getattr(KINDS[kind].module("charts"), "SCORE_CHARTS", {}) if kind in KINDS else {}
    return [chart for name, group in groups.items() for chart in _draw(name, group, own)]


def _draw(
    name: str, scores: Sequence[Score], own: Mapping[str, Callable[[Sequence[Score]], list[Chart]]]
) -> list[Chart]:
    if name in own:
        return own[name](scores)
    if scores[0].across:
        return _heat_maps(name, scores)
    return [_dumbbells(name, scores) if _ORIGINAL in dict(scores[0].controls) else _grouped_bars(name, scores)]


def _heat_maps(name: str, scores: Sequence[Score]) -> list[Chart]:
    """Draw two heat maps on one scale, one tile per score: the original, and the release."""
    scores = [score for score in scores if _ORIGINAL in dict(score.controls)]  # a file may have been changed
    before = [dict(score.controls)[_ORIGINAL] for score in scores]
    after = [score.value for score in scores]
    top = max([*before, *after, 0])
    shades = {"scheme": "greens", "domain": [0, top]}
    return [
        heat_map(
            f"{capitalised(name)}: {series}",
            [
                {"at": score.at, "across": score.across, "value": value}
                for score, value in zip(scores, values, strict=True)
            ],
            height=14 * len({score.across for score in scores}),
            shades=shades,
        )
        for series, values in ((_ORIGINAL, before), (OURS, after))
    ]


def _grouped_bars(name: str, scores: Sequence[Score]) -> Chart:
    """Draw one group of bars per score: the value with its interval, and the controls."""
    rows: list[dict[str, Any]] = [
        {"at": score.at, "series": series, "value": value, "low": low, "high": high}
        for score in scores
        for series, value, low, high in (
            (OURS, score.value, score.low, score.high),
            *((control, value, value, value) for control, value in score.controls),
        )
    ]
    place: dict[str, Any] = {"field": "at", "type": "nominal", "sort": None, "title": None}
    place["axis"] = {"labelAngle": -30, "labelLimit": 120}
    shared: dict[str, Any] = {"x": place, "xOffset": {"field": "series", "sort": None}}
    better = {"lower": " (lower is better)", "higher": " (higher is better)"}
    return base_chart(
        capitalised(name) + better.get(scores[0].better, ""),
        rows,
        height=240,
        layer=[
            {
                "mark": {"type": "bar", "cornerRadiusEnd": 2},
                "encoding": {
                    **shared,
                    "y": {"field": "value", "type": "quantitative", "title": None},
                    "color": colour_by_series(rows),
                    "tooltip": [{"field": "at"}, {"field": "series"}, rounded("value")],
                },
            },
            *([_intervals(rows, shared)] if any(row["low"] < row["high"] for row in rows) else []),
        ],
    )


def _intervals(rows: list[dict[str, Any]], shared: dict[str, Any]) -> dict[str, Any]:
    """Draw the interval of each value that has one."""
    return {
        "data": {"values": [row for row in rows if row["low"] < row["high"]]},
        "mark": {"type": "rule", "color": "currentColor", "strokeWidth": 1.5},
        "encoding": {
            **shared,
            "y": {"field": "low", "type": "quantitative"},
            "y2": {"field": "high"},
        },
    }


def _dumbbells(name: str, scores: Sequence[Score]) -> Chart:
    """Draw one line per score, from the original to the release."""
    ends = [
        {"at": score.at, "from": dict(score.controls)[_ORIGINAL], "to": score.value}
        for score in scores
        if _ORIGINAL in dict(score.controls)
    ]
    rows = [
        {"at": end["at"], "series": series, "value": end[key]}
        for end in ends
        for series, key in ((_ORIGINAL, "from"), (OURS, "to"))
    ]
    place: dict[str, Any] = {"field": "at", "type": "nominal", "sort": None, "title": None}
    place["axis"] = {"labelLimit": 150}
    return base_chart(
        capitalised(name),
        rows,
        height=20 * len(ends),
        layer=[
            {
                "data": {"values": ends},
                "mark": {"type": "rule", "color": "#8888", "strokeWidth": 3},
                "encoding": {
                    "y": place,
                    "x": {"field": "from", "type": "quantitative", "title": None},
                    "x2": {"field": "to"},
                },
            },
            _points(rows, place, _ORIGINAL, {"filled": False, "size": 150, "strokeWidth": 2}),
            _points(rows, place, OURS, {"filled": True, "size": 60}),
        ],
    )


def _points(rows: list[dict[str, Any]], place: dict[str, Any], series: str, mark: dict[str, Any]) -> dict[str, Any]:
    return {
        "transform": [{"filter": {"field": "series", "equal": series}}],
        "mark": {"type": "point", "opacity": 1, **mark},
        "encoding": {
            "y": place,
            "x": {"field": "value", "type": "quantitative"},
            "color": colour_by_series(rows),
            "tooltip": [{"field": "at"}, {"field": "series"}, rounded("value")],
        },
    }


# What the kinds draw with.


def bar_chart(title: str, rows: list[dict[str, Any]], name: str, value: str) -> Chart:
    """Draw one horizontal bar per row, with its name on the left."""
    return base_chart(
        title,
        rows,
        mark={"type": "bar", "color": GREEN, "cornerRadiusEnd": 3},
        height=20 * len(rows),
        encoding={
            "y": {"field": name, "type": "nominal", "sort": None, "title": None} | {"axis": {"labelLimit": 150}},
            "x": {"field": value, "type": "quantitative", "title": value},
            "tooltip": [{"field": name}, {"field": value}],
        },
    )


def stacked_bars(title: str, rows: list[dict[str, Any]], *, parts: Sequence[str], colours: Sequence[str]) -> Chart:
    """Draw one horizontal bar per `name`, made of the `value` of each `part`, in the order of the parts."""
    return base_chart(
        title,
        [{**row, "order": parts.index(row["part"])} for row in rows],
        mark={"type": "bar"},
        height=24 * len({row["name"] for row in rows}),
        encoding={
            "y": {"field": "name", "type": "nominal", "sort": None, "title": None} | {"axis": {"labelLimit": 150}},
            "x": {"field": "value", "type": "quantitative", "title": None},
            "color": {
                "field": "part",
                "scale": {"domain": list(parts), "range": list(colours)},
                "legend": {"title": None, "orient": "top", "columns": 3, "labelLimit": 160},
            },
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [{"field": "name"}, {"field": "part"}, rounded("value")],
        },
    )


def column_chart(title: str, rows: list[dict[str, Any]], name: str, value: str) -> Chart:
    """Draw one vertical bar per row, with its short name below."""
    return base_chart(
        title,
        rows,
        mark={"type": "bar", "color": GREEN, "cornerRadiusEnd": 3},
        height=200,
        encoding={
            "x": {"field": name, "type": "ordinal", "sort": None, "title": name, "axis": {"labelAngle": 0}},
            "y": {"field": value, "type": "quantitative", "title": value},
            "tooltip": [{"field": name}, {"field": value}],
        },
    )


def heat_map(
    title: str,
    rows: list[dict[str, Any]],
    *,
    height: int,
    shades: dict[str, Any],
    axes: str | None = None,
    labels: Sequence[str] = (),
) -> Chart:
    """Draw one tile per row, of the colour of its `value`, in the column `at` and the row `across`.

    All rows and columns are labelled, or only those in `labels`.
    """
    place: dict[str, Any] = {"type": "nominal", "sort": None, "title": axes}
    shown = {"values": list(labels)} if labels else {}
    return base_chart(
        title,
        rows,
        height=height,
        mark={"type": "rect"},
        encoding={
            "x": {"field": "at", **place, "axis": {"labelAngle": 0, "labelOverlap": True, **shown}},
            "y": {"field": "across", **place, "axis": {"labelLimit": 120, **shown}},
            "color": {
                "field": "value",
                "type": "quantitative",
                "scale": shades,
                "legend": {"title": None, "labelColor": "currentColor"},
            },
            "tooltip": [{"field": "at"}, {"field": "across"}, rounded("value")],
        },
    )


def line_chart(title: str, rows: list[dict[str, Any]], x: str, y: str) -> Chart:
    """Draw one line per `series` with its points, on logarithmic axes."""
    scale: dict[str, Any] = {"type": "log", "nice": False}
    axis = {"format": ",~g", "labelOverlap": True, "gridOpacity": 0.5}
    return base_chart(
        title,
        rows,
        height=260,
        mark={"type": "line", "point": {"filled": True, "size": 40}, "strokeWidth": 2},
        encoding={
            "x": {"field": x, "type": "quantitative", "scale": scale, "title": x, "axis": axis},
            "y": {"field": y, "type": "quantitative", "scale": scale, "title": y, "axis": axis},
            "color": colour_by_series(rows),
            "tooltip": [{"field": "series", "type": "nominal"}, rounded(x), rounded(y)],
        },
    )


def base_chart(title: str, rows: list[dict[str, Any]], **more: Any) -> Chart:
    """Add what all charts share; the page sets the colour of text."""
    axis = {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": "#8888",
        "tickColor": "#8888",
        "gridColor": "#8883",
    }
    return {
        "title": title,
        "spec": {
            "width": "container",
            "background": "transparent",
            "autosize": {"type": "fit-x", "contains": "padding"},
            "data": {"values": rows},
            "config": {
                "view": {"stroke": None},
                "axis": axis,
                "legend": {"labelColor": "currentColor"},
                "font": "system-ui, sans-serif",
            },
            **more,
        },
    }


def colour_by_series(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Encode the colour of each `series`; that of the release and of the original are always the same."""
    series = list(dict.fromkeys(row["series"] for row in rows))
    others = iter(_OTHERS * len(series))
    colours = [_COLOURS.get(name) or next(others) for name in series]
    return {
        "field": "series",
        "scale": {"domain": series, "range": colours},
        "legend": {"title": None, "orient": "top", "columns": 2, "labelLimit": 160},
    }


def rounded(field: str) -> dict[str, Any]:
    """Encode a number in a tooltip, to four digits."""
    return {"field": field, "type": "quantitative", "format": ".4~g"}


def capitalised(text: str) -> str:
    """Return a text with a capital at its beginning, as a title."""
    return text[:1].upper() + text[1:]

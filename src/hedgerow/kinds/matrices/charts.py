"""Charts of a release of a matrix: heat maps before and after, singular values, and what attacks recover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.charts import OURS, Chart, column_chart, heat_map
from hedgerow.kinds.matrices.attacks import ERRORS
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.measures import DRAWN, HEAT_MAP, average_rows
from hedgerow.score import Score

_ORIGINAL = "original"
#: pixels of a group of rows, and labels of rows
_HEIGHT, _LABELS = 12, 6
#: standard deviations at which colours end
_STRONGEST = 2.0


def charts(data: Matrix, *, compared: bool) -> list[Chart]:
    """Draw how the released numbers spread over directions; their heat map too, unless a comparison shows it."""
    if not len(data):
        return []
    squares = np.linalg.eigvalsh(data.values.T @ data.values)[::-1]
    singular = np.sqrt(np.maximum(squares, 0.0))[:DRAWN]
    rows = [{"number": str(number), "singular value": value} for number, value in enumerate(singular.tolist(), start=1)]
    drawn = [column_chart("Singular values of the release", rows, "number", "singular value")]
    return drawn if compared else [*drawn, _draw_release(data)]


def _draw_release(data: Matrix) -> Chart:
    averages, starts = average_rows(data.values, data.values)
    rows = [
        {"at": name, "across": str(start), "value": value}
        for start, line in zip(starts, averages.tolist(), strict=True)
        for name, value in zip(data.columns[:DRAWN], line[:DRAWN], strict=True)
    ]
    return _map("Numbers of the release, in standard deviations from the mean of their column", rows)


def _compare_numbers(scores: Sequence[Score]) -> list[Chart]:
    """Draw groups of rows before and after, on one scale."""
    before = [dict(score.controls).get(_ORIGINAL, 0.0) for score in scores]
    after = [score.value for score in scores]
    title = HEAT_MAP[:1].upper() + HEAT_MAP[1:]
    return [
        _map(
            f"{title}: {series}",
            [
                {"at": score.at, "across": score.across, "value": value}
                for score, value in zip(scores, values, strict=True)
            ],
        )
        for series, values in ((_ORIGINAL, before), (OURS, after))
    ]


def _map(title: str, rows: list[dict[str, Any]]) -> Chart:
    """Draw tiles from orange, below the mean, to green, above it; rows are named by the first of their group."""
    shades = {
        "type": "linear",
        "domain": [-_STRONGEST, 0, _STRONGEST],
        "range": ["#d97706", "#8884", "#2a9d5c"],
        "clamp": True,
    }
    groups = list(dict.fromkeys(row["across"] for row in rows))
    columns = list(dict.fromkeys(row["at"] for row in rows))
    labels = [*columns, *groups[:: max(1, len(groups) // _LABELS)]]
    return heat_map(title, rows, height=max(60, _HEIGHT * len(groups)), shades=shades, labels=labels)


def _list_only(scores: Sequence[Score]) -> list[Chart]:
    """Draw nothing: errors of rows differ by factors of a thousand, and are in the table of all measures."""
    del scores
    return []


#: charts of scores that are drawn here
SCORE_CHARTS = {HEAT_MAP: _compare_numbers, ERRORS: _list_only}

"""Measures of the columns of a matrix, and its heat map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.measures.scoring import exact_score
from hedgerow.score import Score

__all__ = [
    "COLUMN_DEVIATIONS",
    "COLUMN_MEANS",
    "DRAWN",
    "HEAT_MAP",
    "average_rows",
    "measure_columns",
    "measure_correlations",
    "measure_heat_map",
]

Floats: TypeAlias = NDArray[np.float64]

COLUMN_MEANS = "means of columns, in standard deviations from the original mean"
COLUMN_DEVIATIONS = "standard deviations of columns, relative to the original"
HEAT_MAP = "numbers in standard deviations from the original mean"
#: columns and groups of rows that are drawn
DRAWN = 24
_ORIGINAL = "original"
#: changes below this share of a standard deviation are rounding
_ROUNDING = 1e-12


def measure_columns(original: Floats, released: Mapping[str, Floats], names: tuple[str, ...]) -> list[Score]:
    """Compare means and standard deviations of columns; the release has the empty name."""
    mean, deviation = original.mean(0), original.std(0)
    scale = np.where(deviation > 0, deviation, 1.0)
    scores: list[Score] = []
    for chart, start in ((COLUMN_MEANS, 0.0), (COLUMN_DEVIATIONS, 1.0)):
        moved = {
            key: _without_rounding((values.mean(0) - mean if chart == COLUMN_MEANS else values.std(0)) / scale)
            for key, values in released.items()
        }
        for number, name in enumerate(names[:DRAWN]):
            others = {_ORIGINAL: start} | {key: float(each[number]) for key, each in moved.items() if key}
            value = float(moved[""][number])
            scores.append(exact_score(f"{chart}: {name}", value, others, chart=chart, at=name))
        worst = float(np.abs(moved[""] - start).max())
        others = {key: float(np.abs(each - start).max()) for key, each in moved.items() if key}
        scores.append(exact_score(f"largest change of {chart}", worst, others, better="lower"))
    return scores


def _without_rounding(values: Floats) -> Floats:
    return np.where(np.abs(values) < _ROUNDING, 0.0, values)


def measure_correlations(original: Floats, released: Floats) -> list[Score]:
    """Compare the correlations of all pairs of columns that are not constant.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0]])
    >>> measure_correlations(rows, rows)[0].value
    0.0
    """
    usable = (original.std(0) > 0) & (released.std(0) > 0)
    if usable.sum() < 2 or len(original) < 2:  # noqa: PLR2004 - a pair
        return []
    pairs = np.triu_indices(int(usable.sum()), k=1)
    before, after = (_correlations(values[:, usable])[pairs] for values in (original, released))
    independent = {"independent columns": float(np.abs(before).mean())}
    value = float(np.abs(after - before).mean())
    return [exact_score("mean change of correlations of columns", value, independent, better="lower")]


def _correlations(values: Floats) -> Floats:
    centred = (values - values.mean(0)) / values.std(0)
    return centred.T @ centred / len(values)


def measure_heat_map(original: Floats, released: Floats, names: tuple[str, ...]) -> list[Score]:
    """Average groups of rows, in the order of the original, before and after."""
    before, starts = average_rows(original, original)
    after, _ = average_rows(released, original)
    return [
        exact_score(
            f"{HEAT_MAP}: {name}, rows from {start}",
            float(after[row, column]),
            {_ORIGINAL: float(before[row, column])},
            chart=HEAT_MAP,
            at=name,
            across=str(start),
        )
        for row, start in enumerate(starts)
        for column, name in enumerate(names[:DRAWN])
    ]


def average_rows(values: Floats, original: Floats) -> tuple[Floats, list[int]]:
    """Average groups of rows in units of the columns of the original; return where groups begin, from 1.

    Examples
    --------
    >>> rows = np.array([[1.0], [3.0]])
    >>> average_rows(rows, rows)
    (array([[-1.],
           [ 1.]]), [1, 2])
    """
    groups = min(DRAWN, len(values))
    starts = [len(values) * number // groups for number in range(groups)]
    deviation = original.std(0)
    centred = (values - original.mean(0)) / np.where(deviation > 0, deviation, 1.0)
    sizes = np.diff([*starts, len(values)])
    return np.add.reduceat(centred, starts, axis=0) / sizes[:, None], [start + 1 for start in starts]

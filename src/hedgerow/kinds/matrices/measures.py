"""Measures of matrices: how far numbers, columns and relations are from the original.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset
from hedgerow.errors import ParameterError
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.retrieval.vectors import unbiased
from hedgerow.kinds.matrices.row_measures import (
    match_rows,
    measure_angles,
    measure_classification,
    measure_least_difference,
    measure_ranks,
    measure_values,
)
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.numerics.arrays import Floats
from hedgerow.score import Better, Score, exact_score


def describe(data: Matrix) -> dict[str, Any]:
    """Describe a matrix; every figure is a function of the private data: for the owner only.

    Examples
    --------
    >>> describe(Matrix.from_rows([[1, 10], [2, 30]], columns=["age", "dose"]))["range of dose"]
    '10 to 30'
    """
    facts: dict[str, Any] = {
        "rows": len(data),
        "columns": len(data.columns),
        "domain": data.domain.source.value,
    }
    if data.labels is not None:
        names, counts = np.unique(data.labels, return_counts=True)
        facts["rows per label"] = dict(zip(names.tolist(), counts.tolist(), strict=True))
    if len(data):
        for name, column in zip(data.columns, data.values.T, strict=True):
            facts[f"range of {name}"] = f"{column.min():g} to {column.max():g}"
    return facts


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """Compare with rows that are all alike: the mean of each column."""
    original: Matrix = compared.original
    means = original.values.mean(0) if len(original) else np.zeros(len(original.columns))
    return {"column means": replace(original, values=np.tile(means, (len(original), 1)))}


def measure(compared: Comparison, controls: Mapping[str, Matrix], rng: np.random.Generator) -> list[Score]:
    """Compare row by row where rows can be paired, and the columns that are still there."""
    original: Matrix = compared.original
    released: Matrix = compared.released
    rows = {key: len(data) / max(1, len(original)) for key, data in {"": released, **controls}.items()}
    size = exact_score("ratio of released to original rows", rows.pop(""), rows)
    if not len(original) or not len(released):
        return [size]
    scores: list[Score] = []
    same = original.columns == released.columns
    if not same and not _is_rotated(released):
        msg = "the columns of the data are not those of the release; read the data as for publish (--columns, --read)"
        raise ParameterError(msg)
    matched = match_rows(original, released)
    if matched is not None:
        mine, theirs = matched
        before, after = original.values[mine], released.values[theirs]
        if same:
            others = {key: data.values[mine] for key, data in controls.items()}
            scores += measure_values(before, {"": after, **others})
            scores += measure_ranks(before, after, rng)
            scores += _measure_sums(compared, before, {"": after, **others}, rng)
        scores += measure_angles(before, after, rng)
        labels = None if original.labels is None else original.labels[mine]
        scores += measure_classification(before, after, labels, rng, same_columns=same)
        scores += measure_heat_map(before, after, original.columns) if same else []
    elif same and len(original) == len(released):
        others = {key: data.values for key, data in controls.items()}
        scores += measure_least_difference(original.values, {"": released.values, **others})
    if same:
        every = {"": released.values, **{key: data.values for key, data in controls.items()}}
        scores += measure_columns(original.values, every, original.columns)
        scores += measure_correlations(original.values, released.values)
        scores += measure_ranges(original.values, every, original.columns, rng)
    return [*scores, size]


def _measure_sums(
    compared: Comparison, before: Floats, after: Mapping[str, Floats], rng: np.random.Generator
) -> list[Score]:
    """Compare sums over random rows, if the method was made for such; bits that were flipped by chance are debiased."""
    keywords = compared.number("keywords", 0)
    if not keywords:
        return []
    released: Matrix = compared.released
    if compared.number("flipped", 0):
        after = {**after, "": unbiased(after[""], released, compared.guarantee)}
    return measure_sums(before, after, released.columns, keywords, rng)


def _is_rotated(released: Matrix) -> bool:
    """Whether the columns are directions, r1, r2, ..., as a rotation names them."""
    return released.columns == tuple(f"r{number}" for number in range(1, len(released.columns) + 1))


# How many rows have a number within a range of a column: what a histogram is asked for.

RANGES = "error of counts of rows within an eighth of a column, in parts of all rows"
#: ranges that are asked of a column, and columns of which they are asked
_RANGES_ASKED, _RANGED_COLUMNS = 200, 24
_PART = 8
_LOWER: Better = "lower"


def measure_ranges(
    original: Floats, released: Mapping[str, Floats], names: tuple[str, ...], rng: np.random.Generator
) -> list[Score]:
    """Compare counts of rows within ranges of each column; the release has the empty name.

    Ranges are drawn over the numbers of the original, so they are for the owner only.
    """
    scores: list[Score] = []
    for number, name in enumerate(names[:_RANGED_COLUMNS]):
        column = np.sort(original[:, number])
        width = (column[-1] - column[0]) / _PART
        low = rng.uniform(column[0], column[-1] - width, _RANGES_ASKED)
        true = _count(column, low, width)
        errors = {
            key: float(np.abs(_count(np.sort(values[:, number]), low, width) - true).mean()) / len(original)
            for key, values in released.items()
        }
        scores.append(exact_score(f"{RANGES}: {name}", errors.pop(""), errors, better=_LOWER, chart=RANGES, at=name))
    return scores


def _count(column: Floats, low: Floats, width: float) -> NDArray[np.int64]:
    """Count the numbers of a sorted column within ranges that begin at `low`."""
    return np.searchsorted(column, low + width, side="right") - np.searchsorted(column, low, side="left")


# Sums over a few random entries of each column: what vectors are asked for by keywords.

SUMS = "error of sums of random entries, in parts of the mean sum"
#: queries that are asked of a column, and columns of which they are asked
_SUMS_ASKED, _SUMMED_COLUMNS = 400, 24


def measure_sums(
    original: Floats, released: Mapping[str, Floats], names: tuple[str, ...], keywords: int, rng: np.random.Generator
) -> list[Score]:
    """Compare sums over `keywords` random rows, or half of all, column by column; the release has the empty name.

    Beside the controls stands the answer 0, whose error is 1.
    """
    number = max(1, min(keywords, len(original) // 2))
    chosen = np.array([rng.permutation(len(original))[:number] for _ in range(_SUMS_ASKED)])
    scores: list[Score] = []
    for column, name in enumerate(names[:_SUMMED_COLUMNS]):
        true = original[chosen, column].sum(1)
        size = float(np.abs(true).mean())
        if size > 0:
            errors = {
                key: float(np.abs(values[chosen, column].sum(1) - true).mean()) / size
                for key, values in released.items()
            }
            title = f"{SUMS} ({chosen.shape[1]:,} of {len(original):,}): {name}"
            scores.append(
                exact_score(title, errors.pop(""), errors | {"answer 0": 1.0}, better=_LOWER, chart=SUMS, at=name)
            )
    return scores


# Measures of the columns of a matrix, and its heat map.

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

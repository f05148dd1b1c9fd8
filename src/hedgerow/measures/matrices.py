"""Measures of matrices: how far numbers, columns and relations are from the original.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.data import Dataset
from hedgerow.data.matrices import Matrix
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.matrix_rows import pair_rows
from hedgerow.measures.scoring import compared_score, exact_score
from hedgerow.score import Score

__all__ = ["COLUMN_DEVIATIONS", "COLUMN_MEANS", "controls", "describe", "measure"]

COLUMN_MEANS, COLUMN_DEVIATIONS = "means of columns", "standard deviations of columns"
#: columns that are charted
_CHARTED = 24


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
    """Compare numbers where rows can be paired, and the statistics of columns that are still there."""
    del rng
    original: Matrix = compared.original
    released: dict[str, Matrix] = {"": compared.released, **controls}
    scores = _compare_values(original, released)
    for chart, summary in ((COLUMN_MEANS, np.mean), (COLUMN_DEVIATIONS, np.std)):
        for number, name in enumerate(original.columns[:_CHARTED]):
            if compared.released.columns != original.columns or not len(original):
                break
            values = {key: float(summary(data.values[:, number])) for key, data in released.items()}
            values["original"] = float(summary(original.values[:, number]))
            scores.append(compared_score(f"{chart}: {name}", values, chart=chart, at=name))
    rows = {key: len(data) / max(1, len(original)) for key, data in released.items()}
    return [*scores, exact_score("ratio of released to original rows", rows.pop(""), rows)]


def _compare_values(original: Matrix, released: Mapping[str, Matrix]) -> list[Score]:
    """Measure the relative difference of the numbers (VD); without names of rows, how small it can be."""
    pairs = {key: pair_rows(original, data) for key, data in released.items()}
    size = max(float(np.linalg.norm(original.values)), np.finfo(float).tiny)
    if pairs[""] is None:
        # of all ways to pair two columns, sorting both gives the smallest difference
        before = np.sort(original.values, axis=0)
        least = {
            key: float(np.linalg.norm(np.sort(data.values, axis=0) - before)) / size
            for key, data in released.items()
            if data.values.shape == before.shape
        }
        name = "least relative difference of the numbers, whichever rows belong together"
        return [exact_score(name, least.pop(""), least)] if "" in least else []
    differences = {
        key: float(np.linalg.norm(pair.original - pair.released)) / size
        for key, pair in pairs.items()
        if pair is not None
    }
    return [exact_score("relative difference of the numbers (VD)", differences.pop(""), differences)]

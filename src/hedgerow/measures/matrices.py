"""Measures of matrices: how far numbers, columns and relations are from the original.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset
from hedgerow.data.matrices import Matrix
from hedgerow.data.row_pairs import match_rows
from hedgerow.errors import ParameterError
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.matrix_columns import measure_columns, measure_correlations, measure_heat_map
from hedgerow.measures.matrix_ranges import measure_ranges
from hedgerow.measures.matrix_rows import (
    measure_angles,
    measure_classification,
    measure_least_difference,
    measure_ranks,
    measure_values,
)
from hedgerow.measures.matrix_sums import measure_sums
from hedgerow.measures.scoring import exact_score
from hedgerow.retrieval.vectors import unbiased
from hedgerow.score import Score

__all__ = ["controls", "describe", "measure"]

Floats: TypeAlias = NDArray[np.float64]


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

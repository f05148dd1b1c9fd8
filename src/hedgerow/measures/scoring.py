"""Scores for the owner: of one exact number, or of the mean of many, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.score import Score

__all__ = ["Better", "exact_score", "mean_score", "relative_errors"]

Better: TypeAlias = Literal["higher", "lower", "neither"]

_NORMAL = 1.96
#: a query that fewer than this part of all records answer is not taken for more precise
_SANITY = 0.001


def exact_score(
    name: str,
    value: float,
    controls: Mapping[str, float],
    *,
    better: Better = "neither",
    chart: str = "",
    at: str = "",
    across: str = "",
) -> Score:
    """Hold a number that has no error of its own."""
    return Score(
        name=name,
        value=value,
        low=value,
        high=value,
        better=better,
        scope="owner",
        controls=tuple(controls.items()),
        chart=chart,
        at=at,
        across=across,
    )


def mean_score(
    name: str,
    values: NDArray[Any],
    controls: Mapping[str, float],
    *,
    better: Better = "lower",
    chart: str = "",
    at: str = "",
) -> Score:
    """Hold the mean of a sample, with the interval that holds the true one 19 times out of 20."""
    mean, margin = float(values.mean()), _NORMAL * float(values.std()) / np.sqrt(len(values))
    return Score(
        name=name,
        value=mean,
        low=mean - float(margin),
        high=mean + float(margin),
        better=better,
        scope="owner",
        controls=tuple(controls.items()),
        chart=chart,
        at=at,
    )


def relative_errors(exact: NDArray[np.int64], held: NDArray[np.int64], records: int) -> NDArray[np.float64]:
    """The error of each query over its true count, or over a thousandth of all records if more."""
    return np.abs(held - exact) / np.maximum(exact, max(_SANITY * records, 1e-9))

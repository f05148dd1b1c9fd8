"""Scores for the owner: one exact number, or the mean of a sample with its confidence interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.score import Better, Score, exact_score

_NORMAL = 1.96
#: sanity bound: errors are relative to at least this share of all records
_SANITY = 0.001


def compared_score(
    name: str,
    values: Mapping[str, float],
    *,
    better: Better = "neither",
    chart: str = "",
    at: str = "",
    across: str = "",
) -> Score:
    """An exact score; the value of the release has the empty name, the others are controls, the original first.

    Examples
    --------
    >>> print(compared_score("edges", {"": 3, "empty release": 0, "original": 4}))
    edges 3; original: 4; empty release: 0, for the owner only
    """
    names = sorted(values, key=lambda control: control != "original")
    others = {control: values[control] for control in names if control}
    return exact_score(name, values[""], others, better=better, chart=chart, at=at, across=across)


def mean_score(
    name: str,
    values: NDArray[Any],
    controls: Mapping[str, float],
    *,
    better: Better = "lower",
    chart: str = "",
    at: str = "",
) -> Score:
    """A score that is the mean of a sample, with its 95 % confidence interval."""
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


def relative_errors(exact: Integers, released: NDArray[Any], records: int) -> Floats:
    """The error of each query relative to its true count, or to a thousandth of all records if that is more."""
    return np.abs(released - exact) / np.maximum(exact, max(_SANITY * records, 1e-9))

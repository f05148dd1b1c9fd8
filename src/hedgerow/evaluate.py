"""Measure a release against the original, together with the controls that every figure is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgerow.data import Dataset
from hedgerow.errors import HedgerowError, ParameterError
from hedgerow.kinds import find_kind
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.publishers import find_method
from hedgerow.publishers.settings import configure
from hedgerow.release import Recipe, Release
from hedgerow.score import Score

__all__ = ["evaluate"]


def evaluate(release: Release[Any], original: Dataset, *, seed: int | None = None) -> list[Score]:
    """Compare a release with the original; the scores are for the owner only.

    Parameters
    ----------
    release
        The release to measure.
    original
        The private data it was made from.
    seed
        Makes the workloads repeatable; they are drawn from the private data.

    Examples
    --------
    >>> from hedgerow import Domain, FlatLaplace, PureDP, Sets
    >>> domain = Domain.declare(item=["bread", "milk", "tea"])
    >>> data = Sets.from_records([["bread", "milk"]] * 900 + [["tea"]] * 600, domain=domain)
    >>> release = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"), seed=2)
    >>> size = evaluate(release, data, seed=2)[-1]
    >>> size.name, round(size.value, 2), size.scope
    ('ratio of released to original records', 1.0, 'owner')
    """
    if release.kind != original.kind:
        msg = f"a release of {release.kind} cannot be compared with {original.kind}"
        raise ParameterError(msg)
    measures = find_kind(release.kind).module("measures")
    comparison = Comparison(original, release.data, release.guarantee, _workload(release.recipe))
    requested: dict[str, Dataset | Control] = measures.controls(comparison)
    controls = {name: _run_control(control, comparison, seed) for name, control in requested.items()}
    return measures.measure(comparison, controls, np.random.default_rng(seed))


def _workload(recipe: Recipe) -> Mapping[str, int]:
    """The workload that the method declares; empty if the method is unknown, as in a release from elsewhere."""
    try:
        return configure(find_method(recipe.method), dict(recipe.parameters)).workload
    except HedgerowError:
        return {}


def _run_control(control: Dataset | Control, comparison: Comparison, seed: int | None) -> Any:
    """Run the method of a control; a control that is a data set is used as it is."""
    if not isinstance(control, Control):
        return control
    method = configure(find_method(control.method), control.parameters)
    data = comparison.original if control.data is None else control.data
    return method.publish(data, control.guarantee or comparison.guarantee, seed=seed).data

"""Run measures on a release, with the trivial releases that every figure must stand beside."""

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
        What is published.
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
    compared = Comparison(original, release.data, release.guarantee, _workload(release.recipe))
    beside: dict[str, Dataset | Control] = measures.controls(compared)
    controls = {name: _published(control, compared, seed) for name, control in beside.items()}
    return measures.measure(compared, controls, np.random.default_rng(seed))


def _workload(recipe: Recipe) -> Mapping[str, int]:
    """What the method says of its workload; nothing, if it is none that we know: a stranger may have named it."""
    try:
        return configure(find_method(recipe.method), dict(recipe.parameters)).workload
    except HedgerowError:
        return {}


def _published(control: Dataset | Control, compared: Comparison, seed: int | None) -> Any:
    """Run the method of a control; a control that is data stands for itself."""
    if not isinstance(control, Control):
        return control
    method = configure(find_method(control.method), control.parameters)
    data = compared.original if control.data is None else control.data
    return method.publish(data, control.guarantee or compared.guarantee, seed=seed).data

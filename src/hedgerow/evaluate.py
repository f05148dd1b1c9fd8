"""Measure a release against the original, or attack it, together with the controls that figures are compared with."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hedgerow.data import Dataset
from hedgerow.errors import HedgerowError, NotSatisfied, ParameterError
from hedgerow.kind_registry import find_kind
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.methods import METHODS, find_method
from hedgerow.publisher import Publisher, recipe_of
from hedgerow.release import Recipe, Release
from hedgerow.score import Score
from hedgerow.settings import configure

#: is added to the seed of an attack, so that what it publishes is not the release again
_ANOTHER = 1_000_003


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
    _require_kind(release, original)
    measures = find_kind(release.kind).module("measures")
    most = release.domain.records_per_person
    if most is not None and original.domain.records_per_person is None:  # controls need it, and the release tells it
        original = replace(original, domain=original.domain.with_records_per_person(most))
    method = _method_of(release.recipe)
    comparison = Comparison(
        original,
        _data_of(release),
        release.guarantee,
        method.workload if method else {},
        recipe=recipe_of(method) if method else None,
        notes=dict(release.evidence.notes),
    )
    requested: dict[str, Dataset | Control] = measures.controls(comparison)
    run = ((name, _run_control(control, comparison, seed)) for name, control in requested.items())
    controls = {name: data for name, data in run if data is not None}
    return measures.measure(comparison, controls, np.random.default_rng(seed))


def attack(
    release: Release[Any], original: Dataset, *, seed: int | None = None, known: int | None = None
) -> list[Score]:
    """Attack a release in the ways that are known for its kind; the scores are for the owner only.

    Parameters
    ----------
    seed
        Makes the choice of what attackers know repeatable.
    known
        How many original rows an attacker knows.

    Examples
    --------
    >>> from hedgerow import SVD, Matrix
    >>> from hedgerow.privacy.distortion import Distortion
    >>> rows = [[age, age % 7, 3 * age % 11, age % 5] for age in range(20, 60)]
    >>> data = Matrix.from_rows(rows, ids=range(40))
    >>> release = SVD(rank=2).publish(data, Distortion())
    >>> scores = {score.name: score.value for score in attack(release, data, seed=1)}
    >>> scores["attack, SVD reconstruction: cells within 1 %"]
    1.0
    """
    _require_kind(release, original)
    kind = find_kind(release.kind)
    if not kind.has("attacks"):
        msg = f"there are no attacks on {release.kind} yet; hedgerow evaluate measures what is known of such releases"
        raise ParameterError(msg)
    recipe = release.recipe
    return kind.module("attacks").attack(
        original,
        release.data,
        undone_by=find_method(recipe.method).undone_by if recipe.method in METHODS else (),
        parameters=dict(recipe.parameters),
        rng=np.random.default_rng(seed),
        known=known,
        guarantee=release.guarantee,
        again=partial(_publish_again, release, original, seed),
    )


def _publish_again(release: Release[Any], original: Dataset, seed: int | None) -> Dataset:
    """Publish the original by the recipe of a release once more, by other coins: for attacks on two releases."""
    method = configure(find_method(release.recipe.method), dict(release.recipe.parameters))
    return method.publish(original, release.guarantee, seed=_other(seed)).data


def _other(seed: int | None) -> int | None:
    return None if seed is None else seed + _ANOTHER


def _require_kind(release: Release[Any], original: Dataset) -> None:
    if release.kind != original.kind:
        msg = f"a release of {release.kind} cannot be compared with {original.kind}"
        raise ParameterError(msg)


def _method_of(recipe: Recipe) -> Publisher[Any] | None:
    """The method with its parameters; None if they are unknown, as in a release from elsewhere."""
    try:
        return configure(find_method(recipe.method), dict(recipe.parameters))
    except HedgerowError:
        return None


def _data_of(release: Release[Any]) -> Any:
    """The data of a release: one data set, or all of them if its kind measures these together."""
    together = getattr(find_kind(release.kind).module("measures"), "PARTS", None)
    return release.outputs if set(release.outputs) == together else release.data


def _run_control(control: Dataset | Control, comparison: Comparison, seed: int | None) -> Any:
    """Run the method of a control, or take its data set as it is; None if the promise cannot be kept."""
    if not isinstance(control, Control):
        return control
    method = configure(find_method(control.method), control.parameters)
    data = comparison.original if control.data is None else control.data
    guarantee = control.guarantee or comparison.guarantee
    if control.again:
        seed = _other(seed)
    try:
        return _data_of(method.publish(data, guarantee, seed=seed, in_slices=True))
    except NotSatisfied:
        return None

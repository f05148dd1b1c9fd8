"""Run measures on a release, with the trivial releases that every figure must stand beside."""

from __future__ import annotations

import numpy as np

from hedgerow.data import Dataset, Sets, Trajectories
from hedgerow.errors import ParameterError
from hedgerow.measures.sets import measure_sets
from hedgerow.measures.trajectories import measure_trajectories
from hedgerow.privacy.linkage import KCL
from hedgerow.publishers.sets.noisy_singletons import NoisySingletons
from hedgerow.publishers.trajectories.kcl import LocalSuppression
from hedgerow.release import Release
from hedgerow.score import Score

__all__ = ["evaluate"]


def evaluate(release: Release, original: Dataset, *, seed: int | None = None) -> list[Score]:
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
    >>> from hedgerow import Domain, FlatLaplace, PureDP
    >>> domain = Domain.declare(item=["bread", "milk", "tea"])
    >>> data = Sets.from_records([["bread", "milk"]] * 900 + [["tea"]] * 600, domain=domain)
    >>> release = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"), seed=2)
    >>> size = evaluate(release, data, seed=2)[-1]
    >>> size.name, round(size.value, 2), size.scope
    ('released records over original ones', 1.0, 'owner')
    """
    if isinstance(release.data, Sets) and isinstance(original, Sets):
        return _sets(release, original, seed)
    if isinstance(release.data, Trajectories) and isinstance(original, Trajectories):
        return _trajectories(release, original, seed)
    msg = f"a release of {release.kind} cannot be compared with {original.kind}"
    raise ParameterError(msg)


def _sets(release: Release, original: Sets, seed: int | None) -> list[Score]:
    nothing = np.zeros(0, np.int64)
    singletons = NoisySingletons().publish(original, release.guarantee, seed=seed)
    controls = {
        "empty release": Sets.from_columns(row=nothing, item=nothing, domain=original.domain),
        "noisy singletons": singletons.data,
    }
    return measure_sets(original, release.data, controls, np.random.default_rng(seed))


def _trajectories(release: Release, original: Trajectories, seed: int | None) -> list[Score]:
    """Stand beside a release without visits, and beside suppression everywhere at once."""
    promises = [part for part in release.guarantee.parts() if isinstance(part, KCL)]
    if not promises:
        msg = "there are measures of trajectories for KCL only"
        raise ParameterError(msg)
    none = np.zeros(original.engine.rows(original.visits), np.bool_)
    everywhere = LocalSuppression(mode="global").publish(original, promises[0])
    controls = {
        "empty release": original.keep_visits(none),
        "global suppression": everywhere.data,
    }
    return measure_trajectories(
        original,
        release.data,
        controls,
        np.random.default_rng(seed),
        knows=promises[0].l,
        sensitive=promises[0].sensitive,
    )

"""Run measures on a release, with the trivial releases that every figure must stand beside."""

from __future__ import annotations

import numpy as np

from hedgerow.data import Sets
from hedgerow.errors import ParameterError
from hedgerow.measures.sets import measure_sets
from hedgerow.publishers.sets.noisy_singletons import NoisySingletons
from hedgerow.release import Release
from hedgerow.score import Score

__all__ = ["evaluate"]


def evaluate(release: Release, original: Sets, *, seed: int | None = None) -> list[Score]:
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
    if not isinstance(release.data, Sets):
        msg = f"there are measures for sets only; got {release.data.kind}"
        raise ParameterError(msg)
    nothing = np.zeros(0, np.int64)
    singletons = NoisySingletons().publish(original, release.guarantee, seed=seed)
    controls = {
        "empty release": Sets.from_columns(row=nothing, item=nothing, domain=original.domain),
        "noisy singletons": singletons.data,
    }
    return measure_sets(original, release.data, controls, np.random.default_rng(seed))

"""Run measures on a release, with the trivial releases that every figure must stand beside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Sequences, Sets, Trajectories
from hedgerow.errors import ParameterError
from hedgerow.measures.containment import containment_scores
from hedgerow.measures.journeys import measure_journeys
from hedgerow.measures.sequences import measure_sequences
from hedgerow.measures.sets import measure_sets
from hedgerow.measures.trajectories import measure_trajectories
from hedgerow.privacy.linkage import KCL
from hedgerow.publishers.sequences.ngram import NGram
from hedgerow.publishers.sequences.prefix_tree import PrefixTree
from hedgerow.publishers.sets.noisy_singletons import NoisySingletons
from hedgerow.publishers.trajectories.kcl.publisher import LocalSuppression
from hedgerow.publishers.trajectories.kcl_reinsertion.publisher import SuppressionWithReinsertion
from hedgerow.release import Release
from hedgerow.score import Score

__all__ = ["evaluate"]

#: lengths of sequences are compared up to so many items, where the method does not say
_CUT = 20
#: controls are cut at so many items at most, and no number of records is larger than this
_LONGEST, _COUNT = 1_000, 10**12


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
    if isinstance(release.data, Sequences) and isinstance(original, Sequences):
        return _sequences(release, original, seed)
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


def _sequences(release: Release, original: Sequences, seed: int | None) -> list[Score]:
    """Stand beside nothing, single items, and the original cut as the method cuts it."""
    longest = _longest(release)
    nothing = np.zeros(0, np.int64)
    singles = NGram(n_max=1, l_max=longest).publish(original, release.guarantee, seed=seed)
    controls = {
        "empty release": Sequences.from_columns(row=nothing, item=nothing, domain=original.domain),
        "single items": singles.data,
        f"original, cut at {longest}": original.truncated(longest),
    }
    rng = np.random.default_rng(seed)
    scores = measure_sequences(original, release.data, controls, rng, longest=longest)
    return [*scores, *containment_scores(original, release.data, controls, rng)]


def _longest(release: Release) -> int:
    """How many items of a sequence the method used."""
    said = dict(release.recipe.parameters)
    return min(_LONGEST, _whole(said.get("l_max")) or _whole(said.get("height")) or _CUT)


def _whole(said: object) -> int:
    """Take a number that a recipe says, if it is one: a stranger may have written it."""
    return said if type(said) is int and 0 < said <= _COUNT else 0


def _journeys(release: Release, original: Trajectories, seed: int | None) -> list[Score]:
    """Stand beside nothing, first visits alone, and the original cut as the method cuts it."""
    longest = _longest(release)
    first = PrefixTree(height=1, generator="cut")
    controls = {
        "empty release": original.truncated(0),
        "first visits": first.publish(original, release.guarantee, seed=seed).data,
        f"original, cut at {longest}": original.truncated(longest),
    }
    rng = np.random.default_rng(seed)
    return measure_journeys(original, release.data, controls, rng, longest=longest)


def _trajectories(release: Release, original: Trajectories, seed: int | None) -> list[Score]:
    """Stand beside no visits, one visit a record, and suppression everywhere at once."""
    promises = [part for part in release.guarantee.parts() if isinstance(part, KCL)]
    if not promises:
        return _journeys(release, original, seed)
    promise = promises[0]
    single = original.keep_visits(_most_frequent(original))
    controls = {
        "empty release": original.truncated(0),
        "one visit a record": SuppressionWithReinsertion(schedule="grow").publish(single, promise).data,
        "global suppression": LocalSuppression(mode="global").publish(original, promise).data,
    }
    return measure_trajectories(
        original,
        release.data,
        controls,
        np.random.default_rng(seed),
        knows=promise.l,
        sensitive=promise.sensitive,
        c=promise.c,
        frequent=_frequent(release, original, promise),
    )


def _frequent(release: Release, original: Trajectories, promise: KCL) -> int:
    """In how many records a sequence is frequent: as the recipe says, or one in a hundred."""
    said = _whole(dict(release.recipe.parameters).get("k_prime"))
    return said or max(2, promise.k, len(original) // 100)


def _most_frequent(data: Trajectories) -> NDArray[np.bool_]:
    """Mark the one visit of each record that is most frequent in all of the data."""
    starts, pairs, _ = data.arrays()
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((pairs, -np.bincount(pairs)[pairs], row))
    kept = np.zeros(len(pairs), np.bool_)
    kept[order[starts[:-1][np.diff(starts) > 0]]] = True
    return kept

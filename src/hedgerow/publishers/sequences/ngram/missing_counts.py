"""Estimate the counts below the threshold, so that the continuations of a context add up to its count."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree

__all__ = ["FILLS", "fill_missing"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: how counts below the threshold are estimated; see `fill_missing`
FILLS = ("markov", "backoff", "nothing")


def fill_missing(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags, rule: str) -> None:
    """Set the counts of all continuations of contexts of one level, from those that passed the threshold.

    `rule` is the estimate of the others, before all are scaled to the count of the context: 0 (`nothing`), or
    proportional to the counts in the longest known suffix of the context: relative to the continuations that passed, as
    printed (`markov`), or only what is left over (`backoff`).
    """
    noisy = np.where(passed, np.maximum(noisy, 0.0), 0.0)
    known = noisy.sum(axis=1) > 0
    if rule == "markov":
        noisy = _markov_fill(tree, contexts, noisy, passed)
    elif rule == "backoff":
        noisy = _backoff_fill(tree, contexts, noisy, passed)
    occurs = tree.occurs[contexts]
    tree.counts[contexts] = noisy * _ratio(np.where(known, occurs, 0.0), noisy.sum(axis=1))
    tree.known[contexts] = known & (occurs > 0)


def _markov_fill(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags) -> Floats:
    """The printed Markov assumption; if only single items are known, the rest is distributed evenly.

    If the continuations that passed are rare in the shorter context, the ratios are huge.
    """
    source = tree.nearest_known(contexts)
    model, total = tree.counts[source], noisy.sum(axis=1)
    markov = model * _ratio(total, (model * passed).sum(axis=1))
    rest = np.maximum(0.0, tree.occurs[contexts] - total)
    even = _ratio(rest, np.count_nonzero(~passed, axis=1).astype(np.float64))
    return np.where(passed, noisy, np.where((source == 0)[:, None], even, markov))


def _backoff_fill(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags) -> Floats:
    """Back-off: distribute what is left over by the shorter context, or as after any item if that is not known."""
    source = tree.nearest_known(contexts)
    model, total = tree.counts[source], noisy.sum(axis=1)
    first = bool(tree.level[contexts[0]] == 1)
    model[source == 0] = noisy.sum(axis=0) if first else tree.pooled()
    model[passed] = 0.0
    rest = np.maximum(0.0, tree.occurs[contexts] - total)
    return noisy + model * _ratio(rest, model.sum(axis=1))


def _ratio(above: Floats, below: Floats) -> Floats:
    """One ratio per row, as a column; 0 where the denominator is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)[:, None]

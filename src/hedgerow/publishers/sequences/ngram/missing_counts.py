"""Fill in the counts that a threshold left out, so that what follows a context adds up to the context."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree

__all__ = ["FILLS", "fill_missing"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: what grams below the threshold may get; see `fill_missing`
FILLS = ("markov", "backoff", "nothing")


def fill_missing(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags, rule: str) -> None:
    """Set the counts of what follows contexts of one level from those that passed.

    `rule` says what the others get, before all are scaled to the context: `nothing`, or something by the ratios in the
    longest known context that this one ends in: as much as these make it, as printed (`markov`), or of what is left
    over (`backoff`).
    """
    noisy = np.where(passed, np.maximum(noisy, 0.0), 0.0)
    known = noisy.sum(axis=1) > 0
    if rule == "markov":
        noisy = _by_ratio(tree, contexts, noisy, passed)
    elif rule == "backoff":
        noisy = _of_the_rest(tree, contexts, noisy, passed)
    occurs = tree.occurs[contexts]
    tree.counts[contexts] = noisy * _ratio(np.where(known, occurs, 0.0), noisy.sum(axis=1))
    tree.known[contexts] = known & (occurs > 0)


def _by_ratio(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags) -> Floats:
    """As printed: however much the ratios say; evenly of the rest if only single items are known.

    Where the ones that passed are rare in the shorter context, the ratios are huge.
    """
    source = tree.nearest_known(contexts)
    model, total = tree.counts[source], noisy.sum(axis=1)
    markov = model * _ratio(total, (model * passed).sum(axis=1))
    rest = np.maximum(0.0, tree.occurs[contexts] - total)
    even = _ratio(rest, np.count_nonzero(~passed, axis=1).astype(np.float64))
    return np.where(passed, noisy, np.where((source == 0)[:, None], even, markov))


def _of_the_rest(tree: ExplorationTree, contexts: Integers, noisy: Floats, passed: Flags) -> Floats:
    """Share out what is left over; where only single items are known, as after any item."""
    source = tree.nearest_known(contexts)
    model, total = tree.counts[source], noisy.sum(axis=1)
    first = bool(tree.level[contexts[0]] == 1)
    model[source == 0] = noisy.sum(axis=0) if first else tree.pooled()
    model[passed] = 0.0
    rest = np.maximum(0.0, tree.occurs[contexts] - total)
    return noisy + model * _ratio(rest, model.sum(axis=1))


def _ratio(above: Floats, below: Floats) -> Floats:
    """One ratio per row, as a column; 0 where there is nothing below."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)[:, None]

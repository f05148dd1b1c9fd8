"""States of a chain over an exploration tree: the items, and the known longer contexts."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.chain import Chain
from hedgerow.steps.contexts import Contexts

__all__ = ["States", "markov", "states_of"]

Integers: TypeAlias = NDArray[np.int64]


class States(NamedTuple):
    """Item `a` is state `a`; after the items come the `contexts` of several items.

    `number` is the state of each context of the tree, -1 if it is none; `shorter` the longest state
    that a state, not being it, ends in; `onward[s, a]` the longest that `s` followed by `a` ends
    in.
    """

    contexts: Integers
    number: Integers
    shorter: Integers
    onward: Integers


def states_of(tree: Contexts) -> States:
    """Number the states."""
    size = tree.size
    contexts = np.flatnonzero((tree.level > 1) & tree.known)
    number = np.full(len(tree), -1, np.int64)
    number[contexts] = size + np.arange(len(contexts))
    single = np.flatnonzero(tree.level == 1)
    number[single] = tree.label[single]
    shorter = np.full(size + len(contexts), -1, np.int64)
    suffix = number[tree.nearest_known(contexts)]
    shorter[size:] = np.where(suffix < 0, tree.label[contexts], suffix)
    onward = np.tile(np.arange(size), (len(shorter), 1))
    for level in range(2, int(tree.level.max()) + 2):
        # of states one shorter: what their own suffix leads to, unless a context says more
        states = number[contexts[tree.level[contexts] == level - 1]]
        onward[states] = onward[shorter[states]]
        longer = np.flatnonzero((tree.level == level) & tree.known)
        onward[number[tree.parent[longer]], tree.label[longer]] = number[longer]
    return States(contexts, number, shorter, onward)


def markov(tree: Contexts) -> tuple[Chain, float]:
    """Follow the counts forwards only: what follows is what followed the longest known context.

    Returns the chain, and the number of ends that were counted.
    """
    size = tree.size
    states = states_of(tree)
    # after an item of which nothing is known come items as in all
    follow = np.repeat(tree.counts[:1], size + len(states.contexts), axis=0)
    single = np.flatnonzero((tree.level == 1) & tree.known)
    follow[tree.label[single]] = tree.counts[single]
    follow[size:] = tree.counts[states.contexts]
    pairs = tree.counts[single].sum(axis=0)
    start = np.maximum(0.0, tree.counts[0, :size] - pairs[:size])
    if start.sum() == 0:
        start = tree.counts[0, :size]
    total = follow.sum(axis=1, keepdims=True)
    chain = Chain(start / start.sum(), np.arange(size), follow / total, states.onward)
    return chain, float(pairs[size])

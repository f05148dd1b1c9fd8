"""States of a Markov chain over an exploration tree: the items, and the known longer contexts."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree
from hedgerow.publishers.sequences.ngram_markov.markov_chain import MarkovChain

__all__ = ["ChainStates", "chain_states", "forward_chain"]

Integers: TypeAlias = NDArray[np.int64]


class ChainStates(NamedTuple):
    """State 0 is any item of which nothing is known; after it come the known `contexts`.

    `number` is the state of each context of the tree, -1 if it is none, and `item` that of each
    item; `shorter` is the longest state that a state, not being it, ends in, -1 for an item;
    `onward[s, a]` the longest that `s` followed by `a` ends in.
    """

    contexts: Integers
    number: Integers
    item: Integers
    shorter: Integers
    onward: Integers


def chain_states(tree: ExplorationTree) -> ChainStates:
    """Number the states."""
    size = tree.size
    contexts = np.flatnonzero((tree.level > 0) & tree.known)
    number = np.full(len(tree), -1, np.int64)
    number[contexts] = 1 + np.arange(len(contexts))
    item = np.zeros(size, np.int64)
    single = contexts[tree.level[contexts] == 1]
    item[tree.label[single]] = number[single]
    suffix = number[tree.nearest_known(contexts)]
    suffix = np.where(suffix < 0, item[tree.label[contexts]], suffix)
    shorter = np.concatenate(([-1], np.where(tree.level[contexts] == 1, -1, suffix)))
    onward = np.tile(item, (len(shorter), 1))
    for level in range(2, int(tree.level.max()) + 2):
        # of states one shorter: what their own suffix leads to, unless a context says more
        states = number[contexts[tree.level[contexts] == level - 1]]
        if level > 2:  # noqa: PLR2004 - an item has no suffix
            onward[states] = onward[shorter[states]]
        longer = np.flatnonzero((tree.level == level) & tree.known)
        onward[number[tree.parent[longer]], tree.label[longer]] = number[longer]
    return ChainStates(contexts, number, item, shorter, onward)


def forward_chain(tree: ExplorationTree) -> tuple[MarkovChain, float]:
    """Follow the counts forwards only: what follows is what followed the longest known context.

    Returns the chain, and the number of ends that were counted.
    """
    size = tree.size
    states = chain_states(tree)
    # after an item of which nothing is known come items as in all
    follow = np.concatenate((tree.counts[:1], tree.counts[states.contexts]))
    single = states.contexts[tree.level[states.contexts] == 1]
    pairs = tree.counts[single].sum(axis=0)
    start = np.maximum(0.0, tree.counts[0, :size] - pairs[:size])
    if start.sum() == 0:
        start = tree.counts[0, :size]
    total = follow.sum(axis=1, keepdims=True)
    chain = MarkovChain(start / start.sum(), states.item, follow / total, states.onward)
    return chain, float(pairs[size])

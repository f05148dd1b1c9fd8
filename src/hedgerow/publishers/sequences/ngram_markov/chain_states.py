"""The states of a Markov chain over an exploration tree: the items, and the longer contexts that are known."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree
from hedgerow.publishers.sequences.ngram_markov.markov_chain import MarkovChain

__all__ = ["ChainStates", "chain_states", "forward_chain"]

Integers: TypeAlias = NDArray[np.int64]


class ChainStates(NamedTuple):
    """State 0 stands for all items without known continuations; the other states are the known `contexts`.

    `number` is the state of each context of the tree, or -1; `item` is the state of each item. `shorter` is the longest
    state that is a proper suffix of a state, -1 for an item. `onward[s, a]` is the longest state that is a suffix of
    `s` followed by `a`.
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
        # for states one item shorter: where their suffix leads to, unless there is a longer context
        states = number[contexts[tree.level[contexts] == level - 1]]
        if level > 2:  # noqa: PLR2004 - an item has no suffix
            onward[states] = onward[shorter[states]]
        longer = np.flatnonzero((tree.level == level) & tree.known)
        onward[number[tree.parent[longer]], tree.label[longer]] = number[longer]
    return ChainStates(contexts, number, item, shorter, onward)


def forward_chain(tree: ExplorationTree) -> tuple[MarkovChain, float]:
    """The chain of the counts forwards only: the next item depends on the longest known context.

    Returns the chain, and the noisy number of ends.
    """
    size = tree.size
    states = chain_states(tree)
    # after an item without known continuations, items follow with their overall frequencies
    follow = np.concatenate((tree.counts[:1], tree.counts[states.contexts]))
    single = states.contexts[tree.level[states.contexts] == 1]
    pairs = tree.counts[single].sum(axis=0)
    start = np.maximum(0.0, tree.counts[0, :size] - pairs[:size])
    if start.sum() == 0:
        start = tree.counts[0, :size]
    total = follow.sum(axis=1, keepdims=True)
    chain = MarkovChain(start / start.sum(), states.item, follow / total, states.onward)
    return chain, float(pairs[size])

"""Sample sequences from a Markov chain, all of them in step; only the chain and coins are used here."""

from __future__ import annotations

import numpy as np

from hedgerow.kinds.sequences.methods.ngram_markov.model import MarkovChain
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.rounding import on_grid
from hedgerow.numerics.sampling import random_order_by_state, systematic_counts


def sample_sequences(
    chain: MarkovChain, number: int, longest: int, coins: np.random.Generator
) -> tuple[Integers, Integers]:
    """Sample a number of sequences of up to `longest` items; return the sequence of each item, and the item.

    The transitions of all sequences in one state are sampled systematically: every count is unbiased and within one of
    its expectation.
    """
    # the start is like a state in which all sequences are
    alive, follow = np.arange(number), on_grid(chain.follow)
    item = _sample(on_grid(chain.start)[None, :], np.zeros(number, np.int64), coins)
    state = chain.first[item]
    rows, items = [alive], [item]
    for _ in range(longest - 1):
        item = _sample(follow, state, coins)
        on = item < follow.shape[1] - 1
        alive, state, item = alive[on], state[on], item[on]
        if not len(alive):
            break
        rows.append(alive)
        items.append(item)
        state = chain.onward[state, item]
    lengths = np.bincount(np.concatenate(rows), minlength=number)
    starts = np.cumsum(lengths) - lengths
    path = np.empty(int(lengths.sum()), np.int64)
    for step, (row, item) in enumerate(zip(rows, items, strict=True)):
        path[starts[row] + step] = item
    return np.repeat(np.arange(number), lengths), path


def _sample(follow: Floats, state: Integers, coins: np.random.Generator) -> Integers:
    """Draw what follows each state, by a systematic sample of each; which of the sequences get what is random."""
    order = random_order_by_state(state, len(follow), coins)
    many = np.bincount(state, minlength=len(follow))
    occupied = np.flatnonzero(many)
    counts = systematic_counts(follow[occupied], many[occupied], coins.random(len(occupied)))
    labels = np.repeat(np.arange(counts.size) % int(follow.shape[1]), counts.ravel())
    sampled = np.empty(len(state), np.int64)
    sampled[order] = labels
    return sampled

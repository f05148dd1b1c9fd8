"""Variable-order Markov chains: correction for truncated sequences, and sampling."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_grid
from hedgerow.steps.random_order import random_order_by_state

__all__ = ["MarkovChain", "correct_lengths", "sample_sequences"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the probabilities converge after about six
_SWEEPS = 8
#: the largest factor of ends (as a power of two), the steps of the bisection, and its tolerance
_TILT, _HALVINGS, _NEAR = 30.0, 24, 0.002


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """Transition probabilities, and the state after each transition.

    `follow[s, a]` is the probability of item `a` after state `s`; the last column is the end. Item `a` leads from `s`
    to `onward[s, a]`. A sequence starts with item `a` with probability `start[a]`, in state `first[a]`.
    """

    start: Floats
    first: Integers
    follow: Floats
    onward: Integers


def correct_lengths(chain: MarkovChain, longest: int, mean: float) -> MarkovChain:
    """Correct for truncated sequences, whose last item was not a true end.

    If sequences are truncated to `longest` items, the counted ends are too many for a chain that is itself stopped
    there. The probabilities are adjusted until the stopped chain has the counted proportions. Flows may also be in
    states that no sequence reaches, and be missing elsewhere; so finally all ends are scaled by one factor such that
    sequences have `mean` items on average.
    """
    target, follow = chain.follow, chain.follow
    for _ in range(_SWEEPS):
        through, stopped = _expected_visits(replace(chain, follow=follow), longest)
        seen = through[:, None] * follow
        seen[:, -1] += stopped
        total = seen.sum(axis=1, keepdims=True)
        seen = np.divide(seen, total, out=np.zeros_like(seen), where=total > 0)
        ratio = np.divide(target, seen, out=np.ones_like(seen), where=(seen > 0) & (target > 0))
        follow = follow * np.clip(ratio, 0.5, 2.0)
        follow = follow / follow.sum(axis=1, keepdims=True)
    return _scale_ends(replace(chain, follow=follow), longest, mean)


def _scale_ends(chain: MarkovChain, longest: int, mean: float) -> MarkovChain:
    """Scale the probabilities of all ends so that sequences have `mean` items on average, by bisection."""
    low, high, scaled = -_TILT, _TILT, chain
    for _ in range(_HALVINGS):
        items = sum(float(part.sum()) for part in _expected_visits(scaled, longest))
        if abs(items - mean) <= _NEAR * mean:
            break
        tilt = 0.0 if scaled is chain else (low + high) / 2
        low, high = (low, tilt) if items < mean else (tilt, high)
        follow = chain.follow.copy()
        follow[:, -1] *= np.exp2((low + high) / 2)
        total = follow.sum(axis=1, keepdims=True)
        scaled = replace(chain, follow=follow / total)
    return scaled


def _expected_visits(chain: MarkovChain, longest: int) -> tuple[Floats, Floats]:
    """How often each state is left by a transition, and how often a sequence is stopped in it."""
    states = len(chain.follow)
    mass = np.bincount(chain.first, chain.start, states).astype(np.float64)
    through = np.zeros(states)
    for _ in range(longest - 1):
        through += mass
        moved = mass[:, None] * chain.follow[:, :-1]
        mass = np.bincount(chain.onward.ravel(), moved.ravel(), states).astype(np.float64)
    return through, mass


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
    """Systematic sampling: the `j`-th of `n` in a state, in random order, gets the quantile `(j + u) / n`."""
    order = random_order_by_state(state, len(follow), coins)
    many = np.bincount(state, minlength=len(follow))
    occupied = np.flatnonzero(many)
    share = np.cumsum(follow[occupied], axis=1)
    share /= share[:, -1:]
    upto = np.ceil(share * many[occupied][:, None] - coins.random(len(occupied))[:, None])
    upto = np.clip(upto, 0, many[occupied][:, None]).astype(np.int64)
    upto[:, -1] = many[occupied]
    counts = np.diff(upto, axis=1, prepend=0)
    labels = np.repeat(np.arange(counts.size) % int(follow.shape[1]), counts.ravel())
    sampled = np.empty(len(state), np.int64)
    sampled[order] = labels
    return sampled

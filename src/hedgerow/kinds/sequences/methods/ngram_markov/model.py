"""A Markov chain of variable order over the contexts of an exploration tree, made from noisy counts only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hedgerow.kinds.sequences.methods.ngram.model import ExplorationTree
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.projections import project_to_simplex
from hedgerow.numerics.proportional_fitting import fit_proportionally

#: sweeps of proportional fitting
_SWEEPS = 60
#: smoothing that keeps every transition, and every start, possible
_SMOOTHING, _START_SMOOTHING = 1e-6, 1e-3
#: avoids division by 0
_LEAST = 1e-300
#: sweeps of the correction of lengths: the probabilities converge after about six
_CHAIN_SWEEPS = 8
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


def sequence_count(tree: ExplorationTree, longest: int) -> float:
    """The estimated number of sequences: the number of ends, clipped to the range that the items allow."""
    items = float(tree.counts[0].sum())
    known, other = _item_rows(tree)
    ends = float(tree.counts[known, -1].sum() + other[-1])
    return float(np.clip(ends, items / longest, items))


# The states of the chain: the items, and the longer contexts that are known.


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


# Balance the flows by iterative proportional fitting (Sinkhorn). The counts of n-grams say how often an item follows a
# context. Conversely, every occurrence of an item is preceded by another item or by the start of a sequence. Noisy
# counts are consistent in the forward direction only, and a Markov chain of them drifts. Here the matrices of previous
# and next items are scaled to both row and column sums, context by context, longer ones within shorter ones.


def balanced_chain(tree: ExplorationTree, longest: int) -> MarkovChain:
    """Make the Markov chain whose flows are consistent with the counts in both directions."""
    other, first = _first_order(tree, sequence_count(tree, longest))
    levels = [first]
    for level in range(2, int(tree.level.max()) + 1):
        members = np.flatnonzero((tree.level == level) & tree.known)
        if not len(members):
            break
        levels.append(_higher_order(tree, members, levels, other))
    return _make_chain(tree, levels, other)


class _Flows(NamedTuple):
    """Balanced rows of the known contexts of one level, and of starts.

    The core of a context is the context without its first item; `core` is its number. `keys` encodes a core by its own
    core and its last item; `ending` is the longest known context that is a suffix of the core or the core itself, 0 if
    there is none. A start is a sequence that begins with a core.
    """

    contexts: Integers
    rows: Floats
    core: Integers
    starts: Floats
    ending: Integers
    keys: Integers


def _item_rows(tree: ExplorationTree) -> tuple[Integers, Floats]:
    """The items with known continuations, and one row for what follows all other items together.

    The others are assumed to be followed as any item is, so one row is enough: scaling keeps rows proportional.
    """
    known = np.flatnonzero((tree.level == 1) & tree.known)
    rest = tree.counts[0].sum() - tree.counts[0, tree.label[known]].sum()
    return known, max(0.0, float(rest)) * tree.pooled()


def _first_order(tree: ExplorationTree, number: float) -> tuple[Floats, _Flows]:
    """Balance single items; the row of all items without known continuations is returned separately."""
    size = tree.size
    occurs = tree.counts[0, :size]
    total = occurs.sum()
    known, other = _item_rows(tree)
    rows = np.concatenate((tree.counts[known], other[None, :]))
    sums = np.append(occurs[tree.label[known]], other.sum())
    column = np.append(occurs, number)
    rows = rows + _SMOOTHING * sums[:, None] * column / total
    taken = rows[:, :size].sum(axis=0)
    start = project_to_simplex((occurs - taken)[None, :], np.array([number]))
    start = np.append(start[0] + _START_SMOOTHING * number * occurs / total, 0.0)
    seeds = np.concatenate((rows, start[None, :]))
    which = np.zeros(len(seeds), np.int64)
    flows = fit_proportionally(seeds, np.append(sums, number), which, column[None, :], sweeps=_SWEEPS)
    core = np.zeros(len(known), np.int64)
    none = np.zeros(0, np.int64)
    return flows[-2], _Flows(known, flows[:-2], core, flows[-1:], none, none)


def _higher_order(tree: ExplorationTree, members: Integers, levels: list[_Flows], other: Floats) -> _Flows:
    """Balance the contexts of one level within those of the level before."""
    before = levels[-1]
    above, label = np.searchsorted(before.contexts, tree.parent[members]), tree.label[members]
    sums = before.rows[above, label]
    keys, core = np.unique(before.core[above] * tree.size + label, return_inverse=True)
    start_sums = before.starts[keys // tree.size, keys % tree.size]
    # all contexts of one core have the same suffix link: the core, or its longest suffix that is a context
    ending = np.zeros(len(keys), np.int64)
    ending[core] = tree.nearest_known(members)
    column = _balanced_rows(tree, ending, keys % tree.size, levels, other)
    whole = (tree.level[ending] == len(levels)) | (len(levels) == 1)
    least = np.bincount(core, sums, len(keys)) + start_sums
    column *= np.where(whole, 1.0, least / np.maximum(column.sum(axis=1), _LEAST))[:, None]
    total = column.sum(axis=1)
    spread = column / np.maximum(total, _LEAST)[:, None]
    rest = np.maximum(0.0, total - least)
    occurs = np.maximum(tree.occurs[members], _LEAST)
    known = tree.counts[members] * (sums / occurs)[:, None] + _SMOOTHING * sums[:, None] * spread[core]
    others = rest[:, None] * spread
    taken = others.copy()
    np.add.at(taken, core, known)
    start = project_to_simplex(column - taken, start_sums) + _START_SMOOTHING * start_sums[:, None] * spread
    numbers = np.arange(len(keys))
    rows = fit_proportionally(
        np.concatenate((known, start, others)),
        np.concatenate((sums, start_sums, rest)),
        np.concatenate((core, numbers, numbers)),
        column,
        sweeps=_SWEEPS,
    )
    ends = len(members) + len(keys)
    return _Flows(members, rows[: len(members)], core, rows[len(members) : ends], ending, keys)


def _balanced_rows(
    tree: ExplorationTree, contexts: Integers, item: Integers, levels: list[_Flows], other: Floats
) -> Floats:
    """The balanced rows of known contexts of any level; 0 is an item without known continuations."""
    share = tree.counts[0, item] / max(float(other.sum()), _LEAST)
    rows = share[:, None] * other
    for number, flows in enumerate(levels, start=1):
        here = tree.level[contexts] == number
        rows[here] = flows.rows[np.searchsorted(flows.contexts, contexts[here])]
    return rows


def _make_chain(tree: ExplorationTree, levels: list[_Flows], other: Floats) -> MarkovChain:
    """Make the chain: the flow of a state is without that of longer states; starts are states as well as contexts."""
    size = tree.size
    states = chain_states(tree)
    starts = [flows.starts for flows in levels[1:]]
    begin = len(states.shorter) + np.cumsum([0, *map(len, starts)])
    shorter, onward = _add_starts(tree, states, levels, begin)
    flow = np.concatenate([other[None, :], *(flows.rows for flows in levels), *starts])
    own = flow.copy()
    np.subtract.at(own, shorter[shorter >= 0], flow[shorter >= 0])
    own = np.maximum(0.0, own)
    for rows in (flow, np.eye(1, size + 1, size)):
        empty = own.sum(axis=1) <= 0
        own[empty] = np.broadcast_to(rows, own.shape)[empty]
    first = states.item.copy()
    if len(levels) > 1:
        first[levels[1].keys] = begin[0] + np.arange(len(levels[1].keys))
    start = np.maximum(0.0, levels[0].starts[0, :size])
    return MarkovChain(start / start.sum(), first, own / own.sum(axis=1, keepdims=True), onward)


def _add_starts(
    tree: ExplorationTree, states: ChainStates, levels: list[_Flows], begin: Integers
) -> tuple[Integers, Integers]:
    """Add the starts as states: each has its core as a suffix, and leads to a longer start or where the core leads."""
    size = tree.size
    shorter, onward = [states.shorter], [states.onward]
    for place, flows in enumerate(levels[1:]):
        core = np.where(flows.ending > 0, states.number[flows.ending], 0)
        after = states.onward[core]
        if place + 2 < len(levels):
            keys = levels[place + 2].keys
            after[keys // size, keys % size] = begin[place + 1] + np.arange(len(keys))
        shorter.append(core)
        onward.append(after)
    return np.concatenate(shorter), np.concatenate(onward)


# Correct the chain for truncated sequences.


def correct_lengths(chain: MarkovChain, longest: int, mean: float) -> MarkovChain:
    """Correct for truncated sequences, whose last item was not a true end.

    If sequences are truncated to `longest` items, the counted ends are too many for a chain that is itself stopped
    there. The probabilities are adjusted until the stopped chain has the counted proportions. Flows may also be in
    states that no sequence reaches, and be missing elsewhere; so finally all ends are scaled by one factor such that
    sequences have `mean` items on average.
    """
    target, follow = chain.follow, chain.follow
    for _ in range(_CHAIN_SWEEPS):
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

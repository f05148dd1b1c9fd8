"""Balance the flows of an exploration tree by iterative proportional fitting (Sinkhorn): inflow equals outflow.

The counts of n-grams say how often an item follows a context. Conversely, every occurrence of an item is preceded by
another item or by the start of a sequence. Noisy counts are consistent in the forward direction only, and a Markov
chain of them drifts. Here the matrices of previous and next items are scaled to both row and column sums, context by
context, longer ones within shorter ones.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree
from hedgerow.publishers.sequences.ngram_markov.chain_states import ChainStates, chain_states
from hedgerow.publishers.sequences.ngram_markov.markov_chain import MarkovChain
from hedgerow.steps.proportional_fitting import fit_proportionally
from hedgerow.steps.simplex import project_to_simplex

__all__ = ["balanced_chain", "sequence_count"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_SWEEPS = 60
#: smoothing that keeps every transition, and every start, possible
_SMOOTHING, _START_SMOOTHING = 1e-6, 1e-3
#: avoids division by 0
_LEAST = 1e-300


def sequence_count(tree: ExplorationTree, longest: int) -> float:
    """The estimated number of sequences: the number of ends, clipped to the range that the items allow."""
    items = float(tree.counts[0].sum())
    known, other = _item_rows(tree)
    ends = float(tree.counts[known, -1].sum() + other[-1])
    return float(np.clip(ends, items / longest, items))


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

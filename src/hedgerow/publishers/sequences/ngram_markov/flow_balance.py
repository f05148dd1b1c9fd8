"""Balance the counts of an exploration tree: what goes into a context comes out of it.

The counts of grams say how often `a` follows a context. Seen from the other side, every occurrence of an item has
something before it: another item, or the start of a sequence. Noisy counts agree in one direction only, and Markov
chains made of them drift. Here matrices of what comes before and what follows are scaled to both sums (iterative
proportional fitting, Sinkhorn), context by context, longer ones within shorter ones.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree
from hedgerow.publishers.sequences.ngram_markov.chain_states import ChainStates, chain_states
from hedgerow.publishers.sequences.ngram_markov.markov_chain import MarkovChain
from hedgerow.steps.simplex import project_to_simplex

__all__ = ["balanced_chain", "sequence_count"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_SWEEPS = 60
_SPARK, _START_SPARK = 1e-6, 1e-3
#: what nothing is divided by instead of 0
_LEAST = 1e-300


def sequence_count(tree: ExplorationTree, longest: int) -> float:
    """How many sequences there are: as many as ends, within what the items allow."""
    items = float(tree.counts[0].sum())
    known, other = _pairs(tree)
    ends = float(tree.counts[known, -1].sum() + other[-1])
    return float(np.clip(ends, items / longest, items))


def balanced_chain(tree: ExplorationTree, longest: int) -> MarkovChain:
    """Make the Markov chain whose flows agree with the counts in both directions."""
    other, first = _first_order(tree, sequence_count(tree, longest))
    levels = [first]
    for level in range(2, int(tree.level.max()) + 1):
        members = np.flatnonzero((tree.level == level) & tree.known)
        if not len(members):
            break
        levels.append(_higher_order(tree, members, levels, other))
    return _chained(tree, levels, other)


class _Flows(NamedTuple):
    """Balanced rows of the known contexts of one level, and of starts.

    `core` numbers what is left of a context without its first item: `keys` is that of its own core
    and its last item, `ending` the longest known context that a core is or ends in, 0 if none. A
    start is a sequence that begins with a core.
    """

    contexts: Integers
    rows: Floats
    core: Integers
    starts: Floats
    ending: Integers
    keys: Integers


def _pairs(tree: ExplorationTree) -> tuple[Integers, Floats]:
    """The items after which something is known, and what follows all others together.

    After those it is taken to be as after any item, so they can be one row: scaling keeps rows of
    one shape alike.
    """
    known = np.flatnonzero((tree.level == 1) & tree.known)
    rest = tree.counts[0].sum() - tree.counts[0, tree.label[known]].sum()
    return known, max(0.0, float(rest)) * tree.pooled()


def _first_order(tree: ExplorationTree, number: float) -> tuple[Floats, _Flows]:
    """Balance single items; the row of all items of which nothing is known stands apart."""
    size = tree.size
    occurs = tree.counts[0, :size]
    total = occurs.sum()
    known, other = _pairs(tree)
    rows = np.concatenate((tree.counts[known], other[None, :]))
    sums = np.append(occurs[tree.label[known]], other.sum())
    column = np.append(occurs, number)
    rows = rows + _SPARK * sums[:, None] * column / total
    taken = rows[:, :size].sum(axis=0)
    start = project_to_simplex((occurs - taken)[None, :], np.array([number]))
    start = np.append(start[0] + _START_SPARK * number * occurs / total, 0.0)
    seeds = np.concatenate((rows, start[None, :]))
    which = np.zeros(len(seeds), np.int64)
    flows = _scaled(seeds, np.append(sums, number), which, column[None, :])
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
    # all contexts of one core have the same link: the core, or the longest context it ends in
    ending = np.zeros(len(keys), np.int64)
    ending[core] = tree.nearest_known(members)
    column = _rows_of(tree, ending, keys % tree.size, levels, other)
    whole = (tree.level[ending] == len(levels)) | (len(levels) == 1)
    least = np.bincount(core, sums, len(keys)) + start_sums
    column *= np.where(whole, 1.0, least / np.maximum(column.sum(axis=1), _LEAST))[:, None]
    total = column.sum(axis=1)
    spread = column / np.maximum(total, _LEAST)[:, None]
    rest = np.maximum(0.0, total - least)
    occurs = np.maximum(tree.occurs[members], _LEAST)
    known = tree.counts[members] * (sums / occurs)[:, None] + _SPARK * sums[:, None] * spread[core]
    others = rest[:, None] * spread
    taken = others.copy()
    np.add.at(taken, core, known)
    start = project_to_simplex(column - taken, start_sums) + _START_SPARK * start_sums[:, None] * spread
    numbers = np.arange(len(keys))
    rows = _scaled(
        np.concatenate((known, start, others)),
        np.concatenate((sums, start_sums, rest)),
        np.concatenate((core, numbers, numbers)),
        column,
    )
    ends = len(members) + len(keys)
    return _Flows(members, rows[: len(members)], core, rows[len(members) : ends], ending, keys)


def _rows_of(tree: ExplorationTree, contexts: Integers, item: Integers, levels: list[_Flows], other: Floats) -> Floats:
    """The balanced rows of known contexts of any level; 0 is an item of which nothing is known."""
    share = tree.counts[0, item] / max(float(other.sum()), _LEAST)
    rows = share[:, None] * other
    for number, flows in enumerate(levels, start=1):
        here = tree.level[contexts] == number
        rows[here] = flows.rows[np.searchsorted(flows.contexts, contexts[here])]
    return rows


def _scaled(seeds: Floats, sums: Floats, which: Integers, columns: Floats) -> Floats:
    """Scale rows to their sums and, in each matrix, columns to theirs, in turn."""
    order = np.argsort(which, kind="stable")
    rows, sums, which = seeds[order], sums[order], which[order]
    firsts = np.searchsorted(which, np.arange(len(columns)))
    for _ in range(_SWEEPS):
        total = rows.sum(axis=1)
        rows *= np.divide(sums, total, out=np.zeros_like(total), where=total > 0)[:, None]
        total = np.add.reduceat(rows, firsts, axis=0)
        rows *= np.divide(columns, total, out=np.zeros_like(total), where=total > 0)[which]
    back = np.empty_like(rows)
    back[order] = rows
    return back


def _chained(tree: ExplorationTree, levels: list[_Flows], other: Floats) -> MarkovChain:
    """Give each state what is not a longer state's; beside contexts, starts are states."""
    size = tree.size
    states = chain_states(tree)
    starts = [flows.starts for flows in levels[1:]]
    begin = len(states.shorter) + np.cumsum([0, *map(len, starts)])
    shorter, onward = _with_starts(tree, states, levels, begin)
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


def _with_starts(
    tree: ExplorationTree, states: ChainStates, levels: list[_Flows], begin: Integers
) -> tuple[Integers, Integers]:
    """Add the starts: each ends in its core, and leads to a longer start or where that leads."""
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

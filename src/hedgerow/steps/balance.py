"""Balance the counts of an exploration tree: what goes into a context comes out of it.

The counts of grams say how often `a` follows a context. Seen from the other side, every occurrence
of an item has something before it: another item, or the start of a sequence. Noisy counts agree in
one direction only, and chains made of them drift. Here matrices of what comes before and what
follows are scaled to both sums (Sinkhorn), context by context, longer ones within shorter ones.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.chain import Chain
from hedgerow.steps.contexts import Contexts
from hedgerow.steps.states import States, states_of

__all__ = ["balanced", "sequence_count"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

_SWEEPS = 60
_SPARK, _START_SPARK = 1e-6, 1e-3


def sequence_count(tree: Contexts, longest: int) -> float:
    """How many sequences there are: as many as ends, within what the items allow."""
    items = float(tree.counts[0].sum())
    return float(np.clip(_pairs(tree)[:, -1].sum(), items / longest, items))


def balanced(tree: Contexts, longest: int) -> Chain:
    """Make the chain whose flows agree with the counts in both directions."""
    number = sequence_count(tree, longest)
    flows = _first_order(tree, number)
    levels = [flows]
    deepest = int(tree.level.max())
    for level in range(2, deepest + 1):
        members = np.flatnonzero((tree.level == level) & tree.known)
        if not len(members):
            break
        levels.append(_higher_order(tree, members, levels))
    return _chained(tree, levels)


class _Flows(NamedTuple):
    """Balanced rows of one level: of contexts, and of starts (a sequence that begins with a core).

    `core` numbers what is left of a context without its first item, `ending` says for each core
    the longest context it is or ends in, and `whole` whether it is that context.
    """

    contexts: Integers
    rows: Floats
    core: Integers
    starts: Floats
    ending: Integers
    keys: Integers


def _pairs(tree: Contexts) -> Floats:
    """What follows each item: as counted where it is known, else as after any item."""
    size = tree.size
    found = tree.find(np.zeros(size, np.int64), np.arange(size))
    known = (found >= 0) & tree.known[found]
    rows = tree.counts[0, :size, None] * tree.pooled()
    rows[known] = tree.counts[found[known]]
    return rows


def _first_order(tree: Contexts, number: float) -> _Flows:
    size = tree.size
    held = tree.counts[0, :size]
    total = held.sum()
    pairs = _pairs(tree)
    column = np.append(held, number)
    seeds = np.zeros((size + 1, size + 1))
    seeds[:size] = pairs + _SPARK * held[:, None] * column / total
    start = _projected((held - pairs[:, :size].sum(axis=0))[None, :], np.array([number]))[0]
    seeds[size, :size] = start + _START_SPARK * number * held / total
    rows = _scaled(seeds, np.append(held, number), np.zeros(size + 1, np.int64), column[None, :])
    items = np.arange(size)
    none = np.zeros(0, np.int64)
    return _Flows(items, rows[:size], none, rows[size:], none, none)


def _higher_order(tree: Contexts, members: Integers, levels: list[_Flows]) -> _Flows:
    """Balance the contexts of one level within those of the level before."""
    before = levels[-1]
    parent, label = tree.parent[members], tree.label[members]
    if len(levels) == 1:
        above, upper = tree.label[parent], np.zeros(len(members), np.int64)
    else:
        above = np.searchsorted(before.contexts, parent)
        upper = before.core[above]
    sums = before.rows[above, label]
    keys, core = np.unique(upper * tree.size + label, return_inverse=True)
    start_sums = before.starts[keys // tree.size, keys % tree.size]
    link = tree.link[members]
    ending, column = _columns(tree, members, core, keys, link, sums, start_sums, levels)
    total = column.sum(axis=1)
    spread = column / np.maximum(total, 1e-300)[:, None]
    rest = np.maximum(0.0, total - start_sums - np.bincount(core, sums, len(keys)))
    held = np.maximum(tree.held[members], 1e-300)
    known = tree.counts[members] * (sums / held)[:, None] + _SPARK * sums[:, None] * spread[core]
    other = rest[:, None] * spread
    taken = np.zeros_like(column)
    np.add.at(taken, core, known)
    start = _projected(column - taken - other, start_sums)
    start += _START_SPARK * start_sums[:, None] * spread
    which = np.concatenate((core, np.arange(len(keys)), np.arange(len(keys))))
    seeds = np.concatenate((known, start, other))
    rows = _scaled(seeds, np.concatenate((sums, start_sums, rest)), which, column)
    ends = len(members) + len(keys)
    return _Flows(members, rows[: len(members)], core, rows[len(members) : ends], ending, keys)


def _columns(
    tree: Contexts,
    members: Integers,
    core: Integers,
    keys: Integers,
    link: Integers,
    sums: Floats,
    start_sums: Floats,
    levels: list[_Flows],
) -> tuple[Integers, Floats]:
    """What follows each core in all: its own balanced row, or one like what it ends in."""
    size = tree.size
    if len(levels) == 1:
        items = keys % size
        return items, levels[0].rows[items]
    # all contexts of one core have the same link: the core, or the longest context it ends in
    ending = np.zeros(len(keys), np.int64)
    ending[core] = link
    unknown = ~tree.known[ending] & (tree.level[ending] > 1)
    while unknown.any():
        ending[unknown] = tree.link[ending[unknown]]
        unknown = ~tree.known[ending] & (tree.level[ending] > 1)
    rows = _rows_of(tree, ending, keys % size, levels)
    whole = tree.level[ending] == int(tree.level[members[0]]) - 1
    least = np.bincount(core, sums, len(keys)) + start_sums
    factor = np.where(whole, 1.0, least / np.maximum(rows.sum(axis=1), 1e-300))
    return ending, rows * factor[:, None]


def _rows_of(tree: Contexts, contexts: Integers, item: Integers, levels: list[_Flows]) -> Floats:
    """The balanced rows of contexts of any level; of an item that is no context, by the item."""
    rows = levels[0].rows[item].copy()
    for number, flows in enumerate(levels[1:], start=2):
        here = tree.level[contexts] == number
        rows[here] = flows.rows[np.searchsorted(flows.contexts, contexts[here])]
    return rows


def _projected(values: Floats, sums: Floats) -> Floats:
    """Project each row onto the rows of numbers of at least 0 that have this sum."""
    ordered = -np.sort(-values, axis=1)
    above = np.cumsum(ordered, axis=1) - sums[:, None]
    rank = np.arange(1, int(values.shape[1]) + 1)
    last = np.maximum(1, np.count_nonzero(ordered - above / rank > 0, axis=1))
    shift = above[np.arange(len(values)), last - 1] / last
    return np.maximum(0.0, values - shift[:, None])


def _scaled(seeds: Floats, sums: Floats, which: Integers, columns: Floats) -> Floats:
    """Scale rows to their sums and, in each matrix, columns to theirs, in turn."""
    order = np.argsort(which, kind="stable")
    rows, sums, which = seeds[order], sums[order], which[order]
    firsts = np.searchsorted(which, np.arange(len(columns)))
    for _ in range(_SWEEPS):
        total = rows.sum(axis=1)
        rows *= np.divide(sums, total, out=np.zeros_like(total), where=total > 0)[:, None]
        found = np.add.reduceat(rows, firsts, axis=0)
        rows *= np.divide(columns, found, out=np.zeros_like(found), where=found > 0)[which]
    back = np.empty_like(rows)
    back[order] = rows
    return back


def _chained(tree: Contexts, levels: list[_Flows]) -> Chain:
    """Give each state what is not a longer state's; beside contexts, starts are states."""
    size = tree.size
    states = states_of(tree)
    starts = [flows.starts for flows in levels[1:]]
    begin = len(states.shorter) + np.cumsum([0, *map(len, starts)])
    shorter, onward = _with_starts(tree, states, levels, begin)
    flow = np.concatenate([levels[0].rows, *(flows.rows for flows in levels[1:]), *starts])
    own = flow.copy()
    np.subtract.at(own, shorter[shorter >= 0], flow[shorter >= 0])
    own = np.maximum(0.0, own)
    for rows in (flow, np.eye(1, size + 1, size)):
        empty = own.sum(axis=1) <= 0
        own[empty] = np.broadcast_to(rows, own.shape)[empty]
    first = np.arange(size)
    if len(levels) > 1:
        first[levels[1].keys] = begin[0] + np.arange(len(levels[1].keys))
    start = np.maximum(0.0, levels[0].starts[0, :size])
    return Chain(start / start.sum(), first, own / own.sum(axis=1, keepdims=True), onward)


def _with_starts(
    tree: Contexts, states: States, levels: list[_Flows], begin: Integers
) -> tuple[Integers, Integers]:
    """Add the starts: each ends in its core, and leads to a longer start or where that leads."""
    size = tree.size
    shorter, onward = [states.shorter], [states.onward]
    for place, flows in enumerate(levels[1:]):
        items = flows.keys % size
        cores = states.number[flows.ending] if place else flows.ending
        core = np.where(cores < 0, items, cores)
        after = states.onward[core]
        if place + 2 < len(levels):
            keys = levels[place + 2].keys
            after[keys // size, keys % size] = begin[place + 1] + np.arange(len(keys))
        shorter.append(core)
        onward.append(after)
    return np.concatenate(shorter), np.concatenate(onward)

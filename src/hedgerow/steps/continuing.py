"""Go on with sequences where a tree of prefixes stops; no private data is seen here."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.decks import Pairs
from hedgerow.steps.following import ORDERS, STOP, Follow
from hedgerow.steps.prefixes import Prefixes, Table

__all__ = ["calibrated", "continued"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: so often something that is known not to follow is drawn again
_AGAIN = 6
#: sequences of a trial, how many of them there are, and what makes a place's number sure
_TRIAL, _SWEEPS, _FEW = 30_000, 4, 10.0


def calibrated(
    tree: Prefixes,
    follow: Follow,
    node: Integers,
    missing: int,
    wanted: Floats,
    longest: int,
    coins: np.random.Generator,
) -> Follow:
    """Go on from some nodes for a trial, and draw places more or less often until they fit.

    Where a tree stops, sequences are rarer than elsewhere, and so is what follows. `wanted` is how
    often each place should follow in all.
    """
    if len(node) + missing == 0:
        return follow
    part = min(1.0, _TRIAL / (len(node) + missing))
    few = node[coins.permutation(len(node))[: int(part * len(node))]]
    for _ in range(_SWEEPS):
        held = continued(tree, follow, few, int(part * missing), longest, coins)
        level = np.append(tree.level[few], np.zeros(int(part * missing), np.int64))
        new = held[np.arange(longest) >= level[:, None]]
        drawn = np.bincount(new[new >= 0] % follow.places, minlength=follow.places) / part
        # a few more of each, so that rare places are left as they are
        ratio = (np.maximum(wanted, 0.0) + _FEW / part) / (drawn + _FEW / part)
        follow = follow.scaled(np.clip(ratio, 0.2, 5.0))
    return follow


def continued(
    tree: Prefixes,
    follow: Follow,
    node: Integers,
    missing: int,
    longest: int,
    coins: np.random.Generator,
) -> Table:
    """Go on from nodes, once each: the whole sequences, filled up with -1.

    A sequence that goes on from a node whose children were asked for goes on with none of those
    that passed, and does not end there: they have their own. From other nodes, anything may follow.
    So many as are `missing` begin with what was too rare to be counted.
    """
    begun = follow.begin(missing, coins)
    held = np.vstack((tree.table(longest)[node], np.full((missing, longest), -1, np.int32)))
    held[len(node) :, 0] = begun
    level = np.append(tree.level[node], np.ones(missing, np.int64))
    last = np.append(tree.label[node], begun)
    none = np.full((ORDERS, missing), -1)
    contexts = np.hstack((follow.contexts(tree, node), follow.moved(none, begun)))
    asked = np.append(np.where(tree.asked[node], node, -1), np.full(missing, -1))
    row = np.flatnonzero(level < longest)
    contexts = contexts[:, row]
    label = _first(tree, follow, asked[row], contexts, last[row] // follow.places, coins)
    while True:
        on = label != STOP
        row, label, contexts = row[on], label[on], contexts[:, on]
        held[row, level[row]] = label
        level[row] += 1
        more = level[row] < longest
        row, label, contexts = row[more], label[more], contexts[:, more]
        if not len(row):
            return held
        contexts = follow.moved(contexts, label)
        label = follow.step(contexts, np.full(len(row), -1), label // follow.places, coins)


def _first(
    tree: Prefixes,
    follow: Follow,
    node: Integers,
    contexts: Integers,
    time: Integers,
    coins: np.random.Generator,
) -> Integers:
    """Draw what follows until it is none of the known children; at last the sequence ends."""
    label = follow.step(contexts, node, time, coins)
    if follow.times == 1:
        return label
    below = tree.parent >= 0
    children = Pairs.of(tree.parent[below], tree.label[below], tree.size + 1)
    for _ in range(_AGAIN):
        again = np.flatnonzero((node >= 0) & ((label == STOP) | children.hold(node, label)))
        label[again] = follow.step(contexts[:, again], node[again], time[again], coins)
    return np.where(children.hold(node, label), STOP, label)

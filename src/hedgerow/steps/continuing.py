"""Go on with sequences where a tree of prefixes stops; no private data is seen here."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.following import ORDERS, STOP, Follow
from hedgerow.steps.prefixes import Prefixes, Table

__all__ = ["calibrated", "continued"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: fewer sequences say nothing of what fits
_LEAST = 100
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
    """Go on from some nodes for a trial, and draw places more or less often, to fit.

    Where a tree stops, sequences are rarer than elsewhere, and so is what follows. `wanted` is how
    often each place should follow in all.
    """
    if len(node) + missing < _LEAST:
        return follow
    part = min(1.0, _TRIAL / (len(node) + missing))
    few = node[coins.permutation(len(node))[: int(part * len(node))]]
    begun = int(part * missing)
    level = np.append(tree.level[few], np.zeros(begun, np.int64))
    for _ in range(_SWEEPS):
        held = continued(tree, follow, few, begun, longest, coins, part=part)
        new = held[np.arange(longest) >= level[: len(held), None]]
        follow = follow.scaled(_ratio(wanted, new[new >= 0].astype(np.int64) % follow.places, part))
    return follow


def _ratio(wanted: Floats, drawn: Integers, part: float) -> Floats:
    """How much more often each should be drawn; a few more of each leave rare ones as they are."""
    many = np.bincount(drawn, minlength=len(wanted)) / part
    return np.clip((wanted + _FEW / part) / (many + _FEW / part), 0.2, 5.0)


def continued(
    tree: Prefixes,
    follow: Follow,
    node: Integers,
    missing: int,
    longest: int,
    coins: np.random.Generator,
    *,
    part: float = 1.0,
) -> Table:
    """Go on from nodes, once each: the whole sequences, filled up with -1.

    A sequence that goes on from a node whose children were asked for goes on with none of those
    that passed, and does not end there unless nothing else is found: they have their own. From
    other nodes, anything may follow.
    So many as are `missing` begin with what was too rare to be counted. All sequences of one length
    go on together; they are the given part of all that go on. Where visits have times, what follows
    is a place alone: its time depends on how many visits there will be (`timed`).
    """
    begun = follow.begin(missing, coins)
    missing = len(begun)
    whole = tree.table(longest)
    held = np.vstack((whole[node], np.full((missing, longest), -1, whole.dtype)))
    held[len(node) :, 0] = begun
    size = np.append(tree.level[node], np.ones(missing, np.int64))
    none = np.full((ORDERS, missing), -1)
    contexts = np.hstack((follow.contexts(tree, node), follow.moved(none, begun)))
    asked = np.append(np.where(tree.asked[node], node, -1), np.full(missing, -1))
    for items in range(1, longest):
        row = np.flatnonzero(size == items)
        free = asked[row] < 0
        free[free] = follow.ending(contexts[:, row[free]], items, part, coins)
        row = row[~free]
        label = follow.step(contexts[:, row], items, asked[row], coins)
        row, label = row[label != STOP], label[label != STOP]
        held[row, items], size[row], asked[row] = label, items + 1, -1
        contexts[:, row] = follow.moved(contexts[:, row], label)
    return held

"""Continue sequences where a prefix tree stops; no private data is seen here."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.continued_prefix_tree.transitions import ORDERS, STOP, Transitions
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import LabelTable, NoisyTree

__all__ = ["calibrate", "continue_sequences"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: fewer sequences say nothing of what fits
_LEAST = 100
#: sequences of a trial, how many of them there are, and what makes a place's number sure
_TRIAL, _SWEEPS, _FEW = 30_000, 4, 10.0


def calibrate(
    tree: NoisyTree,
    transitions: Transitions,
    node: Integers,
    missing: int,
    wanted: Floats,
    longest: int,
    coins: np.random.Generator,
) -> Transitions:
    """Go on from some nodes for a trial, and draw places more or less often, to fit.

    Where a tree stops, sequences are rarer than elsewhere, and so is what follows. `wanted` is how
    often each place should follow in all.
    """
    if len(node) + missing < _LEAST:
        return transitions
    part = min(1.0, _TRIAL / (len(node) + missing))
    few = node[coins.permutation(len(node))[: int(part * len(node))]]
    begun = int(part * missing)
    level = np.append(tree.level[few], np.zeros(begun, np.int64))
    for _ in range(_SWEEPS):
        table = continue_sequences(tree, transitions, few, begun, longest, coins, part=part)
        new = table[np.arange(longest) >= level[: len(table), None]]
        places = new[new >= 0].astype(np.int64) % transitions.places
        transitions = transitions.scaled(_ratio(wanted, places, part))
    return transitions


def _ratio(wanted: Floats, drawn: Integers, part: float) -> Floats:
    """How much more often each should be drawn; a few more of each leave rare ones as they are."""
    many = np.bincount(drawn, minlength=len(wanted)) / part
    return np.clip((wanted + _FEW / part) / (many + _FEW / part), 0.2, 5.0)


def continue_sequences(
    tree: NoisyTree,
    transitions: Transitions,
    node: Integers,
    missing: int,
    longest: int,
    coins: np.random.Generator,
    *,
    part: float = 1.0,
) -> LabelTable:
    """Go on from nodes, once each: the whole sequences, filled up with -1.

    A sequence that goes on from an expanded node goes on with none of the children that passed, and does not end
    there unless nothing else is left: these have sequences of their own. From other nodes, anything may follow. So
    many as are `missing` begin with what was too rare to be counted. All sequences of one length go on together; they
    are the given part of all that go on. Where visits have times, what follows is a place alone: its time depends on
    how many visits there will be.
    """
    begun = transitions.draw_first(missing, coins)
    missing = len(begun)
    whole = tree.prefixes(longest)
    table = np.vstack((whole[node], np.full((missing, longest), -1, whole.dtype)))
    table[len(node) :, 0] = begun
    size = np.append(tree.level[node], np.ones(missing, np.int64))
    none = np.full((ORDERS, missing), -1)
    contexts = np.hstack((transitions.contexts(tree, node), transitions.extended(none, begun)))
    expanded = np.append(np.where(tree.expanded[node], node, -1), np.full(missing, -1))
    for items in range(1, longest):
        row = np.flatnonzero(size == items)
        free = expanded[row] < 0
        free[free] = transitions.draw_ends(contexts[:, row[free]], items, part, coins)
        row = row[~free]
        label = transitions.draw_next(contexts[:, row], items, expanded[row], coins)
        row, label = row[label != STOP], label[label != STOP]
        table[row, items], size[row], expanded[row] = label, items + 1, -1
        contexts[:, row] = transitions.extended(contexts[:, row], label)
    return table

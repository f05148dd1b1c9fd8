"""Continue sequences where a prefix tree ends; only noisy answers and public facts are used here."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.continued_prefix_tree.transitions import ORDERS, STOP, Transitions
from hedgerow.publishers.sequences.prefix_tree.noisy_tree import LabelTable, NoisyTree

__all__ = ["calibrate", "continue_sequences"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: fewer sequences are too few to calibrate on
_LEAST = 100
#: sequences per trial, trials, and the pseudo-count of each place
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
    """Calibrate the transitions: continue a sample of sequences, and reweight places until their counts fit.

    Where a tree ends, sequences are rare ones, and their next places are not distributed as elsewhere. `wanted` is how
    often each place should follow in total.
    """
    if len(node) + missing < _LEAST:
        return transitions
    part = min(1.0, _TRIAL / (len(node) + missing))
    few = node[coins.permutation(len(node))[: int(part * len(node))]]
    started = int(part * missing)
    level = np.append(tree.level[few], np.zeros(started, np.int64))
    for _ in range(_SWEEPS):
        table = continue_sequences(tree, transitions, few, started, longest, coins, part=part)
        new = table[np.arange(longest) >= level[: len(table), None]]
        places = new[new >= 0].astype(np.int64) % transitions.places
        transitions = transitions.scaled(_ratio(wanted, places, part))
    return transitions


def _ratio(wanted: Floats, drawn: Integers, part: float) -> Floats:
    """The factor by which each place should be drawn more often; pseudo-counts keep that of rare places near 1."""
    number = np.bincount(drawn, minlength=len(wanted)) / part
    return np.clip((wanted + _FEW / part) / (number + _FEW / part), 0.2, 5.0)


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
    """Continue one sequence per entry of `node`; return the whole sequences, padded with -1.

    A sequence at an expanded node is not continued by one of the children that passed, and does not end there unless
    nothing else is left: those sequences are in the tree already. At other nodes anything may follow. Another `missing`
    sequences start with labels that did not reach the threshold. All sequences of one length are continued together;
    they are a fraction `part` of all that are continued. If visits have times, the continuation is a place alone: its
    time depends on how many visits there will be.
    """
    first = transitions.draw_first(missing, coins)
    missing = len(first)
    whole = tree.prefixes(longest)
    table = np.vstack((whole[node], np.full((missing, longest), -1, whole.dtype)))
    table[len(node) :, 0] = first
    size = np.append(tree.level[node], np.ones(missing, np.int64))
    none = np.full((ORDERS, missing), -1)
    contexts = np.hstack((transitions.contexts(tree, node), transitions.extended(none, first)))
    expanded = np.append(np.where(tree.expanded[node], node, -1), np.full(missing, -1))
    for items in range(1, longest):
        row = np.flatnonzero(size == items)
        free = expanded[row] < 0
        free[free] = transitions.draw_ends(contexts[:, row[free]], items, part, coins)
        row = row[~free]
        if not len(row):
            continue
        label = transitions.draw_next(contexts[:, row], items, expanded[row], coins)
        row, label = row[label != STOP], label[label != STOP]
        table[row, items], size[row], expanded[row] = label, items + 1, -1
        contexts[:, row] = transitions.extended(contexts[:, row], label)
    return table

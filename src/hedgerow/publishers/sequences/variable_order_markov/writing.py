"""Write sequences: walks through the context tree whose lengths are those that were estimated. No private data."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.variable_order_markov.context_tree import ContextTree
from hedgerow.publishers.sequences.variable_order_markov.lengths import LengthHistogram
from hedgerow.steps.random_order import random_order_by_state
from hedgerow.steps.systematic_sampling import WeightedLabels

__all__ = ["apportion", "expected_ends", "write_sequences"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the range of the shift of log-odds, the steps of its bisection, and the least probability of an end
_SHIFT, _HALVINGS, _LEAST = 40.0, 60, 1e-6


def write_sequences(
    tree: ContextTree, follow: Floats, lengths: LengthHistogram, coins: np.random.Generator
) -> tuple[Integers, Integers]:
    """Generate sequences; return the sequence of each item, and the item."""
    ending = apportion(lengths.by_length[1:], lengths.number, coins.random())
    odds = _log_odds(follow[:, -1])
    labels = WeightedLabels.of_rows(_items_only(follow))
    narrow = np.min_scalar_type(tree.start)
    alive = np.arange(lengths.number)
    history = [np.full(lengths.number, tree.start, narrow)]
    steps: list[tuple[Integers, NDArray[Any]]] = []
    for number in [0, *ending.tolist()]:
        row = tree.walk(history)
        order = random_order_by_state(row, len(tree), coins)
        order = order[_goes_on(row[order], number, odds, coins)]
        if not len(order):
            break
        alive = alive[order]
        item = labels.sample_ordered(row[order], coins).astype(narrow)
        history = [item, *(symbol[order] for symbol in history)][: tree.depth]
        steps.append((alive, item))
    return _join_steps(steps, lengths.number)


def apportion(values: Floats, total: int, offset: float) -> Integers:
    """Round values, scaled to a whole total, so that every cumulative sum is rounded up or down.

    Examples
    --------
    >>> apportion(np.array([2.4, 3.3, 0.3]), 6, 0.5).tolist()
    [2, 4, 0]
    """
    upto = np.cumsum(values)
    whole = np.floor(upto * (total / upto[-1]) + offset).astype(np.int64)
    whole[-1] = total
    return np.diff(np.minimum(whole, total), prepend=0)


def expected_ends(many: Integers, odds: Floats, number: int) -> Floats:
    """How many of the sequences in each row end if `number` do: all log-odds are shifted by the same amount.

    Examples
    --------
    >>> expected_ends(np.array([100, 50]), np.zeros(2), 30).round(6).tolist()
    [20.0, 10.0]
    """
    low, high = -_SHIFT, _SHIFT
    for _ in range(_HALVINGS):
        shift = (low + high) / 2
        few = float((many / (1 + np.exp(-(odds + shift)))).sum()) < number
        low, high = (shift, high) if few else (low, shift)
    return many / (1 + np.exp(-(odds + (low + high) / 2)))


def _goes_on(row: NDArray[Any], number: int, odds: Floats, coins: np.random.Generator) -> NDArray[np.bool_]:
    """Which sequences go on if `number` end: sequences are in the order of their rows, at random within a row."""
    if number == 0 or number >= len(row):
        return np.full(len(row), number == 0)
    many = np.bincount(row, minlength=len(odds))
    rows = np.flatnonzero(many)
    many = many[rows]
    ends = np.minimum(apportion(expected_ends(many, odds[rows], number), number, coins.random()), many)
    # rounding may ask for one more than a row has: another row ends it
    spare = np.cumsum(many - ends)
    ends += np.diff(np.minimum(spare, number - ends.sum()), prepend=0)
    rank = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    return rank >= np.repeat(ends, many)


def _log_odds(chance: Floats) -> Floats:
    chance = np.clip(chance, _LEAST, 1 - _LEAST)
    return np.log(chance / (1 - chance))


def _items_only(follow: Floats) -> Floats:
    """The probabilities of items; those of single items in a row of ends only."""
    items = follow[:, :-1].copy()
    items[items.sum(axis=1) <= 0] = items[0]
    return items


def _join_steps(steps: list[tuple[Integers, NDArray[Any]]], number: int) -> tuple[Integers, Integers]:
    """Put the items of each sequence one after the other."""
    length = np.zeros(number, np.int64)
    for alive, _ in steps:
        length[alive] += 1
    starts = np.cumsum(length) - length
    path = np.empty(int(length.sum()), np.int64)
    for step, (alive, item) in enumerate(steps):
        path[starts[alive] + step] = item
    return np.repeat(np.arange(number), length), path

"""Write sequences: walks through the context tree whose lengths are those that were estimated.

All sequences go on in lock-step. As long as there are few distinct beginnings, each is written once, with the number of
sequences that have it; then the sequences go on one by one. Only estimates and coins are used here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.sequences.methods.variable_order_markov.model import ContextTree
from hedgerow.kinds.sequences.methods.variable_order_markov.plan_model import LengthHistogram
from hedgerow.numerics.arrays import Codes, Floats, Integers, number_within_groups
from hedgerow.numerics.sampling import WeightedLabels, random_order_by_state, systematic_counts

#: beginnings are few up to this number, and if there are so many sequences for each symbol that may follow one of them
_FEW, _SEQUENCES = 1_000, 4
#: the range of the shift of log-odds, the most steps to find it, how close they come; the least probability of an end
_SHIFT, _STEPS, _CLOSE, _LEAST = 40.0, 100, 1e-12, 1e-6


class WrittenSequences(NamedTuple):
    """The list of each item, the item, and how many sequences have each list."""

    row: Integers
    item: Codes
    counts: Integers


def write_sequences(
    tree: ContextTree, follow: Floats, lengths: LengthHistogram, coins: np.random.Generator
) -> WrittenSequences:
    """Generate sequences; equal ones may be written as one list, or as several."""
    ending = [0, *_round_to_total(lengths.by_length[1:], lengths.number, coins).tolist()]
    odds, items = log_odds(follow[:, -1]), _items_only(follow)
    beginnings, step = Beginnings.of(tree, lengths.number), 0
    while step < len(ending) and beginnings.are_few(tree):
        row = beginnings.rows(tree)
        many = np.bincount(row, beginnings.many, len(tree)).astype(np.int64)
        beginnings = beginnings.go_on(row, ends_by_row(many, odds, ending[step], coins), items, coins)
        step += 1
    alone = _write_one_by_one(tree, odds, items, beginnings, ending[step:], coins)
    return _join([*(_as_written(*lists) for lists in beginnings.ended), alone])


@dataclass(frozen=True, eq=False)
class Beginnings:
    """The distinct beginnings of the sequences being written, all of one length, and how many sequences have each.

    `items` has a row per beginning, `many` the number of sequences with it; `ended` are the lists that ended before.
    """

    items: Codes
    many: Integers
    ended: tuple[tuple[Codes, Integers], ...] = ()

    @classmethod
    def of(cls, tree: ContextTree, number: int) -> Self:
        """All sequences have the same beginning, which is empty."""
        return cls(np.zeros((1, 0), np.min_scalar_type(tree.start)), np.array([number]))

    @property
    def number(self) -> int:
        """The number of sequences that have not ended."""
        return int(self.many.sum())

    def are_few(self, tree: ContextTree) -> bool:
        """Whether it is faster to go on with beginnings than with sequences."""
        return 0 < len(self.many) <= min(_FEW, self.number // (_SEQUENCES * tree.symbols))

    def rows(self, tree: ContextTree) -> Integers:
        """The row of each beginning."""
        start = np.full((len(self.many), 1), tree.start, self.items.dtype)
        history = np.hstack((start, self.items)).T[::-1]
        return tree.walk(history[: tree.depth]).astype(np.int64)

    def go_on(self, row: Integers, ends: Integers, items: Floats, coins: np.random.Generator) -> Self:
        """End so many sequences of each row, and draw an item for each of the others, by the weights of the row.

        Numbers of items are systematic samples; which sequences of a row get which item, or end, is random.
        """
        table = np.zeros((len(row), items.shape[1] + 1), np.int64)
        for at in np.flatnonzero(np.bincount(row)).tolist():
            members = np.flatnonzero(row == at)
            number = int(self.many[members].sum() - ends[at])
            table[members] = _deal([*_round_to_total(items[at], number, coins), ends[at]], self.many[members], coins)
        over = np.flatnonzero(table[:, -1])
        at, item = np.nonzero(table[:, :-1])
        longer = np.column_stack((self.items[at], item.astype(self.items.dtype)))
        return type(self)(longer, table[at, item], (*self.ended, (self.items[over], table[over, -1])))

    def spread(self) -> list[Codes]:
        """The items of every sequence that has not ended: an array per position."""
        return [np.repeat(column, self.many) for column in self.items.T]


def _deal(counts: list[int], many: Integers, coins: np.random.Generator) -> Integers:
    """Deal so many cards of each kind to players at random; `many` of them to each."""
    left, dealt = np.array(counts, np.int64), np.empty((len(many), len(counts)), np.int64)
    for player, hand in enumerate(many[:-1].tolist()):
        dealt[player] = coins.multivariate_hypergeometric(left, hand, method="marginals")
        left -= dealt[player]
    dealt[-1] = left
    return dealt


def _write_one_by_one(
    tree: ContextTree,
    odds: Floats,
    items: Floats,
    beginnings: Beginnings,
    ending: list[int],
    coins: np.random.Generator,
) -> WrittenSequences:
    """Go on with all sequences that have not ended."""
    columns = beginnings.spread()
    number, narrow = beginnings.number, beginnings.items.dtype
    steps: list[tuple[Integers, Codes]] = [(np.arange(number), column) for column in columns]
    history = [*reversed(columns), np.full(number, tree.start, narrow)][: tree.depth]
    alive, labels = np.arange(number), WeightedLabels.of_rows(items)
    for ends in ending:
        row = tree.walk(history)
        order = random_order_by_state(row, len(tree), coins)
        order = order[_goes_on(row[order], ends, odds, coins)]
        if not len(order):
            break
        alive = alive[order]
        item = labels.sample_ordered(row[order], coins).astype(narrow)
        history = [item, *(symbol[order] for symbol in history)][: tree.depth]
        steps.append((alive, item))
    return _join_steps(steps, number, narrow)


def expected_ends(many: Integers, odds: Floats, number: int) -> Floats:
    """How many of the sequences in each row end if `number` do: all log-odds are shifted by the same amount.

    Examples
    --------
    >>> expected_ends(np.array([100, 50]), np.zeros(2), 30).round(6).tolist()
    [20.0, 10.0]
    """
    low, high, shift = -_SHIFT, _SHIFT, 0.0
    ends = many / (1 + np.exp(-odds))
    for _ in range(_STEPS):
        excess = float(ends.sum()) - number
        low, high = (low, shift) if excess > 0 else (shift, high)
        slope = float((ends * (1 - ends / many)).sum())
        # a step of Newton's method, or of bisection where that would leave the range
        newton = shift - excess / slope if slope > 0 else low
        last, shift = shift, newton if low < newton < high else (low + high) / 2
        ends = many / (1 + np.exp(-(odds + shift)))
        if abs(shift - last) < _CLOSE:
            break
    return ends


def ends_by_row(many: Integers, odds: Floats, number: int, coins: np.random.Generator) -> Integers:
    """How many of the sequences in each row end if `number` do, in whole numbers."""
    if number == 0 or number >= many.sum():
        return many * (number > 0)
    ends = np.zeros_like(many)
    rows = np.flatnonzero(many)
    many = many[rows]
    whole = np.minimum(_round_to_total(expected_ends(many, odds[rows], number), number, coins), many)
    # rounding may ask for one more than a row has: another row ends it
    spare = np.cumsum(many - whole)
    ends[rows] = whole + np.diff(np.minimum(spare, number - whole.sum()), prepend=0)
    return ends


def _round_to_total(values: Floats, total: int, coins: np.random.Generator) -> Integers:
    """Round values, scaled to a whole total, so that every cumulative sum is rounded up or down."""
    return systematic_counts(values, total, 1 - coins.random())


def _goes_on(row: Codes, number: int, odds: Floats, coins: np.random.Generator) -> NDArray[np.bool_]:
    """Which sequences go on if `number` end: sequences are in the order of their rows, at random within a row."""
    if number == 0 or number >= len(row):
        return np.full(len(row), number == 0)
    many = np.bincount(row, minlength=len(odds))
    return number_within_groups(row) >= np.repeat(ends_by_row(many, odds, number, coins), many)


def log_odds(chance: Floats) -> Floats:
    """The logarithm of the odds of a probability, neither 0 nor 1."""
    chance = np.clip(chance, _LEAST, 1 - _LEAST)
    return np.log(chance / (1 - chance))


def _items_only(follow: Floats) -> Floats:
    """The probabilities of items; those of single items in a row of ends only."""
    items = follow[:, :-1].copy()
    items[items.sum(axis=1) <= 0] = items[0]
    return items


def _join_steps(steps: list[tuple[Integers, Codes]], number: int, narrow: np.dtype[np.integer]) -> WrittenSequences:
    """Put the items of each sequence one after the other."""
    length = np.zeros(number, np.int64)
    for alive, _ in steps:
        length[alive] += 1
    starts = np.cumsum(length) - length
    path = np.empty(int(length.sum()), narrow)
    for step, (alive, item) in enumerate(steps):
        path[starts[alive] + step] = item
    return WrittenSequences(np.repeat(np.arange(number), length), path, np.ones(number, np.int64))


def _as_written(lists: Codes, counts: Integers) -> WrittenSequences:
    """Lists of equal length, one per row."""
    number, length = len(lists), int(lists.shape[1])
    return WrittenSequences(np.repeat(np.arange(number), length), lists.ravel(), counts)


def _join(parts: list[WrittenSequences]) -> WrittenSequences:
    """Number the lists of all parts one after the other."""
    counts = [part.counts for part in parts]
    first = np.cumsum([0, *map(len, counts)])
    row = np.concatenate([part.row + start for part, start in zip(parts, first, strict=False)])
    return WrittenSequences(row, np.concatenate([part.item for part in parts]), np.concatenate(counts))

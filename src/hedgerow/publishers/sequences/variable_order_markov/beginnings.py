"""The distinct beginnings of sequences that are being written, and how many sequences have each. No private data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.variable_order_markov.context_tree import ContextTree
from hedgerow.publishers.sequences.variable_order_markov.rounding import apportion

__all__ = ["Beginnings"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: beginnings are few up to this number, and if there are so many sequences for each symbol that may follow one of them
_FEW, _SEQUENCES = 1_000, 4


@dataclass(frozen=True, eq=False)
class Beginnings:
    """Beginnings of equal length, a row of items each, with numbers of sequences; and lists that have ended already."""

    items: NDArray[Any]
    many: Integers
    ended: tuple[tuple[NDArray[Any], Integers], ...] = ()

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
            table[members] = _deal([*apportion(items[at], number, coins.random()), ends[at]], self.many[members], coins)
        over = np.flatnonzero(table[:, -1])
        at, item = np.nonzero(table[:, :-1])
        longer = np.column_stack((self.items[at], item.astype(self.items.dtype)))
        return type(self)(longer, table[at, item], (*self.ended, (self.items[over], table[over, -1])))

    def spread(self) -> list[NDArray[Any]]:
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

"""The context tree: which histories have a row of their own, and what was answered about each.

A context is a list of symbols that a history ends with; a longer one has one symbol more on the left. The root, row 0,
is the empty context. A context with longer ones below it is *opened*: what none of them contains is in its *rest*. So
the rows below an opened context partition its tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ContextTree"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


class ContextTree:
    """Rows in levels; those of one level are sorted by parent and symbol, the rest of a parent last.

    Symbol `a` is the leftmost of a context: an item, or the start of a sequence (`start`, which is also the code of the
    end, where it follows), or the rest (`rest`). `noisy[x, z]` is the answer to how often `z` follows in row `x`, with
    variance `variance[x]`, infinite if it was not asked for. `expected[x]` is the number of tokens that a row was
    expected to have.
    """

    def __init__(self, symbols: int) -> None:
        self.symbols = symbols
        self.start, self.rest = symbols - 1, symbols
        self.first = [0, 1]
        self.parent = np.full(1, -1, np.int64)
        self.symbol = np.full(1, -1, np.int64)
        self.level = np.zeros(1, np.int64)
        self.opened = np.ones(1, np.bool_)
        self.expected = np.zeros(1)
        self.noisy = np.zeros((1, symbols))
        self.variance = np.full(1, np.inf)
        #: the row below `x` for symbol `a`; `x` itself if it has none
        self.child = np.zeros((1, symbols), np.int32)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def depth(self) -> int:
        """The last level; the root is level 0."""
        return len(self.first) - 2

    def rows(self, level: int) -> Integers:
        """The rows of a level."""
        return np.arange(self.first[level], self.first[level + 1])

    def add_level(self, parent: Integers, symbol: Integers, opened: Flags, expected: Floats) -> Integers:
        """Add a level below opened rows, sorted by parent and symbol; nothing has been asked about it."""
        rows = np.arange(len(self), len(self) + len(parent))
        own = symbol != self.rest
        child = np.broadcast_to(rows[:, None], (len(rows), self.symbols))
        self.child = np.concatenate((self.child, child.astype(np.int32)))
        self.child[parent[~own]] = rows[~own][:, None]
        self.child[parent[own], symbol[own]] = rows[own]
        self.parent = np.concatenate((self.parent, parent))
        self.symbol = np.concatenate((self.symbol, symbol))
        self.level = np.concatenate((self.level, np.full(len(rows), self.depth + 1)))
        self.opened = np.concatenate((self.opened, opened))
        self.expected = np.concatenate((self.expected, expected))
        self.noisy = np.concatenate((self.noisy, np.zeros((len(rows), self.symbols))))
        self.variance = np.concatenate((self.variance, np.full(len(rows), np.inf)))
        self.first.append(len(self))
        return rows

    def read(self, rows: Integers, noisy: Floats, variance: Floats) -> None:
        """Set the answers about rows."""
        self.noisy[rows], self.variance[rows] = noisy, variance

    def walk(self, history: Iterable[NDArray[Any]]) -> NDArray[np.int32]:
        """The row of each history: symbols from the nearest to the farthest, as many as the tree is deep or fewer."""
        row: NDArray[Any] = np.zeros(1, np.int32)
        for symbol in history:
            row = self.child[row, symbol]
        return row

    def contexts(self, rows: Integers, level: int) -> list[Integers]:
        """The symbols of contexts of a level, from left to right: one array per position."""
        symbols: list[Integers] = []
        for _ in range(level):
            symbols.append(self.symbol[rows])
            rows = self.parent[rows]
        return symbols

    def families(self, level: int) -> tuple[Integers, Integers]:
        """The parents of the rows of a level, and where the children of each start."""
        parent = self.parent[self.rows(level)]
        starts = np.flatnonzero(np.diff(parent, prepend=-1))
        return parent[starts], starts

"""Rules: the only code that reads private rows in order to count them.

Each rule is a function of one row's own list and cell, and of public numbers and arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import index_ranges
from hedgerow.frontiers.rows import Rows, Rule
from hedgerow.vertex_pairs import count_pairs, rank_pairs

__all__ = [
    "AtStart",
    "Children",
    "Duration",
    "ListSize",
    "Mask",
    "NextSymbol",
    "PairRank",
    "SymbolBySize",
    "TransitionType",
]

Integers: TypeAlias = NDArray[np.int64]

_STAY, _RETURN, _ELSEWHERE, _END = range(4)


@dataclass(frozen=True)
class AtStart(Rule):
    """One code, for rows at the first symbol of their record; others are not counted."""

    @property
    def size(self) -> int:
        """One."""
        return 1

    def encode(self, rows: Rows) -> NDArray[np.int8]:
        """Check whether the previous symbol is the end of another record."""
        return rows.first.astype(np.int8) - np.int8(1)


@dataclass(frozen=True)
class NextSymbol(Rule):
    """The next symbol, or the end of the record: code `symbols`. A moved row advances by that symbol."""

    symbols: int

    @property
    def size(self) -> int:
        """All symbols, and the end."""
        return self.symbols + 1

    def encode(self, rows: Rows) -> NDArray[Any]:
        """Read the symbol."""
        return rows.next

    def advance(self, codes: Integers) -> Integers:
        """One symbol, or none after the end."""
        return (codes < self.symbols).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ListSize(Rule):
    """The class of the number of symbols of the record: `classes[k]` for `k` symbols, the last entry for more."""

    classes: Integers

    @property
    def size(self) -> int:
        """All classes."""
        return int(self.classes.max()) + 1

    def encode(self, rows: Rows) -> Integers:
        """Look up the class."""
        return self.classes[np.minimum(rows.size, len(self.classes) - 1)]


@dataclass(frozen=True, eq=False)
class SymbolBySize(Rule):
    """The next symbol and the class of the number of symbols of the record.

    Code `n s + c` is symbol `s` in a record of class `c` (see `ListSize`), where `n` is the number of classes. The end
    of a record is not counted.
    """

    symbols: int
    classes: Integers

    @property
    def size(self) -> int:
        """All symbols, in each class."""
        return self.symbols * ListSize(self.classes).size

    def encode(self, rows: Rows) -> Integers:
        """Read the symbol, and look up the class."""
        rule, symbol = ListSize(self.classes), rows.next.astype(np.int64)
        return np.where(symbol < self.symbols, symbol * rule.size + rule.encode(rows), -1)


@dataclass(frozen=True)
class Mask(Rule):
    """The set of symbols of the record as a bit mask: bit `i` stands for symbol `i`; at most 62 symbols."""

    symbols: int

    @property
    def size(self) -> int:
        """All subsets."""
        return 2**self.symbols

    def encode(self, rows: Rows) -> Integers:
        """Unite the bits of the symbols."""
        lengths = rows.length
        symbols = rows.lists.symbols[index_ranges(rows.at, lengths)]
        return _united(np.int64(1) << symbols.astype(np.int64), np.repeat(np.arange(len(rows)), lengths), len(rows))


@dataclass(frozen=True, eq=False)
class Children(Rule):
    """The set of children of a node below which a record has symbols, as a bit mask.

    Every cell has its own node; symbols are the leaves of the tree. A record without symbols below the node is not
    counted.

    Parameters
    ----------
    node
        The inner node of each cell.
    depth, rank
        For each node its depth, and its index among its siblings.
    ancestor
        For each depth and leaf the ancestor at that depth; the leaf itself from its own depth on.
    width
        The maximum number of children of a node.
    """

    node: Integers
    depth: Integers
    rank: Integers
    ancestor: Integers
    width: int

    @property
    def size(self) -> int:
        """All subsets of children."""
        return 2**self.width

    def encode(self, rows: Rows) -> Integers:
        """Unite the bits of the children above the symbols."""
        lengths = rows.length
        symbols = rows.lists.symbols[index_ranges(rows.at, lengths)]
        node = self.node[rows.cell]
        owner = np.repeat(np.arange(len(rows)), lengths)
        leaves = self.ancestor.shape[1]
        above = (self.depth[node] * leaves)[owner] + symbols
        ancestor = self.ancestor.ravel()
        below = np.flatnonzero(ancestor[above] == node[owner])
        child = ancestor[above[below] + leaves]
        return _united(np.int64(1) << self.rank[child], owner[below], len(rows))


@dataclass(frozen=True)
class PairRank(Rule):
    """The number of the pair that a record of two symbols is, among all pairs of different symbols.

    The first symbol is the smaller one. Pairs are numbered row by row: (0, 1), (0, 2), ... (1, 2), ...
    """

    symbols: int

    @property
    def size(self) -> int:
        """All pairs."""
        return count_pairs(self.symbols)

    def encode(self, rows: Rows) -> Integers:
        """Number the pair."""
        return rank_pairs(rows.next, rows.lists.symbols[rows.at + 1], self.symbols)


@dataclass(frozen=True)
class TransitionType(Rule):
    """The type of transition after each symbol, by its index in the record.

    A transition stays at the same place (type 0), returns to the previous place (1), goes to another place (2) or ends
    the record (3). The place of a symbol is its remainder modulo `places`. Code `4 i + t` is a transition of type `t`
    after symbol number `i`. Records are truncated to `longest` symbols, so the transition after the last of these is
    unknown and not counted.
    """

    places: int
    longest: int

    @property
    def size(self) -> int:
        """Four types after each symbol but the last."""
        return 4 * (self.longest - 1)

    def encode(self, rows: Rows) -> NDArray[Any]:
        """Compare the places of the symbol, of the one before it and of the one after it."""
        symbols, end = rows.lists.symbols, rows.lists.size
        previous, following = symbols[rows.at - 1], symbols[rows.at + 1]
        returns = (following % self.places == previous % self.places) & ~rows.first
        stays = following % self.places == rows.next % self.places
        transition = np.where(returns, np.int8(_RETURN), np.int8(_ELSEWHERE))
        transition[stays] = _STAY
        transition[following == end] = _END
        index = rows.index
        return np.where(index < self.longest - 1, 4 * index + transition, -1)


@dataclass(frozen=True, eq=False)
class Duration(Rule):
    """The duration of a record of two symbols or more, by its start time and its number of symbols.

    The time of a symbol is its quotient by `places`. The code is the index of a cell in a table of three axes: the
    class of the number of symbols, of the first time, and of the time from first to last.

    Parameters
    ----------
    lengths, times, spans
        The class of each number of symbols (the last class: that many or more), of each time, and of each difference of
        times.
    """

    places: int
    lengths: Integers
    times: Integers
    spans: Integers

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of classes of each axis."""
        return int(self.lengths.max()) + 1, int(self.times.max()) + 1, int(self.spans.max()) + 1

    @property
    def size(self) -> int:
        """All cells of the table."""
        return int(np.prod(self.shape))

    def encode(self, rows: Rows) -> Integers:
        """Compare the times of the first and the last symbol."""
        length, symbols = rows.length, rows.lists.symbols
        first = symbols[rows.at].astype(np.int64) // self.places
        last = symbols[rows.at + length - 1].astype(np.int64) // self.places
        classes = (self.lengths[np.minimum(length, len(self.lengths) - 1)], self.times[first], self.spans[last - first])
        return np.where(length > 1, np.ravel_multi_index(classes, self.shape), -1)


def _united(bits: Integers, owner: Integers, owners: int) -> Integers:
    """Unite the bits of each owner; owners ascend. -1 for an owner without bits."""
    masks = np.full(owners, -1, np.int64)
    new = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    if len(starts):
        masks[owner[starts]] = np.bitwise_or.reduceat(bits, starts)
    return masks

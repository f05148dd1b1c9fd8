"""Rules: the only code that reads private rows in order to count them.

Each rule is a function of one row's own list and cell, and of public numbers and arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers.rows import Rows, Rule
from hedgerow.numerics.arrays import Integers, index_ranges
from hedgerow.numerics.vertex_pairs import count_pairs, rank_pairs
from hedgerow.numerics.visit_classes import NEW, SEEN, STEP_POSITIONS

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


# Records of timed visits: symbol `time * places + place`, in the order of time.


@dataclass(frozen=True, eq=False)
class FirstAndLast(Rule):
    """The class of a record by its number of visits, its first and last time, and its first and last place.

    The code is the index of a cell in a table of three axes. A row must be at the first visit of its record.

    Parameters
    ----------
    lengths
        The class of each number of visits; the last entry stands for more.
    times, ends
        The class of each pair of first and last time, and of each pair of first and last place: one row per first one.
    """

    lengths: NDArray[Any]
    times: NDArray[Any]
    ends: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of classes of each axis."""
        return int(self.lengths.max()) + 1, int(self.times.max()) + 1, int(self.ends.max()) + 1

    @property
    def size(self) -> int:
        """All cells of the table."""
        return int(np.prod(self.shape))

    def encode(self, rows: Rows) -> Integers:
        """Look up the class of each part."""
        length = rows.length
        places = len(self.ends)
        first_time, first_place = np.divmod(rows.next.astype(np.int64), places)
        last_time, last_place = np.divmod(rows.lists.symbols[rows.at + length - 1].astype(np.int64), places)
        _, times, ends = self.shape
        code = self.lengths[np.minimum(length, len(self.lengths) - 1)].astype(np.int64) * times
        return (code + self.times[first_time, last_time]) * ends + self.ends[first_place, last_place]


@dataclass(frozen=True, eq=False)
class InnerVisit(Rule):
    """The class of a visit that is neither the first nor the last of its record: `classes[s]` for symbol `s`."""

    classes: Integers

    @property
    def size(self) -> int:
        """All classes."""
        return int(self.classes.max()) + 1

    def encode(self, rows: Rows) -> Integers:
        """Look up the class, unless the previous or the next symbol is an end marker."""
        last = rows.lists.symbols[rows.at + 1] == rows.lists.size
        return np.where(rows.first | last, -1, self.classes[rows.next])


@dataclass(frozen=True)
class StepType(Rule):
    """The type of the step from a visit to the next one, by the number of the step in its record.

    A step stays at the place (type 0), goes back to the place of the previous visit (1), goes to a place that was
    visited earlier (2) or to a new one (3); the first that applies. Code `4 min(i, 3) + t` is step number `i` of type
    `t`. The last visit of a record has no step.
    """

    places: int

    @property
    def size(self) -> int:
        """Four types of each step number."""
        return STEP_POSITIONS * 4

    def encode(self, rows: Rows) -> NDArray[np.int8]:
        """Compare the next place with those of all visits so far."""
        symbols, end = rows.lists.symbols, rows.lists.size
        place = (symbols.astype(np.int64) % self.places).astype(np.min_scalar_type(self.places))
        index, following = rows.index, place[rows.at + 1]
        kind = np.full(len(rows), NEW, np.int8)
        # from the earliest visit on, so that the type of the latest one remains
        for back in range(int(index.max(initial=0)), -1, -1):
            at = np.flatnonzero(index >= back)
            same = place[rows.at[at] - back] == following[at]
            kind[at[same]] = min(back, SEEN)
        code = 4 * np.minimum(index, STEP_POSITIONS - 1).astype(np.int8) + kind
        return np.where(symbols[rows.at + 1] == end, np.int8(-1), code)


@dataclass(frozen=True, eq=False)
class Step(Rule):
    """The class of the step from a visit to the next one, by the times and the places of both.

    The code is the index of a cell in a table of two axes. The last visit of a record has no step.

    Parameters
    ----------
    times, ends
        The class of each pair of times, and of each pair of places: one row per earlier one.
    """

    times: NDArray[Any]
    ends: NDArray[Any]

    @property
    def size(self) -> int:
        """All pairs of classes."""
        return (int(self.times.max()) + 1) * (int(self.ends.max()) + 1)

    def encode(self, rows: Rows) -> Integers:
        """Look up both classes."""
        places = len(self.ends)
        following = rows.lists.symbols[rows.at + 1]
        last = following == rows.lists.size
        time, place = np.divmod(rows.next.astype(np.int64), places)
        # the end marker is no visit: any symbol may stand for it
        next_time, next_place = np.divmod(np.where(last, 0, following).astype(np.int64), places)
        code = self.times[time, next_time].astype(np.int64) * (int(self.ends.max()) + 1) + self.ends[place, next_place]
        return np.where(last, -1, code)

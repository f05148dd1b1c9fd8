"""The most frequent sequential patterns (gaps allowed), by the number of records that contain them [1]_.

References
----------
.. [1] J. Pei et al. "PrefixSpan: mining sequential patterns efficiently by prefix-projected pattern
   growth". ICDE 2001. The projections are those of that paper; here all patterns of one length are
   grown at once, and a lower bound on the support is learnt from a small run first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.measures.ngram_index import Gram, SequenceIndex

__all__ = ["top_sequential_patterns"]

Integers: TypeAlias = NDArray[np.int64]

#: pairs of a projected record and an item that are processed at once
_CHUNK = 1 << 23


def top_sequential_patterns(index: SequenceIndex, most: int) -> dict[Gram, int]:
    """The patterns of at least two items that most records contain, gaps allowed.

    Ties are settled by length, then by items.

    Examples
    --------
    >>> from hedgerow import Domain, Sequences
    >>> domain = Domain.declare(item=["a", "b", "c"])
    >>> data = Sequences.from_records(map(list, ["abc", "acc", "cab"]), domain=domain)
    >>> top_sequential_patterns(SequenceIndex.of(data), 3)
    {(0, 1): 2, (0, 2): 2, (1, 2): 1}
    """
    item_positions = _ItemPositions.of(index)
    supports = item_positions.supports()
    frequent = np.argsort(-supports, kind="stable")
    # patterns of the most frequent items alone give a lower bound on the support of the top; then only items that
    # reach it are considered
    few = _grow_patterns(item_positions.only(frequent[: math.isqrt(most) + 2]), most, 1)
    least = min(few.values()) if len(few) == most else 1
    return _grow_patterns(item_positions.only(np.flatnonzero(supports >= least)), most, least)


def _grow_patterns(item_positions: _ItemPositions, most: int, least: int) -> dict[Gram, int]:
    """Grow all patterns by one item at a time; those too rare for the top are dropped."""
    best: dict[Gram, int] = {}
    state = item_positions.first()
    while state.names:
        grown, counts, state = item_positions.longer(state, least)
        numbers: list[int] = counts.tolist()
        best |= dict(zip(grown, numbers, strict=True))
        ranked = sorted(best.items(), key=_rank)
        best = dict(ranked[:most])
        if len(best) == most:
            # a longer pattern is in no more records, and ranks below a shorter one with the same support
            least = max(least, ranked[most - 1][1] + 1)
        state = state.only(counts >= least)
    return best


def _rank(counted: tuple[Gram, int]) -> tuple[int, int, Gram]:
    pattern, count = counted
    return -count, len(pattern), pattern


@dataclass(frozen=True, eq=False)
class _ProjectedRecords:
    """Projected records: which records contain a pattern, and from which position on it may be extended."""

    names: list[Gram]
    pattern: Integers
    row: Integers
    position: Integers

    def only(self, kept: NDArray[np.bool_]) -> _ProjectedRecords:
        number = np.cumsum(kept) - 1
        stays = kept[self.pattern]
        names = [name for name, keep in zip(self.names, kept.tolist(), strict=True) if keep]
        return _ProjectedRecords(names, number[self.pattern[stays]], self.row[stays], self.position[stays])


@dataclass(frozen=True, eq=False)
class _ItemPositions:
    """The positions of each item in each record.

    Entry `p` is one item of one record: `codes[item[p]]` in `row[p]`, at the positions
    `positions[starts[p] : starts[p + 1]]`, ascending. The entries of a record are `begins[row]` to
    `begins[row + 1]`.
    """

    codes: Integers
    weights: Integers
    item: Integers
    row: Integers
    starts: Integers
    positions: Integers
    begins: Integers

    @classmethod
    def of(cls, index: SequenceIndex) -> _ItemPositions:
        row = np.repeat(np.arange(len(index.weights)), np.diff(index.starts))
        key = row * index.size + index.items
        positions = np.argsort(key, kind="stable")
        new = np.flatnonzero(np.diff(key[positions], prepend=-1))
        row, item = np.divmod(key[positions[new]], index.size)
        starts = np.append(new, len(positions))
        begins = np.searchsorted(row, np.arange(len(index.weights) + 1))
        return cls(np.arange(index.size), index.weights, item, row, starts, positions, begins)

    def supports(self) -> Integers:
        """How many records contain each item."""
        return np.bincount(self.item, self.weights[self.row], len(self.codes)).astype(np.int64)

    def only(self, items: Integers) -> _ItemPositions:
        """Restrict to some items."""
        number = np.full(len(self.codes), -1, np.int64)
        number[items] = np.arange(len(items))
        item = number[self.item]
        kept = item >= 0
        sizes = np.diff(self.starts)
        positions = self.positions[np.repeat(kept, sizes)]
        starts = np.append(0, np.cumsum(sizes[kept]))
        row = self.row[kept]
        begins = np.searchsorted(row, np.arange(len(self.weights) + 1))
        codes = self.codes[items]
        return _ItemPositions(codes, self.weights, item[kept], row, starts, positions, begins)

    def first(self) -> _ProjectedRecords:
        """Project on single items."""
        names: list[Gram] = [(code,) for code in self.codes.tolist()]
        return _ProjectedRecords(names, self.item, self.row, self.positions[self.starts[:-1]])

    def longer(self, state: _ProjectedRecords, least: int) -> tuple[list[Gram], Integers, _ProjectedRecords]:
        """Grow by one item: the patterns that are frequent enough, their counts and projections."""
        keys, row, position = self._steps(state)
        distinct, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place, self.weights[row], len(distinct))
        good = np.flatnonzero(counts >= max(1, least))
        number = np.full(len(distinct), -1, np.int64)
        number[good] = np.arange(len(good))
        at, label = np.divmod(distinct[good], len(self.codes))
        ends: list[int] = self.codes[label].tolist()
        names: list[Gram] = [(*state.names[a], b) for a, b in zip(at.tolist(), ends, strict=True)]
        pattern = number[place]
        frequent = pattern >= 0
        grown = _ProjectedRecords(names, pattern[frequent], row[frequent], position[frequent])
        return names, counts[good].astype(np.int64), grown

    def _steps(self, state: _ProjectedRecords) -> tuple[Integers, Integers, Integers]:
        """All items that still follow in each projected record, and the first position of each."""
        many = np.diff(self.begins)[state.row]
        parts = [self._chunk(state, slice(begin, end)) for begin, end in _chunks(np.cumsum(many))]
        if not parts:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing
        keys, row, position = (np.concatenate(column) for column in zip(*parts, strict=True))
        return keys, row, position

    def _chunk(self, state: _ProjectedRecords, span: slice) -> tuple[Integers, Integers, Integers]:
        row, pattern, position = state.row[span], state.pattern[span], state.position[span]
        many = self.begins[row + 1] - self.begins[row]
        at = np.repeat(np.arange(len(row)), many)
        part = np.arange(len(at)) + np.repeat(self.begins[row] - (np.cumsum(many) - many), many)
        follows = self.positions[self.starts[part + 1] - 1] > position[at]
        at, part = at[follows], part[follows]
        # positions ascend within an entry, and entries ascend: one sorted list to search in
        whole = int(self.positions.max(initial=0)) + 1
        owner = np.repeat(np.arange(len(self.item)), np.diff(self.starts))
        place = np.searchsorted(owner * whole + self.positions, part * whole + position[at], "right")
        return pattern[at] * len(self.codes) + self.item[part], row[at], self.positions[place]


def _chunks(upto: Integers) -> list[tuple[int, int]]:
    """Cut a list, whose cumulative cost is given, into chunks of bounded cost."""
    cuts: list[tuple[int, int]] = []
    begin = 0
    while begin < len(upto):
        done = int(upto[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(upto, done + _CHUNK, "right")))
        cuts.append((begin, end))
        begin = end
    return cuts

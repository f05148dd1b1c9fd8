"""The most frequent patterns of sequences with gaps allowed, by the number of records [1]_.

References
----------
.. [1] J. Pei et al. "PrefixSpan: mining sequential patterns efficiently by prefix-projected pattern
   growth". ICDE 2001. The projections are those of that paper; all patterns of a length are grown
   at once here, and what is too rare for the top is learnt from a small run first.
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

#: so many pairs of a projected record and an item are looked at in one go
_CHUNK = 1 << 23


def top_sequential_patterns(index: SequenceIndex, most: int) -> dict[Gram, int]:
    """The patterns of two items and more that most records hold, gaps allowed.

    Ties are settled by length, then by items.

    Examples
    --------
    >>> from hedgerow import Domain, Sequences
    >>> domain = Domain.declare(item=["a", "b", "c"])
    >>> data = Sequences.from_records(map(list, ["abc", "acc", "cab"]), domain=domain)
    >>> top_sequential_patterns(SequenceIndex.of(data), 3)
    {(0, 1): 2, (0, 2): 2, (1, 2): 1}
    """
    places = _Places.of(index)
    supports = places.supports()
    frequent = np.argsort(-supports, kind="stable")
    # patterns of the most frequent items alone say how rare one in the top may be; then all items
    # that are no rarer are looked at
    few = _grown(places.only(frequent[: math.isqrt(most) + 2]), most, 1)
    least = min(few.values()) if len(few) == most else 1
    return _grown(places.only(np.flatnonzero(supports >= least)), most, least)


def _grown(places: _Places, most: int, least: int) -> dict[Gram, int]:
    """Grow all patterns by an item at a time; those too rare for the top are left behind."""
    best: dict[Gram, int] = {}
    state = places.first()
    while state.names:
        grown, counts, state = places.longer(state, least)
        numbers: list[int] = counts.tolist()
        best |= dict(zip(grown, numbers, strict=True))
        ranked = sorted(best.items(), key=_rank)
        best = dict(ranked[:most])
        if len(best) == most:
            # a longer pattern is in no more records, and comes later than a shorter one in as many
            least = max(least, ranked[most - 1][1] + 1)
        state = state.only(counts >= least)
    return best


def _rank(counted: tuple[Gram, int]) -> tuple[int, int, Gram]:
    pattern, count = counted
    return -count, len(pattern), pattern


@dataclass(frozen=True, eq=False)
class _Projected:
    """Records that hold a pattern: which, from which spot on the rest of it may follow."""

    names: list[Gram]
    pattern: Integers
    row: Integers
    spot: Integers

    def only(self, kept: NDArray[np.bool_]) -> _Projected:
        number = np.cumsum(kept) - 1
        stays = kept[self.pattern]
        names = [name for name, keep in zip(self.names, kept.tolist(), strict=True) if keep]
        return _Projected(names, number[self.pattern[stays]], self.row[stays], self.spot[stays])


@dataclass(frozen=True, eq=False)
class _Places:
    """Where each item stands in each record.

    Part `p` is one item of one record: `codes[item[p]]` in `row[p]`, its spots are
    `spots[starts[p] : starts[p + 1]]`, ascending. The parts of a record are `begins[row]` to
    `begins[row + 1]`.
    """

    codes: Integers
    weights: Integers
    item: Integers
    row: Integers
    starts: Integers
    spots: Integers
    begins: Integers

    @classmethod
    def of(cls, index: SequenceIndex) -> _Places:
        row = np.repeat(np.arange(len(index.weights)), np.diff(index.starts))
        key = row * index.size + index.items
        spots = np.argsort(key, kind="stable")
        new = np.flatnonzero(np.diff(key[spots], prepend=-1))
        row, item = np.divmod(key[spots[new]], index.size)
        starts = np.append(new, len(spots))
        begins = np.searchsorted(row, np.arange(len(index.weights) + 1))
        return cls(np.arange(index.size), index.weights, item, row, starts, spots, begins)

    def supports(self) -> Integers:
        """How many records hold each item."""
        return np.bincount(self.item, self.weights[self.row], len(self.codes)).astype(np.int64)

    def only(self, items: Integers) -> _Places:
        """Forget all other items."""
        number = np.full(len(self.codes), -1, np.int64)
        number[items] = np.arange(len(items))
        item = number[self.item]
        kept = item >= 0
        sizes = np.diff(self.starts)
        spots = self.spots[np.repeat(kept, sizes)]
        starts = np.append(0, np.cumsum(sizes[kept]))
        row = self.row[kept]
        begins = np.searchsorted(row, np.arange(len(self.weights) + 1))
        codes = self.codes[items]
        return _Places(codes, self.weights, item[kept], row, starts, spots, begins)

    def first(self) -> _Projected:
        """Project on single items."""
        names: list[Gram] = [(code,) for code in self.codes.tolist()]
        return _Projected(names, self.item, self.row, self.spots[self.starts[:-1]])

    def longer(self, state: _Projected, least: int) -> tuple[list[Gram], Integers, _Projected]:
        """Grow by one item: the patterns that are frequent enough, their counts and projections."""
        keys, row, spot = self._steps(state)
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
        grown = _Projected(names, pattern[frequent], row[frequent], spot[frequent])
        return names, counts[good].astype(np.int64), grown

    def _steps(self, state: _Projected) -> tuple[Integers, Integers, Integers]:
        """All items that still come in each projected record, and the first spot of each."""
        many = np.diff(self.begins)[state.row]
        parts = [self._chunk(state, slice(begin, end)) for begin, end in _chunks(np.cumsum(many))]
        if not parts:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing
        keys, row, spot = (np.concatenate(column) for column in zip(*parts, strict=True))
        return keys, row, spot

    def _chunk(self, state: _Projected, span: slice) -> tuple[Integers, Integers, Integers]:
        row, pattern, spot = state.row[span], state.pattern[span], state.spot[span]
        many = self.begins[row + 1] - self.begins[row]
        at = np.repeat(np.arange(len(row)), many)
        part = np.arange(len(at)) + np.repeat(self.begins[row] - (np.cumsum(many) - many), many)
        comes = self.spots[self.starts[part + 1] - 1] > spot[at]
        at, part = at[comes], part[comes]
        # spots ascend within a part, and parts ascend: one list to search in
        whole = int(self.spots.max(initial=0)) + 1
        owner = np.repeat(np.arange(len(self.item)), np.diff(self.starts))
        place = np.searchsorted(owner * whole + self.spots, part * whole + spot[at], "right")
        return pattern[at] * len(self.codes) + self.item[part], row[at], self.spots[place]


def _chunks(upto: Integers) -> list[tuple[int, int]]:
    """Cut a list, whose running cost is given, into stretches of bounded cost."""
    cuts: list[tuple[int, int]] = []
    begin = 0
    while begin < len(upto):
        done = int(upto[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(upto, done + _CHUNK, "right")))
        cuts.append((begin, end))
        begin = end
    return cuts

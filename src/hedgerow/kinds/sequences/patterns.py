"""Patterns of sequences: an index that counts n-grams, the most frequent patterns, and how well these are kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.frontiers import LOCAL, LocalFrontier, NextSymbol, SymbolLists
from hedgerow.kinds.sequences.data import Sequences
from hedgerow.numerics.arrays import Integers, concatenate_ranges
from hedgerow.numerics.sorting import distinct_rows
from hedgerow.score import Better, Score, exact_score

#: the codes of the items of an n-gram or a pattern
Gram: TypeAlias = tuple[int, ...]
#: patterns with their counts, the most frequent first
Top: TypeAlias = Mapping[Gram, int]
#: pairs of a projected record and an item that are processed at once
_CHUNK = 1 << 23


@dataclass(frozen=True, eq=False, repr=False)
class SequenceIndex:
    """Distinct sequences with weights, by which measures count n-grams and find the most frequent ones.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["a", "b"])
    >>> index = SequenceIndex.of(Sequences.from_records(map(list, ["aba", "ab", "b"]), domain=domain))
    >>> occurrences, records = index.count([(0, 1), (0,)])
    >>> occurrences.tolist(), records.tolist()
    ([2, 3], [2, 2])
    >>> index.top(2)
    {(0, 1): 2, (0, 1, 0): 1}
    """

    size: int
    starts: Integers
    items: Integers
    weights: Integers

    @classmethod
    def of(cls, data: Sequences) -> SequenceIndex:
        """Gather the records of a data set, equal ones as one row."""
        starts, items, weights = data.canonical().arrays()
        return cls(data.domain.size("item"), starts, items, weights)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.weights.sum())

    def lengths(self, longest: int) -> Integers:
        """How many records have each length up to `longest`; longer ones are cut to it."""
        sizes = np.minimum(np.diff(self.starts), longest)
        return np.bincount(sizes, self.weights, longest + 1).astype(np.int64)

    def count(self, grams: Sequence[Gram]) -> tuple[Integers, Integers]:
        """How often each n-gram occurs, and in how many records.

        All positions walk down the tree of the n-grams at once; a position from which no n-gram continues is dropped.
        """
        totals = np.zeros((2, len(grams)), np.int64)
        table = _as_table(grams)
        lengths = np.array([len(gram) for gram in grams], np.int64)
        positions = self.positions()
        # the sequence of each symbol, ends included
        row = np.repeat(np.arange(len(self.weights)), np.diff(self.starts) + 1)
        node = np.zeros(len(grams), np.int64)
        for place in range(table.shape[1]):
            open_ = np.flatnonzero(lengths > place)
            steps = node[open_] * (self.size + 1) + table[open_, place]
            keys, at = np.unique(steps, return_inverse=True)
            positions = positions.count(NextSymbol(self.size)).move(*np.divmod(keys, self.size + 1))
            node[open_] = at
            if not len(positions.rows):
                break
            ends = open_[lengths[open_] == place + 1]
            totals[0, ends] = self._totals(positions, row, len(keys), once=False)[node[ends]]
            totals[1, ends] = self._totals(positions, row, len(keys), once=True)[node[ends]]
        return totals[0], totals[1]

    def top(self, most: int) -> dict[Gram, int]:
        """The most frequent n-grams of at least two items; ties by their items."""
        best: dict[Gram, int] = {}
        counted = self.positions().count(NextSymbol(self.size))
        inner = counted.codes < self.size
        names: list[Gram] = [(code,) for code in counted.codes[inner].tolist()]
        at, label, least = counted.cells[inner], counted.codes[inner], 1
        while names:
            counted = counted.move(at, label).count(NextSymbol(self.size))
            good = (counted.codes < self.size) & (counted.counts >= least)
            at, label, counts = counted.cells[good], counted.codes[good], counted.counts[good]
            ends: list[tuple[int, int]] = list(zip(at.tolist(), label.tolist(), strict=True))
            grams: list[Gram] = [(*names[a], b) for a, b in ends]
            best |= zip(grams, counts.tolist(), strict=True)
            if len(best) > most:
                least = sorted(best.values())[-most]
                best = {gram: n for gram, n in best.items() if n >= least}
            # a longer n-gram is never more frequent, so those that are too rare now are not extended
            on = counts >= least
            names = [gram for gram, kept in zip(grams, on.tolist(), strict=True) if kept]
            at, label = at[on], label[on]
        ranked = sorted(best.items(), key=lambda counted: (-counted[1], counted[0]))
        return dict(ranked[:most])

    def positions(self) -> LocalFrontier:
        """Open a frontier on every position, on this machine."""
        return LOCAL.open_symbols(SymbolLists.from_arrays(self.starts, self.items, self.weights, self.size))

    def _totals(self, positions: LocalFrontier, row: Integers, nodes: int, *, once: bool) -> Integers:
        cell = positions.rows.cell.astype(np.int64)
        at = row[positions.rows.at]
        if once:
            cell, at = distinct_rows([cell, at])
        return np.bincount(cell, self.weights[at], nodes).astype(np.int64)


def _as_table(grams: Sequence[Gram]) -> Integers:
    """One n-gram per row, filled up with -1."""
    table = np.full((len(grams), max(map(len, grams), default=0)), -1, np.int64)
    for number, gram in enumerate(grams):
        table[number, : len(gram)] = gram
    return table


# Sequential patterns: items in order, gaps allowed, counted by the records that contain them.


def top_sequential_patterns(index: SequenceIndex, most: int) -> dict[Gram, int]:
    """The patterns of at least two items that most records contain, gaps allowed [1]_.

    Ties are settled by length, then by items. The projections are those of the paper; here all patterns of one length
    are grown at once, and a lower bound on the support is learnt from a small run first.

    Examples
    --------
    >>> from hedgerow import Domain, Sequences
    >>> domain = Domain.declare(item=["a", "b", "c"])
    >>> data = Sequences.from_records(map(list, ["abc", "acc", "cab"]), domain=domain)
    >>> top_sequential_patterns(SequenceIndex.of(data), 3)
    {(0, 1): 2, (0, 2): 2, (1, 2): 1}

    References
    ----------
    .. [1] J. Pei et al. "PrefixSpan: mining sequential patterns efficiently by prefix-projected pattern growth".
       ICDE 2001.
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
        part, at = concatenate_ranges(self.begins[row], self.begins[row + 1])
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


# How well the most frequent patterns are kept: true and false positives, false negatives, and counts.


def top_scores(what: str, before: Top, after: Mapping[str, Top], most: int) -> list[Score]:
    """Compare the most frequent patterns of the original with those of releases.

    Parameters
    ----------
    what
        The name of the patterns, such as "n-grams".
    before
        The most frequent patterns of the original, most frequent first, with their counts.
    after
        Those of each control by its name; those of the release under the empty name.
    most
        How many of them are compared.
    """
    true = dict(list(before.items())[:most])
    tops = {name: dict(list(counts.items())[:most]) for name, counts in after.items()}
    kept = {name: len(true.keys() & counts.keys()) for name, counts in tops.items()}
    measured: list[tuple[str, dict[str, float], Better]] = [
        (
            f"share of the top {most} {what} kept",
            {name: n / max(1, len(true)) for name, n in kept.items()},
            "higher",
        ),
        (
            f"top {most} {what} missing from the released top {most}",
            {name: len(true) - n for name, n in kept.items()},
            "lower",
        ),
        (
            f"false positives in the released top {most} {what}",
            {name: len(tops[name]) - n for name, n in kept.items()},
            "lower",
        ),
        (
            f"mean relative error of the top {most} {what}, missing ones counted as 1",
            {name: _relative_error(true, counts) for name, counts in tops.items()},
            "lower",
        ),
    ]
    return [
        exact_score(
            name,
            values[""],
            {control: value for control, value in values.items() if control},
            better=better,
        )
        for name, values, better in measured
    ]


def _relative_error(true: Top, released: Top) -> float:
    errors = [abs(n - released.get(pattern, 0)) / n for pattern, n in true.items()]
    return sum(errors) / max(1, len(errors))

"""Minimal violating sequences, found level by level over all records at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.steps.arrays import allowed, grouped, ranges

__all__ = ["MOST", "Level", "Mined", "Records", "mine", "number_of", "number_of_pairs"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: visits of candidates that are held at once: some three gigabytes
MOST = 400_000_000


@dataclass(frozen=True, eq=False)
class Records:
    """Trajectories as arrays: the visits of record `r` are `pairs[starts[r] : starts[r + 1]]`.

    Pairs are numbered 0, 1, ... in the order of time; `flags` says for each sensitive value which
    records have it.
    """

    starts: Integers
    pairs: Integers
    size: int
    flags: Flags

    @cached_property
    def record(self) -> Integers:
        """The record of each visit."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def _by_pair(self) -> tuple[Integers, Integers]:
        ends = np.cumsum(np.bincount(self.pairs, minlength=self.size))
        return np.argsort(self.pairs, kind="stable"), np.concatenate(([0], ends))

    def holding(self, pair: int) -> Integers:
        """The visits of a pair."""
        order, starts = self._by_pair
        return order[starts[pair] : starts[pair + 1]]

    def without_flags(self) -> Records:
        """The same visits, no value sensitive."""
        return replace(self, flags=self.flags[:0])


class Level(NamedTuple):
    """Sequences of one length, and where they occur.

    `codes` are sorted: the number of the sequence without its last visit, and that visit. `counts`
    has the records of each, `marked` those with each sensitive value. `places` has one line an
    occurrence: the positions of its visits, and `at` which sequence it is.
    """

    codes: Integers
    counts: Integers
    marked: Integers
    places: Integers
    at: Integers

    def only(self, kept: Flags) -> Level:
        """Keep some of the sequences, numbered afresh."""
        number = np.cumsum(kept) - 1
        here = kept[self.at]
        return Level(
            self.codes[kept],
            self.counts[kept],
            self.marked[:, kept],
            self.places[here],
            number[self.at[here]],
        )


class Mined(NamedTuple):
    """By length: the clean sequences, none of which contains a violating one, and the MVS."""

    clean: list[Level]
    violating: list[Level]
    complete: bool = True

    def without_singletons(self) -> Mined:
        """Leave out the MVS of one visit."""
        first = self.violating[0]
        none = np.zeros(len(first.codes), np.bool_)
        return self._replace(violating=[first.only(none), *self.violating[1:]])


def mine(records: Records, k: int, c: Fraction, longest: int, *, most: int = MOST) -> Mined:
    """Find all minimal violating sequences of up to `longest` visits.

    A candidate of the next length is an occurrence all of whose subsequences are clean (the full
    Apriori test), so whatever violates is minimal. A length whose candidates have more than `most`
    visits together is not looked at, nor are longer ones: memory is finite.
    """
    clean: list[Level] = []
    violating: list[Level] = []
    most_marked = allowed(c, len(records.starts) - 1)
    for length in range(1, longest + 1):
        progress.tell("looking for violations", length - 1, longest)
        if _extensions(records, clean) * length > most:
            return Mined(clean, violating, complete=False)
        places = _candidates(records, clean)
        if len(places) == 0:
            break
        level = _counted(records, clean, places)
        bad = (level.counts < k) | np.any(level.marked > most_marked[level.counts], axis=0)
        violating.append(level.only(bad))
        clean.append(level.only(~bad))
    return Mined(clean, violating)


def _ends(records: Records, visits: Integers) -> Integers:
    """Where the record of each visit ends."""
    return records.starts[records.record[visits] + 1]


def _extensions(records: Records, clean: list[Level]) -> int:
    """How many candidates of the next length there are."""
    if not clean:
        return len(records.pairs)
    last = clean[-1].places[:, -1]
    return int((_ends(records, last) - last - 1).sum())


def _candidates(records: Records, clean: list[Level]) -> Integers:
    """Extend the clean occurrences by each later visit; keep those with clean parts only."""
    if not clean:
        return np.arange(len(records.pairs))[:, None]
    base = clean[-1].places
    visit, of = ranges(base[:, -1] + 1, _ends(records, base[:, -1]))
    places = np.column_stack((base[of], visit))
    for without in range(places.shape[1] - 1):
        part = np.delete(places, without, axis=1)
        places = places[number_of(records, clean, part) >= 0]
    return places


def number_of(records: Records, clean: list[Level], places: Integers) -> Integers:
    """The number of each sequence among the clean ones of its length; -1 if it is not clean."""
    return number_of_pairs(records.size, clean, records.pairs[places])


def number_of_pairs(size: int, clean: list[Level], sequences: Integers) -> Integers:
    """The same for sequences given by their pairs, one a line; there are `size` pairs."""
    number = np.zeros(len(sequences), np.int64)
    known = np.ones(len(sequences), np.bool_)
    for level, column in zip(clean, sequences.T, strict=False):
        code = number * size + column
        if len(level.codes) == 0:
            return np.full(len(sequences), -1)
        at = np.minimum(np.searchsorted(level.codes, code), len(level.codes) - 1)
        known &= level.codes[at] == code
        number = at
    if sequences.shape[1] > len(clean):
        known[:] = False
    return np.where(known, number, -1)


def _counted(records: Records, clean: list[Level], places: Integers) -> Level:
    """Group occurrences by sequence, and count their records, all and by sensitive value."""
    prefix = number_of(records, clean, places[:, :-1]) if clean else np.zeros(len(places), np.int64)
    codes, at = grouped(prefix * records.size + records.pairs[places[:, -1]])
    counts = np.bincount(at, minlength=len(codes))
    record = records.record[places[:, 0]]
    marked = [np.bincount(at[flag[record]], minlength=len(codes)) for flag in records.flags]
    held = np.stack(marked) if marked else np.zeros((0, len(codes)), np.int64)
    return Level(codes, counts, held, places, at)

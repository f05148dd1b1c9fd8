"""Mining of sequences of visits, level by level over all records at once (Apriori): violating and frequent ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hedgerow import progress
from hedgerow.numerics.arrays import Flags, Integers, concatenate_ranges, floor_multiples, group_equal

#: the maximum number of visits of candidates in memory: some three gigabytes
MOST_VISITS = 400_000_000


@dataclass(frozen=True, eq=False)
class VisitArrays:
    """Trajectories as arrays: the visits of record `r` are `pairs[starts[r] : starts[r + 1]]`.

    A pair is a place and a time; pairs are numbered 0, 1, ..., `size - 1` in the order of time. `flags` says for
    each sensitive value which records have it. `owners` are the persons of records, numbered from 0, if persons are
    counted and not records.
    """

    starts: Integers
    pairs: Integers
    size: int
    flags: Flags
    owners: Integers | None = None

    @cached_property
    def record(self) -> Integers:
        """The record of each visit."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def _by_pair(self) -> tuple[Integers, Integers]:
        ends = np.cumsum(np.bincount(self.pairs, minlength=self.size))
        return np.argsort(self.pairs, kind="stable"), np.concatenate(([0], ends))

    def of_pair(self, pair: int) -> Integers:
        """The visits of a pair, one per record that has it."""
        order, starts = self._by_pair
        return order[starts[pair] : starts[pair + 1]]

    @property
    def units(self) -> int:
        """How many records there are, or persons, if these are counted."""
        return len(self.starts) - 1 if self.owners is None else int(self.owners.max(initial=-1)) + 1

    def count_units(self, at: Integers, records: Integers, groups: int) -> Integers:
        """Count the records, or persons, of each group: `records[i]` is in group `at[i]`, at most once per group."""
        if self.owners is not None:
            at = group_equal(at * self.units + self.owners[records])[0] // max(1, self.units)
        return np.bincount(at, minlength=groups)

    def without_flags(self) -> VisitArrays:
        """The same visits without sensitive values."""
        return replace(self, flags=self.flags[:0])


class Level(NamedTuple):
    """Sequences of one length, and where they occur.

    `codes` are sorted and combine the number of the sequence without its last visit with that visit. `counts` are the
    numbers of records, or persons, of each sequence, `marked` of those with each sensitive value. `places` has one row
    per occurrence, the positions of its visits, and `at` the sequence of each occurrence.
    """

    codes: Integers
    counts: Integers
    marked: Integers
    places: Integers
    at: Integers

    def only(self, kept: Flags) -> Level:
        """Keep some of the sequences, and renumber them."""
        number = np.cumsum(kept) - 1
        here = kept[self.at]
        return Level(
            self.codes[kept],
            self.counts[kept],
            self.marked[:, kept],
            self.places[here],
            number[self.at[here]],
        )


class MinedSequences(NamedTuple):
    """By length: the clean sequences, none of which contains a violating one, and the minimal violating ones.

    If not `complete`, longer sequences were not examined because there were too many.
    """

    clean: list[Level]
    violating: list[Level]
    complete: bool = True


def mine_sequences(
    visits: VisitArrays, k: int, c: Fraction, longest: int, *, most: int = MOST_VISITS
) -> MinedSequences:
    """Find all minimal violating sequences (MVS) of up to `longest` visits.

    A sequence violates if fewer than `k` records have it, or more than the share `c` of those have a sensitive
    value. A candidate of the next length is an occurrence all of whose subsequences are clean (the full Apriori test),
    so every violating candidate is minimal. If the candidates of a length have more than `most` visits together, that
    length and longer ones are not examined, to limit memory.
    """
    clean: list[Level] = []
    violating: list[Level] = []
    most_marked = floor_multiples(c, len(visits.starts) - 1)
    for length in range(1, longest + 1):
        progress.tell("looking for violations", length - 1, longest)
        if _extensions(visits, clean) * length > most:
            return MinedSequences(clean, violating, complete=False)
        places = _candidates(visits, clean)
        if len(places) == 0:
            break
        level = _counted(visits, clean, places)
        violates = (level.counts < k) | np.any(level.marked > most_marked[level.counts], axis=0)
        violating.append(level.only(violates))
        clean.append(level.only(~violates))
    return MinedSequences(clean, violating)


def sequence_numbers(size: int, levels: list[Level], sequences: Integers) -> Integers:
    """The number of each sequence among those of its length; -1 if it is not among them.

    Sequences are given by their pairs, one row per sequence; `size` is the number of distinct pairs.
    """
    number = np.zeros(len(sequences), np.int64)
    known = np.ones(len(sequences), np.bool_)
    for level, column in zip(levels, sequences.T, strict=False):
        code = number * size + column
        if len(level.codes) == 0:
            return np.full(len(sequences), -1)
        at = np.minimum(np.searchsorted(level.codes, code), len(level.codes) - 1)
        known &= level.codes[at] == code
        number = at
    if sequences.shape[1] > len(levels):
        known[:] = False
    return np.where(known, number, -1)


def _ends(visits: VisitArrays, at: Integers) -> Integers:
    """The end of the record of each visit."""
    return visits.starts[visits.record[at] + 1]


def _extensions(visits: VisitArrays, clean: list[Level]) -> int:
    """Count the candidates of the next length."""
    if not clean:
        return len(visits.pairs)
    last = clean[-1].places[:, -1]
    return int((_ends(visits, last) - last - 1).sum())


def _candidates(visits: VisitArrays, clean: list[Level]) -> Integers:
    """Extend the clean occurrences by each later visit; keep those with clean parts only."""
    if not clean:
        return np.arange(len(visits.pairs))[:, None]
    base = clean[-1].places
    visit, of = concatenate_ranges(base[:, -1] + 1, _ends(visits, base[:, -1]))
    places = np.column_stack((base[of], visit))
    for without in range(places.shape[1] - 1):
        part = visits.pairs[np.delete(places, without, axis=1)]
        places = places[sequence_numbers(visits.size, clean, part) >= 0]
    return places


def _counted(visits: VisitArrays, clean: list[Level], places: Integers) -> Level:
    """Group occurrences by sequence, and count their records, all and by sensitive value."""
    prefix = np.zeros(len(places), np.int64)
    if clean:
        prefix = sequence_numbers(visits.size, clean, visits.pairs[places[:, :-1]])
    codes, at = group_equal(prefix * visits.size + visits.pairs[places[:, -1]])
    record = visits.record[places[:, 0]]
    counts = visits.count_units(at, record, len(codes))
    marked = [visits.count_units(at[flag[record]], record[flag[record]], len(codes)) for flag in visits.flags]
    by_value = np.stack(marked) if marked else np.zeros((0, len(codes)), np.int64)
    return Level(codes, counts, by_value, places, at)


# ---- maximal frequent sequences (MFS): in enough records, and not contained in a longer frequent sequence

#: the maximum number of visits of candidates of one length; longer sequences are then left out
_MOST = 20_000_000


class FrequentLoss(NamedTuple):
    """Maximal frequent sequences: how many `before`, how many of those `lost`, how many `after`."""

    before: int
    lost: int
    after: int


def mine_maximal_frequent(visits: VisitArrays, support: int) -> list[Level]:
    """Find the maximal sequences in at least `support` records, by length."""
    plain = visits.without_flags()
    return _maximal(plain, _frequent(plain, support))


def compare_maximal_frequent(before: VisitArrays, after: VisitArrays, support: int) -> FrequentLoss:
    """Compare the maximal frequent sequences of data and of its release; both must number pairs alike."""
    before, after = before.without_flags(), after.without_flags()
    frequent = _frequent(after, support)
    maximal = _maximal(before, _frequent(before, support))
    lost = 0
    for level in maximal:
        _, first = np.unique(level.at, return_index=True)
        sequences = before.pairs[level.places[first]]
        lost += int(np.count_nonzero(sequence_numbers(after.size, frequent, sequences) < 0))
    return FrequentLoss(_count(maximal), lost, _count(_maximal(after, frequent)))


def _count(levels: list[Level]) -> int:
    return sum(len(level.codes) for level in levels)


def _frequent(plain: VisitArrays, support: int) -> list[Level]:
    """Mine frequent sequences: without sensitive values, the clean sequences are the frequent ones."""
    longest = int(np.diff(plain.starts).max(initial=0))
    levels, _, complete = mine_sequences(plain, support, Fraction(1), longest, most=_MOST)
    if not complete:
        warnings.warn(
            f"frequent sequences of more than {len(levels)} visits are left out: there are too "
            "many; choose a larger k_prime",
            stacklevel=2,
        )
    return levels


def _maximal(plain: VisitArrays, levels: list[Level]) -> list[Level]:
    """Leave out sequences that a frequent sequence of the next length contains."""
    maximal_levels: list[Level] = []
    for number, level in enumerate(levels):
        maximal = np.ones(len(level.codes), np.bool_)
        if number + 1 < len(levels):
            places = levels[number + 1].places
            for without in range(places.shape[1]):
                part = plain.pairs[np.delete(places, without, axis=1)]
                maximal[sequence_numbers(plain.size, levels[: number + 1], part)] = False
        maximal_levels.append(level.only(maximal))
    return maximal_levels

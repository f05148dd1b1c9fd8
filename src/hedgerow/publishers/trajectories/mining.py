"""Minimal violating sequences, found level by level over all records at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress

__all__ = ["Level", "Mined", "Records", "mine", "number_of"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

_KEY_BITS = 62


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

    @property
    def record(self) -> Integers:
        """The record of each visit."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


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


def mine(records: Records, k: int, c: Fraction, longest: int) -> Mined:
    """Find all minimal violating sequences of up to `longest` visits.

    A candidate of the next length is an occurrence all of whose subsequences are clean (the full
    Apriori test), so whatever violates is minimal.
    """
    clean: list[Level] = []
    violating: list[Level] = []
    for length in range(1, longest + 1):
        progress.tell("looking for violations", length - 1, longest)
        places = _candidates(records, clean)
        if len(places) == 0:
            break
        level = _counted(records, clean, places)
        bad = (level.counts < k) | np.any(
            level.marked * c.denominator > c.numerator * level.counts, axis=0
        )
        violating.append(level.only(bad))
        clean.append(level.only(~bad))
    return Mined(clean, violating)


def _candidates(records: Records, clean: list[Level]) -> Integers:
    """Extend the clean occurrences by each later visit; keep those with clean parts only."""
    if not clean:
        return np.arange(len(records.pairs))[:, None]
    base = clean[-1].places
    last = base[:, -1]
    later = records.starts[records.record[last] + 1] - 1 - last
    owner = np.repeat(np.arange(len(base)), later)
    offset = np.arange(len(owner)) - (np.cumsum(later) - later)[owner]
    places = np.column_stack((base[owner], last[owner] + 1 + offset))
    for without in range(places.shape[1] - 1):
        part = np.delete(places, without, axis=1)
        places = places[number_of(records, clean, part) >= 0]
    return places


def number_of(records: Records, clean: list[Level], places: Integers) -> Integers:
    """The number of each sequence among the clean ones of its length; -1 if it is not clean."""
    number = np.zeros(len(places), np.int64)
    known = np.ones(len(places), np.bool_)
    for level, column in zip(clean, places.T, strict=False):
        code = number * records.size + records.pairs[column]
        if len(level.codes) == 0:
            return np.full(len(places), -1)
        at = np.minimum(np.searchsorted(level.codes, code), len(level.codes) - 1)
        known &= level.codes[at] == code
        number = at
    return np.where(known, number, -1)


def _counted(records: Records, clean: list[Level], places: Integers) -> Level:
    """Group occurrences by sequence, and count their records, all and by sensitive value."""
    prefix = number_of(records, clean, places[:, :-1]) if clean else np.zeros(len(places), np.int64)
    codes, at = _grouped(prefix * records.size + records.pairs[places[:, -1]])
    counts = np.bincount(at, minlength=len(codes))
    record = records.record[places[:, 0]]
    marked = [np.bincount(at[flag[record]], minlength=len(codes)) for flag in records.flags]
    held = np.stack(marked) if marked else np.zeros((0, len(codes)), np.int64)
    return Level(codes, counts, held, places, at)


def _grouped(codes: Integers) -> tuple[Integers, Integers]:
    """Return the distinct codes, sorted, and which one each is: values are sorted, not indices."""
    bits = max(1, (len(codes) - 1).bit_length())
    if int(codes.max(initial=0)).bit_length() + bits > _KEY_BITS:
        found, at = np.unique(codes, return_inverse=True)
        return found, at.astype(np.int64)
    packed = (codes << bits) | np.arange(len(codes))
    packed.sort()
    row, codes = packed & ((1 << bits) - 1), packed >> bits
    new = np.ones(len(codes), np.bool_)
    new[1:] = codes[1:] != codes[:-1]
    at = np.empty(len(codes), np.int64)
    at[row] = np.cumsum(new) - 1
    return codes[new], at

"""Suppress by many operations at a time: for lists of thousands of MVS and more.

A round takes all local suppressions that score at least as well as the best global one, looks at
the data after *all* of them, and gives up the worst of those that touch a clean sequence which
would then violate, until none does. "No clean sequence that occurs violates" is the invariant of
the reference, so what is applied is sound, and the order within a round does not matter. If no
local suppression is left, the best global ones are applied, which are always sound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.publishers.trajectories.mining import Level, Mined, Records

__all__ = ["suppress_in_batches"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: global suppressions that score nearly as well as the best are applied with it
_NEARLY = 0.97
#: record sets are compared by sums of scattered numbers; if unequal ones ever meet, a score is off
_SCATTER = np.uint64(0x9E3779B97F4A7C15)


def suppress_in_batches(
    records: Records, mined: Mined, k: int, c: Fraction, *, local: bool
) -> Flags:
    """Suppress until no MVS is left; return which visits are kept."""
    state = _State.start(records, mined, k, c)
    total = len(state.sizes)
    while len(state.listed.at):
        entries = _Entries.of(state)
        progress.tell("suppressing", total - entries.live, total)
        alive = _locally(state, entries) if local else None
        state = state.with_alive(_everywhere(state, entries) if alive is None else alive)
    return state.alive


class _Occurrences(NamedTuple):
    """Where sequences occur: the positions of their visits, the first repeated to fill up."""

    places: Integers
    at: Integers

    @classmethod
    def of(cls, levels: list[Level], width: int) -> _Occurrences:
        places, at, before = [np.zeros((0, width), np.int64)], [np.zeros(0, np.int64)], 0
        for level in levels:
            fill = np.repeat(level.places[:, :1], width - level.places.shape[1], axis=1)
            places.append(np.hstack((level.places, fill)))
            at.append(level.at + before)
            before += len(level.codes)
        return cls(np.concatenate(places), np.concatenate(at))

    def occur(self, alive: Flags) -> Flags:
        """Say which still occur."""
        return np.logical_and.reduce([alive[column] for column in self.places.T])

    def only(self, kept: Flags) -> _Occurrences:
        return _Occurrences(self.places[kept], self.at[kept])


@dataclass(frozen=True, eq=False)
class _State:
    """Which visits are alive, where clean and listed sequences occur, and the promise."""

    records: Records
    record: Integers
    alive: Flags
    clean: _Occurrences
    cleans: int
    listed: _Occurrences
    sizes: Integers
    marks: Integers
    k: int
    c: Fraction

    @classmethod
    def start(cls, records: Records, mined: Mined, k: int, c: Fraction) -> _State:
        width = len(mined.clean)
        scattered = np.arange(1, len(records.starts), dtype=np.uint64) * _SCATTER
        sizes = [np.full(len(level.codes), level.places.shape[1]) for level in mined.violating]
        return cls(
            records,
            records.record,
            np.ones(len(records.pairs), np.bool_),
            _Occurrences.of(mined.clean, width),
            sum(len(level.codes) for level in mined.clean),
            _Occurrences.of(mined.violating, width),
            np.concatenate([np.zeros(0, np.int64), *sizes]),
            (scattered >> np.uint64(24)).astype(np.int64),
            k,
            c,
        )

    def with_alive(self, alive: Flags) -> _State:
        """Go on with fewer visits; what occurs no longer is forgotten."""
        return replace(
            self,
            alive=alive,
            clean=self.clean.only(self.clean.occur(alive)),
            listed=self.listed.only(self.listed.occur(alive)),
        )

    def violating(self, occurs: Flags) -> tuple[Flags, Integers]:
        """Which clean sequences would violate if only these occurrences were left; the counts."""
        at = self.clean.at[occurs]
        record = self.record[self.clean.places[occurs, 0]]
        counts = np.bincount(at, minlength=self.cleans)
        bad = counts < self.k
        for flag in self.records.flags:
            marked = np.bincount(at[flag[record]], minlength=self.cleans)
            bad |= marked * self.c.denominator > self.c.numerator * counts
        return bad & (counts > 0), counts


@dataclass(frozen=True, eq=False)
class _Entries:
    """The pairs of listed sequences that may be worth it, with what suppressing brings and costs.

    The gain counts the listed sequences of the pair that occur in just the same records.
    """

    live: int
    sequence: Integers
    column: Integers
    pair: Integers
    score: Floats
    chosen: Flags
    everywhere: Floats

    @classmethod
    def of(cls, state: _State) -> _Entries:
        listed, pairs = state.listed, state.records.pairs
        support = np.bincount(listed.at, minlength=len(state.sizes))
        live = np.flatnonzero(support)
        example = np.zeros(len(support), np.int64)
        example[listed.at] = np.arange(len(listed.at))
        size = state.sizes[live]
        sequence = np.repeat(live, size)
        column = np.arange(len(sequence)) - np.repeat(np.cumsum(size) - size, size)
        place = listed.places[example[sequence], column]
        freed = np.bincount(pairs[place], minlength=state.records.size)
        loss = np.bincount(pairs[state.alive], minlength=state.records.size)
        everywhere = np.where(freed > 0, freed / (loss + 1), 0.0)
        # what an operation frees is listed at the visit of any one of its records
        bound = _listed_at(state)[place] / (support[sequence] + 1)
        hopeful = np.flatnonzero(bound >= everywhere.max())
        sequence, column, pair = sequence[hopeful], column[hopeful], pairs[place[hopeful]]
        marks = state.marks[state.record[listed.places[:, 0]]].astype(np.float64)
        rows = np.bincount(listed.at, marks, len(support)).astype(np.float64)[sequence]
        gain, first = _alike(pair, rows)
        score = gain / (support[sequence] + 1)
        return cls(len(live), sequence, column, pair, score, first, everywhere)


def _listed_at(state: _State) -> Integers:
    """How many occurrences of listed sequences each visit is in."""
    listed, visits = state.listed, len(state.alive)
    size = state.sizes[listed.at]
    touched = np.bincount(listed.places[:, 0], minlength=visits)
    for column in range(1, listed.places.shape[1]):
        touched += np.bincount(listed.places[size > column, column], minlength=visits)
    return touched


def _alike(pair: Integers, rows: Floats) -> tuple[Integers, Flags]:
    """How many entries have the same pair and the same records; and the first one of each."""
    mixed = pair.astype(np.uint64) * _SCATTER + rows.astype(np.int64).astype(np.uint64)
    alike = pl.DataFrame({"entry": mixed}).select(
        gain=pl.len().over("entry").cast(pl.Int64), first=pl.col("entry").is_first_distinct()
    )
    return alike["gain"].to_numpy(), alike["first"].to_numpy()


def _everywhere(state: _State, entries: _Entries) -> Flags:
    """Apply the best global suppressions."""
    best = entries.everywhere >= _NEARLY * entries.everywhere.max()
    return state.alive & ~best[state.records.pairs]


def _locally(state: _State, entries: _Entries) -> Flags | None:
    """Apply as many of the best local suppressions as go together; None if there is none."""
    good = np.flatnonzero(entries.chosen & (entries.score >= entries.everywhere.max()))
    ranked = good[np.lexsort((entries.pair[good], -entries.score[good]))]
    # one operation a sequence: its best
    _, first = np.unique(entries.sequence[ranked], return_index=True)
    ranked = ranked[np.sort(first)]
    rank = np.full(len(state.sizes), -1)
    rank[entries.sequence[ranked]] = np.arange(len(ranked))
    by = rank[state.listed.at]
    here = np.flatnonzero(by >= 0)
    by = by[here]
    gone = state.listed.places[here, entries.column[ranked][by]]
    active = np.ones(len(ranked), np.bool_)
    while active.any():
        alive = state.alive.copy()
        alive[gone[active[by]]] = False
        given_up = _to_give_up(state, alive, gone[active[by]], by[active[by]])
        if given_up is None:
            return alive
        active[given_up] = False
    return None


def _to_give_up(state: _State, alive: Flags, gone: Integers, by: Integers) -> Integers | None:
    """Name the operations that make clean sequences violate, as few and as bad as may be.

    A sequence that is short of records gets back as many as it lacks, from the operations ranked
    worst; one that holds a sensitive value too often, one at a time.
    """
    occurs = state.clean.occur(alive)
    bad, counts = state.violating(occurs)
    if not bad.any():
        return None
    lost = np.flatnonzero(bad[state.clean.at] & ~occurs)
    worst = np.full(len(alive), -1)
    np.maximum.at(worst, gone, by)
    culprit = worst[state.clean.places[lost]].max(axis=1)
    at = state.clean.at[lost]
    order = np.lexsort((-culprit, at))
    at, culprit = at[order], culprit[order]
    position = np.arange(len(at))
    start = np.concatenate(([True], at[1:] != at[:-1]))
    nth = position - np.maximum.accumulate(np.where(start, position, 0))
    return np.unique(culprit[nth < np.maximum(1, state.k - counts[at])])

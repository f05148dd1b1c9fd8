"""Suppress by many operations at a time: for lists of thousands of MVS and more.

A round takes all local suppressions that score at least as well as the best global one, looks at
the data after *all* of them, and gives up the worst of those that touch a clean sequence which
would then violate, until none does. "No clean sequence that occurs violates" is the invariant of
the reference, so what is applied is sound, and the order within a round does not matter. If no
local suppression is left, the best global ones are applied, which are always sound.

Supports, counts and scores are kept up with what is deleted, so a round costs what it changes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.trajectories.metrics import Metric
from hedgerow.steps.arrays import allowed, nth
from hedgerow.steps.mining import Mined, Records
from hedgerow.steps.occurrences import Occurrences

__all__ = ["suppress_in_batches"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Hashes: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]

#: global suppressions that score nearly as well as the best are applied with it
_NEARLY = 0.9
#: visits scored at once, for the sake of memory
_AT_ONCE = 1 << 18


def suppress_in_batches(records: Records, mined: Mined, promise: KCL, metric: Metric, *, local: bool) -> Flags:
    """Suppress until no MVS is left; return which visits are kept."""
    state = _State(records, mined, promise, metric)
    total = state.left
    while state.left:
        progress.tell("suppressing", total - state.left, total)
        best = float(state.everywhere().max())
        if not (local and _locally(state, best)):
            _everywhere(state, best)
    return state.alive


class _State:
    """Which visits are alive, where clean and listed sequences occur, and what operations bring.

    `score[v, i]` is what suppressing the `i`-th visit of the listed sequence `v` in its records
    brings for its loss. The gain counts the listed sequences of the pair that occur in just the
    same records. It may have become less since; it is then corrected when it matters.
    """

    def __init__(self, records: Records, mined: Mined, promise: KCL, metric: Metric) -> None:
        visits = len(records.pairs)
        self.k, self.metric = promise.k, metric
        self.allowed = allowed(promise.c, len(records.starts) - 1)
        self.records, self.pairs, self.record = records, records.pairs, records.record
        self.alive = np.ones(visits, np.bool_)
        self.clean = Occurrences(mined.clean, visits)
        none = np.zeros((len(records.flags), 0), np.int64)
        self.marked = np.hstack([none, *(level.marked for level in mined.clean)])
        self.listed = listed = Occurrences(mined.violating, visits)
        self.left = len(listed.sizes)
        self._marks = _scattered(np.arange(len(records.starts) - 1))
        self.rows = np.zeros(self.left, np.uint64)
        np.add.at(self.rows, listed.at, self._marks[self.record[listed.places[:, 0]]])
        self.first = listed.starts[:-1].copy()
        self.freed = np.zeros(records.size, np.int64)
        listed.add_pairs(self.freed, self.pairs, np.arange(self.left), 1)
        self.score = np.zeros((self.left, listed.places.shape[1]), np.float32)
        for start in range(0, visits, _AT_ONCE):
            self._rate_at(np.arange(start, min(visits, start + _AT_ONCE)))

    def everywhere(self) -> Floats:
        """What suppressing each pair in all records brings for its loss."""
        score = self.freed / (self.metric.everywhere() + 1.0)
        return np.where(self.freed > 0, score, -1.0)

    def rate(self, sequences: Integers) -> None:
        """Score the local suppressions of listed sequences, and of others at the same visits."""
        self._rate_at(np.unique(self.listed.places[self.first[sequences]]))

    def _rate_at(self, visits: Integers) -> None:
        """Score what begins at these visits.

        What an operation frees is listed at the visit of any one of its records, the first, say.
        """
        listed = self.listed
        occurrence, asked = listed.at_visits(visits)
        sequence, visit = listed.at[occurrence], visits[asked]
        gain = _alike(_scattered(visit) + self.rows[sequence])
        first = np.flatnonzero(self.first[sequence] == occurrence)
        sequence = sequence[first]
        column = np.argmax(listed.places[occurrence[first]] == visit[first][:, None], axis=1)
        found = listed.of_sequences(sequence)
        gone = listed.places[found.occurrence, column[found.asked]]
        loss = self.metric.local(gone, found.asked, len(sequence))
        self.score[sequence, column] = gain[first] / (loss + 1.0)

    def delete(self, visits: Integers) -> None:
        """Delete visits, each once, and keep everything up."""
        self.alive[visits] = False
        self.metric.deleted(visits)
        clean = self.clean.touched(visits)
        self.clean.take_away(clean)
        at, record = self.clean.at[clean], self.record[self.clean.places[clean, 0]]
        for marked, flag in zip(self.marked, self.records.flags, strict=True):
            np.subtract.at(marked, at[flag[record]], 1)
        listed = self.listed.touched(visits)
        self.listed.take_away(listed)
        at, record = self.listed.at[listed], self.record[self.listed.places[listed, 0]]
        np.subtract.at(self.rows, at, self._marks[record])
        changed = np.unique(at)
        occurs = self.listed.support[changed] > 0
        self._forget(changed[~occurs])
        self._point(changed[occurs])
        self.rate(changed[occurs])

    def _forget(self, sequences: Integers) -> None:
        """Take what no longer occurs off the list."""
        self.left -= len(sequences)
        self.score[sequences] = 0
        self.listed.add_pairs(self.freed, self.pairs, sequences, -1)

    def _point(self, sequences: Integers) -> None:
        """Point at the first occurrence that is left of each sequence."""
        while len(sequences):
            sequences = sequences[~self.listed.live[self.first[sequences]]]
            self.first[sequences] += 1


def _scattered(numbers: Integers) -> Hashes:
    """Scatter numbers over all 64 bits; sums of scattered numbers stand for sets of them.

    If two sets ever have the same sum a score is off, not the promise.
    """
    bits = numbers.astype(np.uint64) + np.uint64(1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _alike(keys: Hashes) -> Integers:
    """How many keys there are like each."""
    return pl.DataFrame({"key": keys}).select(pl.len().over("key"))["len"].to_numpy()


def _everywhere(state: _State, best: float) -> None:
    """Apply global suppressions, best first, while they score nearly as well as the best."""
    while state.left:
        score = state.everywhere()
        pair = int(score.argmax())
        if score[pair] < _NEARLY * best:
            return
        visits = state.records.holding(pair)
        state.delete(visits[state.alive[visits]])


class _Operations(NamedTuple):
    """Local suppressions, the best first, and the visits they delete."""

    number: int
    gone: Integers
    by: Integers


def _locally(state: _State, best: float) -> bool:
    """Apply as many of the best local suppressions as go together; say whether there is any."""
    ranked = _ranked(state, best)
    touched = state.clean.touched(np.unique(ranked.gone))
    active = np.ones(ranked.number, np.bool_)
    while active.any():
        here = active[ranked.by]
        given_up = _to_give_up(state, touched, ranked.gone[here], ranked.by[here])
        if len(given_up) == 0:
            state.delete(np.unique(ranked.gone[here]))
            return True
        active[given_up] = False
    return False


def _ranked(state: _State, best: float) -> _Operations:
    """The operations that score at least so well: one for the same deletion, one a sequence."""
    width = state.score.shape[1]
    some = np.unique(np.flatnonzero(state.score.ravel() >= np.float32(best)) // width)
    state.rate(some)
    at, column = np.nonzero(state.score[some] >= np.float32(best))
    sequence = some[at]
    pair = state.pairs[state.listed.places[state.first[sequence], column]]
    score = state.score[sequence, column]
    order = np.lexsort((pair, -score))
    for key in (_scattered(pair) + state.rows[sequence], sequence):
        _, first = np.unique(key[order], return_index=True)
        order = order[np.sort(first)]
    found = state.listed.of_sequences(sequence[order])
    gone = state.listed.places[found.occurrence, column[order][found.asked]]
    return _Operations(len(order), gone, found.asked)


def _to_give_up(state: _State, touched: Integers, gone: Integers, by: Integers) -> Integers:
    """Name the operations that make clean sequences violate, as few and as bad as may be.

    A sequence that is short of records gets back as many as it lacks, from the operations ranked
    worst; one that holds a sensitive value too often, one at a time.
    """
    worst = np.full(len(state.alive), -1)
    np.maximum.at(worst, gone, by)
    culprit = worst[state.clean.places[touched]].max(axis=1)
    lost = touched[culprit >= 0]
    culprit = culprit[culprit >= 0]
    sequence, at = np.unique(state.clean.at[lost], return_inverse=True)
    counts = state.clean.support[sequence] - np.bincount(at, minlength=len(sequence))
    bad = counts < state.k
    record = state.record[state.clean.places[lost, 0]]
    for marked, flag in zip(state.marked, state.records.flags, strict=True):
        left = marked[sequence] - np.bincount(at[flag[record]], minlength=len(sequence))
        bad |= left > state.allowed[counts]
    bad &= counts > 0
    here = bad[at]
    at, culprit = at[here], culprit[here]
    order = np.lexsort((-culprit, at))
    at, culprit = at[order], culprit[order]
    return np.unique(culprit[nth(at) < np.maximum(1, state.k - counts[at])])

"""Suppression by many operations at a time: for lists of thousands of minimal violating sequences (MVS) and more.

A round takes all local suppressions that score at least as well as the best global one, looks at
the data after *all* of them, and gives up the worst of those that touch a clean sequence which
would then violate, until none does. "No clean sequence that occurs violates" is the invariant of
the paper's schedule, so what is applied is sound, and the order within a round does not matter. If no
local suppression is left, the best global ones are applied, which are always sound.

Supports, counts and scores are kept up to date with what is deleted, so a round costs what it changes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.arrays import floor_multiples, number_within_groups
from hedgerow.data.subsequences import MinedSequences, VisitArrays
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.trajectories.kcl.occurrences import OccurrenceIndex
from hedgerow.publishers.trajectories.kcl.utility_loss import Metric

__all__ = ["BatchState", "suppress_in_batches"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Hashes: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]

#: global suppressions that score nearly as well as the best are applied with it
_NEARLY = 0.9
#: visits scored at once, for the sake of memory
_AT_ONCE = 1 << 18


def suppress_in_batches(visits: VisitArrays, mined: MinedSequences, promise: KCL, metric: Metric) -> Flags:
    """Suppress until no MVS is left; return which visits are kept."""
    state = BatchState(visits, mined, promise, metric)
    total = state.left
    while state.left:
        progress.tell("suppressing", total - state.left, total)
        best = float(state.global_scores().max())
        if not _suppress_locally(state, best):
            _suppress_globally(state, best)
    return state.alive


class BatchState:
    """Which visits are alive, where clean and listed sequences occur, and the scores of operations.

    `score[v, i]` is the gain of suppressing the `i`-th visit of the listed sequence `v` in its records,
    for its loss. The gain counts the listed sequences of the pair that occur in just the
    same records. It may have become less since; it is then corrected when it matters.
    """

    def __init__(self, arrays: VisitArrays, mined: MinedSequences, promise: KCL, metric: Metric) -> None:
        visits = len(arrays.pairs)
        self.k, self.metric = promise.k, metric
        self.allowed = floor_multiples(promise.c, len(arrays.starts) - 1)
        self.arrays, self.pairs, self.record = arrays, arrays.pairs, arrays.record
        self.alive = np.ones(visits, np.bool_)
        self.clean = OccurrenceIndex(mined.clean, visits)
        none = np.zeros((len(arrays.flags), 0), np.int64)
        self.marked = np.hstack([none, *(level.marked for level in mined.clean)])
        self.listed = listed = OccurrenceIndex(mined.violating, visits)
        self.left = len(listed.sizes)
        self._record_hashes = _hashes(np.arange(len(arrays.starts) - 1))
        self.record_sets = np.zeros(self.left, np.uint64)
        np.add.at(self.record_sets, listed.at, self._record_hashes[self.record[listed.places[:, 0]]])
        self.first = listed.starts[:-1].copy()
        self.gain = np.zeros(arrays.size, np.int64)
        listed.add_to_pairs(self.gain, self.pairs, np.arange(self.left), 1)
        self.score = np.zeros((self.left, listed.places.shape[1]), np.float32)
        for start in range(0, visits, _AT_ONCE):
            self._score_at(np.arange(start, min(visits, start + _AT_ONCE)))

    def global_scores(self) -> Floats:
        """The score of suppressing each pair in all records."""
        score = self.gain / (self.metric.everywhere() + 1.0)
        return np.where(self.gain > 0, score, -1.0)

    def rescore(self, sequences: Integers) -> None:
        """Score the local suppressions of listed sequences, and of others at the same visits."""
        self._score_at(np.unique(self.listed.places[self.first[sequences]]))

    def _score_at(self, visits: Integers) -> None:
        """Score what begins at these visits.

        What an operation eliminates is listed at the visit of any one of its records, the first, say.
        """
        listed = self.listed
        occurrence, query = listed.at_visits(visits)
        sequence, visit = listed.at[occurrence], visits[query]
        gain = _multiplicities(_hashes(visit) + self.record_sets[sequence])
        first = np.flatnonzero(self.first[sequence] == occurrence)
        sequence = sequence[first]
        column = np.argmax(listed.places[occurrence[first]] == visit[first][:, None], axis=1)
        matches = listed.of_sequences(sequence)
        deleted = listed.places[matches.occurrence, column[matches.query]]
        loss = self.metric.local(deleted, matches.query, len(sequence))
        self.score[sequence, column] = gain[first] / (loss + 1.0)

    def delete(self, visits: Integers) -> None:
        """Delete visits, each once, and keep everything up to date."""
        self.alive[visits] = False
        self.metric.deleted(visits)
        clean = self.clean.touching(visits)
        self.clean.remove(clean)
        at, record = self.clean.at[clean], self.record[self.clean.places[clean, 0]]
        for marked, flag in zip(self.marked, self.arrays.flags, strict=True):
            np.subtract.at(marked, at[flag[record]], 1)
        listed = self.listed.touching(visits)
        self.listed.remove(listed)
        at, record = self.listed.at[listed], self.record[self.listed.places[listed, 0]]
        np.subtract.at(self.record_sets, at, self._record_hashes[record])
        changed = np.unique(at)
        occurs = self.listed.support[changed] > 0
        self._unlist(changed[~occurs])
        self._advance_first(changed[occurs])
        self.rescore(changed[occurs])

    def _unlist(self, sequences: Integers) -> None:
        """Take what no longer occurs off the list."""
        self.left -= len(sequences)
        self.score[sequences] = 0
        self.listed.add_to_pairs(self.gain, self.pairs, sequences, -1)

    def _advance_first(self, sequences: Integers) -> None:
        """Let `first` be the first occurrence that is left of each sequence."""
        while len(sequences):
            sequences = sequences[~self.listed.live[self.first[sequences]]]
            self.first[sequences] += 1


def _hashes(numbers: Integers) -> Hashes:
    """Scatter numbers over all 64 bits; sums of scattered numbers stand for sets of them.

    If two sets ever have the same sum a score is off, not the promise.
    """
    bits = numbers.astype(np.uint64) + np.uint64(1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _multiplicities(keys: Hashes) -> Integers:
    """How many keys there are like each."""
    return pl.DataFrame({"key": keys}).select(pl.len().over("key"))["len"].to_numpy()


def _suppress_globally(state: BatchState, best: float) -> None:
    """Apply global suppressions, best first, while they score nearly as well as the best."""
    while state.left:
        score = state.global_scores()
        pair = int(score.argmax())
        if score[pair] < _NEARLY * best:
            return
        visits = state.arrays.of_pair(pair)
        state.delete(visits[state.alive[visits]])


class _Operations(NamedTuple):
    """Local suppressions, the best first: visit `deleted[i]` is deleted by operation `by[i]`."""

    number: int
    deleted: Integers
    by: Integers


def _suppress_locally(state: BatchState, best: float) -> bool:
    """Apply as many of the best local suppressions as go together; say whether there is any."""
    ranked = _ranked(state, best)
    touched = state.clean.touching(np.unique(ranked.deleted))
    active = np.ones(ranked.number, np.bool_)
    while active.any():
        here = active[ranked.by]
        invalid = _invalid_operations(state, touched, ranked.deleted[here], ranked.by[here])
        if len(invalid) == 0:
            state.delete(np.unique(ranked.deleted[here]))
            return True
        active[invalid] = False
    return False


def _ranked(state: BatchState, best: float) -> _Operations:
    """The operations that score at least so well: one for the same deletion, one per sequence."""
    width = state.score.shape[1]
    promising = np.unique(np.flatnonzero(state.score.ravel() >= np.float32(best)) // width)
    state.rescore(promising)
    at, column = np.nonzero(state.score[promising] >= np.float32(best))
    sequence = promising[at]
    pair = state.pairs[state.listed.places[state.first[sequence], column]]
    score = state.score[sequence, column]
    order = np.lexsort((pair, -score))
    for key in (_hashes(pair) + state.record_sets[sequence], sequence):
        _, first = np.unique(key[order], return_index=True)
        order = order[np.sort(first)]
    matches = state.listed.of_sequences(sequence[order])
    deleted = state.listed.places[matches.occurrence, column[order][matches.query]]
    return _Operations(len(order), deleted, matches.query)


def _invalid_operations(state: BatchState, touched: Integers, deleted: Integers, by: Integers) -> Integers:
    """Name the operations that make clean sequences violate, as few and as bad as may be.

    A sequence that is short of records gets back as many as it lacks, from the operations ranked
    worst; one that has a sensitive value too often, one at a time.
    """
    worst = np.full(len(state.alive), -1)
    np.maximum.at(worst, deleted, by)
    culprit = worst[state.clean.places[touched]].max(axis=1)
    lost = touched[culprit >= 0]
    culprit = culprit[culprit >= 0]
    sequence, at = np.unique(state.clean.at[lost], return_inverse=True)
    counts = state.clean.support[sequence] - np.bincount(at, minlength=len(sequence))
    bad = counts < state.k
    record = state.record[state.clean.places[lost, 0]]
    for marked, flag in zip(state.marked, state.arrays.flags, strict=True):
        left = marked[sequence] - np.bincount(at[flag[record]], minlength=len(sequence))
        bad |= left > state.allowed[counts]
    bad &= counts > 0
    here = bad[at]
    at, culprit = at[here], culprit[here]
    order = np.lexsort((-culprit, at))
    at, culprit = at[order], culprit[order]
    return np.unique(culprit[number_within_groups(at) < np.maximum(1, state.k - counts[at])])

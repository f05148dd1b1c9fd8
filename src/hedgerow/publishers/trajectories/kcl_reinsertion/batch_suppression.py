"""Suppression in batches: for thousands of minimal violating sequences (MVS) and more.

A round takes all local suppressions that score at least as well as the best global one, considers the data after *all*
of them, and drops the worst of those that would make a clean sequence violate, until none does. "No clean sequence that
occurs violates" is the invariant of the paper's schedule, so the batch is sound, and the order within a round does not
matter. If no local suppression is left, the best global ones are applied, which are always sound.

Supports, counts and scores are updated incrementally, so the cost of a round is proportional to what it changes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.arrays import floor_multiples, number_within_groups
from hedgerow.data.subsequences import MinedSequences, VisitArrays
from hedgerow.privacy.kcl_criterion import KCL
from hedgerow.publishers.trajectories.kcl.occurrences import OccurrenceIndex
from hedgerow.publishers.trajectories.kcl.utility_loss import Metric

__all__ = ["BatchState", "suppress_in_batches"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Hashes: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]

#: global suppressions with at least this part of the best score are applied with it
_NEARLY = 0.9
#: visits that are scored at once, to bound memory
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

    `score[v, i]` is the privacy gain over the utility loss of suppressing the `i`-th visit of sequence `v` of the list
    in its records. The gain counts the listed sequences of the pair that occur in exactly the same records. It may be
    outdated and too large; it is corrected before it is used.
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
        """Score the operations whose first deleted visit is one of these.

        The sequences that an operation eliminates can be looked up at any of its deleted visits; the first is used.
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
        """Delete distinct visits, and update supports, counts and scores."""
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
        """Remove sequences that no longer occur from the list."""
        self.left -= len(sequences)
        self.score[sequences] = 0
        self.listed.add_to_pairs(self.gain, self.pairs, sequences, -1)

    def _advance_first(self, sequences: Integers) -> None:
        """Set `first` to the first remaining occurrence of each sequence."""
        while len(sequences):
            sequences = sequences[~self.listed.live[self.first[sequences]]]
            self.first[sequences] += 1


def _hashes(numbers: Integers) -> Hashes:
    """Hash numbers to 64 bits; the sum of hashes identifies a set of numbers.

    If two sets have the same sum, a score is wrong, but the guarantee is not affected.
    """
    bits = numbers.astype(np.uint64) + np.uint64(1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _multiplicities(keys: Hashes) -> Integers:
    """How often each key occurs."""
    return pl.DataFrame({"key": keys}).select(pl.len().over("key"))["len"].to_numpy()


def _suppress_globally(state: BatchState, best: float) -> None:
    """Apply global suppressions, best first, while they score nearly as well as the best one."""
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
    """Apply as many of the best local suppressions as are valid together; return whether there is any."""
    ranked = _rank_operations(state, best)
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


def _rank_operations(state: BatchState, best: float) -> _Operations:
    """The operations with at least this score, best first: one per distinct deletion, and one per sequence."""
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
    """Choose operations to drop so that clean sequences stay clean: few, and those ranked worst.

    A sequence with fewer than K records gets back as many as it lacks, from the operations ranked worst; a sequence
    that exceeds C gets back one record at a time.
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

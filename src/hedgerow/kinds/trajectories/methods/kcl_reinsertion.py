"""(K,C)_L-privacy of trajectories by suppression and re-insertion of visits: our own method.

The publisher; suppression in batches, for data in which one operation at a time (`kcl`) takes too long; re-insertion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.methods.kcl import (
    METRICS,
    Metric,
    OccurrenceIndex,
    SuppressionInput,
    count_occurrences,
    mine_violations,
    require_frequent_support,
    suppress_greedily,
    too_many,
)
from hedgerow.kinds.trajectories.sequence_mining import MOST_VISITS, MinedSequences, VisitArrays
from hedgerow.numerics.arrays import (
    Flags,
    Floats,
    Integers,
    concatenate_ranges,
    floor_multiples,
    group_equal,
    number_within_groups,
)
from hedgerow.privacy import Ledger
from hedgerow.publisher import Publisher, param

#: up to this many minimal violating sequences, one operation at a time is fast enough
_GREEDY = 3_000
#: with more occurrences of sequences, growing from nothing alone lost no more utility and is far faster
_GROW = 10_000_000


@dataclass(frozen=True, kw_only=True)
class SuppressionWithReinsertion(Publisher[Trajectories]):
    r"""Publish trajectories by suppression, followed by re-insertion of visits that did not have to be suppressed.

    Suppression is that of `kcl` [1]_: visits of *minimal violating sequences* are deleted, locally or globally,
    one operation at a time if there are few such sequences, and in batches if there are many. Our addition is
    re-insertion: each pair of place and time is re-inserted into the records that lost it, wherever the guarantee still
    holds. Re-insertion is also run from no visits at all (growing), which alone is a method for very many
    violating sequences (`schedule` grow). The result with the largest utility is published.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on the output. Among
    records with equal visits either all get a visit back or none, so a sensitive value never decides about a single
    record.

    Examples
    --------
    >>> visits = [[("park", 8), ("bank", 9)]] * 4 + [[("park", 8), ("clinic", 9)]]
    >>> data = Trajectories.from_records(visits)
    >>> release = SuppressionWithReinsertion().publish(data, KCL(k=2, l=2))
    >>> release.data.records()[0]
    ((('park', 8),), ())

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, N. Mohammed, B. C. Desai, K. Wang. "Privacy-preserving trajectory
       data publishing by local suppression". Information Sciences 231, 2013; re-insertion is not in it.
    """

    name: ClassVar[str] = "kcl-reinsertion"
    kinds: ClassVar = ("trajectories",)
    keeps: ClassVar = (KCL,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True
    # docs/results/kcl.md: of 12 runs on public data the loss was lowest in each
    recommended: ClassVar[str] = "visits that must stay as they were, under K, C and L"

    metric: str = param(
        "instances",
        "the utility loss: deleted visits, or lost maximal frequent sequences",
        choices=METRICS,
    )
    k_prime: int = param(0, "support from which on a sequence is frequent; for metric mfs", ge=0)
    schedule: str = param(
        "auto",
        "suppress in batches and re-insert, or only grow from no visits; auto: by the size of the data",
        choices=("auto", "batch", "grow"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_frequent_support("SuppressionWithReinsertion", self.metric, self.k_prime)

    @property
    def workload(self) -> Mapping[str, int]:
        """The support of frequent sequences, if `k_prime` is set."""
        return {"frequent": self.k_prime} if self.k_prime else {}

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Suppress until nothing violates, re-insert visits, and take the result with the largest utility."""
        promise = ledger.promised(KCL)
        data, visits, names = SuppressionInput.of(data, promise)
        if promise.k > visits.units:
            return data.truncated(0)
        grown = self._grows(visits, promise)
        metric = METRICS[self.metric](visits, names, self.k_prime)
        suppressed = [] if grown else [self._suppress(visits, promise, metric)]
        no_visits = np.zeros(len(visits.pairs), np.bool_)
        reinserted = [
            reinsert(visits, start, promise, pairs)
            for start in (no_visits, *suppressed)
            for pairs in insertion_orders(visits)
        ]
        return data.keep_visits(max([*suppressed, *reinserted], key=lambda kept: (metric.kept(kept), kept.sum())))

    def _grows(self, visits: VisitArrays, promise: KCL) -> bool:
        """Whether visits are only inserted; decided before mining, so that nothing is mined in vain."""
        large = count_occurrences(visits, promise.l) > _GROW
        if visits.owners is None or self.schedule == "grow":
            return self.schedule == "grow" or (self.schedule == "auto" and large)
        if self.schedule == "batch":
            msg = "schedule=batch counts records, and persons own several here; take schedule=auto or grow"
            raise ParameterError(msg)
        # batches count records: with persons, one operation at a time where it is fast enough
        return large or sum(len(level.codes) for level in mine_violations(visits, promise).violating) > _GREEDY

    def _suppress(self, visits: VisitArrays, promise: KCL, metric: Metric) -> Flags:
        """Mine all minimal violating sequences and suppress until none is left; return which visits are kept."""
        mined = mine_violations(visits, promise)
        few = sum(len(level.codes) for level in mined.violating) <= _GREEDY
        if few and self.schedule == "auto":
            return suppress_greedily(visits, mined, promise, metric)
        return suppress_in_batches(visits, mined, promise, metric)


# ---- suppression in batches: for thousands of minimal violating sequences (MVS) and more

Hashes: TypeAlias = NDArray[np.uint64]
#: global suppressions with at least this part of the best score are applied with it
_NEARLY = 0.9
#: visits that are scored at once, to bound memory
_AT_ONCE = 1 << 18


def suppress_in_batches(visits: VisitArrays, mined: MinedSequences, promise: KCL, metric: Metric) -> Flags:
    """Suppress in rounds until no MVS is left; return which visits are kept.

    A round takes all local suppressions that score at least as well as the best global one, considers the data after
    *all* of them, and drops the worst of those that would make a clean sequence violate, until none does. "No clean
    sequence that occurs violates" is the invariant of the paper's schedule, so the batch is sound, and the order within
    a round does not matter. If no local suppression is left, the best global ones are applied, which are always sound.
    """
    state = BatchState(visits, mined, promise, metric)
    total = state.left
    while state.left:
        progress.tell("suppressing", total - state.left, total)
        best = float(state.global_scores().max())
        if not _suppress_locally(state, best):
            _suppress_globally(state, best)
    return state.alive


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


class _Operations(NamedTuple):
    """Local suppressions, the best first: visit `deleted[i]` is deleted by operation `by[i]`."""

    number: int
    deleted: Integers
    by: Integers


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


def _suppress_globally(state: BatchState, best: float) -> None:
    """Apply global suppressions, best first, while they score nearly as well as the best one."""
    while state.left:
        score = state.global_scores()
        pair = int(score.argmax())
        if score[pair] < _NEARLY * best:
            return
        visits = state.arrays.of_pair(pair)
        state.delete(visits[state.alive[visits]])


class BatchState:
    """Which visits are alive, where clean and listed sequences occur, and the scores of operations.

    `score[v, i]` is the privacy gain over the utility loss of suppressing the `i`-th visit of sequence `v` of the list
    in its records. The gain counts the listed sequences of the pair that occur in exactly the same records. It may be
    outdated and too large; it is corrected before it is used. Supports, counts and scores are updated incrementally, so
    the cost of a round is proportional to what it changes.
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


# ---- re-insertion: visits that did not have to be suppressed


def insertion_orders(visits: VisitArrays) -> tuple[Integers, Integers]:
    """Two orders of the pairs, frequent first and rare first; neither is always better."""
    frequent = np.argsort(-np.bincount(visits.pairs, minlength=visits.size), kind="stable")
    return frequent, frequent[::-1]


def reinsert(visits: VisitArrays, alive: Flags, promise: KCL, pairs: Integers) -> Flags:
    """Re-insert visits pair by pair, in the order of `pairs`; return which visits are then kept.

    `alive` are the visits that are kept so far; they must satisfy the guarantee. Started from no visits, this is a
    method by itself: the release is grown instead of cut.

    Suppression decides by the violations of the original data. After it, many deleted visits can be re-inserted; a
    record that lost all its visits can nearly always keep one. Each pair is processed once: of the records that lost
    it, those get it back whose sequences with the pair then occur in at least K records, or of K persons (those that
    get it back included), and stay within C for every sensitive value. Sequences without the pair do not change, so the
    guarantee is preserved.

    A sequence that would exceed C is re-inserted in none of the records that lost it. Leaving out just enough records
    with the sensitive value would put the sequence at exactly C, and disclose that its true share is above C. So among
    records with equal visits, neither the sensitive value nor the position in the file decides who gets a visit back:
    either all do or none.
    """
    alive = alive.copy()
    limits = _Limits(promise.k, floor_multiples(promise.c, len(visits.starts) - 1))
    for done, pair in enumerate(pairs.tolist()):
        progress.tell("re-inserting visits", done, len(pairs))
        candidates = visits.of_pair(pair)
        kept = alive[candidates]
        if not kept.all():
            sequences = _sequences(visits, alive, candidates, promise.l)
            flags = visits.flags[:, visits.record[candidates]]
            owners = None if visits.owners is None else visits.owners[visits.record[candidates]]
            alive[candidates] = _largest_private(sequences, kept, _Units(flags, owners), limits)
    return alive


def _largest_private(sequences: _Sequences, kept: Flags, units: _Units, limits: _Limits) -> Flags:
    """Drop candidates whose sequences would violate, until none does; visits kept so far stay."""
    inserted = np.ones(len(kept), np.bool_)
    while True:
        drop = _violating(sequences, inserted, kept, units, limits)
        if not drop.any():
            return inserted
        inserted &= ~drop


def _violating(sequences: _Sequences, inserted: Flags, kept: Flags, units: _Units, limits: _Limits) -> Flags:
    """The candidates to drop: those of sequences in fewer than K records, else those of sequences that exceed C.

    Of sequences that exceed C the longest go first: without their candidates, shorter ones may be within C.
    """
    number = len(sequences.length)
    here = inserted[sequences.candidate]
    candidate, at = sequences.candidate[here], sequences.at[here]
    counts = units.count_of(candidate, at, number)
    free = ~kept[candidate]
    bad = free & (counts < limits.k)[at]
    if not bad.any():
        above = np.zeros(number, np.bool_)
        for flag in units.flags:
            marked = flag[candidate]
            above |= units.count_of(candidate[marked], at[marked], number) > limits.marked[counts]
        bad = free & above[at]
        length = sequences.length[at]
        bad &= length == length[bad].max(initial=0)
    drop = np.zeros(len(inserted), np.bool_)
    drop[candidate[bad]] = True
    return drop


def _sequences(visits: VisitArrays, alive: Flags, candidates: Integers, longest: int) -> _Sequences:
    """All combinations of the pair with kept visits of a candidate, up to the length that an attacker may know."""
    row = visits.record[candidates]
    visit, asked = concatenate_ranges(visits.starts[row], visits.starts[row + 1])
    others = alive[visit] & (visit != candidates[asked])
    visit, asked = visit[others], asked[others]
    end = np.cumsum(np.bincount(asked, minlength=len(candidates)))
    candidate, at = np.arange(len(candidates)), np.zeros(len(candidates), np.int64)
    following = np.concatenate(([0], end[:-1]))
    all_candidates, all_at, numbers = [candidate], [at], [1]
    for _ in range(1, longest):
        if int((end[candidate] - following).sum()) > MOST_VISITS:
            raise too_many(longest)
        index, before = concatenate_ranges(following, end[candidate])
        if not len(index):
            break
        codes, at = group_equal(at[before] * visits.size + visits.pairs[visit[index]])
        candidate, following = candidate[before], index + 1
        all_candidates.append(candidate)
        all_at.append(at + sum(numbers))
        numbers.append(len(codes))
    length = np.repeat(np.arange(1, len(numbers) + 1), numbers)
    return _Sequences(np.concatenate(all_candidates), np.concatenate(all_at), length)


class _Limits(NamedTuple):
    """The limits of the guarantee: at least `k` records, and at most `marked[n]` of n with a sensitive value."""

    k: int
    marked: Integers


class _Sequences(NamedTuple):
    """The sequences with one pair that the candidate records would have: `candidate` has sequence `at`.

    `length` is the number of visits of each sequence.
    """

    candidate: Integers
    at: Integers
    length: Integers


class _Units(NamedTuple):
    """Who is counted: which candidates have each sensitive value, and the person of each, if persons are counted."""

    flags: Flags
    owners: Integers | None

    def count_of(self, candidate: Integers, at: Integers, groups: int) -> Integers:
        """Count the candidates, or their persons, of each group."""
        if self.owners is not None:
            persons = int(self.owners.max(initial=-1)) + 1
            at = group_equal(at * persons + self.owners[candidate])[0] // max(1, persons)
        return np.bincount(at, minlength=groups)

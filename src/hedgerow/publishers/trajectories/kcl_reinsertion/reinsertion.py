"""Re-insertion of visits that suppression deleted although it did not have to.

Suppression decides by the violations of the original data. After it, many deleted visits can be re-inserted; a record
that lost all its visits can nearly always keep one. Each pair is processed once: of the records that lost it, those get
it back whose sequences with the pair then occur in at least K records, or of K persons (those that get it back
included), and stay within C for every sensitive value. Sequences without the pair do not change, so the guarantee is
preserved.

A sequence that would exceed C is re-inserted in none of the records that lost it. Leaving out just enough records with
the sensitive value would put the sequence at exactly C, and disclose that its true share is above C. So among records
with equal visits, neither the sensitive value nor the position in the file decides who gets a visit back: either all
do or none.

Started from no visits, this is a method by itself: the release is grown instead of cut.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.arrays import concatenate_ranges, floor_multiples, group_equal
from hedgerow.data.subsequences import MOST_VISITS, VisitArrays
from hedgerow.privacy.kcl_criterion import KCL
from hedgerow.publishers.trajectories.kcl.suppression_input import too_many

__all__ = ["insertion_orders", "reinsert"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


def reinsert(visits: VisitArrays, alive: Flags, promise: KCL, pairs: Integers) -> Flags:
    """Re-insert visits pair by pair, in the order of `pairs`; return which visits are then kept.

    `alive` are the visits that are kept so far; they must satisfy the guarantee.
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


def insertion_orders(visits: VisitArrays) -> tuple[Integers, Integers]:
    """Two orders of the pairs, frequent first and rare first; neither is always better."""
    frequent = np.argsort(-np.bincount(visits.pairs, minlength=visits.size), kind="stable")
    return frequent, frequent[::-1]


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


def _largest_private(sequences: _Sequences, kept: Flags, units: _Units, limits: _Limits) -> Flags:
    """Drop candidates whose sequences would violate, until none does; visits kept so far stay."""
    inserted = np.ones(len(kept), np.bool_)
    while True:
        drop = _violating(sequences, inserted, kept, units, limits)
        if not drop.any():
            return inserted
        inserted &= ~drop


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

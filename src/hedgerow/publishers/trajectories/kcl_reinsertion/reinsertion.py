"""Re-insertion: visits that suppression deleted but need not have.

Suppression decides by what violates in the data as it was. Once much of that is gone, many a visit
fits in again; a record that lost everything can nearly always keep one visit. Each pair is looked
at once: of the records that lost it, those get it back whose sequences are then in enough
records, the others that get it back included, and give no sensitive value away. Sequences without
the pair stay as they are, so what was private before is private after.

A sequence that would be beyond C is re-inserted in none of the records that lost it. Leaving out
just enough records with the sensitive value would put the sequence at exactly C, and tell everybody
that its true share is above. So among records with equal visits neither the sensitive value nor
the place in the file decides who gets a visit back: all do or none.

Started from nothing this is a method of its own: what is kept is grown instead of cut.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.arrays import concatenate_ranges, floor_multiples, group_equal
from hedgerow.data.subsequences import MOST_VISITS, VisitArrays
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.trajectories.kcl.suppression_input import too_many

__all__ = ["insertion_orders", "reinsert"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


def reinsert(visits: VisitArrays, alive: Flags, promise: KCL, pairs: Integers) -> Flags:
    """Re-insert visits pair by pair, in the order given; return which visits are kept then.

    `alive` says which are kept so far, and they must be private.
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
            alive[candidates] = _largest_private(sequences, kept, flags, limits)
    return alive


def insertion_orders(visits: VisitArrays) -> tuple[Integers, Integers]:
    """The pairs, frequent ones first and rare ones first: neither order is always the better one."""
    frequent = np.argsort(-np.bincount(visits.pairs, minlength=visits.size), kind="stable")
    return frequent, frequent[::-1]


class _Limits(NamedTuple):
    """What the promise asks: `k` records, and of n records at most `marked[n]` with a value."""

    k: int
    marked: Integers


class _Sequences(NamedTuple):
    """The sequences with one pair that its candidates would have: `at` is one of `candidate`.

    `length` is the number of visits of each sequence.
    """

    candidate: Integers
    at: Integers
    length: Integers


def _largest_private(sequences: _Sequences, kept: Flags, flags: Flags, limits: _Limits) -> Flags:
    """Drop candidates whose sequences would violate until none does; those kept so far stay."""
    inserted = np.ones(len(kept), np.bool_)
    while True:
        drop = _violating(sequences, inserted, kept, flags, limits)
        if not drop.any():
            return inserted
        inserted &= ~drop


def _sequences(visits: VisitArrays, alive: Flags, candidates: Integers, longest: int) -> _Sequences:
    """Every combination of the pair of a candidate with visits it has kept, up to the length known."""
    row = visits.record[candidates]
    visit, asked = concatenate_ranges(visits.starts[row], visits.starts[row + 1])
    there = alive[visit] & (visit != candidates[asked])
    visit, asked = visit[there], asked[there]
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


def _violating(sequences: _Sequences, inserted: Flags, kept: Flags, flags: Flags, limits: _Limits) -> Flags:
    """Candidates to drop: all of a sequence that too few have, else all of one beyond C.

    Of sequences beyond C the longest go first: without their candidates shorter ones may be within.
    """
    number = len(sequences.length)
    here = inserted[sequences.candidate]
    candidate, at = sequences.candidate[here], sequences.at[here]
    counts = np.bincount(at, minlength=number)
    free = ~kept[candidate]
    bad = free & (counts < limits.k)[at]
    if not bad.any():
        beyond = np.zeros(number, np.bool_)
        for flag in flags:
            beyond |= np.bincount(at[flag[candidate]], minlength=number) > limits.marked[counts]
        bad = free & beyond[at]
        length = sequences.length[at]
        bad &= length == length[bad].max(initial=0)
    drop = np.zeros(len(inserted), np.bool_)
    drop[candidate[bad]] = True
    return drop

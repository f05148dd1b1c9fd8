"""Give visits back: what suppression leaves out but need not.

Suppression decides by what violates in the data as it was. Once much of that is gone, many a visit
fits in again; a record that lost everything can nearly always keep one visit. Each pair is looked
at once: of the records that lost it, those get it back whose sequences are then held by enough
records, the others that get it back included, and give no sensitive value away. Sequences without
the pair stay as they are, so what was private before is private after.

A sequence that would be beyond C is given back to none of the records that lost it. Leaving out
just enough holders of the sensitive value would put the sequence at exactly C, and tell everybody
that its true share is above. So among records with equal visits neither the sensitive value nor
the place in the file decides who gets a visit back: all do or none.

Started from nothing this is a method of its own: what is kept is grown instead of cut.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.privacy.kcl import KCL
from hedgerow.steps.arrays import allowed, grouped, ranges
from hedgerow.steps.mining import MOST, Records

__all__ = ["give_back", "too_many"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


def give_back(records: Records, alive: Flags, promise: KCL, pairs: Integers) -> Flags:
    """Give visits back pair by pair, in the order given; return which visits are kept then.

    `alive` says which are kept so far, and they must be private.
    """
    alive = alive.copy()
    limits = _Limits(promise.k, allowed(promise.c, len(records.starts) - 1))
    for done, pair in enumerate(pairs.tolist()):
        progress.tell("giving visits back", done, len(pairs))
        holders = records.holding(pair)
        kept = alive[holders]
        if not kept.all():
            sequences = _sequences(records, alive, holders, promise.l)
            flags = records.flags[:, records.record[holders]]
            alive[holders] = _going_together(sequences, kept, flags, limits)
    return alive


def too_many(longest: int) -> ParameterError:
    """The error for data whose sequences no memory holds."""
    return ParameterError(
        f"there are too many sequences of up to {longest} visits to look at; take a smaller l, "
        "or coarser times so that records have fewer visits"
    )


class _Limits(NamedTuple):
    """What the promise asks: `k` records, and of n records at most `marked[n]` with a value."""

    k: int
    marked: Integers


class _Sequences(NamedTuple):
    """The sequences with one pair that its holders would have: `at` those of each `holder`.

    `length` is the number of visits of each sequence.
    """

    holder: Integers
    at: Integers
    length: Integers


def _going_together(sequences: _Sequences, kept: Flags, flags: Flags, limits: _Limits) -> Flags:
    """Drop holders whose sequences would violate until none does; those kept so far stay."""
    held = np.ones(len(kept), np.bool_)
    while True:
        drop = _violating(sequences, held, kept, flags, limits)
        if not drop.any():
            return held
        held &= ~drop


def _sequences(records: Records, alive: Flags, holders: Integers, longest: int) -> _Sequences:
    """Every combination of the pair of a holder with visits it has kept, up to the length known."""
    row = records.record[holders]
    visit, asked = ranges(records.starts[row], records.starts[row + 1])
    there = alive[visit] & (visit != holders[asked])
    visit, asked = visit[there], asked[there]
    end = np.cumsum(np.bincount(asked, minlength=len(holders)))
    holder, at = np.arange(len(holders)), np.zeros(len(holders), np.int64)
    following = np.concatenate(([0], end[:-1]))
    all_holders, all_at, numbers = [holder], [at], [1]
    for _ in range(1, longest):
        if int((end[holder] - following).sum()) > MOST:
            raise too_many(longest)
        index, before = ranges(following, end[holder])
        if not len(index):
            break
        codes, at = grouped(at[before] * records.size + records.pairs[visit[index]])
        holder, following = holder[before], index + 1
        all_holders.append(holder)
        all_at.append(at + sum(numbers))
        numbers.append(len(codes))
    length = np.repeat(np.arange(1, len(numbers) + 1), numbers)
    return _Sequences(np.concatenate(all_holders), np.concatenate(all_at), length)


def _violating(sequences: _Sequences, held: Flags, kept: Flags, flags: Flags, limits: _Limits) -> Flags:
    """Holders to drop: all of a sequence that too few have, else all of one beyond C.

    Of sequences beyond C the longest go first: without their holders shorter ones may be within.
    """
    number = len(sequences.length)
    here = held[sequences.holder]
    holder, at = sequences.holder[here], sequences.at[here]
    counts = np.bincount(at, minlength=number)
    free = ~kept[holder]
    bad = free & (counts < limits.k)[at]
    if not bad.any():
        beyond = np.zeros(number, np.bool_)
        for flag in flags:
            beyond |= np.bincount(at[flag[holder]], minlength=number) > limits.marked[counts]
        bad = free & beyond[at]
        length = sequences.length[at]
        bad &= length == length[bad].max(initial=0)
    drop = np.zeros(len(held), np.bool_)
    drop[holder[bad]] = True
    return drop

"""Give visits back: what suppression leaves out but need not.

Suppression decides by what violates in the data as it was. Once much of that is gone, many a visit
fits in again; a record that lost everything can nearly always keep one visit. Each pair is looked
at once: of the records that lost it, those get it back whose sequences are then held by enough
records, the others that get it back included, and give no sensitive value away. Sequences without
the pair stay as they are, so what was private before is private after.

Started from nothing this is a method of its own: what is kept is grown instead of cut.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.errors import ParameterError
from hedgerow.privacy.linkage import KCL
from hedgerow.steps.arrays import grouped, nth, ranges
from hedgerow.steps.mining import MOST, Records

__all__ = ["give_back", "too_many"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


def give_back(records: Records, alive: Flags, promise: KCL, pairs: Integers) -> Flags:
    """Give visits back pair by pair, in the order given; return which visits are kept then.

    `alive` says which are kept so far, and they must be private.
    """
    alive = alive.copy()
    for done, pair in enumerate(pairs.tolist()):
        progress.tell("giving visits back", done, len(pairs))
        holders = records.holding(pair)
        kept = alive[holders]
        if not kept.all():
            alive[holders] = _going_together(records, alive, holders, kept, promise)
    return alive


def too_many(longest: int) -> ParameterError:
    """The error for data whose sequences no memory holds."""
    return ParameterError(
        f"there are too many sequences of up to {longest} visits to look at; take a smaller l, "
        "or coarser times so that records have fewer visits"
    )


class _Sequences(NamedTuple):
    """The sequences with one pair that its holders would have: `at` those of each `holder`."""

    holder: Integers
    at: Integers
    number: int


def _going_together(
    records: Records, alive: Flags, holders: Integers, kept: Flags, promise: KCL
) -> Flags:
    """Drop holders whose sequences would violate until none does; those kept so far stay."""
    rows = records.record[holders]
    sequences = _sequences(records, alive, holders, promise.l)
    held = np.ones(len(holders), np.bool_)
    while True:
        drop = _violating(sequences, held, kept, records.flags[:, rows], promise)
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
    all_holders, all_at, number = [holder], [at], 1
    for _ in range(1, longest):
        if int((end[holder] - following).sum()) > MOST:
            raise too_many(longest)
        index, before = ranges(following, end[holder])
        if not len(index):
            break
        codes, at = grouped(at[before] * records.size + records.pairs[visit[index]])
        holder, following = holder[before], index + 1
        all_holders.append(holder)
        all_at.append(at + number)
        number += len(codes)
    return _Sequences(np.concatenate(all_holders), np.concatenate(all_at), number)


def _violating(
    sequences: _Sequences, held: Flags, kept: Flags, flags: Flags, promise: KCL
) -> Flags:
    """Holders to drop: all of a sequence too few have, else as many as give a value away."""
    drop = np.zeros(len(held), np.bool_)
    here = held[sequences.holder]
    holder, at = sequences.holder[here], sequences.at[here]
    counts = np.bincount(at, minlength=sequences.number)
    few = counts < promise.k
    drop[holder[few[at]]] = True
    drop &= ~kept
    if drop.any():
        return drop
    for flag in flags:
        marked = flag[holder]
        held_by = np.bincount(at[marked], minlength=sequences.number)
        many = _too_many(held_by, counts, promise.c)
        some = np.flatnonzero(marked & ~kept[holder] & (many[at] > 0))
        some = some[np.argsort(at[some], kind="stable")]
        drop[holder[some[nth(at[some]) < many[at[some]]]]] = True
    return drop


def _too_many(marked: Integers, counts: Integers, c: Fraction) -> Integers:
    """How many holders of a value must go: with each there is one less of it and one less of all.

    In whole numbers of any length; the likely ones are found by floating-point numbers first.
    """
    many = np.zeros(len(counts), np.int64)
    likely = np.flatnonzero(marked > counts * (float(c) * (1 - 1e-9)))
    for number in likely.tolist() if c < 1 else ():
        excess = int(marked[number]) * c.denominator - c.numerator * int(counts[number])
        many[number] = max(0, -(-excess // (c.denominator - c.numerator)))
    return many

"""Counting the sequences of visits that break (K,C)_L-privacy, by records or by persons.

Every sequence of up to L visits that occurs is examined; nothing is shared with the methods that keep the promise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hedgerow.data import Trajectories
from hedgerow.data.owners import require_owners
from hedgerow.errors import ParameterError

__all__ = ["count_repeats", "count_sequences", "count_violations"]

Integers: TypeAlias = NDArray[np.int64]

#: how many sequences are examined at once, and in total
_AT_ONCE = 30_000_000
_MOST = 20_000_000_000


class Limits(Protocol):
    """The numbers of the promise."""

    @property
    def k(self) -> int:
        """The least number of records, or persons."""
        ...

    @property
    def c(self) -> Fraction:
        """The largest share with a sensitive value."""
        ...

    @property
    def l(self) -> int:  # noqa: E743 - the letter of the paper
        """How many visits are known."""
        ...

    @property
    def sensitive(self) -> tuple[tuple[str, str], ...]:
        """The sensitive values, each as column and value."""
        ...


def count_violations(data: Trajectories, promise: Limits, *, persons: bool = False) -> dict[int, tuple[int, int]]:
    """Count, by length, the sequences in too few records, and those with too frequent values.

    The visits of a record are a set: one that stood twice would count its record twice (see `count_repeats`).

    With `persons`, the distinct owners of the records are counted, and those of the records with a sensitive value.
    """
    starts, pairs, traits = data.arrays()
    flags = np.stack(
        [data.records_with(traits, column, value) for column, value in promise.sensitive]
        or [np.zeros(len(data), np.bool_)]
    )
    sizes = np.diff(starts)
    owners = require_owners(data.persons) if persons else None
    total = count_sequences(sizes, promise.l)
    if total > _MOST:
        msg = f"verifying the promise would take {total:,} sequences; choose a smaller l or fewer visits"
        raise ParameterError(msg)
    records = np.bincount(sizes).tolist()  # how many records have each number of visits
    numbers = {
        size: sum(number * math.comb(length, size) for length, number in enumerate(records))
        for size in range(1, min(promise.l, len(records) - 1) + 1)
    }
    return {
        size: _count(starts, pairs, flags, owners, promise, size, -(-number // _AT_ONCE))
        for size, number in numbers.items()
    }


def count_repeats(data: Trajectories) -> int:
    """Count the records whose visits are not a set in canonical order: by time and then by place, each visit once.

    Only data with several visits at one time has such records. How often a visit stands there, and which of two at one
    time stands first, says more than the visits do.
    """
    starts, pairs, _ = data.arrays()
    record = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    beyond = (record[1:] == record[:-1]) & (pairs[1:] <= pairs[:-1])
    return len(np.unique(record[1:][beyond]))


def count_sequences(sizes: Integers, most: int) -> int:
    """Count the sequences of up to `most` visits in records of these sizes.

    It stops beyond the number that is ever examined: for a long record the numbers themselves are too long.
    """
    total = 0
    lengths, records = np.unique(sizes, return_counts=True)
    for length, number in zip(lengths.tolist(), records.tolist(), strict=True):
        for size in range(1, min(most, length) + 1):
            total += number * math.comb(length, size)
            if total > _MOST:
                return total
    return total


def _count(
    starts: Integers,
    pairs: Integers,
    flags: NDArray[np.bool_],
    owners: Integers | None,
    promise: Limits,
    size: int,
    parts: int,
) -> tuple[int, int]:
    """Group the occurrences of all sequences of one length, part by part of their first visit."""
    few = frequent = 0
    for part in range(parts):
        tables = [
            pl.DataFrame({"record": record, **{f"p{n}": visits[:, n] for n in range(size)}})
            for record, visits in _occurrences(starts, pairs, size, part, parts)
        ]
        if not tables:
            continue
        table = pl.concat(tables)
        keys = [f"p{n}" for n in range(size)]
        marks = [pl.Series(f"s{number}", flag[table["record"].to_numpy()]) for number, flag in enumerate(flags)]
        sums = [pl.col(mark.name).sum().cast(pl.Int64) for mark in marks]
        table = table.with_columns(marks)
        if owners is not None:  # each person once, with a mark if one of their records has it
            table = table.with_columns(pl.Series("person", owners[table["record"].to_numpy()]))
            table = table.group_by([*keys, "person"]).agg(pl.col(mark.name).any() for mark in marks)
        counted = table.group_by(keys).agg(pl.len().cast(pl.Int64), *sums)
        few += counted.filter(pl.col("len") < min(promise.k, _MOST)).height
        # in exact integers, so that a share of just 50 % does not exceed 50 %
        totals = counted["len"].unique()
        most = [int(total) * promise.c.numerator // promise.c.denominator for total in totals]
        most_marked = counted["len"].replace_strict(totals, pl.Series(most, dtype=pl.Int64))
        beyond = [counted[mark.name] > most_marked for mark in marks]
        frequent += int(np.logical_or.reduce([flag.to_numpy() for flag in beyond]).sum())
    return few, frequent


def _occurrences(
    starts: Integers, pairs: Integers, size: int, part: int, parts: int
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the record and the visits of every sequence of a length, by the length of records."""
    sizes = np.diff(starts)
    for length in np.unique(sizes[sizes >= size]).tolist():
        members = np.flatnonzero(sizes == length)
        visits = pairs[starts[members][:, None] + np.arange(length)]
        for first in range(length - size + 1):
            mine = np.flatnonzero(visits[:, first] % parts == part)
            later = list(itertools.combinations(range(first + 1, length), size - 1))
            rest = np.array(later, np.int64).reshape(len(later), size - 1)
            places = np.hstack([np.full((len(rest), 1), first), rest])
            yield np.repeat(members[mine], len(places)), visits[mine][:, places].reshape(-1, size)

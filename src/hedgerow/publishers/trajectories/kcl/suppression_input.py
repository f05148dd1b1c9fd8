"""The input of suppression: visits as arrays, their minimal violating sequences, and checks."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Trajectories
from hedgerow.data.owners import require_owners
from hedgerow.data.subsequences import MinedSequences, VisitArrays, mine_sequences
from hedgerow.errors import ParameterError
from hedgerow.privacy.kcl_criterion import KCL
from hedgerow.publishers.trajectories.kcl.utility_loss import Visit

__all__ = ["SuppressionInput", "count_occurrences", "mine_violations", "require_frequent_support", "too_many"]

Integers: TypeAlias = NDArray[np.int64]

#: data with more occurrences of sequences is refused
_MOST = 2_000_000_000


class SuppressionInput(NamedTuple):
    """Trajectories in canonical order, the same as arrays, and the place and time of each pair number."""

    data: Trajectories
    visits: VisitArrays
    names: list[Visit]

    @classmethod
    def of(cls, data: Trajectories, promise: KCL) -> SuppressionInput:
        """Number the pairs that occur, in the order of time, and mark the records with a sensitive value."""
        if data.several:
            msg = "suppression needs at most one visit per record and time; read with collisions=first or last"
            raise ParameterError(msg)
        data = data.sorted()  # so that the order of rows does not matter
        starts, pairs, traits = data.arrays()
        distinct, numbers = np.unique(pairs, return_inverse=True)
        flags = [data.records_with(traits, column, value) for column, value in promise.sensitive]
        marked = np.stack(flags) if flags else np.zeros((0, len(starts) - 1), np.bool_)
        visits = VisitArrays(starts, numbers.astype(np.int64), len(distinct), marked, _owners(data, promise))
        promise.warn_about(data)
        _warn_of_loss(visits, promise)
        return cls(data, visits, data.decode_pairs(distinct))


def _owners(data: Trajectories, promise: KCL) -> Integers | None:
    """The persons of records, if the promise counts them; None where every person owns one record: it is the same."""
    if not promise.counts_persons:
        return None
    persons, owners = np.unique(require_owners(data.persons), return_inverse=True)
    return None if len(persons) == len(data) else owners.astype(np.int64)


def mine_violations(visits: VisitArrays, promise: KCL) -> MinedSequences:
    """Mine all minimal violating sequences, or refuse data whose sequences do not fit in memory."""
    count_occurrences(visits, promise.l)
    mined = mine_sequences(visits, promise.k, promise.c, promise.l)
    if not mined.complete:
        raise too_many(promise.l)
    return mined


def count_occurrences(visits: VisitArrays, longest: int) -> int:
    """Count the occurrences of all sequences up to a length; this bounds the number of distinct sequences.

    Beyond the limit it stops and refuses: for long records even the numbers become too long.
    """
    total = 0
    lengths, numbers = np.unique(np.diff(visits.starts), return_counts=True)
    for length, number in zip(lengths.tolist(), numbers.tolist(), strict=True):
        for size in range(1, min(length, longest) + 1):
            total += number * math.comb(length, size)
            if total > _MOST:
                raise too_many(longest)
    return total


def too_many(longest: int) -> ParameterError:
    """The error for data whose sequences do not fit in memory."""
    return ParameterError(
        f"there are too many sequences of up to {longest} visits to mine; take a smaller l, "
        "or coarser times so that records have fewer visits"
    )


def require_frequent_support(method: str, metric: str, k_prime: int) -> None:
    """Refuse the metric of frequent sequences without the support from which on they are frequent."""
    if metric == "mfs" and k_prime < 1:
        msg = f"{method}.k_prime must be at least 1 for metric mfs; got 0"
        raise ParameterError(msg)


def _warn_of_loss(visits: VisitArrays, promise: KCL) -> None:
    """Warn about settings that cost much utility but are valid."""
    if 0 < visits.units < promise.k:
        counted = "records" if visits.owners is None else "persons"
        warnings.warn(
            f"k = {promise.k} is more than there are {counted}: all visits will be suppressed",
            stacklevel=2,
        )
    every = np.arange(len(visits.starts) - 1)
    for (column, _), flags in zip(promise.sensitive, visits.flags, strict=True):
        (marked,) = visits.count_units(np.zeros(int(flags.sum()), np.int64), every[flags], 1)
        if int(marked) * promise.c.denominator > promise.c.numerator * visits.units:
            warnings.warn(
                f"a sensitive value of {column!r} is more frequent than c in all of the data; "
                "many visits will be suppressed",
                stacklevel=2,
            )

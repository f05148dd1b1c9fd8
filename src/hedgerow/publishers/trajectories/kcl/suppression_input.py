"""What suppression starts from: visits as arrays, their minimal violating sequences, and what is refused."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np

from hedgerow.data import Trajectories
from hedgerow.data.subsequences import MinedSequences, VisitArrays, mine_sequences
from hedgerow.errors import ParameterError
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.trajectories.kcl.utility_loss import Visit

__all__ = ["SuppressionInput", "count_occurrences", "mine_violations", "require_support", "too_many"]

#: beyond so many occurrences of sequences nothing is tried
_MOST = 2_000_000_000


class SuppressionInput(NamedTuple):
    """Trajectories in canonical order, the same as arrays, and the place and time of each pair in those."""

    data: Trajectories
    visits: VisitArrays
    names: list[Visit]

    @classmethod
    def of(cls, data: Trajectories, promise: KCL) -> SuppressionInput:
        """Number the pairs that occur, in the order of time, and mark who has a sensitive value."""
        if data.several:
            msg = "suppression needs one visit at a time; read with collisions=first or last"
            raise ParameterError(msg)
        data = data.canonical()  # so that the order of rows decides nothing
        starts, pairs, traits = data.arrays()
        distinct, numbers = np.unique(pairs, return_inverse=True)
        flags = [data.records_with(traits, column, value) for column, value in promise.sensitive]
        marked = np.stack(flags) if flags else np.zeros((0, len(starts) - 1), np.bool_)
        visits = VisitArrays(starts, numbers.astype(np.int64), len(distinct), marked)
        promise.warn_about(data)
        _warn_of_loss(visits, promise)
        return cls(data, visits, data.decode_pairs(distinct))


def mine_violations(visits: VisitArrays, promise: KCL) -> MinedSequences:
    """Find all minimal violating sequences, or refuse data whose sequences no memory holds."""
    count_occurrences(visits, promise.l)
    mined = mine_sequences(visits, promise.k, promise.c, promise.l)
    if not mined.complete:
        raise too_many(promise.l)
    return mined


def count_occurrences(visits: VisitArrays, longest: int) -> int:
    """How often sequences of up to a length occur: at least once each, so no list is longer.

    It stops beyond what can be done: for long records the numbers themselves are too long.
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
    """The error for data whose sequences no memory holds."""
    return ParameterError(
        f"there are too many sequences of up to {longest} visits to look at; take a smaller l, "
        "or coarser times so that records have fewer visits"
    )


def require_support(method: str, metric: str, k_prime: int) -> None:
    """Refuse the metric of frequent sequences without a number that makes them frequent."""
    if metric == "mfs" and k_prime < 1:
        msg = f"{method}.k_prime must be at least 1 for metric mfs; got 0"
        raise ParameterError(msg)


def _warn_of_loss(visits: VisitArrays, promise: KCL) -> None:
    """Say what costs much and is no error."""
    records = len(visits.starts) - 1
    if 0 < records < promise.k:
        warnings.warn(
            f"k = {promise.k} is more than there are records: every visit is suppressed",
            stacklevel=2,
        )
    for (column, _), flags in zip(promise.sensitive, visits.flags, strict=True):
        if int(flags.sum()) * promise.c.denominator > promise.c.numerator * records:
            warnings.warn(
                f"a sensitive value of {column!r} is more frequent than c in all of the data; much will be suppressed",
                stacklevel=2,
            )

"""(K,C)_L-privacy of trajectories by local and global suppression."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Trajectories
from hedgerow.errors import ParameterError
from hedgerow.privacy import Ledger
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.trajectories.batch import suppress_in_batches
from hedgerow.publishers.trajectories.giving_back import give_back, too_many
from hedgerow.publishers.trajectories.greedy import Board, suppress_greedily
from hedgerow.publishers.trajectories.metrics import METRICS, Metric, Visit
from hedgerow.steps.mining import Records, mine

__all__ = ["LocalSuppression", "records_of"]

Flags: TypeAlias = NDArray[np.bool_]

#: up to so many minimal violating sequences one operation at a time is fast enough
_GREEDY = 3_000
#: beyond so many occurrences of sequences growing alone lost no more, and is far faster
_GROW = 10_000_000
#: and beyond so many nothing is tried
_MOST = 2_000_000_000


@dataclass(frozen=True, kw_only=True)
class LocalSuppression(Publisher[Trajectories]):
    r"""Publish trajectories with as few visits deleted as whoever knows a few visits requires.

    Every *minimal violating sequence* of up to $L$ visits is found. Deleting one of its visits from
    just the records that hold all of it (local suppression), or from all records (global), makes it
    vanish; operations with the best gain for their loss come first [1]_.

    Corrected: the printed test of a local suppression looks at too few sequences for $L \ge 3$ and
    leaves violations, as does its refreshing of scores already for $L = 2$; candidates are pruned
    by all their parts; equality with $C$ is no violation; and the result is verified by code of its
    own. Ours: visits that need not be suppressed are given back (`give_back`), and growing from
    nothing alone (`schedule` grow) is a method for very long lists of violations.

    Privacy
    -------
    Nothing is asked of the ledger: the promise is about the output, and is checked there. The
    operations are not published; they would undo the protection.

    Examples
    --------
    >>> visits = [[("park", 8), ("bank", 9)]] * 4 + [[("park", 8), ("clinic", 9)]]
    >>> data = Trajectories.from_records(visits)
    >>> release = LocalSuppression().publish(data, KCL(k=2, l=2))
    >>> release.data.records()[0]
    ((('park', 8),), ())

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, N. Mohammed, B. C. Desai, K. Wang. "Privacy-preserving trajectory
       data publishing by local suppression". Information Sciences 231, 2013.
    """

    name: ClassVar[str] = "kcl"
    kinds: ClassVar = (Trajectories,)
    keeps: ClassVar = (KCL,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True

    mode: str = param("local", "where visits may be deleted", choices=("local", "global"))
    metric: str = param("instances", "what should be kept", choices=METRICS)
    k_prime: int = param(0, "records that make a sequence frequent; for metric mfs", ge=0)
    schedule: str = param(
        "auto",
        "suppress one operation at a time or many, or grow from nothing",
        choices=("auto", "greedy", "batch", "grow"),
    )
    give_back: bool = param(True, "give back what need not be suppressed; in mode local")
    pre_suppress_singletons: bool = param(False, "delete pairs that violate by themselves before anything else")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.metric == "mfs" and self.k_prime < 1:
            msg = "LocalSuppression.k_prime must be at least 1 for metric mfs; got 0"
            raise ParameterError(msg)
        if self.schedule == "grow" and (self.mode == "global" or not self.give_back):
            msg = "LocalSuppression.schedule can be grow only in mode local and with give_back"
            raise ParameterError(msg)

    @property
    def workload(self) -> Mapping[str, int]:
        """In how many records a sequence is frequent, where that is said."""
        return {"frequent": self.k_prime}

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Find what violates, suppress until nothing does, give back what need not be gone."""
        promise = ledger.promised(KCL)
        if data.several:
            msg = "kcl needs one visit at a time; read with collisions=first or last"
            raise ParameterError(msg)
        data = data.canonical()  # so that the order of rows decides nothing
        records, visits = records_of(data, promise)
        promise.notice(data)
        _warn(records, promise)
        if promise.k > len(data):
            return data.truncated(0)
        occurrences = _count_occurrences(records, promise.l)
        if occurrences > _MOST:
            raise too_many(promise.l)
        metric = METRICS[self.metric](records, visits, self.k_prime)
        giving = self.give_back and self.mode == "local"
        # decided before anything is mined: what is mined is used
        large = self.schedule == "auto" and giving and occurrences > _GROW
        results: list[Flags] = []
        if self.schedule != "grow" and not large:
            results.append(self._suppressed(records, promise, metric))
        if giving:
            nothing = np.zeros(len(records.pairs), np.bool_)
            results += _given_back(records, [nothing, *results], promise)
        return data.keep_visits(max(results, key=lambda kept: (metric.kept(kept), kept.sum())))

    def _suppressed(self, records: Records, promise: KCL, metric: Metric) -> Flags:
        """Find all MVS and suppress until none is left; say which visits are kept."""
        mined = mine(records, promise.k, promise.c, promise.l)
        if not mined.complete:
            raise too_many(promise.l)
        alone = np.zeros(0, np.int64)
        if self.pre_suppress_singletons and mined.violating:
            # such a pair is in no other MVS and in no clean sequence
            alone = mined.violating[0].places[:, 0]
            metric.deleted(alone)
            mined = mined.without_singletons()
        listed = sum(len(level.codes) for level in mined.violating)
        local = self.mode == "local"
        if self.schedule == "batch" or (self.schedule == "auto" and listed > _GREEDY):
            kept = suppress_in_batches(records, mined, promise, metric, local=local)
        else:
            board = Board(records, mined, promise)
            suppress_greedily(board, metric, local=local)
            kept = board.alive()
        kept[alone] = False
        return kept


def _given_back(records: Records, starts: list[Flags], promise: KCL) -> list[Flags]:
    """Give back to each start, frequent pairs first and rare ones first: neither is always best."""
    frequent = np.argsort(-np.bincount(records.pairs, minlength=records.size), kind="stable")
    orders = (frequent, frequent[::-1])
    return [give_back(records, start, promise, pairs) for start in starts for pairs in orders]


def records_of(data: Trajectories, promise: KCL) -> tuple[Records, list[Visit]]:
    """Number the pairs that occur, in the order of time, and mark who has a sensitive value."""
    starts, pairs, traits = data.arrays()
    found, numbers = np.unique(pairs, return_inverse=True)
    flags = [data.holders(traits, column, value) for column, value in promise.sensitive]
    held = np.stack(flags) if flags else np.zeros((0, len(starts) - 1), np.bool_)
    return Records(starts, numbers.astype(np.int64), len(found), held), data.named(found)


def _count_occurrences(records: Records, longest: int) -> int:
    """How often sequences of up to a length occur: at least once each, so no list is longer.

    It stops beyond what can be done: for long records the numbers themselves are too long.
    """
    total = 0
    lengths, numbers = np.unique(np.diff(records.starts), return_counts=True)
    for length, number in zip(lengths.tolist(), numbers.tolist(), strict=True):
        for size in range(1, min(length, longest) + 1):
            total += number * math.comb(length, size)
            if total > _MOST:
                return total
    return total


def _warn(records: Records, promise: KCL) -> None:
    """Say what costs much and is no error."""
    rows = len(records.starts) - 1
    if 0 < rows < promise.k:
        warnings.warn(
            f"k = {promise.k} is more than there are records: every visit is suppressed",
            stacklevel=2,
        )
    for (column, _), flags in zip(promise.sensitive, records.flags, strict=True):
        if int(flags.sum()) * promise.c.denominator > promise.c.numerator * rows:
            warnings.warn(
                f"a sensitive value of {column!r} is more frequent than c in all of the data; much will be suppressed",
                stacklevel=2,
            )

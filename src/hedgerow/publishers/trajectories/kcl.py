"""(K,C)_L-privacy of trajectories by local and global suppression."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Trajectories
from hedgerow.errors import ParameterError
from hedgerow.privacy import Ledger
from hedgerow.privacy.linkage import KCL
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.trajectories.batch import suppress_in_batches
from hedgerow.publishers.trajectories.frequent import FrequentSequences, maximal_frequent
from hedgerow.publishers.trajectories.greedy import Board, Instances, Metric, suppress_greedily
from hedgerow.publishers.trajectories.mining import Mined, Records, mine

__all__ = ["LocalSuppression", "records_of"]

Flags: TypeAlias = NDArray[np.bool_]

#: up to so many minimal violating sequences one operation at a time is fast enough
_GREEDY = 3_000


@dataclass(frozen=True, kw_only=True)
class LocalSuppression(Publisher[Trajectories]):
    r"""Publish trajectories with as few visits deleted as whoever knows a few visits requires.

    Every *minimal violating sequence* of up to $L$ visits is found. Deleting one of its visits from
    just the records that hold all of it (local suppression), or from all records (global), makes it
    vanish; operations with the best gain for their loss come first [1]_.

    Corrected: the printed test of a local suppression looks at too few sequences for $L \ge 3$ and
    leaves violations, as does its refreshing of scores already for $L = 2$; candidates are pruned
    by all their parts; equality with $C$ is no violation; and the result is verified by code of its
    own.

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

    mode: str = param("local", "where visits may be deleted", choices=("local", "global"))
    metric: str = param("instances", "what should be kept", choices=("instances", "mfs"))
    k_prime: int = param(0, "records that make a sequence frequent; for metric mfs", ge=0)
    schedule: str = param(
        "auto", "one operation at a time, or many", choices=("auto", "greedy", "batch")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.metric == "mfs" and self.k_prime < 1:
            msg = "LocalSuppression.k_prime must be at least 1 for metric mfs; got 0"
            raise ParameterError(msg)
        if self.metric == "mfs" and self.schedule == "batch":
            msg = "LocalSuppression.schedule must be greedy or auto for metric mfs; got 'batch'"
            raise ParameterError(msg)

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Find what violates, suppress until nothing does."""
        promise = ledger.promised(KCL)
        records = records_of(data, promise)
        _warn(records, promise)
        mined = mine(records, promise.k, promise.c, promise.l)
        return data.keep_visits(self._suppressed(records, mined, promise))

    def _suppressed(self, records: Records, mined: Mined, promise: KCL) -> Flags:
        """Say which visits are kept."""
        local, listed = self.mode == "local", sum(len(level.codes) for level in mined.violating)
        many = self.schedule == "batch" or (self.schedule == "auto" and listed > _GREEDY)
        if many and self.metric == "instances":
            return suppress_in_batches(records, mined, promise.k, promise.c, local=local)
        board = Board(records, mined, promise.k, promise.c, promise.l)
        suppress_greedily(board, self._metric(records, board), local=local)
        held = zip(records.record.tolist(), records.pairs.tolist(), strict=True)
        return np.array([pair in board.records[row] for row, pair in held], np.bool_)

    def _metric(self, records: Records, board: Board) -> Metric:
        if self.metric == "instances":
            return Instances(board)
        return FrequentSequences(maximal_frequent(records, self.k_prime), self.k_prime)


def records_of(data: Trajectories, promise: KCL) -> Records:
    """Number the pairs that occur, in the order of time, and mark who has a sensitive value."""
    starts, pairs, traits = data.arrays()
    found, numbers = np.unique(pairs, return_inverse=True)
    flags = [data.holders(traits, column, value) for column, value in promise.sensitive]
    held = np.stack(flags) if flags else np.zeros((0, len(starts) - 1), np.bool_)
    return Records(starts, numbers.astype(np.int64), len(found), held)


def _warn(records: Records, promise: KCL) -> None:
    """Say what costs much and is no error."""
    rows = len(records.starts) - 1
    if promise.k > rows:
        warnings.warn(
            f"k = {promise.k} is more than there are records: every visit is suppressed",
            stacklevel=2,
        )
    for (column, _), flags in zip(promise.sensitive, records.flags, strict=True):
        if not flags.any():
            warnings.warn(f"a sensitive value of {column!r} does not occur", stacklevel=2)
        elif int(flags.sum()) * promise.c.denominator > promise.c.numerator * rows:
            warnings.warn(
                f"a sensitive value of {column!r} is more frequent than c in all of the data; "
                "much will be suppressed",
                stacklevel=2,
            )

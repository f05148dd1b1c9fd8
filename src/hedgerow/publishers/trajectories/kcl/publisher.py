"""(K,C)_L-privacy of trajectories by local and global suppression, as the paper has it, corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.data import Trajectories
from hedgerow.privacy import Ledger
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.trajectories.kcl.global_suppression import suppress_globally
from hedgerow.publishers.trajectories.kcl.greedy_suppression import suppress_greedily
from hedgerow.publishers.trajectories.kcl.suppression_input import SuppressionInput, mine_violations, require_support
from hedgerow.publishers.trajectories.kcl.utility_loss import METRICS

__all__ = ["LocalSuppression"]


@dataclass(frozen=True, kw_only=True)
class LocalSuppression(Publisher[Trajectories]):
    r"""Publish trajectories by local and global suppression, one operation at a time.

    Every *minimal violating sequence* of up to $L$ visits is found. Deleting one of its visits from
    just the records that have all of it (local suppression), or from all records (global), makes it
    vanish; the operation with the best privacy gain for its utility loss comes first [1]_.

    Corrected: the printed test of a local suppression looks at too few sequences for $L \ge 3$ and
    leaves violations, as does its refreshing of scores already for $L = 2$; candidates are pruned
    by all their parts; equality with $C$ is no violation; and the result is verified by code of its
    own. One local operation takes about a millisecond: for lists of many thousand violating sequences, and for less
    loss on any, there is `kcl-reinsertion`.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        require_support("LocalSuppression", self.metric, self.k_prime)

    @property
    def workload(self) -> Mapping[str, int]:
        """What makes a sequence frequent, where that was said."""
        return {"frequent": self.k_prime} if self.k_prime else {}

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Find all minimal violating sequences; suppress, the best operation first, until none is left."""
        promise = ledger.promised(KCL)
        data, visits, names = SuppressionInput.of(data, promise)
        if promise.k > len(data):
            return data.truncated(0)
        mined = mine_violations(visits, promise)
        metric = METRICS[self.metric](visits, names, self.k_prime)
        if self.mode == "global":
            kept = ~np.isin(visits.pairs, suppress_globally(visits, mined, metric))
        else:
            kept = suppress_greedily(visits, mined, promise, metric)
        return data.keep_visits(kept)

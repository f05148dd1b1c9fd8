"""(K,C)_L-privacy of trajectories by local and global suppression: the method of the paper, corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.data import Trajectories
from hedgerow.privacy import Ledger
from hedgerow.privacy.kcl_criterion import KCL
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.trajectories.kcl.global_suppression import suppress_globally
from hedgerow.publishers.trajectories.kcl.greedy_suppression import suppress_greedily
from hedgerow.publishers.trajectories.kcl.suppression_input import (
    SuppressionInput,
    mine_violations,
    require_frequent_support,
)
from hedgerow.publishers.trajectories.kcl.utility_loss import METRICS

__all__ = ["LocalSuppression"]


@dataclass(frozen=True, kw_only=True)
class LocalSuppression(Publisher[Trajectories]):
    r"""Publish trajectories by local and global suppression, one operation at a time.

    All *minimal violating sequences* (MVS) of up to $L$ visits are mined. An MVS is eliminated by deleting one of its
    visits, either from the records that contain the whole sequence (local suppression) or from all records (global
    suppression). The operation with the largest score, privacy gain over utility loss, comes first [1]_.

    Corrected: the printed validity test of a local suppression examines too few sequences for $L \ge 3$ and leaves
    violations, and so does the printed update of scores already for $L = 2$; candidates are pruned by all their
    subsequences; a share equal to $C$ is not a violation; the result is verified by independent code. One local
    operation takes about a millisecond: for many thousand violating sequences, and for a smaller utility loss in
    general, use `kcl-reinsertion`.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on the output. The
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

    mode: str = param("local", "suppress locally and globally, or globally only", choices=("local", "global"))
    metric: str = param(
        "instances",
        "the utility loss: deleted visits, or lost maximal frequent sequences",
        choices=METRICS,
    )
    k_prime: int = param(0, "support from which on a sequence is frequent; for metric mfs", ge=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_frequent_support("LocalSuppression", self.metric, self.k_prime)

    @property
    def workload(self) -> Mapping[str, int]:
        """The support of frequent sequences, if `k_prime` is set."""
        return {"frequent": self.k_prime} if self.k_prime else {}

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Mine all minimal violating sequences, and suppress, the best operation first, until none is left."""
        promise = ledger.promised(KCL)
        data, visits, names = SuppressionInput.of(data, promise)
        if promise.k > visits.units:
            return data.truncated(0)
        mined = mine_violations(visits, promise)
        metric = METRICS[self.metric](visits, names, self.k_prime)
        if self.mode == "global":
            kept = ~np.isin(visits.pairs, suppress_globally(visits, mined, metric))
        else:
            kept = suppress_greedily(visits, mined, promise, metric)
        return data.keep_visits(kept)

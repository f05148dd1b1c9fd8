"""(K,C)_L-privacy of trajectories by suppression and re-insertion of visits: ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Trajectories
from hedgerow.data.subsequences import VisitArrays
from hedgerow.privacy import Ledger
from hedgerow.privacy.kcl import KCL
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.trajectories.kcl.greedy_suppression import suppress_greedily
from hedgerow.publishers.trajectories.kcl.suppression_input import (
    SuppressionInput,
    count_occurrences,
    mine_violations,
    require_support,
)
from hedgerow.publishers.trajectories.kcl.utility_loss import METRICS, Metric
from hedgerow.publishers.trajectories.kcl_reinsertion.batch_suppression import suppress_in_batches
from hedgerow.publishers.trajectories.kcl_reinsertion.reinsertion import insertion_orders, reinsert

__all__ = ["SuppressionWithReinsertion"]

Flags: TypeAlias = NDArray[np.bool_]

#: up to so many minimal violating sequences one operation at a time is fast enough
_GREEDY = 3_000
#: beyond so many occurrences of sequences growing alone lost no more, and is far faster
_GROW = 10_000_000


@dataclass(frozen=True, kw_only=True)
class SuppressionWithReinsertion(Publisher[Trajectories]):
    r"""Publish trajectories by suppression, and re-insert what need not have been suppressed.

    Suppression is that of `kcl` [1]_: visits of *minimal violating sequences* are deleted, locally or everywhere,
    one operation at a time where there are few such sequences and in batches where there are many. Ours: each pair of
    place and time is then re-inserted in the records that lost it, wherever the promise still holds with
    it. The same is done starting from no visit at all, which alone is a method for very long lists of
    violations (`schedule` grow). What keeps most is published.

    Privacy
    -------
    Nothing is asked of the ledger: the promise is about the output, and is checked there. Among records with
    equal visits all get a visit back or none, so a sensitive value decides about no single record.

    Examples
    --------
    >>> visits = [[("park", 8), ("bank", 9)]] * 4 + [[("park", 8), ("clinic", 9)]]
    >>> data = Trajectories.from_records(visits)
    >>> release = SuppressionWithReinsertion().publish(data, KCL(k=2, l=2))
    >>> release.data.records()[0]
    ((('park', 8),), ())

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, N. Mohammed, B. C. Desai, K. Wang. "Privacy-preserving trajectory
       data publishing by local suppression". Information Sciences 231, 2013; re-insertion is not in it.
    """

    name: ClassVar[str] = "kcl-reinsertion"
    kinds: ClassVar = (Trajectories,)
    keeps: ClassVar = (KCL,)
    units: ClassVar = ()
    reads_all_records: ClassVar[bool] = True
    # docs/results/kcl.md: of 12 runs on public data the loss was lowest in each
    recommended: ClassVar[str] = "visits that must stay as they were, under K, C and L"

    metric: str = param("instances", "what should be kept", choices=METRICS)
    k_prime: int = param(0, "records that make a sequence frequent; for metric mfs", ge=0)
    schedule: str = param(
        "auto",
        "suppress in batches, or grow from nothing; auto: as the size of the data asks for",
        choices=("auto", "batch", "grow"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_support("SuppressionWithReinsertion", self.metric, self.k_prime)

    @property
    def workload(self) -> Mapping[str, int]:
        """What makes a sequence frequent, where that was said."""
        return {"frequent": self.k_prime} if self.k_prime else {}

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Suppress until nothing violates, re-insert what need not be gone, take what keeps most."""
        promise = ledger.promised(KCL)
        data, visits, names = SuppressionInput.of(data, promise)
        if promise.k > len(data):
            return data.truncated(0)
        # decided before anything is mined: what is mined is used
        large = count_occurrences(visits, promise.l) > _GROW
        grown = self.schedule == "grow" or (self.schedule == "auto" and large)
        metric = METRICS[self.metric](visits, names, self.k_prime)
        suppressed = [] if grown else [self._suppress(visits, promise, metric)]
        nothing = np.zeros(len(visits.pairs), np.bool_)
        reinserted = [
            reinsert(visits, start, promise, pairs)
            for start in (nothing, *suppressed)
            for pairs in insertion_orders(visits)
        ]
        return data.keep_visits(max([*suppressed, *reinserted], key=lambda kept: (metric.kept(kept), kept.sum())))

    def _suppress(self, visits: VisitArrays, promise: KCL, metric: Metric) -> Flags:
        """Find all minimal violating sequences and suppress until none is left; say which visits are kept."""
        mined = mine_violations(visits, promise)
        few = sum(len(level.codes) for level in mined.violating) <= _GREEDY
        if few and self.schedule == "auto":
            return suppress_greedily(visits, mined, promise, metric)
        return suppress_in_batches(visits, mined, promise, metric)

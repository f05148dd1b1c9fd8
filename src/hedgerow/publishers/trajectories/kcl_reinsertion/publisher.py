"""(K,C)_L-privacy of trajectories by suppression and re-insertion of visits: our own method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Trajectories
from hedgerow.data.subsequences import VisitArrays
from hedgerow.errors import ParameterError
from hedgerow.privacy import Ledger
from hedgerow.privacy.kcl_criterion import KCL
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.trajectories.kcl.greedy_suppression import suppress_greedily
from hedgerow.publishers.trajectories.kcl.suppression_input import (
    SuppressionInput,
    count_occurrences,
    mine_violations,
    require_frequent_support,
)
from hedgerow.publishers.trajectories.kcl.utility_loss import METRICS, Metric
from hedgerow.publishers.trajectories.kcl_reinsertion.batch_suppression import suppress_in_batches
from hedgerow.publishers.trajectories.kcl_reinsertion.reinsertion import insertion_orders, reinsert

__all__ = ["SuppressionWithReinsertion"]

Flags: TypeAlias = NDArray[np.bool_]

#: up to this many minimal violating sequences, one operation at a time is fast enough
_GREEDY = 3_000
#: with more occurrences of sequences, growing from nothing alone lost no more utility and is far faster
_GROW = 10_000_000


@dataclass(frozen=True, kw_only=True)
class SuppressionWithReinsertion(Publisher[Trajectories]):
    r"""Publish trajectories by suppression, followed by re-insertion of visits that did not have to be suppressed.

    Suppression is that of `kcl` [1]_: visits of *minimal violating sequences* are deleted, locally or globally,
    one operation at a time if there are few such sequences, and in batches if there are many. Our addition is
    re-insertion: each pair of place and time is re-inserted into the records that lost it, wherever the guarantee still
    holds. Re-insertion is also run from no visits at all (growing), which alone is a method for very many
    violating sequences (`schedule` grow). The result with the largest utility is published.

    Privacy
    -------
    Nothing is asked of the ledger: the guarantee is a property of the output, and is verified on the output. Among
    records with equal visits either all get a visit back or none, so a sensitive value never decides about a single
    record.

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

    metric: str = param(
        "instances",
        "the utility loss: deleted visits, or lost maximal frequent sequences",
        choices=METRICS,
    )
    k_prime: int = param(0, "support from which on a sequence is frequent; for metric mfs", ge=0)
    schedule: str = param(
        "auto",
        "suppress in batches and re-insert, or only grow from no visits; auto: by the size of the data",
        choices=("auto", "batch", "grow"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_frequent_support("SuppressionWithReinsertion", self.metric, self.k_prime)

    @property
    def workload(self) -> Mapping[str, int]:
        """The support of frequent sequences, if `k_prime` is set."""
        return {"frequent": self.k_prime} if self.k_prime else {}

    def run(self, data: Trajectories, ledger: Ledger) -> Trajectories:
        """Suppress until nothing violates, re-insert visits, and take the result with the largest utility."""
        promise = ledger.promised(KCL)
        data, visits, names = SuppressionInput.of(data, promise)
        if promise.k > visits.units:
            return data.truncated(0)
        grown = self._grows(visits, promise)
        metric = METRICS[self.metric](visits, names, self.k_prime)
        suppressed = [] if grown else [self._suppress(visits, promise, metric)]
        no_visits = np.zeros(len(visits.pairs), np.bool_)
        reinserted = [
            reinsert(visits, start, promise, pairs)
            for start in (no_visits, *suppressed)
            for pairs in insertion_orders(visits)
        ]
        return data.keep_visits(max([*suppressed, *reinserted], key=lambda kept: (metric.kept(kept), kept.sum())))

    def _grows(self, visits: VisitArrays, promise: KCL) -> bool:
        """Whether visits are only inserted; decided before mining, so that nothing is mined in vain."""
        large = count_occurrences(visits, promise.l) > _GROW
        if visits.owners is None or self.schedule == "grow":
            return self.schedule == "grow" or (self.schedule == "auto" and large)
        if self.schedule == "batch":
            msg = "schedule=batch counts records, and persons own several here; take schedule=auto or grow"
            raise ParameterError(msg)
        # batches count records: with persons, one operation at a time where it is fast enough
        return large or sum(len(level.codes) for level in mine_violations(visits, promise).violating) > _GREEDY

    def _suppress(self, visits: VisitArrays, promise: KCL, metric: Metric) -> Flags:
        """Mine all minimal violating sequences and suppress until none is left; return which visits are kept."""
        mined = mine_violations(visits, promise)
        few = sum(len(level.codes) for level in mined.violating) <= _GREEDY
        if few and self.schedule == "auto":
            return suppress_greedily(visits, mined, promise, metric)
        return suppress_in_batches(visits, mined, promise, metric)

"""Noisy counts of single items: what a release of sets must beat to be worth its name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.kinds.sets.data import Sets
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publisher import Publisher, expected_noise, param, require_little_noise


@dataclass(frozen=True, kw_only=True)
class NoisySingletons(Publisher[Sets]):
    r"""Publish sets of one item each, as many as the noisy count of the item.

    A baseline: it keeps the counts of single items, but not which items occur together.

    Privacy
    -------
    item counts: L1 = `items`, since at most that many items of a record are counted, the first in the order of the
    domain; asked once with the whole budget, for every item of the domain.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["bread", "milk", "tea"])
    >>> data = Sets.from_records([["bread", "milk"]] * 90 + [["tea"]] * 60, domain=domain)
    >>> promise = PureDP(epsilon=1, unit="record")
    >>> NoisySingletons(items=2).publish(data, promise, seed=1).data.itemsets()
    [(('bread',), 95), (('milk',), 95), (('tea',), 50)]

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith. "Calibrating noise to sensitivity in private
       data analysis". TCC 2006.
    """

    name: ClassVar[str] = "noisy-singletons"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")
    # docs/results/pairwise-marginals.md: on completejourney it counts single items about as well as pairwise-marginals;
    # where records are longer it does not
    recommended: ClassVar[str] = "records of one or two of more than 20 items, if counts of single items are enough"

    items: int = param(5, "how many items of a record are counted", ge=1)
    threshold: float = param(2.0, "standard deviations of the noise that a count must reach", ge=0)

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Count items with noise, and publish those that reach the threshold."""
        scale = self.items / float(ledger.budget)
        cutoff = max(1, math.ceil(math.sqrt(2) * self.threshold * scale))
        most = expected_noise(data.domain.size("item"), scale, cutoff)
        require_little_noise(most, "items", "take a larger epsilon, a higher threshold or fewer items")
        exact = data.count_items(most=self.items)
        noisy = ledger.ask(exact, Laplace(l1=self.items), spend=ledger.budget, label="item counts")
        kept = np.flatnonzero(noisy >= cutoff)
        row = np.arange(len(kept), dtype=np.int64)
        return Sets.from_counts(row=row, item=kept, counts=noisy[kept], domain=data.domain)

"""The noisy histogram over all itemsets of a small universe: the baseline for sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from hedgerow.kinds.sets.data import Sets
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publisher import Publisher, expected_noise, param, require_little_noise


@dataclass(frozen=True, kw_only=True)
class FlatLaplace(Publisher[Sets]):
    r"""Publish sets by adding noise to the count of every possible itemset.

    Laplace noise is added to the counts of all $2^{|I|} - 1$ non-empty itemsets, also those that occur in no record.
    Itemsets whose noisy count reaches the threshold $\sqrt{2} \, threshold / \varepsilon$, and at least 1, are
    published [1]_.

    Privacy
    -------
    itemset counts: L1 = 1, since a record is exactly one itemset; asked once with the whole
    budget. The itemsets come from the declared items, and the cutoff from the budget.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["bread", "milk", "tea"])
    >>> baskets = [["bread"]] * 40 + [["bread", "milk"]] * 25 + [["tea"]]
    >>> data = Sets.from_records(baskets, domain=domain)
    >>> release = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"), seed=7)
    >>> release.data.itemsets()
    [(('bread',), 40), (('bread', 'milk'), 26)]

    References
    ----------
    .. [1] R. Chen, N. Mohammed, B. C. M. Fung, B. C. Desai, L. Xiong. "Publishing set-valued data via
       differential privacy". PVLDB 4(11), 2011; there it is the competitor called Basic.
    """

    name: ClassVar[str] = "flat-laplace"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")

    threshold: float = param(2.0, "standard deviations of the noise that a count must reach", ge=0)

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Count every itemset with noise, and publish those that reach the threshold."""
        itemsets = 2 ** data.domain.size("item") - 1
        cutoff = max(1, math.ceil(math.sqrt(2) * self.threshold / ledger.budget))
        masks, exact = data.histogram()
        most = expected_noise(itemsets, 1 / float(ledger.budget), cutoff) * max(1, data.domain.size("item") / 2)
        remedy = "take a larger epsilon, raise the threshold, or take a method for larger domains"
        require_little_noise(most, "items", remedy)
        # no record has mask 0 (the empty set), so itemset number i has mask i + 1
        ids, noisy = ledger.survivors(
            masks - 1,
            exact,
            Laplace(l1=1),
            candidates=itemsets,
            cutoff=cutoff,
            spend=ledger.budget,
            label="itemset counts",
        )
        return Sets.from_masks(ids + 1, noisy, data.domain)

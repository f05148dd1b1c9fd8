"""Sets by their sizes, items and pairs: noisy marginals, and records drawn from the model that fits them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Sets
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.sets.pairwise_marginals.dealing import deal
from hedgerow.publishers.sets.pairwise_marginals.item_bound import choose_item_bound
from hedgerow.publishers.sets.pairwise_marginals.item_estimates import ItemEstimates
from hedgerow.publishers.sets.pairwise_marginals.record_weights import UNIT, weigh_by_size
from hedgerow.publishers.sets.pairwise_marginals.size_histogram import SizeHistogram, size_bins, upper_edges

__all__ = ["PairwiseMarginals"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: shares of the budget for sizes and items without pairs
_SHARES_WITHOUT_PAIRS = (1, 9)


@dataclass(frozen=True, kw_only=True)
class PairwiseMarginals(Publisher[Sets]):
    r"""Publish sets drawn from a model of noisy sizes and items.

    Privacy
    -------
    sizes: L1 = 1, since a record has one size.
    item weights: a record of $k$ items gives each of them $\min(1, m / k)$, so L1 = $m$ (in thousandths, rounded
    down).

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["bread", "butter", "milk", "tea"])
    >>> baskets = [["bread", "butter"]] * 400 + [["tea"]] * 250 + [["bread", "milk"]]
    >>> data = Sets.from_records(baskets, domain=domain)
    >>> release = PairwiseMarginals(pairs="off").publish(data, PureDP(epsilon=1, unit="record"), seed=7)
    >>> len(release.data)
    642

    References
    ----------
    .. [1] C. Zeng, J. F. Naughton, J.-Y. Cai. "On differentially private frequent itemset mining". PVLDB 6(1), 2012.
    """

    name: ClassVar[str] = "pairwise-marginals"
    kinds: ClassVar = (Sets,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")

    pairs: str = param(
        "auto", "count pairs of items if they are expected to be useful, or never", choices=("auto", "off")
    )
    longest: int = param(256, "largest size of a record that is told apart; larger ones count as this", ge=1)
    most: int = param(2_000_000, "records that are published at most", ge=1)
    steps: int = param(60, "rounds of fitting the model of pairs", ge=20)

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Ask for sizes and items, and deal the items to records of these sizes."""
        coins = ledger.coins()
        for_sizes, for_items = ledger.split(*_SHARES_WITHOUT_PAIRS)
        sizes = self._ask_sizes(data, for_sizes)
        bound = choose_item_bound(sizes.by_size, float(for_items.budget), self._largest(data))
        noisy = self._ask_items(data, for_items, bound)
        weights = weigh_by_size(bound, data.domain.size("item"))
        rate = float(for_items.budget) / bound
        items = ItemEstimates.fit(noisy[None], np.array([rate]), sizes, weights)
        row, item = deal(items.expected, sizes.whole_sizes(min(sizes.records, self.most)), coins)
        return Sets.from_columns(row=row, item=item, domain=data.domain)

    def _largest(self, data: Sets) -> int:
        return min(self.longest, data.domain.size("item"))

    def _ask_sizes(self, data: Sets, ledger: Ledger) -> SizeHistogram:
        edges = upper_edges(self._largest(data))
        exact = data.count_sizes(size_bins(edges))
        noisy = ledger.ask(exact, Laplace(l1=1), spend=ledger.budget, label="sizes")
        return SizeHistogram.estimate(noisy, edges, float(ledger.budget))

    def _ask_items(self, data: Sets, ledger: Ledger, bound: int) -> Floats:
        exact = data.weigh_items(weigh_by_size(bound, data.domain.size("item")))
        return ledger.ask(exact, Laplace(l1=UNIT * bound), spend=ledger.budget, label="item weights") / UNIT

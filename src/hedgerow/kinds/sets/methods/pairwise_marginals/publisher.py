"""Sets by their sizes, items and pairs: noisy marginals, and records drawn from the model that fits them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.kinds.sets.data import Sets
from hedgerow.kinds.sets.methods.pairwise_marginals.draw import draw_from_items, draw_from_model
from hedgerow.kinds.sets.methods.pairwise_marginals.items_model import (
    UNIT,
    ItemEstimates,
    SizeBands,
    SizeHistogram,
    size_bins,
    upper_edges,
    weigh_by_pairs,
)
from hedgerow.kinds.sets.methods.pairwise_marginals.pairs_model import (
    PairModel,
    PairSelection,
    PairTargets,
    Population,
    fit_pairs,
    select_pairs,
)
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publisher import SCALES, Publisher, param, require_little_noise

#: shares of the budget for sizes, items and pairs; of 1:3:6 and 1:4:5, chosen on groceries, bms-webview-2 and
#: kosarak-subset; and for sizes and items without pairs
_SHARES, _SHARES_WITHOUT_PAIRS = (1, 4, 5), (1, 9)
#: the model is fitted with so many records
_FITTED = 100_000


@dataclass(frozen=True, kw_only=True)
class PairwiseMarginals(Publisher[Sets]):
    r"""Publish sets drawn from a model that has the noisy marginals of sizes, items and pairs.

    The number of records of each size is counted first: that some records are large explains most of why items occur
    together, and it costs one unit of sensitivity. Then items are counted, those of long records apart from those of
    short ones if noise allows it, and pairs of the frequent ones (the *head*), as many as noise and budget allow [2]_.
    A record with many items gives each of them a fraction of its weight, rather than being cut [1]_. Weighted counts
    are not inverted: records are drawn from a model of weights and pairwise interactions (a maximum-entropy model
    [3]_), weighted in the same way, and the model is fitted until they have the noisy counts. Noisy counts are shrunk,
    not thresholded: those of items by empirical Bayes, those of pairs by a normal prior. If pairs are not expected to
    be told from noise, items are counted again instead.

    Privacy
    -------
    sizes: L1 = 1, since a record has one size; a tenth of the budget.
    item weights: a record of $k$ items gives each of them $\min(1, m / k)$, rounded down to thousandths, so
    L1 = $m$; four tenths. $m$ depends on the noisy sizes only. If records are counted in bands of sizes, each has an
    $m$ of its own, and weights of a band are multiplied by the largest $m$ over its own: a record is in one band, so L1
    is the largest $m$. Bands depend on the noisy sizes only, and a record is in the band of its true size.
    pair weights: a record with $s$ items of the head gives each of its $c = s (s - 1) / 2$ pairs $\min(1, P / c)$,
    rounded down likewise, so L1 = $P$; all pairs of the head are asked for. The head and $P$ depend on noisy answers
    and coins only. Five tenths, or, instead, *item weights again* with the same share; which of the two, depends on
    noisy answers and coins only. With `pairs="off"`, item weights have nine tenths.
    All else depends on noisy answers and coins only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["bread", "butter", "milk", "tea"])
    >>> baskets = [["bread", "butter"]] * 4000 + [["tea"]] * 2500 + [["bread", "milk"]]
    >>> data = Sets.from_records(baskets, domain=domain)
    >>> release = PairwiseMarginals().publish(data, PureDP(epsilon=1, unit="record"), seed=7)
    >>> dict(release.data.itemsets())["bread", "butter"]
    3934

    References
    ----------
    .. [1] C. Zeng, J. F. Naughton, J.-Y. Cai. "On differentially private frequent itemset mining". PVLDB 6(1), 2012.
    .. [2] N. Li, W. Qardaji, D. Su, J. Cao. "PrivBasis: frequent itemset mining with differential privacy".
       PVLDB 5(11), 2012.
    .. [3] R. McKenna, D. Sheldon, G. Miklau. "Graphical-model based estimation and inference for differential
       privacy". ICML 2019.
    """

    name: ClassVar[str] = "pairwise-marginals"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")
    # docs/results/pairwise-marginals.md, which also says where a rival is better, and why
    recommended: ClassVar[str] = (
        "more than 20 items, from about 5,000 / epsilon records on; 11 to 20 items, with fewer than 150,000 / epsilon"
    )

    pairs: str = param("auto", "count pairs of items where they are expected to pay, or never", choices=("auto", "off"))
    longest: int = param(256, "largest size of a record that is told apart; larger ones count as this", ge=1)
    most: int = param(2_000_000, "records that are published at most", ge=1)
    steps: int = param(60, "rounds of fitting the model of pairs", ge=20)

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Refuse a budget with which noise alone is too much, and publish."""
        shares = _SHARES_WITHOUT_PAIRS if self.pairs == "off" else _SHARES
        noise = SCALES * sum(shares) / (shares[0] * float(ledger.budget))  # of the number of records
        most = min(noise, self.most) * self._largest_size(data)
        require_little_noise(most, "items", "take a larger epsilon, a smaller longest, or a smaller most")
        return self.synthesise(data, ledger)

    def synthesise(self, data: Sets, ledger: Ledger) -> Sets:
        """Ask for sizes and items, then for pairs if they pay or for items again, and draw records that fit."""
        coins = ledger.coins()
        shares = ledger.split(*(_SHARES_WITHOUT_PAIRS if self.pairs == "off" else _SHARES))
        sizes = self._ask_sizes(data, shares[0])
        records = min(sizes.records, self.most)
        items = self._ask_items(data, shares[1], sizes)
        if self.pairs == "off":
            row, item = draw_from_items(items, sizes.whole_sizes(records), coins)
            return Sets.from_columns(row=row, item=item, domain=data.domain)
        sampled = sizes.whole_sizes(min(records, _FITTED))
        row, item = draw_from_items(items, sampled, coins)
        selection = select_pairs(
            items.weights.sum(axis=0),
            row,
            item,
            sampled=len(sampled),
            records=sizes.records,
            spend=float(shares[2].budget),
        )
        if selection is None or not selection.pays:
            items = self._ask_items_again(data, shares[2], sizes, items)
            row, item = draw_from_items(items, sizes.whole_sizes(records), coins)
            return Sets.from_columns(row=row, item=item, domain=data.domain)
        pairs = self._ask_pairs(data, shares[2], selection)
        targets = PairTargets.of(items, pairs, selection, len(sampled) / sizes.records, float(shares[2].budget))
        population = Population.from_tokens(sampled, row, selection.ranks(item), len(selection.head), items.bands.cuts)
        models = PairModel.by_band(items.odds, selection.head)
        fit_pairs(population, models, targets, self.steps, coins)
        row, item = draw_from_model(population, models, selection.head, items, records, coins)
        return Sets.from_columns(row=row, item=item, domain=data.domain)

    def _largest_size(self, data: Sets) -> int:
        return min(self.longest, data.domain.size("item"))

    def _ask_sizes(self, data: Sets, ledger: Ledger) -> SizeHistogram:
        edges = upper_edges(self._largest_size(data))
        exact = data.count_sizes(size_bins(edges))
        noisy = ledger.ask(exact, Laplace(l1=1), spend=ledger.budget, label="sizes")
        sizes = SizeHistogram.estimate(noisy, edges, float(ledger.budget))
        ledger.note(
            "largest size of a record that was told from noise; longer records are published with this size or less",
            int(sizes.edges[-1]),
        )
        return sizes

    def _ask_items(self, data: Sets, ledger: Ledger, sizes: SizeHistogram) -> ItemEstimates:
        bands = SizeBands.choose(sizes.by_size, float(ledger.budget), self._largest_size(data))
        ledger.note("items of a record that count in full", bands.bounds[-1])
        if bands.cuts:
            ledger.note("size beyond which items were counted apart", bands.cuts[-1])
        exact = _weigh_items(data, bands)
        noisy = ledger.ask(exact.ravel(), Laplace(l1=UNIT * bands.most), spend=ledger.budget, label="item weights")
        return ItemEstimates.fit(bands, [noisy.reshape(exact.shape)], [float(ledger.budget)], sizes)

    def _ask_items_again(self, data: Sets, ledger: Ledger, sizes: SizeHistogram, items: ItemEstimates) -> ItemEstimates:
        bands, exact = items.bands, _weigh_items(data, items.bands)
        mechanism = Laplace(l1=UNIT * bands.most)
        noisy = ledger.ask(exact.ravel(), mechanism, spend=ledger.budget, label="item weights again")
        answers, spends = [*items.noisy, noisy.reshape(exact.shape)], [*items.spends, float(ledger.budget)]
        return ItemEstimates.fit(bands, answers, spends, sizes)

    def _ask_pairs(self, data: Sets, ledger: Ledger, selection: PairSelection) -> Floats:
        ledger.note("items whose pairs were counted", len(selection.head))
        ledger.note("pairs of a record that count in full", selection.bound)
        exact = data.weigh_pairs(selection.head, weigh_by_pairs(selection.bound, len(selection.head)))
        noisy = ledger.ask(exact, Laplace(l1=UNIT * selection.bound), spend=ledger.budget, label="pair weights")
        return noisy / UNIT


def _weigh_items(data: Sets, bands: SizeBands) -> Integers:
    """The weight of every item over the records of each band, a row per band."""
    return np.array([data.weigh_items(weights) for weights in bands.weigh(data.domain.size("item"))])

"""The raked histogram: a noisy count of every itemset, fitted to the counts of items, pairs and triples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.kinds.sets.data import Sets
from hedgerow.kinds.sets.methods.pairwise_marginals.publisher import PairwiseMarginals
from hedgerow.kinds.sets.methods.raked_histogram.model import (
    blend_counts,
    blend_queries,
    rake,
    rake_to,
    spurious_cutoff,
)
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.rounding import round_together
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publisher import SCALES, Publisher, param, require_little_noise

#: up to this many items all itemsets fit in memory
_MOST_ITEMS = 20
#: up to this many items sums of all noisy counts are as good as direct ones; of 10 and 15, chosen on kosarak-subset
_FEW_ITEMS = 10
#: from 11 items on, itemsets are counted if there are this many records divided by the budget; with fewer, noise drowns
#: them. On the 15 most frequent items of kosarak-subset they pay from 30,000 on, of groceries and bms-webview-2 not yet
#: at 60,000
_ENOUGH = 50_000
#: of the budget, for the number of records and for everything else
_RECORD_SHARES = (1, 49)
#: of the rest, for the model and for all itemsets; of 1:4, 1:3, 1:2, 1:1 and 3:1, chosen on groceries, bms-webview-2
#: and kosarak-subset
_SHARES = (1, 1)


@dataclass(frozen=True, kw_only=True)
class RakedHistogram(Publisher[Sets]):
    r"""Publish sets of few items by a noisy histogram, raked to the counts of items, pairs and triples.

    All $2^{|I|} - 1$ itemsets are counted with noise. Up to 10 items, this has the whole budget: sums over *all* noisy
    counts are unbiased estimates of the counts of single items, pairs and triples. The itemsets that reach a threshold
    are scaled to these sums by raking (iterative proportional fitting [1]_), where the difference is larger than noise.
    This corrects the bias of the threshold, which the plain histogram (`flat-laplace`) does not.

    Each item more doubles the variance of such a sum. From 11 items on (and up to 20), half of the budget therefore
    goes into a model of sizes, items and pairs (`pairwise-marginals`). Each noisy count is shrunk towards that of the
    model, by as much as noise explains their difference. The result is raked to items, pairs and triples, each a mean
    of the model's count and of the sum of all noisy counts, weighted by their variances. With fewer than about
    $50{,}000 / \varepsilon$ records, a noisy count of an itemset tells little: then the model has all of the budget,
    and its records are published.

    Privacy
    -------
    itemset counts: L1 = 1, since a record is exactly one itemset; asked at most once, for every itemset of the declared
    items, with the whole budget up to 10 items and else with half of what the number of records leaves.
    records: L1 = 1; from 11 items on, with a fiftieth of the budget.
    sizes, item weights, pair weights: from 11 items on, as in `pairwise-marginals`, with the rest. Whether itemsets are
    counted depends on the noisy number of records only.
    Threshold, means and raking depend on noisy answers only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["bread", "butter", "milk", "tea"])
    >>> baskets = [["bread", "butter"]] * 400 + [["tea"]] * 250 + [["bread", "milk"]]
    >>> data = Sets.from_records(baskets, domain=domain)
    >>> release = RakedHistogram().publish(data, PureDP(epsilon=1, unit="record"), seed=7)
    >>> release.data.itemsets()
    [(('tea',), 251), (('bread', 'butter'), 398)]

    References
    ----------
    .. [1] W. E. Deming, F. F. Stephan. "On a least squares adjustment of a sampled frequency table when the
       expected marginal totals are known". Annals of Mathematical Statistics 11(4), 1940.
    """

    name: ClassVar[str] = "raked-histogram"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")
    # docs/results/raked-histogram.md: on fewer records of 11 to 20 items pairwise-marginals is as good or better, also
    # on those between _ENOUGH and this limit
    recommended: ClassVar[str] = "up to 10 items; 11 to 20 items from about 150,000 / epsilon records on"

    longest: int = param(20, "how many items of a record are used: the first in the domain's order", ge=1)
    threshold: float = param(2.0, "standard deviations of the noise that a count must reach", ge=0)
    spurious: float = param(0.01, "expected share of the published counts that is noise alone; 0: no bound", ge=0, le=1)

    @property
    def workload(self) -> Mapping[str, int]:
        """How many items of a record are used."""
        return {"longest": self.longest}

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Count every itemset, and rake what stands clear of the noise; from 11 items on, beside a model."""
        items = data.domain.size("item")
        if items > _MOST_ITEMS:
            msg = (
                f"{self.name} counts every itemset, of up to {_MOST_ITEMS} items; got {items:,}: use pairwise-marginals"
            )
            raise ParameterError(msg)
        # a model asks for sizes with a tenth of its share, which is about half of the budget
        scales = SCALES * (20 if items > _FEW_ITEMS else 1)
        require_little_noise(scales / float(ledger.budget) * items, "items", "take a larger epsilon")
        data = data.truncated(self.longest)
        masks, raked = self._rake(data, ledger) if items <= _FEW_ITEMS else self._rake_with_model(data, ledger)
        counts = round_together(raked)
        return Sets.from_masks(masks[counts > 0], counts[counts > 0], data.domain)

    def _rake(self, data: Sets, ledger: Ledger) -> tuple[Integers, Floats]:
        """Keep the itemsets that reach the threshold, and rake them to the sums of all noisy counts."""
        noisy, cells, spend = self._ask_itemsets(data, ledger)
        return rake(noisy, cells, self._cutoff(noisy, cells, spend), spend)

    def _rake_with_model(self, data: Sets, ledger: Ledger) -> tuple[Integers, Floats]:
        """Improve the records of a model by noisy counts of all itemsets, if there are enough records for these."""
        for_records, others = ledger.split(*_RECORD_SHARES)
        exact = data.count_sizes(np.zeros(1, np.int64))  # one class for all sizes
        records = for_records.ask(exact, Laplace(l1=1), spend=for_records.budget, label="records")
        method = PairwiseMarginals(longest=self.longest)
        if int(records[0]) * ledger.budget < _ENOUGH:
            masks, counts = method.synthesise(data, others).histogram()
            return masks, counts.astype(np.float64)
        for_model, for_itemsets = others.split(*_SHARES)
        masks, counts = method.synthesise(data, for_model).histogram()
        noisy, cells, spend = self._ask_itemsets(data, for_itemsets)
        model = np.zeros_like(noisy)
        model[masks] = counts
        blended = blend_counts(model, noisy, self._cutoff(model, cells - len(masks), spend), spend)
        targets = blend_queries(model, noisy, model_spend=float(for_model.budget), spend=spend)
        raked = rake_to(blended, targets)
        masks = np.flatnonzero(raked)
        return masks, raked[masks]

    def _ask_itemsets(self, data: Sets, ledger: Ledger) -> tuple[Integers, int, float]:
        """Return the noisy count of every itemset by its mask, how many can occur, and what each has cost."""
        items = data.domain.size("item")
        masks, counts = data.histogram()
        exact = np.zeros(2**items, np.int64)
        exact[masks] = counts
        noisy = np.zeros_like(exact)
        # no record has mask 0 (the empty set)
        noisy[1:] = ledger.ask(exact[1:], Laplace(l1=1), spend=ledger.budget, label="itemset counts")
        # no record has more than `longest` items
        possible = np.bitwise_count(np.arange(len(noisy))) <= self.longest
        noisy[~possible] = 0
        return noisy, int(possible.sum()) - 1, float(ledger.budget)

    def _cutoff(self, counts: Integers, cells: int, spend: float) -> int:
        """The least noisy count that is kept: it reaches the threshold, and few of all cells reach it by noise."""
        cutoff = max(1, math.ceil(math.sqrt(2) * self.threshold / spend))
        if self.spurious > 0 and cells > 1:
            cutoff = max(cutoff, spurious_cutoff(counts, cells, spend, self.spurious))
        return cutoff

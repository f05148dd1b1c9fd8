"""The simplest rivals of a method for sets: independent items, and noisy pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow import Laplace, Ledger, Publisher, PureDP, Sets, param
from hedgerow.numerics.vertex_pairs import rank_pairs, unrank_pairs


@dataclass(frozen=True, kw_only=True)
class IndependentItems(Publisher[Sets]):
    """Count records and items; every record has every item with the same probability, whatever else it has."""

    name: ClassVar[str] = "independent items"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record",)

    items: int = param(5, "how many items of a record are counted", ge=1)
    threshold: float = param(2.0, "standard deviations of the noise that a count must reach", ge=0)

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Spend a tenth on the number of records and the rest on items."""
        coins = ledger.coins()
        for_records, for_items = ledger.split(1, 9)
        exact = np.array([len(data)])
        noisy = for_records.ask(exact, Laplace(l1=1), spend=for_records.budget, label="records")
        records = max(1, int(noisy[0]))
        counts = for_items.ask(
            data.count_items(most=self.items), Laplace(l1=self.items), spend=for_items.budget, label="item counts"
        )
        least = math.sqrt(2) * self.threshold * self.items / float(for_items.budget)
        kept = np.flatnonzero(counts >= max(1.0, least))
        drawn = coins.binomial(records, np.minimum(1, counts[kept] / records))
        row = [coins.choice(records, number, replace=False) for number in drawn.tolist()]
        rows = np.concatenate([np.zeros(0, np.int64), *row])
        return Sets.from_columns(row=rows, item=np.repeat(kept, drawn), domain=data.domain)


@dataclass(frozen=True, kw_only=True)
class NoisyPairs(Publisher[Sets]):
    """Count items and pairs with half of the budget each; publish frequent pairs, and the rest of each item alone."""

    name: ClassVar[str] = "noisy pairs"
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record",)

    items: int = param(5, "how many items of a record are counted", ge=2)
    threshold: float = param(2.0, "standard deviations of the noise that a count of an item must reach", ge=0)

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Ask for all items, and for the pairs whose noisy counts reach a threshold that few empty ones reach."""
        for_items, for_pairs = ledger.split(1, 1)
        size, most = data.domain.size("item"), self.items
        counts = for_items.ask(
            data.count_items(most=most), Laplace(l1=most), spend=for_items.budget, label="item counts"
        )
        counts[counts < math.sqrt(2) * self.threshold * most / float(for_items.budget)] = 0
        pairs, exact = _count_pairs(data.truncated(most))
        candidates, l1 = size * (size - 1) // 2, most * (most - 1) // 2
        cutoff = max(1, math.ceil(l1 / float(for_pairs.budget) * math.log(max(2, candidates))))
        ids, noisy = for_pairs.survivors(
            pairs, exact, Laplace(l1=l1), candidates=candidates, cutoff=cutoff, spend=for_pairs.budget, label="pairs"
        )
        first, second = unrank_pairs(ids, size)
        inside = np.bincount(np.concatenate((first, second)), np.concatenate((noisy, noisy)), size)
        alone = np.maximum(0, counts - inside).astype(np.int64)
        single = np.flatnonzero(alone)
        row = np.concatenate((np.arange(len(ids)), np.arange(len(ids)), len(ids) + np.arange(len(single))))
        item = np.concatenate((first, second, single))
        weights = np.concatenate((noisy, alone[single]))
        return Sets.from_counts(row=row, item=item, counts=weights, domain=data.domain)


def _count_pairs(data: Sets) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that occur, by number, and in how many records."""
    starts, items, weights = data.canonical().arrays()
    sizes, ranks, counts = np.diff(starts), [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for gap in range(1, int(sizes.max(initial=1))):
        rows = np.repeat(np.arange(len(sizes)), np.maximum(sizes - gap, 0))
        at = starts[rows] + np.arange(len(rows)) - np.searchsorted(rows, rows)
        ranks.append(rank_pairs(items[at], items[at + gap], data.domain.size("item")))
        counts.append(weights[rows])
    present, number = np.unique(np.concatenate(ranks), return_inverse=True)
    return present, np.bincount(number, np.concatenate(counts), len(present)).astype(np.int64)

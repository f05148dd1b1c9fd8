"""What is known about single items after their noisy weights: estimates that agree with the sizes of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sets.pairwise_marginals.dealing import deal_by_band
from hedgerow.publishers.sets.pairwise_marginals.independent_items import fit_independent_items
from hedgerow.publishers.sets.pairwise_marginals.posterior_means import adjust_total, shrink
from hedgerow.publishers.sets.pairwise_marginals.record_weights import UNIT
from hedgerow.publishers.sets.pairwise_marginals.size_bands import SizeBands
from hedgerow.publishers.sets.pairwise_marginals.size_histogram import SizeHistogram
from hedgerow.steps.coarse_grid import on_grid

__all__ = ["ItemEstimates"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ItemEstimates:
    """For every band of sizes and every item: its weight over all records, its odds, and the expected records with it.

    Weighted counts are biased for plain ones, and are never inverted: the odds are those with which records, weighted
    in the same way, have these weights.

    Attributes
    ----------
    noisy, spends
        The noisy answers, a table per question, in it a row per band; and what each question has spent.
    weights, odds, expected
        A row per band.
    """

    bands: SizeBands
    noisy: list[Integers]
    spends: list[float]
    weights: Floats
    odds: Floats
    expected: Floats

    def deal(self, sizes: Integers, coins: np.random.Generator) -> tuple[Integers, Integers]:
        """Deal items to records of these sizes, which ascend: the record and the item of each token."""
        return deal_by_band(self.expected, sizes, self.bands.starts(sizes), coins)

    @classmethod
    def fit(cls, bands: SizeBands, noisy: list[Integers], spends: list[float], sizes: SizeHistogram) -> ItemEstimates:
        """Shrink the noisy weights, adjust them to the total of the sizes, and fit the odds, band by band.

        Parameters
        ----------
        bands
            The bands, and how many items of a record count in full in each.
        noisy, spends
            The noisy weights of all items, a table per question, and what each question has spent.
        """
        bounds = np.array(bands.bounds, np.float64)
        answers = np.array(noisy) * (bounds / bands.most)[:, None] / UNIT
        rates = np.array(spends)[:, None] / bounds
        items = answers.shape[-1]
        by_size = bands.shares(items)
        weights, odds, expected = np.zeros((3, len(bands.bounds), items))
        for number, part in enumerate(sizes.split(bands.cuts)):
            means, variances = shrink(answers[:, number], rates[:, number])
            share = by_size[: len(part.by_size)]
            total = float(part.by_size @ (np.arange(len(share)) * share))
            weights[number] = on_grid(adjust_total(means, variances, total, float(part.by_size @ share)))
            fitted = fit_independent_items(weights[number], *part.representatives(by_size))
            odds[number], expected[number] = on_grid(fitted)
        return cls(bands, noisy, spends, weights, odds, expected)

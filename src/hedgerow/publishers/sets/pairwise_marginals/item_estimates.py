"""What is known about single items after their noisy weights: estimates that agree with the sizes of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sets.pairwise_marginals.independent_items import fit_independent_items
from hedgerow.publishers.sets.pairwise_marginals.posterior_means import adjust_total, shrink
from hedgerow.publishers.sets.pairwise_marginals.record_weights import UNIT
from hedgerow.publishers.sets.pairwise_marginals.size_histogram import SizeHistogram

__all__ = ["ItemEstimates"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ItemEstimates:
    """For every item its weight over all records, its odds, and the expected number of records with it.

    Weighted counts are biased for plain ones, and are never inverted: the odds are those with which records, weighted
    in the same way, have these weights.
    """

    weights: Floats
    odds: Floats
    expected: Floats

    @classmethod
    def fit(cls, answers: Floats, rates: Floats, sizes: SizeHistogram, by_size: Integers) -> ItemEstimates:
        """Shrink the noisy weights, adjust them to the total of the sizes, and fit the odds.

        Parameters
        ----------
        answers, rates
            The noisy weights of all items, a row per question, and the rate of the noise of each question.
        by_size
            The weight of an item in a record of each size, in `UNIT`s.
        """
        means, variances = shrink(answers, rates)
        share = by_size[: len(sizes.by_size)] / UNIT
        total = float(sizes.by_size @ (np.arange(len(share)) * share))
        weights = adjust_total(means, variances, total, float(sizes.by_size @ share))
        size, records, share = sizes.representatives(by_size)
        return cls(weights, *fit_independent_items(weights, size, records, share / UNIT))

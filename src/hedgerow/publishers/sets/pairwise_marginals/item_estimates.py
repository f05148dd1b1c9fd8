"""What is known about single items after their noisy weights: estimates that agree with the sizes of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sets.pairwise_marginals.independent_items import fit_independent_items
from hedgerow.publishers.sets.pairwise_marginals.posterior_means import adjust_total, shrink
from hedgerow.publishers.sets.pairwise_marginals.record_weights import UNIT, weigh_by_size
from hedgerow.publishers.sets.pairwise_marginals.size_histogram import SizeHistogram

__all__ = ["ItemEstimates"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ItemEstimates:
    """For every item its weight over all records, its odds, and the expected number of records with it.

    Weighted counts are biased for plain ones, and are never inverted: the odds are those with which records, weighted
    in the same way, have these weights.
    """

    bound: int
    answers: Floats
    rates: Floats
    weights: Floats
    odds: Floats
    expected: Floats

    @classmethod
    def fit(cls, bound: int, answers: Floats, rates: Floats, sizes: SizeHistogram) -> ItemEstimates:
        """Shrink the noisy weights, adjust them to the total of the sizes, and fit the odds.

        Parameters
        ----------
        bound
            How many items of a record count in full.
        answers, rates
            The noisy weights of all items, a row per question, and the rate of the noise of each question.
        """
        means, variances = shrink(answers, rates)
        by_size = weigh_by_size(bound, len(means)) / UNIT
        share = by_size[: len(sizes.by_size)]
        total = float(sizes.by_size @ (np.arange(len(share)) * share))
        weights = adjust_total(means, variances, total, float(sizes.by_size @ share))
        odds, expected = fit_independent_items(weights, *sizes.representatives(by_size))
        return cls(bound, answers, rates, weights, odds, expected)

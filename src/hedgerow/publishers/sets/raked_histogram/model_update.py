"""Improve the itemset counts of a model by noisy ones: shrink each towards the model, and rake them to small queries.

Everything here is computed from noisy answers.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sets.raked_histogram.raking import list_queries, noise_variance, sum_supersets

__all__ = ["blend_counts", "blend_queries", "rake_to"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: a bin whose counts are compared with the model is taken to have so many more cells that differ by chance alone
_CELLS = 8
#: relative errors of the model for queries of so many items that no budget removes; chosen on kosarak-subset
_MODEL_ERRORS = {0: 0.0, 1: 0.01, 2: 0.03, 3: 0.1}
#: typical scales of the model's noise for these queries, in units of 1 / budget (pairwise-marginals: 5 items per record
#: with four tenths, and 10 pairs with five)
_MODEL_NOISE = {1: 12.5, 2: 20.0, 3: 20.0}
#: the share of the model's budget that counts sizes, whose sum is the number of records
_SIZE_SHARE = 0.1
#: triples are raked if noise makes at most this share of the variance of the model
_WELL_KNOWN = 0.25
_SWEEPS, _STEP = 3, 1.4
_LEAST_VARIANCE = 1e-9


def blend_counts(model: Integers, noisy: Integers, cutoff: int, spend: float) -> Floats:
    r"""Estimate the count of every itemset from those of the model and the noisy ones.

    Itemsets are binned by the model's count. In each bin, what differences vary more than noise explains is the
    variance $V$ of the model; the estimate is the mean of both counts, weighted by $1 / V$ and by the variance of the
    noise. Itemsets that the model lacks have their noisy count if it reaches the cutoff.

    Examples
    --------
    >>> blend_counts(np.array([0, 90, 0, 40]), np.array([0, 110, 3, 41]), cutoff=5, spend=1.0).round(1).tolist()
    [0.0, 109.7, 0.0, 41.0]
    """
    blended = np.where((model == 0) & (noisy >= cutoff), noisy, 0).astype(np.float64)
    noise = noise_variance(spend)
    known = np.flatnonzero(model)
    expected, answers = model[known].astype(np.float64), noisy[known].astype(np.float64)
    number = np.frexp(expected)[1]  # powers of two
    cells = np.maximum(1, np.bincount(number))
    excess = np.bincount(number, (answers - expected) ** 2 - noise)
    by_chance = _CELLS * np.bincount(number, expected) / cells
    variance = np.maximum(_LEAST_VARIANCE, (excess + by_chance) / (cells + _CELLS))[number]
    blended[known] = np.maximum(0, expected + variance / (variance + noise) * (answers - expected))
    blended[0] = 0
    return blended


def blend_queries(model: Integers, noisy: Integers, *, model_spend: float, spend: float) -> list[tuple[int, float]]:
    """List small queries with the number of records that they should have: triples, pairs, items, all records.

    Each is the mean of the model's number and the sum over all noisy counts, weighted by their variances.
    """
    items = len(model).bit_length() - 1
    by_model, by_sum = sum_supersets(model), sum_supersets(noisy)
    blended: list[tuple[int, float]] = []
    for size in range(min(3, items), -1, -1):
        queries = np.array(list_queries(items, size))
        numbers = by_model[queries].astype(np.float64)
        scale = _MODEL_NOISE[size] if size else math.sqrt(items) / _SIZE_SHARE
        of_model = 2 * (scale / model_spend) ** 2 + (_MODEL_ERRORS[size] * numbers) ** 2
        of_sum = noise_variance(spend) * 2 ** (items - size)
        if size < max(_MODEL_ERRORS) or of_sum < _WELL_KNOWN * float(np.median(of_model)):
            targets = numbers + of_model / (of_model + of_sum) * (by_sum[queries] - numbers)
            blended += zip(queries.tolist(), targets.tolist(), strict=True)
    return blended


def rake_to(counts: Floats, targets: list[tuple[int, float]]) -> Floats:
    """Scale the itemsets that contain a query towards its target, query by query, in several sweeps.

    Examples
    --------
    >>> rake_to(np.array([0.0, 10, 20, 10]), [(0b11, 16.0), (0b01, 30.0), (0b10, 36.0), (0, 50.0)]).round(1).tolist()
    [0.0, 13.1, 20.9, 16.1]
    """
    raked = counts.copy()
    items = len(counts).bit_length() - 1
    views = [(query, target, _containing(raked, query, items)) for query, target in targets]
    for _ in range(_SWEEPS):
        for query, target, cells in views:
            now = float(cells.sum())
            if now > 0:
                ratio = max(0.0, target / now)
                # queries overlap: half a step each; the last one is the number of records
                cells[...] *= min(max(math.sqrt(ratio) if query else ratio, 1 / _STEP), _STEP)
    return raked


def _containing(counts: Floats, query: int, items: int) -> Floats:
    """The itemsets that contain a query, as a view: an axis per item, the last for the first item."""
    cube = counts.reshape((2,) * items)
    return cube[tuple(slice(query >> item & 1, None) for item in reversed(range(items)))]

"""Raking (iterative proportional fitting) of a noisy histogram to the counts of small itemsets, the *queries*.

Everything here is computed from noisy answers.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Floats, Integers

#: items of a query, at most, and sweeps over all queries
_LARGEST_QUERY, _SWEEPS = 3, 10
#: standard deviations of the noise that a difference must exceed to count as bias
_SURE = 1.5
#: a sweep scales by the square root of the ratio to the target, and at most by this factor: queries that overlap
#: pull in several directions, and the targets of rare ones are mostly noise
_STEP = 1.4
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
_MODEL_SWEEPS, _MODEL_STEP = 3, 1.4
_LEAST_VARIANCE = 1e-9


def spurious_cutoff(noisy: Integers, cells: int, spend: float, share: float) -> int:
    r"""Return the least cutoff that bounds the expected sum of counts that are noise alone.

    Discrete Laplace noise with $a = e^{-spend}$ is at least $t$ with an expected excess over 0 of
    $a^t (t (1 - a) + a) / (1 - a^2)$ per cell. The cutoff is the least $t$ at which the
    expected excess of all cells together is at most a share of the noisy total.

    Examples
    --------
    >>> spurious_cutoff(np.array([0, 90, 60, 0, 0, 0, 0, 0]), 7, spend=1.0, share=0.01)
    3
    """
    a = math.exp(-spend)
    allowed = share * max(1.0, float(noisy.sum())) * (1 - a * a) / cells
    low, high = 1, 2
    while _excess(high, a) > allowed:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _excess(middle, a) <= allowed else (middle + 1, high)
    return low


def rake(noisy: Integers, cells: int, cutoff: int, spend: float) -> tuple[Integers, Floats]:
    r"""Keep the itemsets that reach a cutoff, and scale them to unbiased counts of small queries.

    The count of a query is the sum over all itemsets that contain it. Summed over *all* noisy itemsets, also
    negative ones, it is unbiased. Summed over the kept ones it is biased: the threshold drops records and lets
    spurious counts pass. Where the difference is more than one and a half standard deviations of the noise, the kept
    itemsets are scaled towards the unbiased sum, query by query, in several sweeps; the empty query, which is the
    number of records, comes last.

    Parameters
    ----------
    noisy
        The noisy count of every itemset, at the position of its mask; the first (empty set) and those that cannot
        occur are 0.
    cells
        How many itemsets can occur.
    cutoff
        The least count that is kept.
    spend
        The budget of every count, whose sensitivity is 1.

    Returns
    -------
    The masks of the kept itemsets, and the estimated number of records of each.

    Examples
    --------
    >>> masks, raked = rake(np.array([0, 900, 600, 41, 2, -3, 30, 29]), 7, cutoff=35, spend=1.0)
    >>> masks.tolist(), raked.round(1).tolist()
    ([1, 2, 3], [897.7, 630.6, 69.8])
    """
    masks = np.flatnonzero(noisy >= cutoff)
    masks = masks[masks > 0]
    raked = noisy[masks].astype(np.float64)
    items = len(noisy).bit_length() - 1
    queries = [query for size in range(_LARGEST_QUERY, -1, -1) for query in list_queries(items, size)]
    members = [np.flatnonzero((masks & query) == query) for query in queries]
    targets = _targets(noisy, cells, spend, raked, queries, members)
    for _ in range(_SWEEPS):
        for rows, target in zip(members, targets, strict=True):
            now = float(raked[rows].sum())
            if now > 0:
                raked[rows] *= min(max(math.sqrt(target / now), 1 / _STEP), _STEP)
    return masks, raked


def _targets(
    noisy: Integers,
    cells: int,
    spend: float,
    counts: Floats,
    queries: list[int],
    members: list[NDArray[np.intp]],
) -> list[float]:
    """The target of each query: what the kept itemsets that contain it should sum up to."""
    variance = noise_variance(spend)
    sums = sum_supersets(noisy)
    targets: list[float] = []
    for query, rows in zip(queries, members, strict=True):
        kept = float(counts[rows].sum())
        lost = float(sums[query]) - kept
        noise = variance * max(0.0, cells / 2 ** query.bit_count() - len(rows))
        known = max(0.0, 1 - _SURE**2 * noise / lost**2) if lost else 0.0
        targets.append(max(1.0, kept + known * lost))
    return targets


def noise_variance(spend: float) -> float:
    """The variance of discrete Laplace noise of sensitivity 1."""
    a = math.exp(-spend)
    return 2 * a / (1 - a) ** 2


def _excess(t: int, a: float) -> float:
    return a**t * (t * (1 - a) + a)


def list_queries(items: int, size: int) -> list[int]:
    """List the masks of all itemsets of a size."""
    masks = [0]
    for _ in range(size):
        masks = [mask | 1 << item for mask in masks for item in range(mask.bit_length(), items)]
    return masks


def sum_supersets(noisy: Integers) -> Integers:
    """For every itemset, sum all itemsets that contain it: one pass per item."""
    sums = noisy.copy()
    for item in range(len(noisy).bit_length() - 1):
        pairs = sums.reshape(-1, 2, 1 << item)
        pairs[:, 0] += pairs[:, 1]
    return sums


# From 11 items on: improve the counts of a model by noisy ones, and rake them to small queries.


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
    for _ in range(_MODEL_SWEEPS):
        for query, target, cells in views:
            now = float(cells.sum())
            if now > 0:
                ratio = max(0.0, target / now)
                # queries overlap: half a step each; the last one is the number of records
                cells[...] *= min(max(math.sqrt(ratio) if query else ratio, 1 / _MODEL_STEP), _MODEL_STEP)
    return raked


def _containing(counts: Floats, query: int, items: int) -> Floats:
    """The itemsets that contain a query, as a view: an axis per item, the last for the first item."""
    cube = counts.reshape((2,) * items)
    return cube[tuple(slice(query >> item & 1, None) for item in reversed(range(items)))]

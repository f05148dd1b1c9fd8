"""Raking (iterative proportional fitting) of a thresholded noisy histogram to unbiased counts of small itemsets."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["list_queries", "noise_variance", "rake", "spurious_cutoff", "sum_supersets"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_LARGEST_QUERY = 3
_SWEEPS = 10
#: standard deviations of the noise that a difference must exceed to count as bias
_SURE = 1.5
#: a sweep scales by the square root of the ratio to the target, and at most by this factor: queries that overlap
#: pull in several directions, and the targets of rare ones are mostly noise
_STEP = 1.4


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

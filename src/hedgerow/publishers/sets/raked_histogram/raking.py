"""Raking (iterative proportional fitting): what is kept of a noisy histogram is fitted to unbiased small counts."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["rake", "spurious_cutoff"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_LARGEST_QUERY = 3
_SWEEPS = 10
#: standard deviations of the noise a difference must exceed to be believed
_SURE = 1.5
#: a sweep goes half of the way to a query's target, and no further than this factor: the queries
#: of an itemset pull it in several directions, and the targets of rare ones are mostly noise
_STEP = 1.4


def spurious_cutoff(noisy: Integers, cells: int, spend: float, share: float) -> int:
    r"""Return the least cutoff that keeps out nearly all that is noise alone.

    Discrete Laplace noise with $a = e^{-spend}$ is at least $t$ with an expected excess over 0 of
    $a^t (t (1 - a) + a) / (1 - a^2)$ per cell. The cutoff is the least $t$ at which all cells
    together expect at most a share of the noisy total.

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

    The records that have all items of a query are those of every itemset above it. Summed over
    *all* noisy itemsets, negative ones too, that number is unbiased; summed over the kept ones it
    is not, by what thresholds lose and by what they let through. The difference is the noise and
    the records of the lost ones. Where it is more than one and a half standard deviations of the
    noise, the kept itemsets are scaled towards the unbiased number, query by query, again and
    again, and the query of no item, which is the number of records, last.

    Parameters
    ----------
    noisy
        The noisy count of every itemset, at the position of its mask; the first is of no record,
        and those that cannot occur are 0.
    cells
        How many itemsets can occur.
    cutoff
        The least count that is kept.
    spend
        What every count was asked with, of sensitivity 1.

    Returns
    -------
    The masks of the kept itemsets, and how many records each stands for.

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
    queries = [query for size in range(_LARGEST_QUERY, -1, -1) for query in _queries(items, size)]
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
    """What the kept itemsets of each query should sum up to."""
    a = math.exp(-spend)
    variance = 2 * a / (1 - a) ** 2
    sums = _sums_above(noisy)
    targets: list[float] = []
    for query, rows in zip(queries, members, strict=True):
        kept = float(counts[rows].sum())
        lost = float(sums[query]) - kept
        noise = variance * max(0.0, cells / 2 ** query.bit_count() - len(rows))
        known = max(0.0, 1 - _SURE**2 * noise / lost**2) if lost else 0.0
        targets.append(max(1.0, kept + known * lost))
    return targets


def _excess(t: int, a: float) -> float:
    return a**t * (t * (1 - a) + a)


def _queries(items: int, size: int) -> list[int]:
    """List the masks of all itemsets of a size."""
    masks = [0]
    for _ in range(size):
        masks = [mask | 1 << item for mask in masks for item in range(mask.bit_length(), items)]
    return masks


def _sums_above(noisy: Integers) -> Integers:
    """For every itemset, sum all itemsets that contain it: one pass per item."""
    sums = noisy.copy()
    for item in range(len(noisy).bit_length() - 1):
        pairs = sums.reshape(-1, 2, 1 << item)
        pairs[:, 0] += pairs[:, 1]
    return sums

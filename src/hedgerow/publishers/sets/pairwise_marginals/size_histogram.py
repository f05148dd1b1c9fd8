"""The estimated number of records of each size, from noisy counts in bins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_count_grid
from hedgerow.steps.isotonic import isotonic_regression
from hedgerow.steps.simplex import project_to_simplex

__all__ = ["SizeHistogram", "size_bins", "upper_edges"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: up to this size every bin is one size; larger bins grow by a quarter
_SINGLE, _GROWTH = 20, 1.25
#: expected number of empty bins that pass for the largest size; with none of it, noise on empty bins makes records of
#: a hundred items
_SPURIOUS = 0.2


def upper_edges(longest: int) -> Integers:
    """The largest size of each bin, up to `longest`.

    Examples
    --------
    >>> upper_edges(40)[18:].tolist()
    [19, 20, 25, 31, 38, 40]
    """
    edges = list(range(1, min(_SINGLE, longest) + 1))
    while edges[-1] < longest:
        edges.append(min(longest, max(edges[-1] + 1, math.floor(_GROWTH * edges[-1]))))
    return np.array(edges, np.int64)


def size_bins(edges: Integers) -> Integers:
    """The bin of each size 0, 1, ... `edges[-1]`; larger records count as the last size."""
    return np.searchsorted(edges, np.arange(int(edges[-1]) + 1))


@dataclass(frozen=True, eq=False)
class SizeHistogram:
    """How many records there are, and how many of each size: `by_size[k]` of `k` items, real numbers.

    `edges` are the upper edges of the bins up to the largest size.
    """

    records: int
    edges: Integers
    bins: Floats
    by_size: Floats

    @classmethod
    def estimate(cls, noisy: Integers, edges: Integers, spend: float) -> SizeHistogram:
        """Make the noisy counts of bins consistent: no negative ones, no noise beyond the largest size.

        Examples
        --------
        >>> SizeHistogram.estimate(np.array([6, -3, 2, 4]), upper_edges(4), spend=1000.0).by_size.tolist()
        [0.0, 5.0, 0.0, 1.0, 3.0]
        """
        records = max(1, int(noisy.sum()))
        counts = noisy.astype(np.float64)
        threshold = max(1.0, math.log(len(counts) / _SPURIOUS) / spend)
        top = int(np.flatnonzero(counts >= threshold).max(initial=0))
        counts[top] += max(0.0, float(counts[top + 1 :].sum()))
        counts, edges = counts[: top + 1], edges[: top + 1]
        width = np.diff(edges, prepend=0)
        wide = width > 1
        if np.any(wide):
            # a density that does not rise: negated, one that does not fall
            density, weight = counts[wide] / width[wide], width[wide] ** 2.0
            counts[wide] = -isotonic_regression(-density[None], weight[None])[0] * width[wide]
        bins = on_count_grid(project_to_simplex(counts[None], np.array([float(records)]))[0])
        return cls(records, edges, bins, np.concatenate((np.zeros(1), np.repeat(on_count_grid(bins / width), width))))

    def split(self, cuts: tuple[int, ...]) -> list[SizeHistogram]:
        """The same in bands of sizes, each without the others; a cut is the upper edge of a bin."""
        size = np.arange(len(self.by_size))
        parts: list[SizeHistogram] = []
        for low, high in zip((0, *cuts), (*cuts, int(self.edges[-1])), strict=True):
            bins = np.where((self.edges > low) & (self.edges <= high), self.bins, 0.0)
            by_size = np.where((size > low) & (size <= high), self.by_size, 0.0)
            parts.append(SizeHistogram(self.records, self.edges, bins, by_size))
        return parts

    def representatives(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Return a size, a number of records and a weight for each bin that has records.

        The size is the mean of the bin. The weight is such that the total weight of all items is that of the sizes.
        """
        size = np.arange(len(self.by_size))
        number = size_bins(self.edges)
        kept = self.bins > 0
        mean = np.bincount(number[1:], size[1:]) / np.diff(self.edges, prepend=0)
        total = np.bincount(number[1:], (self.by_size * size * weights[: len(size)])[1:])
        return mean[kept], self.bins[kept], total[kept] / (self.bins[kept] * mean[kept])

    def whole_sizes(self, records: int) -> Integers:
        """List the sizes of so many records, ascending, in these proportions."""
        running = np.rint(np.cumsum(self.by_size * (records / self.records))).astype(np.int64)
        running[-1] = records  # as it is, but for rounding errors
        return np.repeat(np.arange(len(running)), np.diff(running, prepend=0))

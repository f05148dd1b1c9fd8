"""Degree distributions, and how far two of them are apart."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Graph

__all__ = [
    "bin_means",
    "bin_middles",
    "degree_bins",
    "degree_counts",
    "jensen_shannon",
    "kullback_leibler",
    "smoothed_kullback_leibler",
    "total_variation",
]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_SMOOTHING = 0.5
#: bins per doubling of the degree
_BINS = 2


def degree_counts(*graphs: Graph) -> list[Integers]:
    """Count the vertices of each degree 0, 1, ..., in each graph; up to the largest degree of all of them.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(0, 1), (1, 2)], domain=Domain.declare(vertex=range(4)))
    >>> degree_counts(graph)[0].tolist()
    [1, 2, 1]
    """
    degrees = [graph.degrees() for graph in graphs]
    size = 1 + max(int(each.max(initial=0)) for each in degrees)
    return [np.bincount(each, minlength=size) for each in degrees]


def kullback_leibler(before: Integers, after: Integers) -> float:
    """The Kullback-Leibler divergence in nats; infinite if something occurs before that does not occur after.

    Examples
    --------
    >>> round(kullback_leibler(np.array([0, 1, 2, 5]), np.array([1, 1, 1, 5])), 6)
    0.173287
    """
    return _divergence(_shares(before), _shares(after))


def smoothed_kullback_leibler(before: Integers, after: Integers) -> float:
    """The Kullback-Leibler divergence in nats, with half a vertex added to every degree of both distributions."""
    return _divergence(_shares(before + _SMOOTHING), _shares(after + _SMOOTHING))


def jensen_shannon(before: Integers, after: Integers) -> float:
    """The Jensen-Shannon divergence in nats: 0 if equal, ln 2 if nothing is shared.

    Examples
    --------
    >>> round(jensen_shannon(np.array([0, 1, 2, 5]), np.array([1, 1, 1, 5])), 6)
    0.05394
    """
    one, other = _shares(before), _shares(after)
    middle = (one + other) / 2
    return max(0.0, (_divergence(one, middle) + _divergence(other, middle)) / 2)


def total_variation(before: Integers, after: Integers) -> float:
    """The total variation distance: 0 if equal, 1 if nothing is shared.

    Examples
    --------
    >>> total_variation(np.array([0, 1, 2, 5]), np.array([1, 1, 1, 5]))
    0.125
    """
    return float(np.abs(_shares(before) - _shares(after)).sum() / 2)


def degree_bins(largest: int) -> Integers:
    """Return the lower ends of bins of growing width, from degree 1 on, and one more end beyond the largest degree.

    Examples
    --------
    >>> degree_bins(10).tolist()
    [1, 2, 3, 4, 6, 8, 11]
    """
    last = math.ceil(_BINS * math.log2(max(1, largest) + 1))
    ends = np.unique(np.rint(2 ** (np.arange(last + 1) / _BINS)).astype(np.int64))
    return np.append(ends[ends <= largest], largest + 1)


def bin_middles(bins: Integers) -> Floats:
    """The geometric middle of each bin of degrees, for a logarithmic axis."""
    return np.sqrt(bins[:-1] * (bins[1:] - 1))


def bin_means(counts: Integers, bins: Integers) -> Floats:
    """The mean count of the degrees of each bin."""
    sums = np.concatenate(([0], np.cumsum(counts)))
    return np.diff(sums[np.minimum(bins, len(counts))]) / np.diff(bins)


def _shares(counts: NDArray[Any]) -> Floats:
    return counts / max(1e-300, float(counts.sum()))


def _divergence(one: Floats, other: Floats) -> float:
    occurring = one > 0
    if np.any(other[occurring] == 0):
        return math.inf
    return float(np.sum(one[occurring] * np.log(one[occurring] / other[occurring])))

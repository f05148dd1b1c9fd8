r"""Expected degrees of vertices, estimated from noisy degrees, and what a block model makes of them.

A generator that draws edges independently gives a vertex with expected degree $\mu$ about a Poisson distributed degree.
So the distribution of expected degrees is chosen such that Poisson degrees plus the noise, whose distribution is known,
fit the noisy degrees: the maximum likelihood estimate of a mixing distribution [1]_, by expectation maximisation. Its
quantiles are assigned to the vertices in the order of their noisy degrees. The graph then has about the true
distribution of degrees, although the noise blurs it, and so does the generator.

In a degree-corrected block model [2]_ vertices have weights; with the right ones they get their expected degrees,
whatever the numbers of edges in the blocks are.

References
----------
.. [1] N. Laird. "Nonparametric maximum likelihood estimation of a mixing distribution". JASA 73, 1978.
.. [2] B. Karrer, M. E. J. Newman. "Stochastic blockmodels and community structure in networks". Physical Review E 83,
   2011.
"""

from __future__ import annotations

import math

import numpy as np

from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.rounding import on_grid

#: noisy degrees from this many noise scales on are taken as they are: noise hardly changes them
_CLEAR, _LEAST_CLEAR = 20.0, 50
#: noise of a greater scale is that of degrees rounded to a multiple: finer ones would only cost memory and time
_GREATEST_SCALE = 500.0
_POINTS, _ROUNDS = 160, 300
#: a Poisson variable exceeds its mean by this many standard deviations, and a bit, practically never
_DEVIATIONS, _MARGIN = 8.0, 30
_SMALLEST, _FIRST = 0.02, 0.25
#: rounds in which weights are fitted; one of them changes a weight by at most this factor
_FITS, _STEP = 15, 5.0
_TINY = 1e-9


def estimate_degrees(noisy: Integers, scale: float, order: np.random.Generator) -> Floats:
    """Estimate the expected degree of each vertex; `scale` is that of the noise, and `order` breaks ties.

    Examples
    --------
    >>> from hedgerow.privacy.samplers import coins
    >>> noisy = np.repeat([0, 5, 30, 400], [300, 200, 100, 1])
    >>> estimate_degrees(noisy, 2.0, coins((1, 0)))[[0, 400, 550, 600]].round(1).tolist()
    [0.0, 4.3, 30.1, 400.0]
    """
    most = len(noisy) - 1
    possible = np.clip(noisy, 0, most)
    expected = np.maximum(possible, _SMALLEST).astype(np.float64)
    clear = max(_LEAST_CLEAR, math.ceil(_CLEAR * scale))
    blurred = np.flatnonzero(noisy < clear)
    if len(blurred) == 0:
        return expected
    # a noisy degree below 0 says as much as 0 does: for each true degree it is less likely by the same factor
    step = max(1, math.ceil(scale / _GREATEST_SCALE))
    points, weights = map(on_grid, fit_mixture(possible[blurred] // step, scale / step))
    # equal noisy degrees are ordered at random
    ranked = blurred[np.lexsort((order.random(len(blurred)), noisy[blurred]))]
    quantiles = (np.arange(len(ranked)) + 0.5) / len(ranked)
    chosen = points[np.minimum(np.searchsorted(np.cumsum(weights), quantiles), len(points) - 1)]
    expected[ranked] = np.minimum(step * chosen, most)
    return expected


def fit_mixture(noisy: Integers, scale: float) -> tuple[Floats, Floats]:
    """Return expected degrees on a grid, and the weight of each that makes the noisy degrees most likely."""
    low, high = int(noisy.min()), int(noisy.max())
    points = np.concatenate(([_SMALLEST], np.geomspace(_FIRST, max(high, 1) + 1.0, _POINTS)))
    chances = noisy_poisson(points, scale, low, high)
    counts = np.bincount(noisy - low, minlength=high - low + 1)
    seen = np.flatnonzero(counts)
    chances, counts = chances[seen], counts[seen]
    weights = np.full(len(points), 1 / len(points))
    for _ in range(_ROUNDS):
        weights = weights * (chances.T @ (counts / np.maximum(chances @ weights, np.finfo(float).tiny)))
        weights /= weights.sum()
    return points, weights


def noisy_poisson(means: Floats, scale: float, low: int, high: int) -> Floats:
    """Return the probability of each whole number from `low` to `high`: a Poisson variable plus discrete Laplace noise.

    One column per mean. The noise decays geometrically, so one pass upwards and one downwards add up all cases.

    Examples
    --------
    >>> noisy_poisson(np.array([1.0]), 0.01, 0, 2).round(4).ravel().tolist()
    [0.3679, 0.3679, 0.1839]
    """
    top = max(high, math.ceil(float(means.max()) + _DEVIATIONS * math.sqrt(float(means.max())))) + _MARGIN
    decay = math.exp(-1 / scale)
    chances = np.zeros((top - min(low, 0) + 1, len(means)))
    log_chance = -means
    for degree in range(top + 1):
        chances[degree - min(low, 0)] = np.exp(log_chance)
        log_chance = log_chance + np.log(means) - math.log(degree + 1)
    upwards, downwards = chances.copy(), chances.copy()
    for row in range(1, len(chances)):
        upwards[row] += decay * upwards[row - 1]
        downwards[-1 - row] += decay * downwards[-row]
    blurred = (upwards + downwards - chances) * (1 - decay) / (1 + decay)
    first = low - min(low, 0)
    return blurred[first : first + high - low + 1]


def fit_weights(degrees: Floats, blocks: Regions, edges: Integers) -> Floats:
    """Return the weight of each vertex with which blocks of so many edges give vertices their expected degrees.

    By iterative proportional fitting.

    Examples
    --------
    >>> blocks = Regions.whole(4).quadrants(np.array([2]), np.array([2]))[[0, 1, 3]]
    >>> weights = fit_weights(np.array([2.0, 1.0, 2.0, 1.0]), blocks, np.array([1, 1, 1]))
    >>> (weights / weights.sum()).round(3).tolist()
    [0.333, 0.167, 0.333, 0.167]
    """
    total = float(degrees.sum())
    wanted = degrees * (2 * float(edges.sum()) / total) if total > 0 else degrees
    weights = degrees + _TINY
    for _ in range(_FITS):
        expected = weights * _edges_per_weight(weights, blocks, edges)
        weights = weights * np.clip(wanted / np.maximum(expected, _TINY), 1 / _STEP, _STEP)
    return on_grid(weights)


def _edges_per_weight(weights: Floats, blocks: Regions, edges: Integers) -> Floats:
    """For each vertex, the edges of its blocks per weight: the sum over its rows and its columns."""
    before = prefix_sums(weights)
    rows = edges / np.maximum(before[blocks.bottom] - before[blocks.top], _TINY)
    columns = edges / np.maximum(before[blocks.right] - before[blocks.left], _TINY)
    size = len(weights) + 1
    starts = np.bincount(blocks.top, rows, size) + np.bincount(blocks.left, columns, size)
    ends = np.bincount(blocks.bottom, rows, size) + np.bincount(blocks.right, columns, size)
    return np.maximum(np.cumsum(starts - ends)[:-1], 0.0)


def halve_regions(regions: Regions, before: Floats) -> tuple[Integers, Integers]:
    """Cut rows and columns of each region such that both parts have the same sum of degrees: the row and the column.

    `before` are the prefix sums of the degrees. One vertex cannot be cut.
    """
    return _halve(before, regions.top, regions.bottom), _halve(before, regions.left, regions.right)


def _halve(before: Floats, low: Integers, high: Integers) -> Integers:
    """Cut each interval of vertices where half of its degrees are before the cut."""
    cut = np.searchsorted(before, (before[low] + before[high]) / 2)
    return np.where(high - low > 1, np.clip(cut, low + 1, high - 1), high)


def prefix_sums(numbers: Floats) -> Floats:
    """The sums of the first 0, 1, 2, ... numbers."""
    return np.concatenate((np.zeros(1), np.cumsum(numbers)))

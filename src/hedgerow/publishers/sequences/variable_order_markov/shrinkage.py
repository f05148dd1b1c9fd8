r"""Empirical Bayes: replace noisy counts by posterior means, under a prior that is fitted to all counts of their kind.

A noisy count is a count $x$ plus Laplace noise of scale $b$. Counts are grouped into classes by their prior mean $m$,
in powers of two of $b$. For every class the distribution of $x / b$ is estimated on a fixed grid by expectation
maximization (the non-parametric maximum likelihood of Kiefer and Wolfowitz), with a weak exponential prior.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_grid

__all__ = ["GRID", "shrink"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: possible counts, in noise scales
GRID = np.concatenate((np.zeros(1), np.exp2(np.arange(-6.0, -1)), np.exp2(np.arange(-0.5, 4.6, 0.25))))
#: the classes of the logarithm of prior means
_LOWEST, _HIGHEST = -12, 4
_LEAST_MEAN, _LEAST_CHANCE = 1e-9, 1e-12
#: steps of expectation maximization, the most cells that it reads, and the weight of the weak prior in cells
_STEPS, _CELLS, _WEIGHT = 30, 6_000, 4.0
#: the uniform part of the first guess
_UNIFORM = 0.1
#: counts of so many noise scales stay; farther ones are alike to the fit; below the last, prior means of cells matter
_LARGE, _FARTHEST, _SMALL = 12.0, 40.0, 2.0


def shrink(noisy: Floats, mean: Floats, scale: Floats, coins: np.random.Generator) -> Floats:
    """Return the posterior mean of each count, given its prior mean and its noise scale; one fit for all.

    Coins choose the cells that are read of classes with more than 6,000.
    """
    noisy, mean, scale = np.broadcast_arrays(noisy, np.maximum(mean, _LEAST_MEAN), scale)
    ratio = (mean / scale).ravel()
    count = (noisy / scale).ravel()
    kind = np.clip(np.frexp(on_grid(ratio))[1] - 1, _LOWEST, _HIGHEST)
    result = np.empty_like(count)
    for number in range(_LOWEST, _HIGHEST + 1):
        cells = np.flatnonzero(kind == number)
        if len(cells):
            result[cells] = _posterior_means(count[cells], ratio[cells], coins)
    result = np.where(count >= _LARGE, noisy.ravel(), result * scale.ravel())
    return result.reshape(noisy.shape)


def _posterior_means(count: Floats, ratio: Floats, coins: np.random.Generator) -> Floats:
    """Posterior means of the counts of one class; both in noise scales."""
    typical = float(ratio.mean())
    read = count if len(count) <= _CELLS else count[coins.integers(0, len(count), _CELLS)]
    means = _means_under(_fit(read, typical), np.clip(count, 0.0, _LARGE))
    return means * np.where(count < _SMALL, np.clip(ratio / typical, 0.5, 2.0), 1.0)


def _fit(count: Floats, typical: float) -> Floats:
    """Estimate the distribution on the grid."""
    weak = np.exp(-GRID / typical) * np.gradient(GRID) + _LEAST_CHANCE
    weak /= weak.sum()
    # below 0, the likelihood of all grid points falls alike
    likelihood = np.exp(-np.abs(np.clip(count, 0.0, _FARTHEST)[:, None] - GRID))
    chance = (1 - _UNIFORM) * weak + _UNIFORM / len(GRID)
    for _ in range(_STEPS):
        chance = chance * ((1 / (likelihood @ chance)) @ likelihood) + _WEIGHT * weak
        chance /= chance.sum()
    return chance


def _means_under(chance: Floats, count: Floats) -> Floats:
    """The posterior means of counts from 0 on, under a distribution on the grid.

    The likelihood of a grid point `g` is `exp(g - count)` below the count and `exp(count - g)` above, so sums over the
    grid are two cumulative sums.
    """
    below, above = chance * np.exp(GRID), chance * np.exp(-GRID)
    point = np.searchsorted(GRID, count, "right")
    near, far = np.exp(-count), np.exp(count)
    mass = near * _upto(below)[point] + far * _from(above)[point]
    return (near * _upto(below * GRID)[point] + far * _from(above * GRID)[point]) / mass


def _upto(values: Floats) -> Floats:
    return np.append(0.0, np.cumsum(values))


def _from(values: Floats) -> Floats:
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)

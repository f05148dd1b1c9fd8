"""Shrink noisy item weights by empirical Bayes: posterior means under a prior estimated from the same answers."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["adjust_total", "posterior_means", "shrink"]

Floats: TypeAlias = NDArray[np.float64]

_GRID_POINTS, _ROUNDS = 120, 60
#: the finest value of the grid, in scales of the noise, and how far it goes beyond the largest answer
_FINEST, _BEYOND = 1 / 50, 1.02
_LEAST_MASS = 1e-9
#: scales of the noise from which on, and after which, an answer is taken as it is
_KEEP_FROM, _KEEP_WITHIN = 6.0, 6.0
_TOTAL_ROUNDS, _TOLERANCE = 20, 1e-6
_LEAST_WEIGHT, _LEAST_VARIANCE = 1e-6, 1e-9


def shrink(answers: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Return the estimate of every item and its variance.

    Parameters
    ----------
    answers
        A row per question: the noisy weight of every item.
    rates
        The rate of the Laplace noise of each question.
    """
    means, variances = posterior_means(answers, rates)
    best, scale = _combine(answers, rates)
    # far above the noise the grid is coarser than the noise
    kept = np.clip((best / scale - _KEEP_FROM) / _KEEP_WITHIN, 0, 1)
    return (1 - kept) * means + kept * best, (1 - kept) * variances + kept * 2 * scale**2


def posterior_means(answers: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of every item's weight, given its answers, under the prior that fits all answers best.

    The prior is on a geometric grid and 0, estimated by the EM algorithm.

    Examples
    --------
    >>> posterior_means(np.array([[0.0, 3, -2, 1, 40, 100]]), np.array([0.5]))[0].round(4).tolist()
    [0.34, 1.0421, 0.34, 0.5215, 40.5351, 102.0]
    """
    best, scale = _combine(answers, rates)
    largest = _BEYOND * max(float(best.max()), 2 * scale)
    grid = np.concatenate((np.zeros(1), np.geomspace(scale * _FINEST, largest, _GRID_POINTS)))
    exponent = np.zeros((len(best), len(grid)))
    for answer, rate in zip(answers, rates.tolist(), strict=True):
        exponent -= rate * np.abs(answer[:, None] - grid)
    # an item between two distant grid points has likelihood 0 at all of them, but for this
    likelihood = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    prior = np.full(len(grid), 1 / len(grid))
    for _ in range(_ROUNDS):
        prior = prior * (likelihood.T @ (1 / (likelihood @ prior))) / len(best) + _LEAST_MASS
        prior /= prior.sum()
    posterior = likelihood * prior
    posterior /= posterior.sum(axis=1, keepdims=True)
    means = posterior @ grid
    return means, np.maximum(0.0, posterior @ grid**2 - means**2)


def adjust_total(means: Floats, variances: Floats, total: float, most: float) -> Floats:
    """Spread what is missing to the total over all items, the uncertain ones first; none above `most`.

    Examples
    --------
    >>> adjust_total(np.array([10.0, 5, 0, 1]), np.array([4.0, 4, 1, 1]), 38.0, 10.0).round(4).tolist()
    [10.0, 10.0, 8.5, 9.5]
    """
    means, variances = means.copy(), variances + _LEAST_VARIANCE
    for _ in range(_TOTAL_ROUNDS):
        missing = total - float(means.sum())
        free = means > _LEAST_WEIGHT if missing < 0 else means < most
        if abs(missing) <= _TOLERANCE * total or not np.any(free):
            break
        means[free] += missing * variances[free] / variances[free].sum()
        means = np.clip(means, _LEAST_WEIGHT, most)
    return means


def _combine(answers: Floats, rates: Floats) -> tuple[Floats, float]:
    """The weighted mean of the answers, and the scale of Laplace noise of the same variance."""
    squares = rates**2
    return squares @ answers / squares.sum(), 1 / math.sqrt(float(squares.sum()))

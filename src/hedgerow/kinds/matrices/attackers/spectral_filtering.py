r"""Spectral filtering: noise spreads over all directions, data over few, so that most of the noise can be removed.

The attacker has the release $\tilde A = A + E$ and knows nothing of the original; that the noise is independent, and
perhaps its size $\beta$, is said in the statement of the release. Success is a matrix nearer to $A$ than $\tilde A$ is.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.numerics.arrays import Floats

Rule: TypeAlias = Literal["edge", "gap", "thesis_min"]
_GRID = 8192


class Filtered(NamedTuple):
    """A reconstruction, and the rank that was kept; 0 if no signal is above the noise."""

    values: Floats
    rank: int


def noise_edge(rows: int, columns: int, beta: float) -> float:
    r"""Return $\beta (\sqrt n + \sqrt m)$, an upper envelope of the largest singular value of the noise.

    Examples
    --------
    >>> round(noise_edge(345, 7, 1.0), 2)
    21.22
    """
    return beta * (math.sqrt(rows) + math.sqrt(columns))


def thesis_edge(rows: int, columns: int) -> float:
    """Return the square root of n + m: the rule of the thesis, which is too low, for noise of deviation 1.

    Examples
    --------
    >>> round(thesis_edge(345, 7), 4)
    18.7617
    """
    return math.sqrt(rows + columns)


def estimate_noise(singular: Floats, rows: int, columns: int) -> float:
    """Estimate the standard deviation of the noise by the median singular value (Marchenko-Pastur).

    It holds where less than half of the directions have signal; else it is too large.

    Examples
    --------
    >>> round(estimate_noise(np.array([900.0, 44.0, 40.0]), 400, 3), 1)
    2.2
    """
    large, small = max(rows, columns), min(rows, columns)
    return float(np.median(singular[:small])) / math.sqrt(large * _marchenko_pastur_median(small / large))


def choose_rank(singular: Floats, edge: float, rule: Rule = "edge") -> int:
    r"""Choose how many singular values $\tilde\sigma_i$ are signal.

    Parameters
    ----------
    rule
        `edge`: those above the noise. `gap`: up to the last one that is above the noise and as far above the next.
        `thesis_min`: up to the first such one, as the thesis prints it; for reproduction only.

    Examples
    --------
    >>> values = np.array([100.0, 60.0, 55.0, 20.0, 1.0])
    >>> [choose_rank(values, 10.0, rule) for rule in ("edge", "gap", "thesis_min")]
    [4, 4, 1]
    """
    if rule == "edge":
        return int((singular > edge).sum())
    if rule not in {"gap", "thesis_min"}:
        msg = f"the rule must be one of edge, gap, thesis_min; got {rule!r}"
        raise ParameterError(msg)
    apart = np.flatnonzero((edge <= singular[:-1]) & (edge <= singular[:-1] - singular[1:])) + 1
    if not len(apart):
        return 0
    return int(apart[-1] if rule == "gap" else apart[0])


def filter_noise(released: Floats, *, beta: float | None = None, rule: Rule = "edge") -> Filtered:
    r"""Keep the directions whose singular values are above the noise: $\hat A = \tilde A_k$.

    Parameters
    ----------
    beta
        The standard deviation of the noise; estimated if None.

    Examples
    --------
    >>> data = np.outer(np.arange(1.0, 41.0), [1.0, 2.0, 3.0])
    >>> noisy = data + [[0.3, -0.2, 0.1], [-0.3, 0.2, -0.1]] * 20
    >>> filtered = filter_noise(noisy, beta=0.3)
    >>> filtered.rank, bool(np.linalg.norm(filtered.values - data) < np.linalg.norm(noisy - data))
    (1, True)
    """
    squares, vectors = np.linalg.eigh(released.T @ released)
    singular = np.sqrt(np.maximum(squares[::-1], 0.0))
    rows, columns = released.shape
    size = estimate_noise(singular, rows, columns) if beta is None else beta
    rank = choose_rank(singular, noise_edge(rows, columns, size), rule)
    if not rank:
        return Filtered(np.broadcast_to(released.mean(0), released.shape), 0)
    kept = vectors[:, ::-1][:, :rank]
    return Filtered((released @ kept) @ kept.T, rank)


def shrink_noise(released: Floats, *, beta: float) -> Floats:
    r"""Shrink each direction by its share of noise: the best linear estimate of rows, if noise has deviation $\beta$.

    $\hat A = \mu + (\tilde A - \mu) (\Sigma - \beta^2 I) \Sigma^{-1}$ with the covariance $\Sigma$ of the release.
    Unlike a truncation it also gains where all directions have signal (Huang, Du and Chen, SIGMOD 2005).

    Examples
    --------
    >>> shrink_noise(np.array([[0.0], [4.0], [8.0]]), beta=2).tolist()
    [[1.0], [4.0], [7.0]]
    """
    mean = released.mean(0)
    centred = released - mean
    variances, vectors = np.linalg.eigh(centred.T @ centred / max(1, len(released) - 1))
    factor = np.maximum(variances - beta**2, 0.0) / np.maximum(variances, np.finfo(float).tiny)
    return mean + (centred @ (vectors * factor)) @ vectors.T


def _marchenko_pastur_median(ratio: float) -> float:
    """Return the median of the Marchenko-Pastur law of a ratio of at most 1, by integration on a grid."""
    low, high = (1 - math.sqrt(ratio)) ** 2, (1 + math.sqrt(ratio)) ** 2
    # the cosine keeps the ends of the support, where the density is steep, well resolved
    angle = (np.arange(_GRID) + 0.5) * np.pi / _GRID
    at = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    weight = np.sin(angle) ** 2 / at
    total = np.cumsum(weight)
    return float(at[np.searchsorted(total, total[-1] / 2)])

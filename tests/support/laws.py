"""Laws written down for the tests, and the test that a sample follows one.

Every use accepts at p > 1e-6: with a fixed seed a test fails by chance in one of a million choices of
that seed, and never flickers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from hedgerow import Domain, PureDP, Sequences
from hedgerow.data import Dataset
from hedgerow.testing import output_distribution, worst_loss

FALSE_ALARM = 1e-6


def two_sided_geometric(scale: float) -> Callable[[np.ndarray], np.ndarray]:
    """P(Z <= z) of discrete Laplace noise of a scale."""
    q = np.exp(-1 / scale)

    def below(z: np.ndarray) -> np.ndarray:
        far = q ** np.where(z >= 0, z + 1, -z) / (1 + q)
        return np.where(z >= 0, 1 - far, far)

    return below


def one_sided_geometric(rate: float) -> Callable[[np.ndarray], np.ndarray]:
    """P(G <= g) with P(G >= g) = exp(-rate g)."""
    return lambda g: np.where(g >= 0, -np.expm1(-rate * (g + 1.0)), 0.0)


def chi_square(sample: np.ndarray, law: Callable[[np.ndarray], np.ndarray], cells: int = 60) -> float:
    """Return the p-value of a sample of integers under a law given as P(Z <= z)."""
    ordered = np.sort(sample)
    edges = np.unique(ordered[np.linspace(0, len(ordered) - 1, cells + 1).astype(int)[1:-1]])
    chances = np.diff(np.concatenate(([0.0], law(edges), [1.0])))
    counts = np.diff(np.concatenate(([0], np.searchsorted(ordered, edges, "right"), [len(sample)])))
    # cells are cut at quantiles of the sample; those of too small an expectation are merged
    keep = chances * len(sample) >= 5
    rest = ~keep
    observed = np.append(counts[keep], counts[rest].sum())
    expected = np.append(chances[keep], chances[rest].sum()) * len(sample)
    if expected[-1] < 5:
        observed[-2] += observed[-1]
        expected[-2] += expected[-1]
        observed, expected = observed[:-1], expected[:-1]
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


def fits(counts: dict[object, int], chances: dict[object, float]) -> float:
    """Return the p-value of counted outcomes under their exact chances, rare ones merged."""
    assert set(counts) <= set(chances), "an impossible outcome was drawn"
    total = sum(counts.values())
    common = [outcome for outcome, chance in chances.items() if chance * total >= 5]
    observed = [counts.get(outcome, 0) for outcome in common]
    expected = [chances[outcome] * total for outcome in common]
    if sum(expected) < total - 5:
        observed.append(total - sum(observed))
        expected.append(total - sum(expected))
    scaled = np.array(expected) * sum(observed) / sum(expected)
    return float(stats.chisquare(observed, scaled).pvalue)


def same_law(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p-value of two samples of integers having one law."""
    pooled = np.sort(np.concatenate((first, second)))
    edges = np.unique(pooled[np.linspace(0, len(pooled) - 1, 40).astype(int)[1:-1]])
    table = [np.bincount(np.searchsorted(edges, part), minlength=len(edges) + 1) for part in (first, second)]
    filled = np.array(table)[:, np.sum(table, axis=0) >= 10]
    return float(stats.chi2_contingency(filled).pvalue)


def sequences_over(records: list[list[int]], items: int) -> Sequences:
    """Sequences of items 0, 1, ..."""
    return Sequences.from_records(records, domain=Domain.declare(item=range(items)))


def worst(method: object, data: Dataset, *, unit: str = "sequence", low: int = -3, high: int = 4) -> float:
    """The largest loss of all that may be published, between data and each of its neighbours."""
    promise = PureDP(epsilon=1, unit=unit)
    here = output_distribution(method, data, promise, low=low, high=high)
    assert np.isclose(sum(here.values()), 1, rtol=1e-9)
    return max(
        worst_loss(here, output_distribution(method, neighbour, promise, low=low, high=high))
        for neighbour in data.neighbours(unit)
    )

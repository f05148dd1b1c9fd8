"""Data, populations and fits for the tests of pairwise-marginals."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pairwise_cases import forced

from hedgerow import Domain, PureDP, Sets
from hedgerow.kinds.sets.methods.pairwise_marginals import pairs_model, publisher
from hedgerow.kinds.sets.methods.pairwise_marginals.pairs_model import Population

__all__ = ["arrives", "fitted", "keeps_its_total", "long_records", "planted", "population_of"]


def _drawn(sizes: np.ndarray, items: int, draw: np.random.Generator) -> Sets:
    """Items with weights 1 / (i + 5), drawn with repeats."""
    chances = 1 / (np.arange(items) + 5.0)
    item = draw.choice(items, int(sizes.sum()), p=chances / chances.sum())
    row = np.repeat(np.arange(len(sizes)), sizes)
    return Sets.from_columns(row=row, item=item, domain=Domain.declare(item=range(items)))


def planted(records: int, seed: int) -> tuple[Sets, int]:
    """50,000 records of 200 items; items 10 and 25 are added to some. Also the true number of records with both."""
    draw = np.random.default_rng(seed)
    data = _drawn(1 + draw.poisson(2, 50_000), 200, draw)
    rows = draw.choice(50_000, records, replace=False)
    starts, items, _ = data.arrays()
    row = np.concatenate((np.repeat(data.numbers, np.diff(starts)), rows, rows))
    item = np.concatenate((items, np.full(records, 10), np.full(records, 25)))
    data = Sets.from_columns(row=row, item=item, domain=data.domain)
    return data, int(data.weigh_pairs(np.array([10, 25]), np.ones(3, np.int64))[0])


def long_records() -> Sets:
    """6,000 records, a quarter of them long."""
    draw = np.random.default_rng(12)
    sizes = np.where(draw.random(6_000) < 0.25, 20 + draw.poisson(10, 6_000), 1 + draw.poisson(1, 6_000))
    return _drawn(sizes, 120, draw)


def population_of(seed: int) -> tuple[Population, list[tuple[int, list[int]]]]:
    """Records of up to 25 items, six items in the head."""
    draw = np.random.default_rng(seed)
    sizes = np.sort(draw.integers(1, 26, 200))
    parts = [draw.choice(6, draw.integers(0, min(size, 6) + 1), replace=False).tolist() for size in sizes.tolist()]
    row = np.repeat(np.arange(200), [len(part) for part in parts])
    ranks = np.array([item for part in parts for item in part], np.int64)
    return Population.from_tokens(sizes, row, ranks, 6), list(zip(sizes.tolist(), parts, strict=True))


class _Watched(pairs_model.PairFit):
    """A fit that notes, after every round, the weight of all items: of the head, and what is left for the tail."""

    made: ClassVar[list[_Watched]] = []

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.totals: list[float] = []
        _Watched.made.append(self)

    def update(self, *arguments: Any) -> None:
        super().update(*arguments)
        by_size, population = self._targets.by_size, self._population
        others = by_size[population.sizes] @ (population.sizes - population.counts)
        self.totals.append(float(population.weigh_items(by_size).sum() + others))


def fitted(data: Sets, *, epsilon: Any, seed: int, steps: int = 60) -> _Watched:
    """The state of the fit after publishing with pairs."""
    original, pairs_model.PairFit = pairs_model.PairFit, _Watched
    try:
        with forced("pairs", steps=steps) as method:
            method.publish(data, PureDP(epsilon=epsilon, unit="record"), seed=seed)
    finally:
        pairs_model.PairFit = original
    assert publisher.fit_pairs is pairs_model.fit_pairs
    return _Watched.made.pop()


def keeps_its_total() -> None:
    """Law 4: moves and resampling never change the size of a record."""
    totals = fitted(
        _drawn(1 + np.random.default_rng(2).poisson(3, 3_000), 40, np.random.default_rng(3)),
        epsilon=5,
        seed=1,
        steps=20,
    ).totals
    assert len(totals) == 20
    assert np.allclose(totals, totals[0], rtol=1e-9)


def arrives(data: Sets) -> None:
    """Law 12: the weights of the fitted population are those that were asked for."""
    fit = fitted(data, epsilon=1, seed=1)
    targets = fit._targets
    known = targets.items > 10 * targets.least
    assert np.count_nonzero(known) > 5
    error = np.abs(fit._population.weigh_items(targets.by_size) / targets.items - 1)[known]
    assert error.max() < 0.15
    assert np.median(error) < 0.05

"""Fit weights and interactions so that a population, weighted as the data was, has the noisy answers.

Stochastic approximation: move the records, count them, change the parameters, resample the records accordingly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sets.pairwise_marginals.metropolis_moves import Proposals, move
from hedgerow.publishers.sets.pairwise_marginals.pair_model import PairModel
from hedgerow.publishers.sets.pairwise_marginals.population import Population
from hedgerow.publishers.sets.pairwise_marginals.resampling import resample_by_size
from hedgerow.steps.coarse_grid import on_count_grid

__all__ = ["PairFit", "PairTargets", "fit_pairs", "move_all"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: rounds in which records move twice, the first round in which interactions change, rounds between new proposals
_DOUBLE_MOVES, _FIRST_PAIRS, _NEW_PROPOSALS = 5, 7, 4
#: steps of the parameters, and the smaller ones in the last rounds
_STEP, _LAST_STEP, _LAST = 0.5, 0.35, 0.4
#: how much of the smoothed counts of pairs is kept from round to round
_MEMORY = 0.6
#: bounds of the estimated variance of interactions; of one interaction, of 6 and 9, chosen on groceries, bms-webview-2
#: and kosarak-subset
_VARIANCES, _LARGEST = (0.01, 4.0), 6.0
#: the variance of an interaction that is far above the noise
_OBVIOUS_VARIANCE = 9.0


@dataclass(frozen=True, eq=False)
class PairTargets:
    """What the population should have, in its units.

    Attributes
    ----------
    items, by_size
        The weight of each head item over all records of a band, a row per band; and the weight of an item in a record
        of each size.
    least
        The weight below which an item's ratio to its target says little, a row per band.
    pairs, by_count
        The noisy weight of each pair, and the weight of a pair in a record with each number of head items.
    noise
        The standard deviation of the noise of pairs.
    """

    items: Floats
    by_size: Floats
    least: Floats
    pairs: Floats
    by_count: Floats
    noise: float


def fit_pairs(
    population: Population, models: list[PairModel], targets: PairTargets, steps: int, coins: np.random.Generator
) -> PairFit:
    """Fit the models of all bands; population and models are changed in place."""
    fit = PairFit(population, models, targets)
    proposals: list[Proposals] = []
    for number in range(1, steps + 1):
        if number % _NEW_PROPOSALS == 1:
            proposals = [Proposals.from_model(model) for model in models]
        for _ in range(2 if number <= _DOUBLE_MOVES else 1):
            move_all(population, models, proposals, coins)
        fit.update(number, _LAST_STEP if number > (1 - _LAST) * steps else _STEP, coins)
    return fit


def move_all(
    population: Population, models: list[PairModel], proposals: list[Proposals], coins: np.random.Generator
) -> None:
    """Move every record once."""
    for part in population.classes:
        move(part, models[part.band], proposals[part.band], coins)


class PairFit:
    """The state of the fit: smoothed counts of pairs, and the prior of the interactions."""

    def __init__(self, population: Population, models: list[PairModel], targets: PairTargets) -> None:
        self._population, self._models, self._targets = population, models, targets
        self._interactions = models[0].interactions  # those of all bands
        self._pairs = np.triu_indices(population.head, 1)
        self._smoothed = np.zeros(len(targets.pairs))
        self._obvious = np.zeros(len(targets.pairs), np.bool_)
        self.variance = 0.0

    def update(self, number: int, step: float, coins: np.random.Generator) -> None:
        """Count, change weights and interactions, and resample."""
        weights = np.pad(self._change_weights(step), ((0, 0), (0, 1)))
        now = self._population.weigh_pairs(self._targets.by_count)
        self._smoothed = now if number == 1 else _MEMORY * self._smoothed + (1 - _MEMORY) * now
        for model, change in zip(self._models, weights, strict=True):
            model.log_weights[:] = on_count_grid(model.log_weights + change)
        interactions = None
        if number >= _FIRST_PAIRS:
            if number == _FIRST_PAIRS:
                self._estimate_prior()
            interactions = self._change_interactions(step)
            self._interactions += interactions
        self._resample(weights, interactions, coins)

    def _change_weights(self, step: float) -> Floats:
        targets, now = self._targets, self._population.weigh_items(self._targets.by_size)
        ratio = np.log((targets.items + targets.least) / (now + targets.least))
        return step * np.clip(ratio, -1, 1)

    def _estimate_prior(self) -> None:
        """Estimate the variance of all interactions, and mark the obvious pairs, which are not shrunk like others."""
        targets, now = self._targets, self._smoothed
        noise, head = targets.noise, self._population.head
        excess = targets.pairs - now
        precision = now**2 / (noise**2 + now + now**2 / 4) ** 2
        information = float(precision @ now**2)
        surplus = float(precision @ (excess**2 - noise**2 - 1.3 * now))
        self.variance = float(np.clip(surplus / information, *_VARIANCES)) if information > 0 else _VARIANCES[0]
        self._obvious = excess > noise / math.sqrt(2) * math.log(head * (head - 1)) + 3 * np.sqrt(now)

    def _change_interactions(self, step: float) -> Floats:
        """A damped Newton step of each interaction, with a normal prior."""
        targets, now, theta = self._targets, self._smoothed, self._interactions[self._pairs]
        slope = np.maximum(now, 1 / 2)
        variance = targets.noise**2 + slope
        prior = np.where(self._obvious, 1 / _OBVIOUS_VARIANCE, 1 / self.variance)
        newton = ((targets.pairs - now) * slope / variance - theta * prior) / (slope**2 / variance + prior)
        change = step * np.clip(newton, -1 / 2, 1 / 2)
        far = self._obvious & (now < 0.3 * targets.pairs)
        change[far] = np.minimum(1, np.log(targets.pairs[far] / slope[far]) / 2)
        change = np.clip(theta + change, -_LARGEST, _LARGEST) - theta
        table = np.zeros_like(self._interactions)
        table[self._pairs] = change
        return on_count_grid(table + table.T)

    def _resample(self, weights: Floats, interactions: Floats | None, coins: np.random.Generator) -> None:
        """Resample by how much more likely each record has become: parameters act at once on whole groups of items."""
        for at, part in enumerate(self._population.classes):
            gain = weights[part.band][part.heads].sum(axis=1)
            if interactions is not None:
                inside = part.sum_inside(interactions)
                part.inner += inside
                gain += self._models[0].damping[part.counts] * inside
            self._population.classes[at] = part.take(resample_by_size(part.sizes, gain, coins))

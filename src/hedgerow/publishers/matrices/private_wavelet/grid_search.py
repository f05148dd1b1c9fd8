"""A search for the grids whose noise is smallest, and their shares of the budget: see `noise_shares`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.steps.coarse_grid import on_grid

__all__ = ["Choice", "Search", "spread"]

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_MOST_GRIDS, _EXCHANGES = 12, 3
#: a table of so many grids times classes of coefficients makes the search slow; of so few grids all pairs are starts,
#: and the best of what becomes of them are improved by exchanging grids
_LARGE, _STARTS, _EXCHANGED = 1 << 16, 32, 6
#: one more grid has to make the variance smaller by this factor
_WORTH = 0.99
_ROUNDS = 60
#: while shares are refined, none becomes 0, since cells tell about coefficients that no other grid tells about
_LEAST = 1e-6
#: a grid with less is left out
_LEAST_SHARE = 0.002
_FIRST_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5)


class Choice(NamedTuple):
    """Grids, by their number, their shares, and the mean relative variance."""

    grids: Integers
    shares: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class Search:
    """A search for the best grids: `informs` has what each grid tells about each class of coefficients."""

    weights: Floats
    informs: Floats

    def run(self) -> Choice:
        """Search from the cells alone, and if that is fast, from every pair of grids, and by exchanging grids."""
        if self.informs.size > _LARGE:
            return self.extend(self.cells())
        starts = [self.cells()] if len(self.informs) > _STARTS else self.pairs()
        extended = sorted(map(self.extend, starts), key=lambda choice: choice.variance)
        return min(map(self.exchange, extended[:_EXCHANGED]), key=lambda choice: choice.variance)

    def cells(self) -> Choice:
        """Return the grid of all cells alone, which every choice has: it tells about every coefficient."""
        return Choice(np.zeros(1, np.int64), np.ones(1), spread(self.weights, self.informs[0]))

    def pairs(self) -> list[Choice]:
        """Return all choices of the cells and at most one more grid."""
        return [
            self.cells(),
            *(self.refine(np.array([0, more]), np.full(2, 0.5)) for more in range(1, len(self.informs))),
        ]

    def extend(self, choice: Choice) -> Choice:
        """Add grids, each time the one that helps most, as long as it is worth it."""
        while len(choice.grids) < _MOST_GRIDS:
            more = self.add_one(choice)
            if more.variance > _WORTH * choice.variance:
                break
            choice = more
        return choice

    def exchange(self, choice: Choice) -> Choice:
        """Replace one grid by one or two others, as long as it is worth it."""
        for _ in range(_EXCHANGES):
            others = [self.extend(self.add_one(self.add_one(less))) for less in self.leave_one_out(choice)]
            better = min(others, key=lambda other: other.variance, default=choice)
            if better.variance > _WORTH * choice.variance:
                break
            choice = better
        return choice

    def add_one(self, choice: Choice) -> Choice:
        """Add the grid that helps most, at the best of a few shares."""
        now = _add_precisions(choice.shares, self.informs[choice.grids])
        tried = [self._variances((1 - part) ** 2 * now + part**2 * self.informs) for part in _FIRST_SHARES]
        part, grid = np.unravel_index(int(np.argmin(tried)), (len(_FIRST_SHARES), len(self.informs)))
        if grid in choice.grids:
            return choice
        first = _FIRST_SHARES[int(part)]
        return self.refine(np.append(choice.grids, grid), np.append(choice.shares * (1 - first), first))

    def refine(self, grids: Integers, shares: Floats) -> Choice:
        r"""Minimise over the shares of these grids, and leave out those that hardly count.

        With fixed weights of the grids in every coefficient, the variance is $\sum K_t / a_t^2$, smallest for
        $a_t \propto K_t^{1/3}$; then the weights are updated. Each step makes the variance smaller.
        """
        informs = self.informs[grids]
        for _ in range(_ROUNDS):
            precision = _add_precisions(shares, informs)
            # the root of a variance is at most its tangent, so that this makes the mean of roots smaller, too
            weights = (self.weights / np.sqrt((self.weights / precision).sum(1, keepdims=True))).sum(0)
            slopes = (informs * (weights / precision**2)).sum(1)
            shares = (shares**4 * slopes) ** (1 / 3)
            shares = np.maximum(shares / shares.sum(), _LEAST)
        kept = (shares >= _LEAST_SHARE) | (grids == 0)
        grids, shares = grids[kept], shares[kept] / shares[kept].sum()
        return Choice(grids, shares, spread(self.weights, _add_precisions(shares, self.informs[grids])))

    def _variances(self, precisions: Floats) -> Floats:
        """Return `spread` for many precisions, one row each."""
        return on_grid(np.mean([np.sqrt((row / precisions).sum(1)) for row in self.weights], axis=0) ** 2)

    def leave_one_out(self, choice: Choice) -> list[Choice]:
        """Return the choices with one grid less; the cells stay."""
        places: list[int] = np.flatnonzero(choice.grids > 0).tolist()
        return [self.refine(np.delete(choice.grids, at), np.delete(choice.shares, at)) for at in places]


def spread(weights: Floats, precision: Floats) -> float:
    """Return the mean standard deviation of queries, squared: one row of weights of coefficients per kind of query."""
    return float(on_grid(np.sqrt((weights / precision).sum(1)).mean() ** 2))


def _add_precisions(shares: Floats, informs: Floats) -> Floats:
    """Return the precision of each class; added in order, so that every machine chooses the same."""
    return (shares[:, None] ** 2 * informs).sum(0)

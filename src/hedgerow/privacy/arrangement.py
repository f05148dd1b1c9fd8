r"""Arrangements: ones placed in regions of cells, so that few of them are far from the truth.

A region has public numbers of cells and of ones; which of its cells are true is private. A placement scores the number
of cells on which it agrees with the truth, and the exponential mechanism draws $P(placement) \propto e^{s \, a / 2}$
with the region's share $a$.

A placement with $w$ ones on true cells scores $s = M - c - m + 2 w$, for $M$ cells, $c$ of them true, and $m$ ones. So
$P(w) \propto \binom{c}{w} \binom{M - c}{m - w} e^{a w}$, Fisher's noncentral hypergeometric distribution, and given $w$
all placements are equally likely: $w$ of the true cells and $m - w$ of the others, uniformly without replacement.

The result is sorted, so that its order does not distinguish ones on true cells from the others.

Privacy
-------
One cell that becomes true, or false, moves the score of every placement by exactly 1. So
$\ln P(x) - \ln P'(x) \le \frac{a}{2} (s(x) - s'(x) + t)$ for $t$ such cells, at most $a$ for one cell. If a unit owns
several cells, shares are divided by their number. A share of 0 places the ones uniformly, whatever the truth is.

The arrangement is that of R. Chen, B. C. M. Fung, P. S. Yu, B. C. Desai, "Correlated network data publication via
differential privacy", VLDB Journal 23(4), 2014.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError, ParameterError
from hedgerow.privacy.interval_refinement import Bits
from hedgerow.privacy.noncentral_hypergeometric import noncentral_hypergeometric
from hedgerow.privacy.shares import Shares
from hedgerow.privacy.uniform_subsets import uniform_subsets

__all__ = ["Arrange", "CellRegions", "PlacedOnes"]

Integers: TypeAlias = NDArray[np.int64]

_MOST_CELLS = 1 << 62
_MOST_ONES = 1 << 27


class PlacedOnes(NamedTuple):
    """Where the ones are: the region of each and its position in it, from 0; sorted."""

    at: Integers
    positions: Integers


@dataclass(frozen=True, eq=False, repr=False)
class CellRegions:
    """Regions of cells: how many cells and ones each has (public), and which of its cells are true (private).

    All cells are numbered from 0, one region after the other.
    """

    sizes: Integers
    ones: Integers
    at: Integers
    positions: Integers

    @classmethod
    def of(
        cls, sizes: int | Integers, ones: int | Integers, at: Integers, positions: Integers, regions: int
    ) -> CellRegions:
        """Describe so many regions; `sizes` and `ones` may be one number for all."""
        every = cls(_spread("sizes", sizes, regions), _spread("ones", ones, regions), at, positions)
        if np.any(every.sizes < 0) or _sum_exactly(every.sizes) > _MOST_CELLS:
            msg = "arrange: regions cannot have fewer than 0 cells, nor more than 2**62 together"
            raise ParameterError(msg)
        if np.any((every.ones < 0) | (every.ones > every.sizes)):
            msg = "arrange: a region cannot have fewer than 0 ones, nor more ones than cells; clip the noisy counts"
            raise ParameterError(msg)
        if _sum_exactly(every.ones) > _MOST_ONES:
            msg = (
                f"about {float(_sum_exactly(every.ones)):.2g} ones would be placed, and at most {_MOST_ONES:,} fit in "
                "memory; take a method for larger data"
            )
            raise ParameterError(msg)
        every.check()
        return every

    def check(self) -> None:
        """Refuse true cells that are out of range or listed twice."""
        if len(self.at) != len(self.positions):
            msg = "arrange: each true cell needs its region and its position"
            raise InternalError(msg)
        if len(self.at) == 0:
            return
        if self.at.min() < 0 or self.at.max() >= len(self.sizes):
            msg = "arrange: a true cell is in a region that was not given"
            raise InternalError(msg)
        if np.any((self.positions < 0) | (self.positions >= self.sizes[self.at])):
            msg = "arrange: a true cell is outside its region"
            raise InternalError(msg)
        if np.any(np.diff(self.cells) == 0):
            msg = "arrange: a true cell is listed twice"
            raise InternalError(msg)

    @cached_property
    def begins(self) -> Integers:
        """The number of the first cell of each region."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def cells(self) -> Integers:
        """The numbers of the true cells, ascending."""
        return np.sort(self.begins[self.at] + self.positions)

    @cached_property
    def counts(self) -> Integers:
        """How many true cells each region has."""
        return np.bincount(self.at, minlength=len(self.sizes)).astype(np.int64)

    def false_cells(self, ranks: Integers) -> Integers:
        """Turn numbers among the cells that are not true, ascending, into numbers of cells.

        The `i`-th true cell has its number less `i` false cells before it.
        """
        return ranks + np.searchsorted(self.cells - np.arange(len(self.cells)), ranks, "right")

    def place(self, chosen: Integers) -> PlacedOnes:
        """Return the placement of ones in these cells; every region has its number of them."""
        cells = np.sort(chosen)
        at = np.repeat(np.arange(len(self.sizes)), self.ones)
        return PlacedOnes(at, cells - self.begins[at])


@dataclass(frozen=True)
class Arrange:
    r"""Place ones in regions of cells, $P \propto e^{s \, spend / (2 \, cells)}$ if $s$ cells agree with the truth.

    The exponential mechanism. `cells` is the maximum number of cells per unit.
    """

    name: ClassVar[str] = "exponential"
    cells: int = 1

    def draw(self, regions: CellRegions, shares: Shares, source: Bits) -> PlacedOnes:
        """Draw a placement in each region, one share per region."""
        log_odds = [share / self.cells for share in shares.table]
        counts = regions.counts
        kept = noncentral_hypergeometric(regions.sizes, counts, regions.ones, log_odds, shares.codes, source)
        true = regions.cells[uniform_subsets(counts, kept, source)]
        ranks = uniform_subsets(regions.sizes - counts, regions.ones - kept, source)
        return regions.place(np.concatenate((true, regions.false_cells(ranks))))

    def answer_exactly(self, regions: CellRegions) -> PlacedOnes:
        """Place the ones on the first true cells, and any others on the first that are not true."""
        counts = regions.counts
        kept = np.minimum(counts, regions.ones)
        true = regions.cells[_firsts(counts, kept)]
        ranks = _firsts(regions.sizes - counts, regions.ones - kept)
        return regions.place(np.concatenate((true, regions.false_cells(ranks))))

    def loss(self, regions: CellRegions, other: CellRegions, answer: PlacedOnes, shares: Shares) -> Fraction:
        """Sum `share / (2 cells)` times the rise of the score and the number of cells that differ, over the regions."""
        placed = regions.begins[answer.at] + answer.positions
        toggled = np.setxor1d(regions.cells, other.cells, assume_unique=True)
        agrees = np.isin(toggled, placed) == np.isin(toggled, regions.cells)
        rises = np.where(agrees, 1, -1)
        at = np.searchsorted(regions.begins + regions.sizes, toggled, "right")
        return shares[at].weigh(rises + 1) / (2 * self.cells)

    def over(self, touches: int) -> Self:
        """Return this mechanism for units with up to `touches` cells."""
        return replace(self, cells=self.cells * touches)


def _firsts(sizes: Integers, counts: Integers) -> Integers:
    """Number the first elements of each set, if the elements of all sets are numbered one after the other."""
    starts = np.cumsum(sizes) - sizes
    return np.arange(int(counts.sum())) + np.repeat(starts - (np.cumsum(counts) - counts), counts)


def _spread(what: str, numbers: int | Integers, regions: int) -> Integers:
    if isinstance(numbers, int):
        return np.full(regions, numbers, np.int64)
    if len(numbers) != regions:
        msg = f"arrange: {what} must be one number, or one per region: got {len(numbers)} for {regions}"
        raise InternalError(msg)
    return numbers.astype(np.int64)


def _sum_exactly(numbers: Integers) -> int:
    """Add up numbers that are not negative, in Python integers only if the sum could overflow."""
    if float(numbers.sum(dtype=np.float64)) < _MOST_CELLS / 2:
        return int(numbers.sum())
    return sum(numbers.tolist())

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
from typing import ClassVar, NamedTuple, Self

import numpy as np

from hedgerow.errors import InternalError, ParameterError
from hedgerow.numerics.arrays import Integers
from hedgerow.privacy.interval_refinement import Bits
from hedgerow.privacy.noncentral_hypergeometric import noncentral_hypergeometric
from hedgerow.privacy.shares import Shares

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


# Uniformly random subsets.

#: numbers that are drawn together
_CHUNK = 1 << 18


def uniform_below(limits: Integers, source: Bits) -> Integers:
    """Draw a whole number from 0 to `limit - 1` for each limit, all equally likely.

    As many bits as the limit has are read, and read again where they are not below it: no division, so no bias.
    """
    # a limit that is rounded up on its way to a float gets one bit more than it needs, never one less
    lengths = np.maximum(np.frexp((limits - 1).astype(np.float64))[1], 1)
    drawn = np.empty(len(limits), np.int64)
    for start in range(0, len(limits), _CHUNK):
        todo = np.arange(start, min(start + _CHUNK, len(limits)))
        while len(todo):
            words = source.words(len(todo)) >> (64 - lengths[todo]).astype(np.uint64)
            drawn[todo] = words.astype(np.int64)
            todo = todo[drawn[todo] >= limits[todo]]
    return drawn


def uniform_subsets(sizes: Integers, counts: Integers, source: Bits) -> Integers:
    """Draw a subset of `count` elements of each set of `size` elements, exactly: all of that size are equally likely.

    The elements of all sets are numbered from 0, one set after the other: at most 2**62. All that are drawn are
    returned in order.

    Elements are drawn with replacement, and elements that were drawn before are dropped and drawn again, until the size
    is reached. Renumbering the elements changes neither the distribution of the draws nor the rule, so all subsets of
    one size are equally likely. Of a set that is to be more than half full, the elements left out are drawn instead, so
    that at least every second draw is new.
    """
    ends = np.cumsum(sizes)
    complemented = counts > sizes - counts
    drawn = _distinct(sizes, np.where(complemented, sizes - counts, counts), ends, source)
    if not np.any(complemented):
        return drawn
    left_out = np.repeat(complemented, np.diff(np.searchsorted(drawn, ends), prepend=0))
    kept = _complement(drawn[left_out], sizes[complemented], ends[complemented])
    return np.sort(np.concatenate((drawn[~left_out], kept)), kind="stable")


def _distinct(sizes: Integers, counts: Integers, ends: Integers, source: Bits) -> Integers:
    """Draw `count` different elements of each set, in order; at most half of the set."""
    runs: list[Integers] = []
    missing = counts
    while np.any(missing):
        home = np.repeat(np.arange(len(sizes)), missing)
        elements = uniform_below(sizes[home], source)
        elements += (ends - sizes)[home]
        elements.sort()
        new = np.ones(len(elements), np.bool_)
        new[1:] = elements[1:] != elements[:-1]
        for run in runs:
            at = np.minimum(np.searchsorted(run, elements), len(run) - 1)
            new &= run[at] != elements
        elements = elements[new]
        if len(elements):
            runs.append(elements)
        missing = missing - np.diff(np.searchsorted(elements, ends), prepend=0)
    if len(runs) == 1:
        return runs[0]
    return np.sort(np.concatenate([*runs, np.zeros(0, np.int64)]), kind="stable")


def _complement(left_out: Integers, sizes: Integers, ends: Integers) -> Integers:
    """List the elements of these sets, in order, without those left out."""
    before = np.cumsum(sizes) - sizes
    shift = ends - sizes - before
    elements = np.arange(int(sizes.sum()), dtype=np.int64) + np.repeat(shift, sizes)
    kept = np.ones(len(elements), np.bool_)
    kept[left_out - shift[np.searchsorted(ends, left_out, "right")]] = False
    return elements[kept]

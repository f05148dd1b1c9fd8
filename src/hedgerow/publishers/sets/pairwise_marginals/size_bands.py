"""Bands of sizes whose items are counted apart: long records often differ in kind from short ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sets.pairwise_marginals.item_bound import ATTENTION, choose_item_bound
from hedgerow.publishers.sets.pairwise_marginals.record_weights import UNIT, weigh_by_size

__all__ = ["SizeBands"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: the largest size of a band: ends of bins of sizes, and of the classes in which records are moved
_CUTS = (2, 4, 8, 16)
#: bands if so many items of a record may count in full without them. Of 3, 4, 5, 6 and 12, chosen on groceries,
#: bms-webview-2 and kosarak-subset
_LEAST_BOUND = 5
#: and if the noise of an item, over all bands, is at most this share of the records that have an item of a frequency of
#: 0.5 %: between 0.48, where bands help groceries, and 0.77, where they do not. That there must be a limit, retail at
#: epsilon 0.1 has shown
_MOST_NOISE = 0.65
#: the records beyond the highest cut have at least this share of all pairs, and each band this share of all items; of
#: 0.85, 0.9 and 0.95, and of 0.05 and 0.1, chosen on the same data
_PAIRS_BEYOND, _ITEMS_WITHIN = 0.9, 0.1
#: from one cut to the one below it
_NEXT = 4


@dataclass(frozen=True)
class SizeBands:
    """The largest size in each band but the last, and how many items of a record count in full in each band."""

    cuts: tuple[int, ...]
    bounds: tuple[int, ...]

    @classmethod
    def choose(cls, by_size: Floats, spend: float, largest: int) -> SizeBands:
        """Choose one band if noise is large, and else up to three.

        Parameters
        ----------
        by_size
            The estimated number of records of 0, 1, ... items.
        spend
            The budget of the question for items.
        largest
            The largest size that is told apart.

        Examples
        --------
        >>> by_size = np.array([0.0, 2000, 1500, 1200, 1000, 800, 600, 400, 300, 200, 100])
        >>> SizeBands.choose(by_size, 0.2, 10), SizeBands.choose(by_size, 0.4, 10)
        (SizeBands(cuts=(), bounds=(3,)), SizeBands(cuts=(2,), bounds=(2, 4)))
        """
        bound = choose_item_bound(by_size, spend, largest)
        cuts = _choose_cuts(by_size) if bound >= _LEAST_BOUND else ()
        band = np.searchsorted(np.array(cuts, np.int64), np.arange(len(by_size)))
        parts = (np.where(band == number, by_size, 0.0) for number in range(len(cuts) + 1))
        bounds = tuple(choose_item_bound(each, spend, largest) for each in parts)
        noise = math.sqrt(2) * math.hypot(*bounds) / spend
        clear = noise <= _MOST_NOISE * ATTENTION * float(by_size.sum())
        return cls(cuts, bounds) if clear else cls((), (bound,))

    @property
    def most(self) -> int:
        """How many items of a record count in full in the band where most do."""
        return max(self.bounds)

    def of(self, sizes: Integers) -> Integers:
        """The band of each size."""
        return np.searchsorted(np.array(self.cuts, np.int64), sizes)

    def starts(self, sizes: Integers) -> list[int]:
        """Where the records of each band start; sizes ascend."""
        return [0, *np.searchsorted(sizes, np.array(self.cuts, np.int64), "right").tolist()]

    def weigh(self, items: int) -> Integers:
        """The weight of each item in a record of 0, 1, ... `items` items, a row per band.

        It is 0 for sizes that are not in the band: a record counts in one of them, for at most `most` units.

        Examples
        --------
        >>> SizeBands((2,), (2, 4)).weigh(5).tolist()
        [[2000, 2000, 2000, 0, 0, 0], [0, 0, 0, 1000, 1000, 800]]
        """
        band = self.of(np.arange(items + 1))
        weights = weigh_by_size(self.most, items, np.array(self.bounds)[band])
        return np.where(band == np.arange(len(self.bounds))[:, None], weights, 0)

    def shares(self, items: int) -> Floats:
        """The weight of each item in a record of 0, 1, ... `items` items, where 1 is that of an item in full."""
        return np.array(self.bounds) @ self.weigh(items) / (UNIT * self.most)


def _choose_cuts(by_size: Floats) -> tuple[int, ...]:
    """The highest size beyond which nearly all pairs are, and one below it; no band without many items."""
    size = np.arange(len(by_size))
    items, pairs = by_size * size, by_size * size * (size - 1)
    least = _ITEMS_WITHIN * float(items.sum())
    cuts: list[int] = []
    for cut in reversed(_CUTS):
        beyond = float(pairs[cut + 1 :].sum()) >= _PAIRS_BEYOND * float(pairs.sum()) > 0
        above = cuts[0] if cuts else len(by_size)
        far = not cuts or cut * _NEXT <= above
        parts = (float(items[: cut + 1].sum()), float(items[cut + 1 : above + 1].sum()))
        if beyond and far and min(parts) >= least:
            cuts.insert(0, cut)
    return tuple(cuts)

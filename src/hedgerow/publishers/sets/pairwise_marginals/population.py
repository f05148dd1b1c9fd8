"""A population of synthetic records: the size of each, and which items of the head it has.

Records of similar size are in one array, a row per record: the items of the head in any order, then padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import number_within_groups, weigh_co_occurrences

__all__ = ["Population", "SizeClass"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(eq=False)
class SizeClass:
    """Records of similar size, in ascending order of size.

    Attributes
    ----------
    sizes
        The number of items of each record.
    heads
        The ranks of its items of the head, then padding (the number of items in the head).
    counts
        How many items of the head it has.
    inner
        The sum of the interactions inside its head part.
    band
        The number of the band of sizes they are in.
    """

    sizes: Integers
    heads: Integers
    counts: Integers
    inner: Floats
    band: int = 0

    def take(self, chosen: Integers) -> SizeClass:
        """Keep these records, in this order."""
        return SizeClass(self.sizes[chosen], self.heads[chosen], self.counts[chosen], self.inner[chosen], self.band)

    def sum_inside(self, table: Floats) -> Floats:
        """For every record, add up the entries of a symmetric table over all pairs of its head items."""
        sums = np.zeros(len(self.sizes))
        flat, width = table.ravel(), len(table)
        for column in range(1, self.heads.shape[1]):
            rows = np.flatnonzero(self.counts > column)
            if len(rows) == 0:
                break
            heads = self.heads[rows]
            sums[rows] += flat.take(heads[:, column, None] * width + heads[:, :column]).sum(axis=1)
        return sums


@dataclass(eq=False)
class Population:
    """All records, by classes of their sizes; `head` is the number of items in the head."""

    classes: list[SizeClass]
    head: int
    bands: int = 1

    @classmethod
    def from_tokens(
        cls, sizes: Integers, row: Integers, ranks: Integers, head: int, cuts: tuple[int, ...] = ()
    ) -> Population:
        """Make a population of records in ascending order of size; items beyond the head are left out.

        `cuts` are the largest sizes of all bands but the last: powers of two, so that a class is in one band.
        """
        kept = ranks < head
        row, ranks = row[kept], ranks[kept]
        column, counts = number_within_groups(row), np.bincount(row, minlength=len(sizes))
        classes: list[SizeClass] = []
        doubled = np.frexp(np.maximum(sizes, 1) - 1)[1]  # 1, 2, 3-4, 5-8, ...
        ends = np.flatnonzero(np.diff(doubled, append=-1)) + 1
        for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
            first, last = np.searchsorted(row, [start, end]).tolist()
            heads = np.full((end - start, min(int(sizes[end - 1]), head)), head, np.int64)
            heads[row[first:last] - start, column[first:last]] = ranks[first:last]
            band = sum(int(sizes[end - 1]) > cut for cut in cuts)
            classes.append(SizeClass(sizes[start:end], heads, counts[start:end], np.zeros(end - start), band))
        return cls(classes, head, len(cuts) + 1)

    def __len__(self) -> int:
        """Count the records."""
        return sum(len(part.sizes) for part in self.classes)

    @property
    def sizes(self) -> Integers:
        """The sizes of all records."""
        return np.concatenate([part.sizes for part in self.classes])

    @property
    def counts(self) -> Integers:
        """The numbers of head items of all records."""
        return np.concatenate([part.counts for part in self.classes])

    @property
    def members(self) -> Integers:
        """The head items of all records, one record after the other."""
        return np.concatenate([part.heads[part.heads < self.head] for part in self.classes])

    def weigh_items(self, by_size: Floats) -> Floats:
        """For every band and every item of the head, add up the weights of the records that have it."""
        sums = np.zeros((self.bands, self.head + 1))
        for part in self.classes:
            weights = np.repeat(by_size[part.sizes], part.heads.shape[1])
            sums[part.band] += np.bincount(part.heads.ravel(), weights, self.head + 1)
        return sums[:, : self.head]

    def weigh_pairs(self, by_count: Floats) -> Floats:
        """For every pair of the head, add up the weights of the records that have both."""
        return weigh_co_occurrences(self.members, self.counts, by_count[self.counts], self.head)

    def repeated(self, records: int) -> Population:
        """Repeat records in their order until there are so many."""
        chosen = np.arange(records) * len(self) // records
        ends = np.cumsum([len(part.sizes) for part in self.classes])
        cuts = np.searchsorted(chosen, ends).tolist()
        starts = (ends - [len(part.sizes) for part in self.classes]).tolist()
        classes = [
            part.take(chosen[first:last] - start)
            for part, start, first, last in zip(self.classes, starts, [0, *cuts], cuts, strict=False)
        ]
        return Population(classes, self.head, self.bands)

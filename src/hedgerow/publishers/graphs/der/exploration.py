"""Exploration: split points that separate dense from sparse parts, and the regions that are not split further."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import index_ranges
from hedgerow.data import Graph
from hedgerow.frontiers import Counts, LatticeBin, Regions
from hedgerow.privacy import Choose, PathBudget
from hedgerow.publishers.graphs.der.budgets import TreeBudget, least_cells
from hedgerow.publishers.graphs.der.split_points import UNITS, SplitPoints
from hedgerow.publishers.graphs.region_tree import Level, RegionTree, Split, count_whole, grow_tree

__all__ = ["Exploration"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: candidates whose scores are in memory at a time
_CHUNK = 1 << 20
#: a region has at least two to this power of candidate rows and columns
_LEAST_POWER = 2


@dataclass(frozen=True, eq=False)
class Exploration:
    """How regions are split.

    Parameters
    ----------
    paths
        Where questions are asked.
    budget
        The share of each question.
    pairs
        The number of cells of the matrix: public.
    dense
        The density from which on a region is not split further.
    grid
        The greatest number of candidate rows, and of candidate columns, per region. A region with few edges, by its
        noisy count, has fewer: about as many candidates as edges.
    """

    paths: PathBudget
    budget: TreeBudget
    pairs: int
    dense: float
    grid: int

    def explore(self, data: Graph) -> RegionTree:
        """Split regions until none is left to split; a matrix that cannot be split is one leaf."""
        whole = Regions.whole(data.domain.size("vertex"))
        if self.budget.height == 0 or not self._are_splittable(whole, np.full(1, self.grid), 1)[0]:
            return count_whole(data, self.paths, self.budget.all_counts)
        return grow_tree(data, self.paths, self.budget.counts, self.choose_splits, self.are_leaves)

    def are_leaves(self, regions: Regions, noisy: Integers, depth: int) -> Flags:
        """A region is a leaf if it is sparse, or dense, or has no allowed split point.

        It is sparse if it has fewer edges, by its noisy count, than a dense region of the least size.
        """
        sparse = noisy < self.dense * self.pairs / 4.0**self.budget.height
        leaf = sparse | (noisy >= self.dense * regions.cells)
        open_ = np.flatnonzero(~leaf)
        leaf[open_] = ~self._are_splittable(regions[open_], self._grids(noisy[open_]), depth + 1)
        return leaf

    def choose_splits(self, level: Level, depth: int) -> Split:
        """Choose a split point of each region by the exponential mechanism, or take the middle."""
        if depth in self.budget.midpoints:
            points = self._points(level.regions, 1, depth)
            return Split(*points.at(np.zeros(len(level.nodes), np.int64)), level.nodes)
        grid = np.full(1, self.grid) if depth == 1 else self._grids(level.noisy)  # the root is not counted
        lattice = LatticeBin(level.regions, grid + 1)
        counted = level.edges.count(lattice)
        rows, columns, nodes = (np.empty(len(level.nodes), np.int64) for _ in range(3))
        for size, part in _chunks(grid):
            points = self._points(level.regions[part], size, depth)
            # every candidate is scored by the same edges; one edge moves each score by at most UNITS
            nodes[part], chosen = self.paths.ask(
                points.scores(_counts_on_lattice(counted, part, size + 1, lattice.width)),
                Choose(sensitivity=UNITS),
                under=level.nodes[part],
                spend=self.budget.partition,
                label="split points",
            )
            rows[part], columns[part] = points.at(chosen)
        return Split(rows, columns, nodes)

    def _grids(self, noisy: Integers) -> Integers:
        """The number of candidate rows of regions: a power of two whose square is at least the noisy count."""
        powers = (np.frexp(np.maximum(1, noisy) - 1)[1].astype(np.int64) + 1) // 2
        return np.minimum(self.grid, 1 << np.maximum(powers, _LEAST_POWER))

    def _points(self, regions: Regions, grid: int, depth: int) -> SplitPoints:
        """The split points that make regions of this depth."""
        return SplitPoints(regions, 1 if depth in self.budget.midpoints else grid, least_cells(self.pairs, depth))

    def _are_splittable(self, regions: Regions, grid: Integers, depth: int) -> Flags:
        """Check which regions have an allowed split point: public geometry."""
        flags = np.zeros(len(regions), np.bool_)
        for size, part in _chunks(grid):
            points = self._points(regions[part], size, depth)
            flags[part] = points.allowed(points.cells()).any(axis=(1, 2))
        return flags


def _chunks(grid: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield regions with equally large grids, as many at a time as fit in memory."""
    for size in np.unique(grid).tolist():
        regions = np.flatnonzero(grid == size)
        step = max(1, _CHUNK // (size + 1) ** 2)
        for start in range(0, len(regions), step):
            yield size, regions[start : start + step]


def _counts_on_lattice(counted: Counts, regions: Integers, bins: int, width: int) -> Integers:
    """Lay out the counts of some regions, given in ascending order: region, row of the lattice, column."""
    firsts, lasts = np.searchsorted(counted.cells, regions), np.searchsorted(counted.cells, regions, "right")
    entries = index_ranges(firsts, lasts - firsts)
    row, column = np.divmod(counted.codes[entries], width)
    table = np.zeros((len(regions), bins, bins), np.int64)
    table[np.repeat(np.arange(len(regions)), lasts - firsts), row, column] = counted.counts[entries]
    return table

"""Exploration: split the adjacency matrix into dense and sparse regions, one depth of the tree at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import progress
from hedgerow.data import Graph
from hedgerow.errors import ParameterError
from hedgerow.frontiers import Counts, Frontier, LatticeBin, Position, Quadrant, Regions
from hedgerow.frontiers.rows import index_ranges
from hedgerow.privacy import Choose, Laplace, PathBudget
from hedgerow.publishers.graphs.der.budgets import TreeBudget, least_cells, noise_variance
from hedgerow.publishers.graphs.der.split_points import UNITS, SplitPoints

__all__ = ["Exploration", "Leaves", "RegionTree"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: candidates whose scores are in memory at a time
_CHUNK = 1 << 20
#: a run with more regions at one depth is stopped
_MOST_REGIONS = 8_000_000
_PARTS = 4
#: a region has at least two to this power of candidate rows and columns
_LEAST_POWER = 2


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaf regions: their nodes, their place in the tree, and, private, their edges.

    `early` says which of them are counted once more: those above the greatest depth.

    Edge number `e` is at `positions[e]` of region `at[e]`; `ones` are the exact numbers of edges.
    """

    regions: Regions
    nodes: Integers
    place: Integers
    early: Flags
    ones: Integers
    at: Integers
    positions: Integers

    @classmethod
    def of(cls, regions: Regions, nodes: Integers, place: Integers, frontier: Frontier, *, early: bool) -> Leaves:
        """Look up the edges of each region."""
        counted = frontier.count(Position(regions))
        ones = np.bincount(counted.cells, minlength=len(regions))
        return cls(regions, nodes, place, np.full(len(nodes), early), ones, counted.cells, counted.codes)

    @classmethod
    def concatenate(cls, parts: list[Leaves]) -> Leaves:
        """Put the leaves of all depths together."""
        shifts = np.cumsum([0, *(len(part.nodes) for part in parts)])
        return cls(
            Regions.concatenate([part.regions for part in parts]),
            np.concatenate([part.nodes for part in parts]),
            np.concatenate([part.place for part in parts]),
            np.concatenate([part.early for part in parts]),
            np.concatenate([part.ones for part in parts]),
            np.concatenate([part.at + shift for part, shift in zip(parts, shifts[:-1], strict=True)]),
            np.concatenate([part.positions for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class RegionTree:
    """The tree of regions: the parent, the depth and the noisy count of each node, and the variance of its noise.

    The root is node 0. Unless it is the only node it is not counted, and its variance is infinite.
    """

    parent: Integers
    depth: Integers
    noisy: Integers
    variance: NDArray[np.float64]
    leaves: Leaves


@dataclass(frozen=True, eq=False)
class _Level:
    """Regions that are split next: their nodes in the forest of the ledger, and their place in the tree."""

    regions: Regions
    grid: Integers
    nodes: Integers
    place: Integers
    edges: Frontier


@dataclass(frozen=True, eq=False)
class Exploration:
    """How regions are split.

    Parameters
    ----------
    vertices, pairs
        The size of the matrix: public.
    budget
        The share of each question.
    dense
        The density from which on a region is not split further.
    grid
        The greatest number of candidate rows, and of candidate columns, per region. A region with few edges, by its
        noisy count, has fewer: about as many candidates as edges.
    """

    vertices: int
    pairs: int
    budget: TreeBudget
    dense: float
    grid: int

    def explore(self, data: Graph, paths: PathBudget) -> RegionTree:
        """Split regions until none is left to split."""
        height = self.budget.height
        whole, grid = Regions.whole(self.vertices), np.full(1, self.grid)
        if height == 0 or not self._splittable(whole, grid, 1)[0]:
            return self._count_whole(data, paths)
        level = _Level(whole, grid, paths.root, np.zeros(1, np.int64), data.frontier())
        parents, depths, counts = [np.full(1, -1)], [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
        leaves: list[Leaves] = []
        nodes = 1
        for depth in range(1, height + 1):
            progress.tell("splitting regions", depth, height)
            split, chosen = self._choose(level, paths, depth)
            children = level.regions.quadrants(*split)
            parent, part = np.divmod(np.flatnonzero(children.cells), _PARTS)
            children = children[parent * _PARTS + part]
            _require_few(len(parent))
            counted = level.edges.count(Quadrant(*split))
            # an edge is in one part of its region: L1 = 1
            below, noisy = paths.ask(
                counted.find(parent, part),
                Laplace(l1=1),
                under=chosen[parent],
                spend=self.budget.counts[depth - 1],
                label="region counts",
            )
            place = nodes + np.arange(len(parent))
            nodes += len(parent)
            parents.append(level.place[parent])
            depths.append(np.full(len(parent), depth))
            counts.append(noisy)
            grid = self._grids(noisy)
            leaf = self._are_leaves(children, grid, noisy, depth)
            stay, go = np.flatnonzero(leaf), np.flatnonzero(~leaf)
            ended = counted.move(parent[stay], part[stay])
            leaves.append(Leaves.of(children[stay], below[stay], place[stay], ended, early=depth < height))
            level = _Level(children[go], grid[go], below[go], place[go], counted.move(parent[go], part[go]))
        depth_of = np.concatenate(depths)
        variance = np.array([np.inf, *map(noise_variance, self.budget.counts)])[depth_of]
        return RegionTree(
            np.concatenate(parents), depth_of, np.concatenate(counts), variance, Leaves.concatenate(leaves)
        )

    def _count_whole(self, data: Graph, paths: PathBudget) -> RegionTree:
        """Make the whole matrix the only leaf, counted with all that is for counts."""
        zero = np.zeros(1, np.int64)
        leaf = Leaves.of(Regions.whole(self.vertices), paths.root, zero, data.frontier(), early=False)
        spend = self.budget.all_counts
        nodes, noisy = paths.ask(leaf.ones, Laplace(l1=1), under=paths.root, spend=spend, label="region counts")
        return RegionTree(zero - 1, zero, noisy, np.full(1, noise_variance(spend)), replace(leaf, nodes=nodes))

    def _are_leaves(self, regions: Regions, grid: Integers, noisy: Integers, depth: int) -> Flags:
        """A region is a leaf at the greatest depth, if it is dense or sparse, or if it has no allowed split point."""
        height = self.budget.height
        if depth == height:
            return np.ones(len(regions), np.bool_)
        sparse = noisy < self.dense * self.pairs / 4.0**height
        leaf = sparse | (noisy >= self.dense * regions.cells)
        open_ = np.flatnonzero(~leaf)
        leaf[open_] = ~self._splittable(regions[open_], grid[open_], depth + 1)
        return leaf

    def _grids(self, noisy: Integers) -> Integers:
        """The number of candidate rows of regions: a power of two whose square is at least the noisy count."""
        powers = np.ceil(np.log2(np.maximum(1, noisy)) / 2).astype(np.int64)
        return np.minimum(self.grid, 1 << np.maximum(powers, _LEAST_POWER))

    def _points(self, regions: Regions, grid: int, depth: int) -> SplitPoints:
        """The split points that make regions of this depth."""
        return SplitPoints(regions, 1 if depth in self.budget.midpoints else grid, least_cells(self.pairs, depth))

    def _splittable(self, regions: Regions, grid: Integers, depth: int) -> Flags:
        """Check which regions have an allowed split point: public geometry."""
        flags = np.zeros(len(regions), np.bool_)
        for size, part in _chunks(grid):
            points = self._points(regions[part], size, depth)
            flags[part] = points.allowed(points.cells()).any(axis=(1, 2))
        return flags

    def _choose(self, level: _Level, paths: PathBudget, depth: int) -> tuple[tuple[Integers, Integers], Integers]:
        """Choose a split point of each region; return rows and columns, and the nodes below which to count."""
        if depth in self.budget.midpoints:
            points = self._points(level.regions, 1, depth)
            return points.at(np.zeros(len(level.nodes), np.int64)), level.nodes
        lattice = LatticeBin(level.regions, level.grid + 1)
        counted = level.edges.count(lattice)
        rows, columns, nodes = (np.empty(len(level.nodes), np.int64) for _ in range(3))
        for size, part in _chunks(level.grid):
            points = self._points(level.regions[part], size, depth)
            # every candidate is scored by the same edges; one edge moves each score by at most UNITS
            nodes[part], chosen = paths.ask(
                points.scores(_counts_on_lattice(counted, part, size + 1, lattice.width)),
                Choose(sensitivity=UNITS),
                under=level.nodes[part],
                spend=self.budget.partition,
                label="split points",
            )
            rows[part], columns[part] = points.at(chosen)
        return (rows, columns), nodes


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


def _require_few(regions: int) -> None:
    """Stop if regions multiply; their number depends on noisy answers only."""
    if regions > _MOST_REGIONS:
        msg = f"more than {_MOST_REGIONS:,} regions are split; set a lower height"
        raise ParameterError(msg)

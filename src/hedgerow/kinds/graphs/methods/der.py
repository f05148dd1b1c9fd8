"""DER: explore the adjacency matrix for dense regions, count them, and arrange edges in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.frontiers import Counts, LatticeBin
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.methods.memory_limits import expected_edges, require_few_edges
from hedgerow.kinds.graphs.methods.region_counts_model import (
    MOST_DEPTHS,
    clip_leaves,
    fit_leaves,
    greatest_height,
    level_shares,
)
from hedgerow.kinds.graphs.methods.region_tree import Level, RegionTree, Split, count_again, count_whole, grow_tree
from hedgerow.numerics.adjacency_regions import Regions, count_cells
from hedgerow.numerics.arrays import Flags, Integers, index_ranges
from hedgerow.privacy import Choose, CorrelatedDP, Laplace, Ledger, PathBudget, PureDP, Shares
from hedgerow.publisher import SCALES, Publisher, param

#: two standard deviations of the noise of a count: an average leaf has at least so many cells
_SCALES = 2 * math.sqrt(2)


@dataclass(frozen=True, kw_only=True)
class DER(Publisher[Graph]):
    r"""Publish a graph by density-based exploration and reconstruction of its adjacency matrix.

    The matrix is split into regions by a quadtree whose split points are chosen so that dense and sparse parts
    separate; the edges of every leaf are counted with noise; and that many edges are arranged in the leaf such that
    placements that agree with the graph are more likely [1]_. Dense regions exist if the order of the vertices is
    related to the edges: with a random order this method cannot be better than a random graph.

    Corrected: the printed method works on the whole symmetric matrix, where every edge is two cells, and charges it
    once; here a cell is a pair $i < j$, so that an edge is one cell. The sensitivity of small regions is not capped.
    The least size of the parts of a split holds at all depths. Two counts of one leaf are combined by inverse variance.
    Leaf counts are fitted to each other (`fitted`): clipping them one by one adds edges that do not exist. Regions with
    few edges, by their noisy counts, have fewer candidate split points.

    Privacy
    -------
    regions: an edge is one cell, which is in one region per depth, so it follows one path of the tree (one token). Each
    depth chooses a split point (one edge moves its score by at most $1 / s$, $s$ being the least number of cells of a
    part) and counts the parts (L1 = 1). A leaf above the greatest depth is counted once more. Its edges are arranged
    with all that is left on its path: one edge moves the number of correct cells of every placement by 1. Heights,
    thresholds and candidates depend on public numbers and noisy answers. noisy degrees, if asked for: L1 = 2, since an
    edge has two ends.

    Examples
    --------
    >>> from hedgerow import Domain, PureDP
    >>> domain = Domain.declare(vertex=range(60))
    >>> clique = [(i, j) for i in range(20) for j in range(i)]
    >>> graph = Graph.from_edges(clique, domain=domain)
    >>> release = DER().publish(graph, PureDP(epsilon=20, unit="edge"), seed=3)
    >>> len(graph), len(release.data), len(set(graph.edges()) & set(release.data.edges()))
    (190, 192, 190)

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, P. S. Yu, B. C. Desai. "Correlated network data publication via differential
       privacy". VLDB Journal 23(4), 2014.
    """

    name: ClassVar[str] = "der"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (PureDP, CorrelatedDP)
    units: ClassVar = ("edge",)

    count: float = param(0.5, "fraction of the budget for the counts of regions", gt=0, le=1)
    partition: float = param(0.1, "fraction for split points; the rest arranges edges", ge=0, lt=1)
    dense: float = param(0.8, "density from which on a region is not split further", gt=0, le=1)
    grid: int = param(32, "candidate rows, and columns, of a split point", ge=1, le=255)
    height: int = param(
        -1, "height of the tree of regions; -1: chosen by the number of vertices and the budget", ge=-1, le=MOST_DEPTHS
    )
    midpoints: bool = param(False, "split small regions in the middle instead of choosing a split point")
    fitted: bool = param(True, "fit the counts of leaves to each other instead of clipping each")
    order: str = param("declared", "the order of the vertices", choices=("declared", "noisy degrees"))
    order_share: float = param(0.2, "fraction of the budget for the order by noisy degrees", gt=0, lt=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count + self.partition > 1:
            msg = f"DER.count and partition must be at most 1 together; got {self.count:g} and {self.partition:g}"
            raise ParameterError(msg)

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Explore the matrix, count the leaves, and arrange edges in them."""
        if data.pairs == 0:
            return data
        spend = Fraction(0) if self.order == "declared" else ledger.budget * Fraction(str(self.order_share))
        budget = self._budget(data.pairs, ledger.budget - spend)
        expected_edges(SCALES / float(budget.first), data.pairs)
        order = self._order(data, ledger, spend)
        paths = ledger.paths(spend=ledger.left, label="regions")
        tree = Exploration(paths, budget, data.pairs, self.dense, self.grid).explore(data.reordered(order))
        leaves = tree.leaves
        tree = count_again(tree, paths, Shares.spread(budget.second, int(leaves.early.sum())))
        ones = fit_leaves(tree.noisy) if self.fitted else clip_leaves(tree.noisy)
        require_few_edges(int(ones.sum()))
        arranged = paths.arrange(
            leaves.at,
            leaves.positions,
            sizes=leaves.regions.cells,
            ones=ones,
            under=tree.leaves.nodes,
            spend=paths.left(tree.leaves.nodes),
            label="edge positions",
        )
        row, column = leaves.regions[arranged.at].unrank(arranged.positions)
        return Graph.from_columns(source=order[row], target=order[column], domain=data.domain)

    def _order(self, data: Graph, ledger: Ledger, spend: Fraction) -> Integers:
        """Return the vertices in the order of rows and columns: as declared, or by descending noisy degree."""
        if self.order == "declared":
            return np.arange(data.domain.size("vertex"))
        noisy = ledger.ask(data.count_degrees(), Laplace(l1=2), spend=spend, label="noisy degrees")
        return np.argsort(-noisy, kind="stable")

    def _budget(self, pairs: int, budget: Fraction) -> TreeBudget:
        """Divide the budget; everything here is public."""
        count, partition = Fraction(str(self.count)), Fraction(str(self.partition))
        height = self.height if self.height >= 0 else greatest_height(pairs, float(budget * count), _SCALES)
        plan = TreeBudget.divide(budget, count, partition, height=height)
        return plan.with_midpoints(budget * partition, pairs) if self.midpoints or partition == 0 else plan


# Exploration.

#: candidates whose scores are in memory at a time
_CHUNK = 1 << 20
#: a region has at least two to this power of candidate rows and columns
_LEAST_POWER = 2


@dataclass(frozen=True, eq=False)
class Exploration:
    """How regions are split: at points that separate dense from sparse parts, until they are sparse, or dense.

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


# Split points.

#: how finely scores are rounded: one edge moves a score by at most this much
UNITS = 16
#: the score of a split point that is not allowed: no edge changes it, and unless the share is below about 1e-15 it is
#: never chosen; if it is, parts without cells are dropped and the others are checked again before they are split
IMPOSSIBLE = -(1 << 59)
_LOW_BITS = 16


@dataclass(frozen=True, eq=False)
class SplitPoints:
    r"""The candidates of each region: up to `grid` rows and as many columns, evenly spaced; all if there are fewer.

    Candidates are public. The score of one is the difference between the greatest and the least density of the parts.
    Every part that has cells has at least $s$ of them, `least`, so one edge moves one density, and the score, by at
    most $1 / s$. Scores are whole numbers of $1 / (s \, units)$: $\lfloor ones \cdot s \cdot units / cells \rfloor$
    moves by at most `UNITS`, since $s \cdot units / cells \le units$ is added before rounding.
    """

    regions: Regions
    grid: int
    least: int

    @property
    def rows(self) -> Integers:
        """The candidate rows of each region, one row of the array per region."""
        return _spread(self.regions.top, self.regions.bottom, self.grid)

    @property
    def columns(self) -> Integers:
        """The candidate columns of each region."""
        return _spread(self.regions.left, self.regions.right, self.grid)

    def cells(self) -> Integers:
        """Count the cells of the four parts of each candidate: part, region, row, column."""
        bounds = self.regions
        top, bottom, left, right = (
            edge[:, None, None] for edge in (bounds.top, bounds.bottom, bounds.left, bounds.right)
        )
        row, column = self.rows[:, :, None], self.columns[:, None, :]
        parts = ((top, row, left, column), (top, row, column, right), (row, bottom, left, column))
        cells = [count_cells(*part) for part in parts]
        return np.stack((*cells, bounds.cells[:, None, None] - sum(cells)))

    def allowed(self, cells: Integers) -> Flags:
        """Check that the parts that have cells are large, at least two, and that the candidate is inside."""
        inside = (self.rows > self.regions.top[:, None])[:, :, None] & (self.columns > self.regions.left[:, None])[
            :, None
        ]
        large = ((cells == 0) | (cells >= self.least)).all(axis=0)
        return inside & large & ((cells > 0).sum(axis=0) > 1)

    def scores(self, bins: Integers) -> Integers:
        """Score all candidates, given the number of edges in each bin of the lattice between candidates."""
        cells = self.cells()
        above = np.cumsum(np.cumsum(bins, axis=1), axis=2)
        upper_left = above[:, :-1, :-1]
        upper, left, all_ones = above[:, :-1, -1:], above[:, -1:, :-1], above[:, -1:, -1:]
        ones = (upper_left, upper - upper_left, left - upper_left, all_ones - upper - left + upper_left)
        greatest = np.full(cells.shape[1:], -1, np.int64)
        smallest = np.full(cells.shape[1:], np.iinfo(np.int64).max)
        for part, part_cells in zip(ones, cells, strict=True):
            density = _density(part, np.maximum(1, part_cells), self.least * UNITS)
            greatest = np.maximum(greatest, np.where(part_cells > 0, density, -1))
            smallest = np.minimum(smallest, np.where(part_cells > 0, density, smallest))
        scores = np.where(self.allowed(cells), greatest - smallest, IMPOSSIBLE)
        return scores.reshape(len(self.regions), -1)

    def at(self, chosen: Integers) -> tuple[Integers, Integers]:
        """Return the row and the column of one candidate per region, given its number."""
        row, column = np.divmod(chosen, self.columns.shape[1])
        number = np.arange(len(self.regions))
        return self.rows[number, row], self.columns[number, column]


def _spread(low: Integers, high: Integers, grid: int) -> Integers:
    """Place `grid` positions evenly, or all positions if there are fewer; those that are missing are `low`."""
    length = high - low
    parts = np.minimum(grid + 1, length)[:, None]
    steps = np.arange(1, grid + 1)
    return low[:, None] + np.where(steps < parts, steps * length[:, None] // np.maximum(1, parts), 0)


def _density(ones: Integers, cells: Integers, scale: int) -> Integers:
    """Return `ones * scale // cells`, by long division: the product could exceed int64.

    Exact if `scale` and `cells` are below 2**46, the number of pairs of 11 million vertices; a domain has fewer.
    """
    high, low = ones >> _LOW_BITS, ones & ((1 << _LOW_BITS) - 1)
    whole, rest = np.divmod(high * scale, cells)
    return (whole << _LOW_BITS) + ((rest << _LOW_BITS) + low * scale) // cells


# The budget, by public numbers only.

#: below this exponent the choice of a split point is almost uniform
_LEAST_EXPONENT = 2


def least_cells(pairs: int, depth: int) -> int:
    """Return how many cells a region at this depth must have, if it has any."""
    return -(-pairs // 4 ** (depth + 1))


@dataclass(frozen=True)
class TreeBudget:
    """How much every question along a path of the tree may spend.

    Examples
    --------
    >>> budget = TreeBudget.divide(Fraction(1), Fraction(1, 2), Fraction(1, 10), height=5)
    >>> sum(budget.counts), budget.partition
    (Fraction(1, 2), Fraction(1, 50))
    """

    #: the share of all counts along a path
    all_counts: Fraction
    #: the share of a count at depth 1, 2, ...
    counts: tuple[Fraction, ...]
    #: the share of the choice of one split point
    partition: Fraction
    #: the depths of regions that are split off in the middle of their parent, without a choice
    midpoints: frozenset[int] = frozenset()

    @classmethod
    def divide(cls, budget: Fraction, count: Fraction, partition: Fraction, *, height: int) -> TreeBudget:
        """Give the fraction `count` of a budget to counts and the fraction `partition` to split points."""
        shares = level_shares(budget * count, height)
        return cls(budget * count, shares, budget * partition / max(1, height))

    def with_midpoints(self, partition: Fraction, pairs: int) -> TreeBudget:
        """Choose split points only where the choice is not almost uniform; they share all that is for split points.

        The exponent of the greatest possible score at depth $j$ is half the share times the least number of cells.
        """
        depths = range(1, self.height + 1)
        chosen = [depth for depth in depths if self.partition * least_cells(pairs, depth) / 2 >= _LEAST_EXPONENT]
        share = partition / max(1, len(chosen))
        return TreeBudget(self.all_counts, self.counts, share, frozenset(depths) - frozenset(chosen))

    @property
    def height(self) -> int:
        """The height of the tree."""
        return len(self.counts)

    @property
    def first(self) -> Fraction:
        """The share of a count at depth 1, or of the only one: its noise is that of the number of edges."""
        return self.counts[0] if self.counts else self.all_counts

    @property
    def second(self) -> Fraction:
        """The share of the second count of a leaf above the greatest depth: that of a count at the greatest depth."""
        return self.counts[-1] if self.counts else self.all_counts

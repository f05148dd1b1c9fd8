"""DER: explore the adjacency matrix for dense regions, count them, and arrange edges in them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Graph
from hedgerow.errors import ParameterError
from hedgerow.privacy import Laplace, Ledger, PathBudget, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.graphs.der.budgets import TreeBudget, noise_variance, tree_height
from hedgerow.publishers.graphs.der.exploration import Exploration, RegionTree
from hedgerow.publishers.graphs.der.leaf_counts import clip_alone, combine, fit_to_total, fit_tree

__all__ = ["DER"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class DER(Publisher[Graph]):
    r"""Publish a graph by density-based exploration and reconstruction of its adjacency matrix.

    The matrix is split into regions by a quadtree whose split points are chosen so that dense and sparse parts separate;
    the edges of every leaf are counted with noise; and that many edges are arranged in the leaf such that placements
    that agree with the graph are more likely [1]_. Dense regions exist if the order of the vertices is related to the
    edges: with a random order this method cannot be better than a random graph.

    Corrected: the printed method works on the whole symmetric matrix, where every edge is two cells, and charges it once;
    here a cell is a pair $i < j$, so that an edge is one cell. The sensitivity of small regions is not capped. The
    least size of the parts of a split holds at all depths. Two counts of one leaf are combined by inverse variance. Leaf
    counts are fitted to each other (`fitted`): clipping them one by one adds edges that do not exist.

    Privacy
    -------
    regions: an edge is one cell, which is in one region per depth, so it follows one path of the tree (one token). Each
    depth chooses a split point (one edge moves its score by at most $1 / s$, $s$ being the least number of cells of a part)
    and counts the parts (L1 = 1). A leaf above the greatest depth is counted once more. Its edges are arranged with all
    that is left on its path: one edge moves the number of correct cells of every placement by 1. Heights, thresholds and
    candidates depend on public numbers and noisy answers. noisy degrees, if asked for: L1 = 2, since an edge has two ends.

    Examples
    --------
    >>> from hedgerow import Domain, PureDP
    >>> domain = Domain.declare(vertex=range(60))
    >>> clique = [(i, j) for i in range(20) for j in range(i)]
    >>> graph = Graph.from_edges(clique, domain=domain)
    >>> release = DER().publish(graph, PureDP(epsilon=20, unit="edge"), seed=3)
    >>> len(graph), len(release.data), len(set(graph.edges()) & set(release.data.edges()))
    (190, 189, 188)

    References
    ----------
    .. [1] R. Chen, B. C. M. Fung, P. S. Yu, B. C. Desai. "Correlated network data publication via differential
       privacy". VLDB Journal 23(4), 2014.
    """

    name: ClassVar[str] = "der"
    kinds: ClassVar = (Graph,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("edge",)

    count: float = param(0.5, "fraction of the budget for the counts of regions", gt=0, le=1)
    partition: float = param(0.1, "fraction for split points; the rest arranges edges", ge=0, lt=1)
    dense: float = param(0.8, "density from which on a region is not split further", gt=0, le=1)
    grid: int = param(32, "candidate rows, and columns, of a split point", ge=1, le=255)
    height: int = param(-1, "height of the tree of regions; -1: chosen by the number of vertices and the budget", ge=-1)
    midpoints: bool = param(False, "split small regions in the middle instead of choosing a split point")  # noqa: FBT003
    fitted: bool = param(True, "fit the counts of leaves to each other instead of clipping each")  # noqa: FBT003
    order: str = param("declared", "the order of the vertices", choices=("declared", "noisy degrees"))
    order_share: float = param(0.2, "fraction of the budget for the order by noisy degrees", gt=0, lt=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count + self.partition > 1:
            msg = f"DER.count and partition must be at most 1 together; got {self.count:g} and {self.partition:g}"
            raise ParameterError(msg)

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Explore, count the leaves, and arrange edges in them."""
        if data.pairs == 0:
            return data
        order = self._order(data, ledger)
        exploration = self._exploration(data, ledger.left)
        paths = ledger.paths(spend=ledger.left, label="regions")
        tree = exploration.explore(data.reordered(order), paths)
        leaves = tree.leaves
        nodes, counts = self._count_leaves(tree, exploration.budget, paths)
        at, positions = paths.arrange(
            leaves.at,
            leaves.positions,
            sizes=leaves.regions.cells,
            ones=counts,
            under=nodes,
            spend=paths.left(nodes),
            label="edge positions",
        )
        row, column = leaves.regions[at].unrank(positions)
        return Graph.from_columns(source=order[row], target=order[column], domain=data.domain)

    def _order(self, data: Graph, ledger: Ledger) -> Integers:
        """Return the vertices in the order of rows and columns: as declared, or by descending noisy degree."""
        if self.order == "declared":
            return np.arange(data.domain.size("vertex"))
        spend = ledger.budget * Fraction(str(self.order_share))
        noisy = ledger.ask(data.count_degrees(), Laplace(l1=2), spend=spend, label="noisy degrees")
        return np.argsort(-noisy, kind="stable")

    def _exploration(self, data: Graph, budget: Fraction) -> Exploration:
        """Plan the tree: everything here is public."""
        count, partition = Fraction(str(self.count)), Fraction(str(self.partition))
        height = self.height if self.height >= 0 else tree_height(data.pairs, float(budget * count))
        plan = TreeBudget.divide(budget, count, partition, height=height)
        if self.midpoints or partition == 0:
            plan = plan.with_midpoints(budget * partition, data.pairs)
        return Exploration(data.domain.size("vertex"), data.pairs, plan, self.dense, self.grid)

    def _count_leaves(self, tree: RegionTree, budget: TreeBudget, paths: PathBudget) -> tuple[Integers, Integers]:
        """Count leaves above the greatest depth once more; return nodes and whole, non-negative counts."""
        leaves = tree.leaves
        counts, variance = tree.noisy.astype(np.float64), tree.variance.copy()
        nodes, early = leaves.nodes.copy(), np.flatnonzero(leaves.early)
        nodes[early], second = paths.ask(
            leaves.ones[early], Laplace(l1=1), under=nodes[early], spend=budget.deepest, label="region counts"
        )
        place = leaves.place[early]
        own, other = variance[place], noise_variance(budget.deepest)
        counts[place] = combine(counts[place], second, own, other)
        variance[place] = own * other / (own + other)
        cells = leaves.regions.cells
        if not self.fitted:
            return nodes, clip_alone(counts[leaves.place], cells)
        fitted = fit_tree(tree.parent, tree.depth, counts, variance)[leaves.place]
        return nodes, fit_to_total(fitted, variance[leaves.place], cells)

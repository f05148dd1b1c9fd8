"""DER: explore the adjacency matrix for dense regions, count them, and arrange edges in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Graph
from hedgerow.errors import ParameterError
from hedgerow.privacy import CorrelatedDP, Laplace, Ledger, PureDP, Shares
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.graphs.der.budgets import TreeBudget
from hedgerow.publishers.graphs.der.exploration import Exploration
from hedgerow.publishers.graphs.leaf_counts import clip_leaves, fit_leaves
from hedgerow.publishers.graphs.level_shares import MOST_DEPTHS, greatest_height
from hedgerow.publishers.graphs.memory_limits import require_few_edges
from hedgerow.publishers.graphs.region_tree import count_again

__all__ = ["DER"]

#: two standard deviations of the noise of a count: an average leaf has at least so many cells
_SCALES = 2 * math.sqrt(2)

Integers: TypeAlias = NDArray[np.int64]


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
    Leaf counts are fitted to each other (`fitted`): clipping them one by one adds edges that do not exist.

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
    kinds: ClassVar = (Graph,)
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
        order = self._order(data, ledger)
        budget = self._budget(data.pairs, ledger.left)
        paths = ledger.paths(spend=ledger.left, label="regions")
        tree = Exploration(paths, budget, data.pairs, self.dense, self.grid).explore(data.reordered(order))
        leaves = tree.leaves
        tree = count_again(tree, paths, Shares.spread(budget.second, int(leaves.early.sum())))
        ones = fit_leaves(tree) if self.fitted else clip_leaves(tree)
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

    def _order(self, data: Graph, ledger: Ledger) -> Integers:
        """Return the vertices in the order of rows and columns: as declared, or by descending noisy degree."""
        if self.order == "declared":
            return np.arange(data.domain.size("vertex"))
        spend = ledger.budget * Fraction(str(self.order_share))
        noisy = ledger.ask(data.count_degrees(), Laplace(l1=2), spend=spend, label="noisy degrees")
        return np.argsort(-noisy, kind="stable")

    def _budget(self, pairs: int, budget: Fraction) -> TreeBudget:
        """Divide the budget; everything here is public."""
        count, partition = Fraction(str(self.count)), Fraction(str(self.partition))
        height = self.height if self.height >= 0 else greatest_height(pairs, float(budget * count), _SCALES)
        plan = TreeBudget.divide(budget, count, partition, height=height)
        return plan.with_midpoints(budget * partition, pairs) if self.midpoints or partition == 0 else plan

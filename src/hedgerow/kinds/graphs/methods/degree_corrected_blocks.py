"""Degree-corrected blocks: noisy degrees and noisy counts of edges between blocks, and edges drawn from both."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.methods.degree_model import estimate_degrees, fit_weights, halve_regions, prefix_sums
from hedgerow.kinds.graphs.methods.edge_draw import place_edges
from hedgerow.kinds.graphs.methods.memory_limits import expected_edges, require_few_edges
from hedgerow.kinds.graphs.methods.region_counts_model import fit_leaves, greatest_height, level_shares
from hedgerow.kinds.graphs.methods.region_tree import Level, RegionTree, Split, count_again, count_whole, grow_tree
from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.privacy import CorrelatedDP, Laplace, Ledger, PureDP
from hedgerow.publisher import SCALES, Publisher, param


@dataclass(frozen=True, kw_only=True)
class DegreeCorrectedBlocks(Publisher[Graph]):
    r"""Publish a graph by a degree-corrected block model with private degrees and private blocks.

    `der` spends much of its budget on arranging edges, which keeps almost no edge of a sparse graph, and on choosing
    split points, which is guessing in small regions; and its edges ignore that some vertices have many more than
    others. Here the budget goes to the degrees of the vertices and to counts. The degrees say how the vertices are
    divided: every region is split such that its parts have equal sums of degrees. A region with few edges, by its noisy
    count, is not split further but counted again with all that is left. The counts of all regions are fitted to each
    other [1]_, and edges are drawn in each leaf with probabilities that give every vertex its degree [2]_.

    Communities are kept if they are together in the order of the vertices. If the order means nothing, the degrees are
    kept nevertheless.

    Privacy
    -------
    noisy degrees: L1 = 2, since an edge has two ends.
    regions: an edge is in one region per depth, so it follows one path of the tree (one token; L1 = 1 per count). The
    shares of the depths, and the second count of a leaf with all that is left on its path, stay within the rest of the
    budget. Splits, heights and thresholds depend on noisy answers only, and edges are drawn from noisy answers.

    Examples
    --------
    >>> from hedgerow import Domain, PureDP
    >>> domain = Domain.declare(vertex=range(60))
    >>> clique = [(i, j) for i in range(20) for j in range(i)]
    >>> graph = Graph.from_edges(clique, domain=domain)
    >>> release = DegreeCorrectedBlocks().publish(graph, PureDP(epsilon=2, unit="edge"), seed=3)
    >>> len(graph), len(release.data), len(set(graph.edges()) & set(release.data.edges()))
    (190, 174, 171)

    References
    ----------
    .. [1] M. Hay, V. Rastogi, G. Miklau, D. Suciu. "Boosting the accuracy of differentially private histograms through
       consistency". PVLDB 3(1), 2010.
    .. [2] B. Karrer, M. E. J. Newman. "Stochastic blockmodels and community structure in networks". Physical Review E
       83, 2011.
    """

    name: ClassVar[str] = "degree-corrected-blocks"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (PureDP, CorrelatedDP)
    units: ClassVar = ("edge",)
    recommended: ClassVar[str] = "networks whose order of vertices means something, up to about epsilon 4 per edge"

    degrees: float = param(0.5, "fraction of the budget for the degrees of vertices", gt=0, lt=1)
    least: float = param(4.0, "noise scales that the count of a region must reach to be split", ge=0)
    contrast: float = param(64.0, "how many times denser than average a region of the greatest depth may be", ge=1)

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Ask for degrees, count blocks, and draw edges."""
        if data.pairs == 0:
            return data
        coins = ledger.coins()
        spend = ledger.budget * Fraction(str(self.degrees))
        expected_edges(SCALES / float(ledger.budget - spend), data.pairs)
        noisy = ledger.ask(data.count_degrees(), Laplace(l1=2), spend=spend, label="noisy degrees")
        degrees = estimate_degrees(noisy, 2 / float(spend), coins)
        tree = self._count_blocks(data, degrees, ledger)
        blocks, edges = tree.noisy.leaves, fit_leaves(tree.noisy)
        require_few_edges(int(edges.sum()))
        row, column = place_edges(blocks, edges, fit_weights(degrees, blocks, edges), coins)
        return Graph.from_columns(source=row, target=column, domain=data.domain)

    def _count_blocks(self, data: Graph, degrees: Floats, ledger: Ledger) -> RegionTree:
        """Split the matrix into blocks, as finely as the noise of counts allows, and count them."""
        left = ledger.left
        paths = ledger.paths(spend=left, label="regions")
        height = greatest_height(self.contrast * float(degrees.sum()) / 2, float(left), 1.0)
        if height == 0:
            return count_whole(data, paths, left)
        shares = level_shares(left, height)
        before = prefix_sums(degrees)

        def halve(level: Level, depth: int) -> Split:
            del depth
            return Split(*halve_regions(level.regions, before), level.nodes)

        def are_leaves(regions: Regions, noisy: Integers, depth: int) -> Flags:
            return (noisy < self.least / float(shares[depth - 1])) | (regions.cells == 1)

        tree = grow_tree(data, paths, shares, halve, are_leaves)
        return count_again(tree, paths, paths.left(tree.leaves.nodes[tree.leaves.early]))

"""A small method for networks that exists only to put arrangements to the test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow import CorrelatedDP, Domain, Graph, Laplace, Ledger, Publisher, PureDP


@dataclass(frozen=True, kw_only=True)
class TwoRegions(Publisher[Graph]):
    """Counts the edges in either half of all pairs, and places as many as the noisy counts say."""

    name: ClassVar[str] = "toy-two-regions"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (PureDP, CorrelatedDP)
    units: ClassVar = ("edge",)

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Count, then arrange with what is left."""
        half = data.pairs // 2
        sizes, begins = np.array([half, data.pairs - half]), np.array([0, half])
        at = (data.ranks() >= half).astype(np.int64)
        exact = np.bincount(at, minlength=2)
        tree = ledger.paths(spend=ledger.budget, label="edges")
        regions = np.repeat(tree.root, 2)
        nodes, noisy = tree.ask(exact, Laplace(l1=1), under=regions, spend=ledger.budget / 3, label="counts")
        placed = tree.arrange(
            at,
            data.ranks() - begins[at],
            sizes=sizes,
            ones=np.clip(noisy, 0, sizes),
            under=nodes,
            spend=tree.left(nodes),
            label="positions",
        )
        return Graph.from_ranks(np.unique(begins[placed.at] + placed.positions), data.domain)


def graph_on(vertices: int, edges: list[tuple[int, int]]) -> Graph:
    """A graph on vertices 0, 1, ..."""
    return Graph.from_edges(edges, domain=Domain.declare(vertex=range(vertices)))


#: the example of the paper's Figure 7.2, from what its text fixes
FIGURE = graph_on(8, [(0, 5), (0, 6), (0, 7), (1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 3), (3, 4)])

"""Every pair of vertices with noise of its own: the direct baseline for networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.frontiers import PairRank
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.methods.memory_limits import require_few
from hedgerow.privacy import CorrelatedDP, Laplace, Ledger, PureDP
from hedgerow.publisher import Publisher

#: exact noise is discrete: an edge is this many steps, so that the noise is close to a continuous one
_STEPS = 1000


@dataclass(frozen=True, kw_only=True)
class LaplaceGraph(Publisher[Graph]):
    r"""Publish every pair of vertices whose entry in the adjacency matrix is at least 1/2 after noise.

    Entries are 1 or 0, the noise has scale $1 / \varepsilon$, and pairs without an edge appear with probability
    $e^{-\varepsilon / 2} / 2$: at $\varepsilon = 1$ about three in ten of all pairs, so that the edges are lost among
    them [1]_. Entries and noise are multiples of 1/1000.

    Privacy
    -------
    adjacency matrix: L1 = one entry, since an edge is one pair of vertices; all pairs are asked for once with the whole
    budget. The cutoff is a constant.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo", "dan", "eve"])
    >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "cleo")], domain=domain)
    >>> LaplaceGraph().publish(graph, PureDP(epsilon=5, unit="edge"), seed=1).data.edges()
    [('ann', 'bob'), ('bob', 'cleo')]

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith. "Calibrating noise to sensitivity in private data analysis".
       TCC 2006.
    """

    name: ClassVar[str] = "laplace-graph"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (PureDP, CorrelatedDP)
    units: ClassVar = ("edge",)

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Add noise to every entry above the diagonal, and publish those of at least 1/2."""
        require_few(self.name, data.pairs, float(ledger.budget) / 2)
        edges = data.frontier().count(PairRank(data.domain.size("vertex")))
        ranks, _ = ledger.survivors(
            edges.codes,
            np.full(len(edges.codes), _STEPS, np.int64),
            Laplace(l1=_STEPS),
            candidates=data.pairs,
            cutoff=_STEPS // 2,
            spend=ledger.budget,
            label="adjacency matrix",
        )
        return Graph.from_ranks(ranks, data.domain)

"""A uniformly random graph with a noisy number of edges: what a release of a network must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hedgerow.frontiers import AtStart
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.methods.memory_limits import expected_edges, possible_edges
from hedgerow.numerics.sampling import sample_distinct
from hedgerow.privacy import CorrelatedDP, Laplace, Ledger, PureDP
from hedgerow.publisher import SCALES, Publisher


@dataclass(frozen=True, kw_only=True)
class RandomGraph(Publisher[Graph]):
    r"""Publish a random graph with about as many edges as the private one.

    A baseline: the number of edges plus noise, clipped to what is possible, and that many pairs of vertices, every set
    of pairs equally likely [1]_. It keeps the density of the graph, and nothing of who is linked to whom.

    Privacy
    -------
    number of edges: L1 = 1, since an edge is counted once; asked once with the whole budget. Which pairs are linked
    depends on coins alone.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=range(100))
    >>> ring = Graph.from_edges([(i, (i + 1) % 100) for i in range(100)], domain=domain)
    >>> release = RandomGraph().publish(ring, PureDP(epsilon=1, unit="edge"), seed=7)
    >>> len(release.data), release.data.edges()[:3]
    (100, [(0, 20), (0, 62), (0, 88)])

    References
    ----------
    .. [1] P. Erdős, A. Rényi. "On random graphs I". Publicationes Mathematicae Debrecen 6, 1959.
    """

    name: ClassVar[str] = "random-graph"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (PureDP, CorrelatedDP)
    units: ClassVar = ("edge",)

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Count the edges with noise, and link that many random pairs."""
        expected_edges(SCALES / float(ledger.budget), data.pairs)
        exact = data.frontier().count(AtStart()).by_code()
        (noisy,) = ledger.ask(exact, Laplace(l1=1), spend=ledger.budget, label="number of edges").tolist()
        edges = possible_edges(noisy, data.pairs)
        return Graph.from_ranks(sample_distinct(edges, data.pairs, ledger.coins()), data.domain)

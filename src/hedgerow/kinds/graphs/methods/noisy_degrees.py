"""Noisy degrees: a graph whose edges are drawn at random by the noisy degrees of their ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.methods.degree_model import estimate_degrees
from hedgerow.kinds.graphs.methods.edge_draw import place_edges
from hedgerow.kinds.graphs.methods.memory_limits import expected_edges, possible_edges
from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.privacy import CorrelatedDP, Laplace, Ledger, PureDP
from hedgerow.publisher import Publisher

#: standard deviations of noise that the number of edges is reckoned to have: more have a probability of 1 in 30,000
_DEVIATIONS = 4


@dataclass(frozen=True, kw_only=True)
class NoisyDegrees(Publisher[Graph]):
    """Publish a graph that has about the degrees of the private one, and is random otherwise.

    The simplest method that knows more than the number of edges: every vertex gets a noisy degree, and an edge joins
    two vertices with a probability proportional to the product of their degrees [1]_. Communities are lost.

    Privacy
    -------
    noisy degrees: L1 = 2, since an edge has two ends; asked once with the whole budget. The number of edges is half of
    their sum, and edges are drawn from noisy answers only.

    Examples
    --------
    >>> from hedgerow import Domain, PureDP
    >>> domain = Domain.declare(vertex=range(40))
    >>> star = Graph.from_edges([(0, i) for i in range(1, 40)], domain=domain)
    >>> release = NoisyDegrees().publish(star, PureDP(epsilon=2, unit="edge"), seed=3)
    >>> len(release.data), release.data.degrees()[0].item()
    (37, 20)

    References
    ----------
    .. [1] F. Chung, L. Lu. "The average distances in random graphs with given expected degrees". PNAS 99(25), 2002.
    """

    name: ClassVar[str] = "noisy-degrees"
    kinds: ClassVar = ("graphs",)
    keeps: ClassVar = (PureDP, CorrelatedDP)
    units: ClassVar = ("edge",)
    recommended: ClassVar[str] = "degrees of a network, if the order of its vertices means nothing"

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Ask for all degrees, and draw edges."""
        if data.pairs == 0:
            return data
        # half of the sum of all noise, which has this standard deviation
        deviation = math.sqrt(2 * data.domain.size("vertex")) / float(ledger.budget)
        expected_edges(_DEVIATIONS * deviation, data.pairs)
        coins = ledger.coins()
        noisy = ledger.ask(data.count_degrees(), Laplace(l1=2), spend=ledger.budget, label="noisy degrees")
        degrees = estimate_degrees(noisy, 2 / float(ledger.budget), coins)
        edges = possible_edges(int(noisy.sum()) // 2, data.pairs)
        row, column = place_edges(Regions.whole(len(noisy)), np.full(1, edges), degrees, coins)
        return Graph.from_columns(source=row, target=column, domain=data.domain)

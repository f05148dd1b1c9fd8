"""The top-m filter: as many pairs as there are edges, those with the highest noisy entries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Graph
from hedgerow.frontiers import AtStart, PairRank
from hedgerow.privacy import Laplace, Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.graphs.memory_limits import possible_edges, require_few
from hedgerow.steps.distinct_numbers import sample_distinct

__all__ = ["TopMFilter"]

Integers: TypeAlias = NDArray[np.int64]

_FINE = 1000


@dataclass(frozen=True, kw_only=True)
class TopMFilter(Publisher[Graph]):
    r"""Publish the pairs of vertices with the highest noisy entries of the adjacency matrix, as many as edges.

    The number of edges $m$ is asked for with a share of the budget. Noise is added to every pair, 1 or 0, with the
    rest, and the $\tilde m$ highest are published [1]_. Only pairs above a cutoff are drawn, so that time and memory
    are linear in the number of edges. Where fewer are above it, the others are random pairs. Most edges are kept
    only if $\varepsilon$ exceeds $\ln (n^2 / 2 m)$; far below that the graph is nearly random.

    Privacy
    -------
    number of edges: L1 = 1, since an edge is counted once; asked with `count_share` of the budget.
    adjacency matrix: L1 = one entry, since an edge is one pair of vertices; all pairs are asked for once with the rest.
    The cutoff depends on the number of pairs and the noisy number of edges, the choice among equal entries on coins.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo", "dan", "eve"])
    >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "cleo")], domain=domain)
    >>> TopMFilter().publish(graph, PureDP(epsilon=40, unit="edge"), seed=1).data.edges()
    [('ann', 'bob'), ('bob', 'cleo')]

    References
    ----------
    .. [1] H. H. Nguyen, A. Imine, M. Rusinowitch. "Differentially private publication of social graphs at linear
       cost". ASONAM 2015.
    """

    name: ClassVar[str] = "tmf"
    kinds: ClassVar = (Graph,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("edge",)

    count_share: float = param(0.1, "share of the budget for the number of edges", gt=0, lt=1)

    def run(self, data: Graph, ledger: Ledger) -> Graph:
        """Count the edges with noise, add noise to every pair, and keep the highest."""
        frontier, share = data.frontier(), ledger.budget * Fraction(str(self.count_share))
        exact = frontier.count(AtStart()).by_code()
        (noisy,) = ledger.ask(exact, Laplace(l1=1), spend=share, label="number of edges").tolist()
        most = possible_edges(noisy, data.pairs)
        steps, cutoff = choose_cutoff(data.pairs, most, float(ledger.left))
        require_few(self.name, data.pairs, float(ledger.left) * cutoff / steps)
        edges = frontier.count(PairRank(data.domain.size("vertex"))).codes
        ranks, entries = ledger.survivors(
            edges,
            np.full(len(edges), steps, np.int64),
            Laplace(l1=steps),
            candidates=data.pairs,
            cutoff=cutoff,
            spend=ledger.left,
            label="adjacency matrix",
        )
        kept = keep_highest(ranks, entries, most, data.pairs, ledger.coins())
        return Graph.from_ranks(kept, data.domain)


def choose_cutoff(pairs: int, most: int, epsilon: float) -> tuple[int, int]:
    r"""Choose how many steps an edge is, and the cutoff in these steps that about `most` pairs reach.

    One step per edge tells edges best: an entry is $e^\varepsilon$ times likelier for an edge if it is 1 or more,
    however large, and less likely if not, as in randomised response. With the cutoff at 1 there may be far too many
    survivors. Then an edge is many steps: entries that are higher than an edge have the same odds, and among them the
    cutoff can be set so that pairs without an edge alone are enough, but for a chance of about $10^{-9}$.

    Examples
    --------
    >>> choose_cutoff(1_000_000, 1_000, 9.0), choose_cutoff(1_000_000, 1_000, 2.0)
    ((1, 1), (1000, 3012))
    """
    enough = most + 6 * math.sqrt(most) + 20
    chance = 1 / (1 + math.exp(-epsilon / _FINE))
    if pairs * chance * math.exp(-epsilon) < enough:
        return 1, 1
    return _FINE, math.floor(_FINE / epsilon * math.log(pairs * chance / enough))


def keep_highest(ranks: Integers, entries: Integers, most: int, pairs: int, coins: np.random.Generator) -> Integers:
    """Return the ranks of the `most` highest entries, or all and random other pairs; ascending.

    Examples
    --------
    >>> ranks, entries = np.array([2, 3, 5, 8]), np.array([7, 9, 7, 8])
    >>> keep_highest(ranks, entries, 2, 9, np.random.default_rng(1)).tolist()
    [3, 8]
    >>> keep_highest(ranks, entries, 6, 9, np.random.default_rng(1)).tolist()
    [0, 2, 3, 4, 5, 8]
    """
    surplus = len(ranks) - most
    if surplus >= 0:
        limit = np.partition(entries, surplus)[surplus] if most else np.inf
        equal = np.flatnonzero(entries == limit)
        higher = np.flatnonzero(entries > limit)
        chosen = equal[sample_distinct(most - len(higher), len(equal), coins)]
        return np.sort(ranks[np.concatenate((higher, chosen))])
    others = sample_distinct(-surplus, pairs - len(ranks), coins)
    # rank number i has i listed ranks before it, all others are counted
    others += np.searchsorted(ranks - np.arange(len(ranks)), others, "right")
    return np.sort(np.concatenate((ranks, others)))

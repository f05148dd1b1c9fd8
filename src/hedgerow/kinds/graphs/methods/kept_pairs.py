"""Between which vertices shortest paths must stay: the pairs that the data names, and a share of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hedgerow.errors import DomainError, ParameterError
from hedgerow.kinds.graphs.data import Graph, KeptPaths
from hedgerow.kinds.graphs.methods.stored_paths import Arcs
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.vertex_pairs import unrank_pairs

#: more paths may not fit in memory
_MOST = 5_000_000


class KeptPairs(NamedTuple):
    """Pairs of vertices that have a path between them, each once, and how many were left out since they have none.

    Without directions, the smaller code is first.
    """

    pairs: Integers
    unreachable: int


def choose_pairs(graph: Graph, share: float, coins: np.random.Generator) -> KeptPairs:
    """Collect the pairs of a graph whose paths must stay.

    These are the pairs it lists, which must have a path; all pairs of the vertices between which paths must stay; and
    a random share of all pairs of vertices. Those of the last two that have no path between them are left out.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from hedgerow.kinds.graphs.cases import graph_of
    >>> from hedgerow.privacy import Ledger, NoisyAnswers
    >>> graph = graph_of([(0, 1), (1, 2)], 4).keeping([(2, 0)], between=[0, 1, 3])
    >>> chosen = choose_pairs(graph, 0, Ledger(Fraction(0), NoisyAnswers(1)).coins())
    >>> chosen.pairs.tolist(), chosen.unreachable
    ([[0, 1], [0, 2]], 2)
    """
    paths = KeptPaths() if graph.paths is None else graph.paths
    size = graph.domain.size("vertex")
    hubs = np.unique(paths.between)
    drawn = round(share * graph.pairs)
    if max(drawn, len(hubs) * (len(hubs) - 1) // (1 if graph.directed else 2)) + len(paths.listed) > _MOST:
        msg = f"at most {_MOST:,} pairs can keep their paths; list fewer pairs or vertices, or take a smaller share"
        raise ParameterError(msg)
    weights: Floats = np.ones(len(graph))
    arcs = Arcs.of(graph.first, graph.second, weights, size, directed=graph.directed)
    listed = _oriented(paths.listed, directed=graph.directed)
    missing = np.flatnonzero(arcs.unreachable(listed, directed=graph.directed))
    if len(missing):
        msg = f"pair number {missing[0] + 1} of those whose paths must stay has no path between its ends; leave it out"
        raise DomainError(msg)
    ranks = np.sort(coins.choice(graph.pairs, drawn, replace=False)) if drawn else np.zeros(0, np.int64)
    others = np.concatenate((_all_pairs(hubs, directed=graph.directed), _unrank(ranks, size, directed=graph.directed)))
    others = _distinct(others, size)
    apart = arcs.unreachable(others, directed=graph.directed)
    return KeptPairs(_distinct(np.concatenate((listed, others[~apart])), size), int(apart.sum()))


def _oriented(pairs: Integers, *, directed: bool) -> Integers:
    return pairs if directed else np.sort(pairs, axis=1)


def _distinct(pairs: Integers, size: int) -> Integers:
    keys = np.unique(pairs[:, 0] * size + pairs[:, 1])
    return np.stack(np.divmod(keys, max(1, size)), axis=1)


def _all_pairs(vertices: Integers, *, directed: bool) -> Integers:
    low, high = np.triu_indices(len(vertices), 1)
    pairs = np.stack((vertices[low], vertices[high]), axis=1)
    return np.concatenate((pairs, pairs[:, ::-1])) if directed else pairs


def _unrank(ranks: Integers, size: int, *, directed: bool) -> Integers:
    if not directed:
        return np.stack(unrank_pairs(ranks, size), axis=1)
    first, second = np.divmod(ranks, max(1, size - 1))
    return np.stack((first, second + (second >= first)), axis=1)

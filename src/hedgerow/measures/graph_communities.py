"""Communities of a graph by modularity, and the modularity of a given partition.

Communities are computed from the exact edges: they serve the owner's measures and are never published.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import group_equal
from hedgerow.data import Graph

__all__ = ["find_communities", "modularity"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_ROUNDS = 30
_LEVELS = 20
#: rounds without a better partition before a level ends
_PATIENCE = 4
_GAIN = 1e-6
#: gains that differ by less are equal
_TINY = 1e-12


def modularity(graph: Graph, communities: Integers) -> float:
    r"""The modularity of a partition: edges within communities beyond those expected from the degrees; 0 if no edges.

    $\sum_c (m_c / m - (d_c / 2m)^2)$ for $m_c$ edges and degrees $d_c$ in community $c$ [1]_.

    References
    ----------
    .. [1] M. E. J. Newman, M. Girvan. "Finding and evaluating community structure in networks". Physical Review E 69,
       2004.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(0, 1), (2, 3)], domain=Domain.declare(vertex=range(4)))
    >>> modularity(graph, np.array([0, 0, 1, 1]))
    0.5
    """
    return _modularity(_Weighted.of(graph), communities)


def find_communities(graph: Graph) -> Integers:
    """Find communities by the Louvain method [1]_, with many vertices moved at a time; the same for the same graph.

    Vertices move to the neighbouring community that raises modularity most. In each round a part of the vertices,
    chosen by a hash of their code, moves at once, so that two neighbours rarely swap. Then each community becomes a
    vertex, and the same is repeated.

    References
    ----------
    .. [1] V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre. "Fast unfolding of communities in large networks".
       Journal of Statistical Mechanics, 2008.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)]
    >>> find_communities(Graph.from_edges(edges, domain=Domain.declare(vertex=range(6)))).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    weighted = _Weighted.of(graph)
    communities = np.arange(graph.domain.size("vertex"))
    for _ in range(_LEVELS):
        labels = group_equal(_move_vertices(weighted))[1]
        communities = labels[communities]
        if labels.max(initial=-1) + 1 == len(weighted.loops):
            break
        weighted = weighted.merge(labels)
    # named by their first vertex, in order
    _, first, labels = np.unique(communities, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


class _Weighted(NamedTuple):
    """A weighted graph: each edge once, and the weight of each vertex to itself."""

    first: Integers
    second: Integers
    weights: Floats
    loops: Floats

    @classmethod
    def of(cls, graph: Graph) -> _Weighted:
        first, second = graph.first.astype(np.int64), graph.second.astype(np.int64)
        return cls(first, second, np.ones(len(graph)), np.zeros(graph.domain.size("vertex")))

    def degrees(self) -> Floats:
        size = len(self.loops)
        return _add_up(self.first, self.weights, size) + _add_up(self.second, self.weights, size) + 2 * self.loops

    def merge(self, labels: Integers) -> _Weighted:
        """Make each community a vertex."""
        size = int(labels.max(initial=-1)) + 1
        one, other = labels[self.first], labels[self.second]
        inside = one == other
        loops = _add_up(labels, self.loops, size) + _add_up(one[inside], self.weights[inside], size)
        low, high = np.minimum(one, other)[~inside], np.maximum(one, other)[~inside]
        pairs, place = group_equal(low * size + high)
        return _Weighted(pairs // size, pairs % size, _add_up(place, self.weights[~inside], len(pairs)), loops)


def _add_up(groups: Integers, weights: Floats, size: int) -> Floats:
    return np.bincount(groups, weights, size).astype(np.float64)


def _modularity(graph: _Weighted, labels: Integers) -> float:
    degrees = graph.degrees()
    total = float(degrees.sum()) / 2
    if not total:
        return 0.0
    inside = graph.weights[labels[graph.first] == labels[graph.second]].sum() + graph.loops.sum()
    shares = np.bincount(labels, degrees) / (2 * total)
    return float(inside / total - (shares**2).sum())


def _move_vertices(graph: _Weighted) -> Integers:
    """Move vertices between communities while modularity rises; return the best partition."""
    size = len(graph.loops)
    labels = np.arange(size)
    best, highest, waited = labels, _modularity(graph, labels), 0
    for number in range(_ROUNDS):
        labels = _move_some(graph, labels, _choose(size, number))
        value = _modularity(graph, labels)
        waited = 0 if value > highest + _GAIN else waited + 1
        if value > highest:
            best, highest = labels, value
        if waited == _PATIENCE:
            break
    return best


def _move_some(graph: _Weighted, labels: Integers, chosen: NDArray[np.bool_]) -> Integers:
    """Move each chosen vertex to the community that raises modularity most; of equal ones to the first."""
    size, degrees = len(labels), graph.degrees()
    sums = _add_up(labels, degrees, size) / max(float(degrees.sum()), 1e-300)
    one, other = chosen[graph.first], chosen[graph.second]
    source = np.concatenate((graph.first[one], graph.second[other]))
    near = labels[np.concatenate((graph.second[one], graph.first[other]))]
    keys, place = group_equal(source * size + near)
    links = _add_up(place, np.concatenate((graph.weights[one], graph.weights[other])), len(keys))
    vertex, community = keys // size, keys % size
    own = community == labels[vertex]
    gains = links - degrees[vertex] * sums[community]
    # a vertex that moves leaves its own degree behind, so its own community looks better by that much
    alone = degrees * degrees / max(float(degrees.sum()), 1e-300)
    gains[own] += alone[vertex[own]]
    stay = alone - degrees * sums[labels]
    stay[vertex[own]] = gains[own]
    starts = np.flatnonzero(np.append(True, vertex[1:] != vertex[:-1])[: len(vertex)])
    moved = labels.copy()
    if len(starts):
        top = np.repeat(np.maximum.reduceat(gains, starts), np.diff(np.append(starts, len(vertex))))
        wanted = np.flatnonzero((gains == top) & (gains > stay[vertex] + _TINY))[::-1]
        moved[vertex[wanted]] = community[wanted]  # the last one written stays: the first community
    return moved


def _choose(size: int, number: int) -> NDArray[np.bool_]:
    """Choose half of the vertices, another half in each round: by a hash of their code and the round."""
    mixed = (np.arange(size, dtype=np.uint64) + np.uint64(number * size + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(63)).astype(np.bool_)

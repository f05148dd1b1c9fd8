"""Triangles and clustering coefficients, in memory that is linear in the edges."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import concatenate_ranges
from hedgerow.data import Graph
from hedgerow.vertex_pairs import rank_pairs

__all__ = ["average_clustering", "count_triangles", "transitivity"]

Integers: TypeAlias = NDArray[np.int64]

#: pairs, or words, in one array
_CHUNK = 1 << 21
_WORD = 64
#: looking up a pair of neighbours takes about as long as comparing this many words
_WORDS_PER_LOOKUP = 20


def count_triangles(graph: Graph) -> Integers:
    """Count the triangles that each vertex is in.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], domain=Domain.declare(vertex=range(4)))
    >>> count_triangles(graph).tolist(), transitivity(graph), round(average_clustering(graph), 4)
    ([1, 1, 1, 0], 0.6, 0.5833)
    """
    low, high = _orient(graph)
    fan = np.bincount(low, minlength=graph.domain.size("vertex"))
    lookups = int((fan * (fan - 1) // 2).sum())
    words = len(graph) * -(-len(fan) // _WORD)
    if words < _WORDS_PER_LOOKUP * lookups:
        return _count_by_words(graph)
    return _count_by_lookups(low, high, fan, graph.ranks())


def transitivity(graph: Graph, triangles: Integers | None = None) -> float:
    """The share of pairs of neighbours that are joined (global clustering coefficient); 0 if there are no pairs."""
    triangles = count_triangles(graph) if triangles is None else triangles
    degrees = graph.degrees()
    pairs = int((degrees * (degrees - 1) // 2).sum())
    return int(triangles.sum()) / max(1, pairs)


def average_clustering(graph: Graph, triangles: Integers | None = None) -> float:
    """The mean over all vertices of the share of pairs of neighbours that are joined; 0 for a vertex without pairs."""
    triangles = count_triangles(graph) if triangles is None else triangles
    degrees = graph.degrees()
    pairs = np.maximum(1, degrees * (degrees - 1) // 2)
    return float((triangles / pairs).mean()) if len(pairs) else 0.0


def _orient(graph: Graph) -> tuple[Integers, Integers]:
    """Direct each edge to the end of higher degree: then few edges leave a vertex, even one with many neighbours."""
    degrees = graph.degrees()
    first, second = graph.first.astype(np.int64), graph.second.astype(np.int64)
    swap = degrees[first] > degrees[second]
    return np.where(swap, second, first), np.where(swap, first, second)


def _count_by_lookups(low: Integers, high: Integers, fan: Integers, ranks: Integers) -> Integers:
    """Look up each pair of edges that leave the same vertex: is it closed by a third edge."""
    order = np.argsort(low, kind="stable")
    low, high = low[order], high[order]
    ends = np.cumsum(fan)[low]
    # an edge is paired with those after it that leave the same vertex
    partners = np.cumsum(ends - np.arange(len(high)) - 1)
    counts = np.zeros(len(fan), np.int64)
    begin = 0
    while begin < len(high):
        before = int(partners[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(partners, before + _CHUNK, "right")))
        places, of = concatenate_ranges(np.arange(begin, end) + 1, ends[begin:end])
        one, other = high[begin:end][of], high[places]
        asked = rank_pairs(np.minimum(one, other), np.maximum(one, other), len(fan))
        closed = ranks[np.minimum(np.searchsorted(ranks, asked), len(ranks) - 1)] == asked
        for corner in (one, other, low[begin:end][of]):
            counts += np.bincount(corner[closed], minlength=len(fan))
        begin = end
    return counts


def _count_by_words(graph: Graph) -> Integers:
    """Intersect the neighbours of the ends of each edge as bits, a few words of vertices at a time."""
    vertices = graph.domain.size("vertex")
    source = np.concatenate((graph.first, graph.second)).astype(np.int64)
    target = np.concatenate((graph.second, graph.first)).astype(np.int64)
    order = np.argsort(target, kind="stable")
    source, target = source[order], target[order]
    shared = np.zeros(len(graph), np.int64)
    words = max(1, _CHUNK // 4 // max(1, vertices))
    rows = max(1, _CHUNK // words)
    for begin in range(0, vertices, _WORD * words):
        some = slice(*np.searchsorted(target, (begin, begin + _WORD * words)).tolist())
        near = np.zeros((vertices, _WORD * words), np.bool_)
        near[source[some], target[some] - begin] = True
        bits = np.packbits(near, axis=1).view(np.uint64)
        for at in range(0, len(graph), rows):
            both = bits[graph.first[at : at + rows]] & bits[graph.second[at : at + rows]]
            shared[at : at + rows] += np.bitwise_count(both).sum(1, dtype=np.int64)
    ends = np.bincount(graph.first, shared, vertices) + np.bincount(graph.second, shared, vertices)
    return np.rint(ends / 2).astype(np.int64)

"""The structure of a graph: neighbours, connected components, shortest paths, triangles and communities.

All of this is computed from the exact edges: it serves the owner's measures and is never published.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.arrays import Flags, Floats, Integers, concatenate_ranges, group_equal
from hedgerow.numerics.vertex_pairs import rank_pairs

# Neighbour lists.


#: pairs that are looked at in one go
_PAIRS_AT_ONCE = 1 << 22


class NeighbourLists(NamedTuple):
    """The neighbours of each vertex, laid end to end; sorted within a vertex.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> path = Graph.from_edges([("a", "b"), ("b", "c")], domain=Domain.declare(vertex=["a", "b", "c"]))
    >>> lists = NeighbourLists.of(path)
    >>> lists.starts.tolist(), lists.neighbours.tolist()
    ([0, 1, 3, 4], [1, 0, 2, 1])
    >>> lists.count_common(np.array([0, 0]), np.array([1, 2])).tolist()
    [0, 1]
    """

    starts: Integers
    neighbours: NDArray[np.int32]
    ranks: Integers

    @classmethod
    def of(cls, graph: Graph) -> NeighbourLists:
        """List the neighbours of each vertex of a graph."""
        # edges are sorted by their first end, so a stable sort by the other end keeps each list sorted
        source = np.concatenate((graph.second, graph.first))
        target = np.concatenate((graph.first, graph.second))
        order = np.argsort(source, kind="stable")
        starts = np.concatenate(([0], np.cumsum(graph.degrees())))
        return cls(starts, target[order], graph.ranks())

    @property
    def vertices(self) -> int:
        """The number of vertices."""
        return len(self.starts) - 1

    def degrees(self) -> Integers:
        """Count the neighbours of each vertex."""
        return np.diff(self.starts)

    def contain(self, one: Integers, other: Integers) -> Flags:
        """Whether there is an edge between two vertices, for each pair."""
        if not len(self.ranks):
            return np.zeros(len(one), np.bool_)
        asked = rank_pairs(np.minimum(one, other), np.maximum(one, other), self.vertices)
        place = np.minimum(np.searchsorted(self.ranks, asked), len(self.ranks) - 1)
        return (self.ranks[place] == asked) & (one != other)

    def spread(self, vertices: Integers) -> tuple[Integers, Integers]:
        """Return the neighbours of some vertices, one list after the other, and the place of the vertex of each."""
        places, of = concatenate_ranges(self.starts[vertices], self.starts[vertices + 1])
        return self.neighbours[places].astype(np.int64), of

    def count_common(self, one: Integers, other: Integers) -> Integers:
        """Count the neighbours that two vertices share, for each pair."""
        degrees = self.degrees()
        swap = degrees[one] > degrees[other]
        few, many = np.where(swap, other, one), np.where(swap, one, other)
        counts = np.zeros(len(one), np.int64)
        ends = np.cumsum(degrees[few])
        begin = 0
        while begin < len(few):
            before = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + _PAIRS_AT_ONCE, "right")))
            near, of = self.spread(few[begin:end])
            shared = self.contain(near, many[begin:end][of])
            counts[begin:end] = np.bincount(of[shared], minlength=end - begin)
            begin = end
        return counts


# Connected components and shortest paths.


#: a breadth-first search goes from as many vertices at once as a word has bits
_WORD = 64
_SOURCES = 4 * _WORD
_EFFECTIVE = 0.9


def label_components(graph: Graph) -> Integers:
    """Label each vertex by the smallest vertex of its connected component.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(1, 3), (3, 4)], domain=Domain.declare(vertex=range(5)))
    >>> label_components(graph).tolist(), largest_component(graph)
    ([0, 1, 2, 1, 1], 3)
    """
    from scipy.sparse import coo_array, csgraph  # noqa: PLC0415 - slow to import

    size = graph.domain.size("vertex")
    edges = coo_array((np.ones(len(graph), np.int8), (graph.first, graph.second)), shape=(size, size))
    components: Integers = cast("Any", csgraph).connected_components(edges, directed=False)[1]
    return np.unique(components, return_index=True)[1][components]


def largest_component(graph: Graph) -> int:
    """Count the vertices of the largest connected component."""
    return int(np.bincount(label_components(graph)).max(initial=0))


def sample_vertices(vertices: int, rng: np.random.Generator, *, most: int = _SOURCES) -> Integers:
    """Draw different vertices; all of them if there are no more than `most`."""
    return np.sort(rng.choice(vertices, min(most, vertices), replace=False))


def measure_paths(graph: Graph, sources: Integers) -> PathLengths:
    """Measure the shortest paths from these vertices, by breadth-first search from 64 of them at once."""
    lists = NeighbourLists.of(graph)
    counts = np.zeros(graph.domain.size("vertex") + 1, np.int64)
    for begin in range(0, len(sources), _WORD):
        reached = _count_by_distance(lists, sources[begin : begin + _WORD])
        counts[: len(reached)] += reached
    return PathLengths.of_counts(counts)


class PathLengths(NamedTuple):
    """Lengths of shortest paths from some vertices to all vertices they reach; 0 where no vertex reaches another.

    `effective_diameter` is the length that 90 % of the paths do not exceed, interpolated between whole numbers.
    """

    mean: float
    effective_diameter: float

    @classmethod
    def of_counts(cls, counts: Integers) -> PathLengths:
        """Summarise how many paths have the length 0, 1, 2, ...; paths of length 0 are left out.

        Examples
        --------
        >>> PathLengths.of_counts(np.array([9, 4, 4, 2]))
        PathLengths(mean=1.8, effective_diameter=2.5)
        """
        counts = counts.copy()
        counts[:1] = 0
        total = int(counts.sum())
        if not total:
            return cls(0.0, 0.0)
        shares = np.cumsum(counts) / total
        last = int(np.searchsorted(shares, _EFFECTIVE))
        within = (_EFFECTIVE - shares[last - 1]) / (shares[last] - shares[last - 1])
        return cls(float((counts * np.arange(len(counts))).sum() / total), last - 1 + round(float(within), 12))


def _count_by_distance(lists: NeighbourLists, sources: Integers) -> Integers:
    """Count the pairs of a source and a vertex by their distance; bit `b` of a vertex: it was reached from `b`."""
    seen = np.zeros(lists.vertices, np.uint64)
    np.bitwise_or.at(seen, sources, np.uint64(1) << np.arange(len(sources), dtype=np.uint64))
    fresh, active = seen.copy(), np.flatnonzero(seen)
    counts: list[int] = []
    while len(active):
        counts.append(int(np.bitwise_count(fresh[active]).sum(dtype=np.int64)))
        near, of = lists.spread(active)
        reached = np.zeros_like(seen)
        np.bitwise_or.at(reached, near, fresh[active][of])
        fresh = reached & ~seen
        seen |= fresh
        active = np.flatnonzero(fresh)
    return np.array(counts, np.int64)


# Triangles, in memory that is linear in the edges.


#: pairs, or words, in one array
_CHUNK = 1 << 21
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


# Communities.


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


def _move_some(graph: _Weighted, labels: Integers, chosen: Flags) -> Integers:
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


def _choose(size: int, number: int) -> Flags:
    """Choose half of the vertices, another half in each round: by a hash of their code and the round."""
    mixed = (np.arange(size, dtype=np.uint64) + np.uint64(number * size + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(63)).astype(np.bool_)

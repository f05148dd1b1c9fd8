"""Connected components, and lengths of shortest paths from a sample of vertices."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Graph
from hedgerow.measures.neighbour_lists import NeighbourLists

__all__ = ["PathLengths", "label_components", "largest_component", "measure_paths", "sample_vertices"]

Integers: TypeAlias = NDArray[np.int64]

#: a breadth-first search goes from as many vertices at once as a word has bits
_WORD = 64
_SOURCES = 4 * _WORD
_EFFECTIVE = 0.9


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


def label_components(graph: Graph) -> Integers:
    """Label each vertex by the smallest vertex of its connected component.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(1, 3), (3, 4)], domain=Domain.declare(vertex=range(5)))
    >>> label_components(graph).tolist(), largest_component(graph)
    ([0, 1, 2, 1, 1], 3)
    """
    labels = np.arange(graph.domain.size("vertex"))
    first, second = graph.first, graph.second
    while len(first):
        one, other = labels[first], labels[second]
        np.minimum.at(labels, np.maximum(one, other), np.minimum(one, other))
        while np.any((above := labels[labels]) != labels):
            labels = above
        apart = labels[first] != labels[second]
        first, second = first[apart], second[apart]
    return labels


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

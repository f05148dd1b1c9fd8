"""Neighbour lists of a graph: is a pair an edge, and which neighbours do two vertices share."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import concatenate_ranges
from hedgerow.data import Graph
from hedgerow.vertex_pairs import rank_pairs

__all__ = ["NeighbourLists"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: pairs that are looked at in one go
_CHUNK = 1 << 22


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
            end = max(begin + 1, int(np.searchsorted(ends, before + _CHUNK, "right")))
            near, of = self.spread(few[begin:end])
            shared = self.contain(near, many[begin:end][of])
            counts[begin:end] = np.bincount(of[shared], minlength=end - begin)
            begin = end
        return counts

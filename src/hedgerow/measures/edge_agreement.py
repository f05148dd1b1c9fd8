"""Which edges two graphs share, and how dense the blocks of their adjacency matrices are."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Graph

__all__ = ["EdgeAgreement", "block_densities", "block_starts", "compare_edges"]

Integers: TypeAlias = NDArray[np.int64]


class EdgeAgreement(NamedTuple):
    """How many edges a release shares with the original, and how many each of them has."""

    shared: int
    original: int
    released: int

    @property
    def differing(self) -> int:
        """Pairs that are an edge in one graph only: half the sum of |A - A~| over both triangles."""
        return self.original + self.released - 2 * self.shared

    @property
    def precision(self) -> float:
        """The share of released edges that are true; without released edges 0, or 1 if there are no true ones."""
        return self.shared / self.released if self.released else float(self.original == 0)

    @property
    def recall(self) -> float:
        """The share of true edges that are released; without true edges 0, or 1 if there are no released ones."""
        return self.shared / self.original if self.original else float(self.released == 0)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.original + self.released
        return 2 * self.shared / both if both else 1.0


def compare_edges(original: Graph, released: Graph) -> EdgeAgreement:
    """Compare the edges of two graphs on the same vertices.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=range(4))
    >>> one, other = (Graph.from_edges([(0, 1), edge], domain=domain) for edge in ((1, 2), (2, 3)))
    >>> agreement = compare_edges(one, other)
    >>> agreement.precision, agreement.recall, agreement.differing
    (0.5, 0.5, 2)
    """
    shared = np.intersect1d(original.ranks(), released.ranks(), assume_unique=True)
    return EdgeAgreement(len(shared), len(original), len(released))


def block_starts(vertices: int, blocks: int) -> Integers:
    """Return the first vertex of each block of the vertex order, and the number of vertices at the end."""
    blocks = min(blocks, vertices)
    return -(-np.arange(blocks + 1) * vertices // max(1, blocks))


def block_densities(graph: Graph, blocks: int) -> NDArray[np.float64]:
    """The share of pairs that are edges, between blocks of the vertex order and within them; 0 without pairs.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(0, 1), (1, 2)], domain=Domain.declare(vertex=range(4)))
    >>> block_densities(graph, 2).tolist()
    [[1.0, 0.25], [0.25, 0.0]]
    """
    starts = block_starts(graph.domain.size("vertex"), blocks)
    size = len(starts) - 1
    row, column = (np.searchsorted(starts, ends, "right") - 1 for ends in (graph.first, graph.second))
    edges = np.bincount(row * size + column, minlength=size * size).reshape(size, size)
    width = np.diff(starts)
    pairs = np.outer(width, width)
    np.fill_diagonal(pairs, width * (width - 1) // 2)
    both = edges + np.triu(edges, 1).T
    return both / np.maximum(1, pairs)

"""Test cases of graphs: edge cases, random data, vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from hedgerow.data import Domain
from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.vertex_pairs import count_pairs


def graph_of(edges: Iterable[tuple[int, int]], vertices: int) -> Graph:
    """Make a graph on the vertices 0, 1, ...

    Examples
    --------
    >>> graph_of([(2, 0), (0, 2), (0, 1)], 4).edges()
    [(0, 1), (0, 2)]
    """
    return Graph.from_edges(edges, domain=Domain.declare(vertex=range(vertices)))


def _clique(low: int, high: int) -> list[tuple[int, int]]:
    return list(combinations(range(low, high), 2))


def _many() -> Graph:
    ranks = np.unique(np.arange(60, dtype=np.int64) ** 3 % count_pairs(40))  # looks random
    return Graph.from_ranks(ranks, Domain.declare(vertex=range(40)))


#: a graph with the density, degrees and cut that the paper on density exploration prints for its lost Figure 7.2
_FIGURE = [(0, 5), (0, 6), (0, 7), (1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 3), (3, 4)]
EDGE_CASES: dict[str, Callable[[], Graph]] = {
    "two vertices": lambda: graph_of([], 2),
    "one edge": lambda: graph_of([(0, 1)], 2),
    "no edges": lambda: graph_of([], 5),
    "one edge among many vertices": lambda: graph_of([(3, 11)], 12),
    "complete": lambda: graph_of(_clique(0, 5), 5),
    "all but one edge": lambda: graph_of(_clique(0, 5)[1:], 5),
    "path": lambda: graph_of([(vertex, vertex + 1) for vertex in range(8)], 9),
    "star": lambda: graph_of([(4, vertex) for vertex in (0, 1, 2, 3, 5, 6, 7, 8)], 9),
    "two cliques": lambda: graph_of(_clique(0, 5) + _clique(5, 10), 10),
    "two sides": lambda: graph_of([(left, right) for left in range(4) for right in range(4, 8)], 8),
    "isolated vertices": lambda: graph_of(_clique(6, 9), 12),
    "figure 7.2": lambda: graph_of(_FIGURE, 8),
    "many": _many,
}


def equip(data: Graph, features: Collection[str]) -> Graph:
    """Give a graph the features that a method needs: made-up weights, directions."""
    if "directions" in features:
        ends = np.concatenate((data.first, data.second[::2])), np.concatenate((data.second, data.first[::2]))
        data = Graph.from_columns(source=ends[0], target=ends[1], domain=data.domain, directed=True)
    if "weights" in features:
        data = replace(data, weights=1.0 + (np.arange(len(data)) * 7 % 10) / 4)
    return data


def random_data(st: Any, *, least: int, vertices: int = 7, most: int = 12) -> Any:
    """Draw a graph of at least `least` edges; `st` is hypothesis.strategies."""
    fewest = next(size for size in range(2, least + 3) if count_pairs(size) >= least)

    def draw_edges(size: int) -> Any:
        pairs = count_pairs(size)
        ranks = st.lists(st.integers(0, pairs - 1), min_size=least, max_size=min(pairs, max(least, most)), unique=True)
        return ranks.map(partial(_from_ranks, size))

    return st.integers(fewest, max(fewest, vertices)).flatmap(draw_edges)


def _from_ranks(vertices: int, ranks: Iterable[int]) -> Graph:
    return Graph.from_ranks(np.array(sorted(ranks), np.int64), Domain.declare(vertex=range(vertices)))


def from_vector(vector: Mapping[str, Any]) -> Graph:
    """Read the data of a vector: `edges` over `vertices`."""
    edges = ((source, target) for source, target in vector["edges"])
    return Graph.from_edges(edges, domain=Domain.declare(vertex=vector["vertices"]))


def to_vector(data: Graph) -> list[Any]:
    """Write published data in the form of a vector: each edge once, in the order of the vertices."""
    return [list(edge) for edge in data.edges()]

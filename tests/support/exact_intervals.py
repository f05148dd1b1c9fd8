"""Random weighted networks, all their simple paths, and exact intervals of weights: shares no code with the methods."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow import Domain, Graph

__all__ = ["Network", "exact_interval", "random_network", "simple_paths"]


@dataclass(frozen=True)
class Network:
    """A small network with whole weights, and pairs whose paths must stay."""

    vertices: int
    edges: list[tuple[int, int]]
    weights: list[int]
    pairs: list[tuple[int, int]]
    directed: bool

    def graph(self) -> Graph:
        """The same as a data set."""
        domain = Domain.declare(vertex=range(self.vertices))
        made = Graph.from_edges(self.edges, weights=self.weights, directed=self.directed, domain=domain)
        return made.keeping(self.pairs)


def random_network(seed: int, most: int = 6) -> Network:
    """Draw a network: sparse or dense, with many ties or few, often not connected."""
    draw = np.random.default_rng(seed)
    size, directed = int(draw.integers(2, most + 1)), bool(draw.integers(2))
    cells = [(i, j) for i in range(size) for j in range(size) if (i != j if directed else i < j)]
    edges = [cell for cell in cells if draw.random() < draw.choice([0.3, 0.6, 0.9])] or cells[:1]
    weights = [16 * int(weight) for weight in draw.integers(1, draw.choice([2, 4, 21]), len(edges))]
    bare = Network(size, edges, weights, [], directed)
    part = draw.random()
    pairs = [cell for cell in cells if draw.random() < part and simple_paths(bare, *cell)]
    return Network(size, edges, weights, pairs, directed)


def simple_paths(network: Network, source: int, target: int) -> list[list[int]]:
    """All paths that pass no vertex twice, as numbers of edges."""
    ways = [[] for _ in range(network.vertices)]
    for edge, (first, second) in enumerate(network.edges):
        ways[first].append((second, edge))
        if not network.directed:
            ways[second].append((first, edge))
    paths = []

    def go(at, seen, path):
        if at == target:
            paths.append(path)
            return
        for after, edge in ways[at]:
            if after not in seen:
                go(after, seen | {after}, [*path, edge])

    go(source, {source}, [])
    return paths


def exact_interval(rivals, stored, weights, edge):
    """How far a weight may rise (None if nothing stops it) and fall: from all simple paths, in whole fractions."""

    def length(path):
        return sum(weights[passed] for passed in path)

    rises, falls = [], [Fraction(weights[edge])]
    for path, others in zip(stored, rivals, strict=True):
        if edge in path:
            rises += [length(rival) - length(path) for rival in others if edge not in rival]
        else:
            falls += [length(rival) - length(path) for rival in others if edge in rival]
    return min(rises, default=None), min(falls)

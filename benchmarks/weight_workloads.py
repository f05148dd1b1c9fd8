"""Weighted networks to measure on, and what of their lengths and shortest paths is left after weights were changed."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from floor import data_folder
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from hedgerow import Domain, Graph

#: names, files, and whether edges have a direction
_FILES = {
    "eies": ("eies/eies_acquaintance_time2.edges", True),
    "us-airports": ("us-airports/us_airports_500.edges", False),
    "netscience": ("netscience/netscience.edges", False),
    "condmat-weighted": ("condmat-weighted/condmat_coauthors.edges.gz", False),
}
#: the length of a stored path may exceed the shortest one by so much, as a share, and count as shortest
_ROUNDING = 1e-9


def read_weighted(name: str) -> Graph:
    """Read a network from the folder of data sets; its vertices are those that have edges."""
    file, directed = _FILES[name]
    path: Path = data_folder() / file
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = np.array(text.split(), float).reshape(-1, 3)
    names, codes = np.unique(rows[:, :2].astype(np.int64), return_inverse=True)
    source, target = codes.reshape(-1, 2).T
    domain = Domain.declare(vertex=names.tolist())
    return Graph.from_columns(source=source, target=target, weights=rows[:, 2], directed=directed, domain=domain)


def synthetic(vertices: int, share: float, seed: int = 1) -> Graph:
    """The synthetic network of the thesis: so many of all pairs are edges, with weights between 10 and 100."""
    draw = np.random.default_rng(seed)
    pairs = vertices * (vertices - 1) // 2
    ranks = np.sort(draw.choice(pairs, round(share * pairs), replace=False))
    bare = Graph.from_ranks(ranks, Domain.declare(vertex=range(vertices)))
    return bare.weighted(draw.uniform(10, 100, len(bare)))


@dataclass(frozen=True, eq=False)
class ShortestPaths:
    """Lengths of shortest paths from some vertices to all others, and one path per pair, as trees."""

    graph: Graph
    sources: NDArray[np.int64]

    @cached_property
    def _found(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return dijkstra(self.graph.to_matrix(), indices=self.sources, return_predecessors=True)

    @property
    def lengths(self) -> NDArray[np.float64]:
        """One row per source, infinite where no path leads."""
        return self._found[0]

    @cached_property
    def reached(self) -> NDArray[np.bool_]:
        """Which pairs have a path; not those of a vertex and itself."""
        reached = np.isfinite(self.lengths)
        reached[np.arange(len(self.sources)), self.sources] = False
        return reached

    def lengths_under(self, other: Graph) -> NDArray[np.float64]:
        """The lengths of these very paths in a network with the same edges and other weights."""
        before = self._found[1]
        rows = np.arange(len(self.sources))[:, None]
        matrix = other.to_matrix().tocsr()
        steps = np.zeros(before.shape)
        row, column = np.nonzero(self.reached)
        steps[row, column] = np.asarray(matrix[before[row, column], column]).ravel()
        # pointer doubling: after k rounds, a sum of 2^k steps, and where they began
        up = np.where(self.reached, before, self.sources[:, None])
        while True:
            further = up[rows, up]
            steps += steps[rows, up]
            if np.array_equal(further, up):
                return np.where(self.reached, steps, np.inf)
            up = further

    def compare(self, other: Graph, withins: dict[str, float]) -> dict[str, float]:
        """Shares of lengths and of weights within some bands, and of paths that are still shortest."""
        after = ShortestPaths(other, self.sources).lengths
        with np.errstate(invalid="ignore"):
            moved = np.abs(after / self.lengths - 1)[self.reached]
            kept = (self.lengths_under(other) <= after * (1 + _ROUNDING))[self.reached]
        weights = np.abs(other.require_weights() / self.graph.require_weights() - 1)
        return {
            **{f"lengths within {name}": float((moved <= within).mean()) for name, within in withins.items()},
            **{f"weights within {name}": float((weights <= within).mean()) for name, within in withins.items()},
            "paths kept": float(kept.mean()),
            "paths of several edges kept": float(kept[self._several()].mean()),
        }

    def _several(self) -> NDArray[np.bool_]:
        """Which paths have several edges: the others are kept if nothing else becomes shorter."""
        before = self._found[1]
        return (before != self.sources[:, None])[self.reached]


#: the simplest rivals: nothing of the weights, or all of them on other edges
CONTROLS: dict[str, Callable[[Graph, int], Graph]] = {
    "hidden": lambda graph, _: graph.weighted(np.full(len(graph), graph.require_weights().mean())),
    "shuffled": lambda graph, seed: graph.weighted(np.random.default_rng(seed).permutation(graph.require_weights())),
}

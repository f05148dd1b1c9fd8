"""Shortest paths of a weighted network before and after its weights were changed: lengths, and which paths stay.

All is computed by scipy's Dijkstra from batches of sources; nothing is done pair by pair.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.arrays import Flags, Floats, Integers

#: lengths that differ by less, relative to their size, are equal
TOLERANCE = 1e-9
#: numbers in one array, and sources from which pairs are taken at most
_CELLS = 4_000_000
_SOURCES = 200
#: edges and vertices that are visited from all sources, about: on large networks there are fewer sources
_WORK = 40_000_000
_LEAST_SOURCES = 5


class Pairs(NamedTuple):
    """The pairs of vertices that are compared: from each source, to all vertices, or to some.

    Parameters
    ----------
    listed
        Pairs of source and target, from distinct sources that are sorted; None if all targets count.
    between
        From which sources all of which targets count too: codes of vertices.
    """

    sources: Integers
    listed: Integers | None = None
    between: Integers | None = None

    def mask(self, sources: Integers, vertices: int, *, directed: bool) -> Flags:
        """Which targets count, for each of some sources; without directions, a pair counts once."""
        if self.listed is None or self.between is None:
            chosen = np.ones((len(sources), vertices), np.bool_)
        else:
            chosen = np.zeros((len(sources), vertices), np.bool_)
            row = np.searchsorted(sources, self.listed[:, 0])
            here = sources[np.minimum(row, len(sources) - 1)] == self.listed[:, 0]
            chosen[row[here], self.listed[here, 1]] = True
            hubs = np.flatnonzero(np.isin(sources, self.between))
            chosen[np.ix_(hubs, self.between)] = True
            if not directed and len(hubs):
                extra = np.arange(vertices)[None, :] < sources[hubs][:, None]
                chosen[hubs] &= ~extra
        chosen[np.arange(len(sources)), sources] = False
        return chosen


def sample_pairs(graph: Graph, rng: np.random.Generator, *, most: int = _SOURCES) -> Pairs:
    """Draw sources; all vertices if there are few: all vertices that they reach are the other ends."""
    return Pairs(_sample(np.arange(graph.domain.size("vertex")), graph, rng, most))


def kept_pairs(graph: Graph, rng: np.random.Generator, *, most: int = _SOURCES) -> Pairs | None:
    """The pairs whose paths must stay, or those from some of their sources; None if there are none."""
    if graph.paths is None:
        return None
    listed = graph.paths.listed if graph.directed else np.sort(graph.paths.listed, axis=1)
    sources = np.unique(np.concatenate((listed[:, 0], graph.paths.between)))
    if not len(sources):
        return None
    return Pairs(_sample(sources, graph, rng, most), listed, np.unique(graph.paths.between))


def _sample(sources: Integers, graph: Graph, rng: np.random.Generator, most: int) -> Integers:
    size = graph.domain.size("vertex") + 2 * len(graph)
    most = min(most, max(_LEAST_SOURCES, _WORK // max(1, size)))
    return sources if len(sources) <= most else np.sort(rng.choice(sources, most, replace=False))


def lengths_from(graph: Graph, sources: Integers) -> Floats:
    """The length of a shortest path from each of these vertices to each vertex; infinite where there is none.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> graph = Graph.from_edges([("bob", "ann"), ("cleo", "ann")], weights=[1, 2], domain=domain)
    >>> lengths_from(graph, np.array([2])).tolist()
    [[2.0, 3.0, 0.0]]
    """
    return search_paths(graph.to_matrix(), sources)[0]


def search_paths(matrix: Any, sources: Integers, *, trees: bool = False) -> tuple[Floats, Integers]:
    """Search from some vertices by Dijkstra: the lengths, and with trees the vertex before each one, negative if none.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> lengths, trees = search_paths(csr_array([[0, 2.0], [0, 0]]), np.array([0]), trees=True)
    >>> lengths.tolist(), trees[0, 1]
    ([[0.0, 2.0]], np.int64(0))
    """
    from scipy.sparse import csgraph  # noqa: PLC0415 - takes a while

    result: Any = cast("Any", csgraph).dijkstra(matrix, indices=sources, return_predecessors=trees)
    lengths, before = result if trees else (result, np.zeros((0, 0)))
    shape = (len(sources), matrix.shape[0])
    return np.asarray(lengths, np.float64).reshape(shape), np.asarray(before, np.int64).reshape(
        shape if trees else (0, 0)
    )


class Compared(NamedTuple):
    """What became of shortest paths: the ratio of lengths, after to before, and whether a shortest path stayed one.

    A path counts as kept if it is a shortest one in both networks, whichever one it is where several are equally long.
    """

    ratios: Floats
    kept: Flags

    def within(self, change: float) -> float:
        """The share of pairs whose length changed by at most this share of it."""
        return float((np.abs(self.ratios - 1) <= change + TOLERANCE).mean()) if len(self.ratios) else 1.0

    @property
    def mean_change(self) -> float:
        """The mean of |d* - d| / d; 0 without pairs."""
        return float(np.abs(self.ratios - 1).mean()) if len(self.ratios) else 0.0

    @property
    def kept_share(self) -> float:
        """The share of pairs of which a shortest path stayed one; 1 without pairs."""
        return float(self.kept.mean()) if len(self.kept) else 1.0


def compare_paths(original: Graph, released: Graph, pairs: Pairs) -> Compared:
    """Compare shortest paths of two networks with the same edges, between pairs that are joined by one.

    A path is a shortest one in both networks exactly if it is one for the sum of both weights, and has the sum of both
    lengths: so one more search tells, and ties need no rule.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "cleo"), ("ann", "cleo")], weights=[1, 3, 1], domain=domain)
    >>> compared = compare_paths(graph, graph.weighted(np.array([2.0, 1.0, 1.0])), Pairs(np.array([0])))
    >>> compared.ratios.tolist(), compared.kept.tolist()
    ([2.0, 1.0], [True, True])
    """
    before, after = original.require_weights(), released.require_weights()
    # on one scale, so that neither hides the other
    scales = float(before.max(initial=0)) or 1.0, float(after.max(initial=0)) or 1.0
    both = original.weighted(np.maximum(before / scales[0] + after / scales[1], np.finfo(np.float64).tiny))
    matrices = [graph.to_matrix() for graph in (original, released, both)]
    ratios: list[Floats] = []
    kept: list[Flags] = []
    vertices = original.domain.size("vertex")
    for sources in _batches(pairs.sources, vertices):
        old, new, sums = (search_paths(matrix, sources)[0] for matrix in matrices)
        chosen = pairs.mask(sources, vertices, directed=original.directed) & np.isfinite(old) & np.isfinite(new)
        old, new, sums = old[chosen], new[chosen], sums[chosen]
        ratios.append(new / old)
        kept.append(sums <= (old / scales[0] + new / scales[1]) * (1 + TOLERANCE))
    if not ratios:
        return Compared(np.zeros(0), np.zeros(0, np.bool_))
    return Compared(np.concatenate(ratios), np.concatenate(kept))


def share_unique(graph: Graph, pairs: Pairs) -> float:
    """The share of pairs, of those joined by a path, that have one shortest path only; 1 without pairs.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=range(4))
    >>> edges, weights = [(0, 1), (1, 3), (0, 2), (2, 3)], [1, 1, 1, 1]
    >>> square = Graph.from_edges(edges, weights=weights, domain=domain)
    >>> round(share_unique(square, Pairs(np.arange(4))), 4)
    0.6667
    """
    matrix = graph.to_matrix().tocoo()
    first, second, weights = matrix.row, matrix.col, matrix.data
    vertices, total, single = graph.domain.size("vertex"), 0, 0
    for sources in _batches(pairs.sources, max(vertices, len(weights))):
        lengths = lengths_from(graph, sources)
        chosen = pairs.mask(sources, vertices, directed=graph.directed) & np.isfinite(lengths)
        total += int(chosen.sum())
        single += int((chosen & ~_reached_twice(lengths, first, second, weights)).sum())
    return single / total if total else 1.0


def _reached_twice(lengths: Floats, first: NDArray[Any], second: NDArray[Any], weights: Floats) -> Flags:
    """Which vertices several shortest paths reach, from the source of each row."""
    twice = np.zeros(lengths.shape, np.bool_)
    for row, each in enumerate(lengths):
        begin, end = each[first], each[second]
        with np.errstate(invalid="ignore"):  # both infinite
            last = np.isfinite(begin) & (np.abs(begin + weights - end) <= TOLERANCE * np.abs(end))
        arcs = np.flatnonzero(last)
        entries = np.bincount(second[arcs], minlength=len(each))
        before = np.arange(len(each))
        before[second[arcs]] = first[arcs]
        flags = entries > 1
        while True:  # a vertex is reached twice if the one before it is; each round doubles how far that looks
            following = flags | flags[before]
            farther = before[before]
            if np.array_equal(farther, before):
                twice[row] = following
                break
            flags, before = following, farther
    return twice


def _batches(sources: Integers, width: int) -> Generator[Integers]:
    size = max(1, _CELLS // max(1, width))
    for begin in range(0, len(sources), size):
        yield sources[begin : begin + size]

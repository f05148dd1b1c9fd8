r"""How far `gaussian-weights` moves the length of a path, and which of two paths it makes the shorter one.

A path with weights $w_1, \dots, w_h$ has the length $L = \sum w$ before and $L^* = \sum w (1 - x)$ after. With
directions, or `calibrated`, a factor has the deviation $\sigma$, otherwise $\sigma / \sqrt 2$, that of the mean of two
draws; call it $s$. Then $L^* - L$ is normal with deviation $s \lVert w \rVert_2$, which is the exact law below. It
leaves out the floor, which moves a probability by at most .001 up to $\sigma = .2$ (.004 at .25, calibrated).

All this is about paths that are given. The *shortest* path after is a minimum over many, hence shorter on average.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.special import erf, erfinv, ndtr

from hedgerow.data.axis import Value
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.data import Graph
from hedgerow.numerics.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class PathBands:
    """Bands of the lengths of paths, for the owner of a network: they are computed from exact weights.

    Parameters
    ----------
    graph
        The network, with weights.
    sigma, calibrated
        The parameters of `gaussian-weights` that are meant.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> edges = [("ann", "bob"), ("bob", "cleo"), ("ann", "cleo")]
    >>> bands = PathBands(Graph.from_edges(edges, weights=[4, 6, 13], domain=domain), sigma=0.15)
    >>> path, detour = bands.shortest_paths("ann", "cleo", most=2)
    >>> path, round(bands.probability(path, within=0.1), 3), round(bands.band(path, probability=0.95), 3)
    (['ann', 'bob', 'cleo'], 0.809, 0.15)
    >>> round(bands.margin("ann", "cleo"), 3), round(bands.order_probability(path, detour), 3)
    (0.3, 0.971)
    """

    graph: Graph
    sigma: float = field(kw_only=True)
    calibrated: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        self.graph.require_weights()
        if not (math.isfinite(self.sigma) and self.sigma > 0):
            msg = f"PathBands.sigma must be greater than 0; got {self.sigma!r}"
            raise ParameterError(msg)

    @property
    def deviation(self) -> float:
        """The relative deviation of a published weight."""
        return self.sigma if self.graph.directed or self.calibrated else self.sigma / math.sqrt(2)

    def length(self, path: Sequence[Value]) -> float:
        """The length of a path, given by its vertices."""
        return math.fsum(self._weights[self._edges(path)].tolist())

    def probability(self, path: Sequence[Value], *, within: float) -> float:
        r"""The probability that the length of a path changes by at most this share of it.

        $P(|L^* - L| \le b L) = \mathrm{erf}(b / (\sqrt 2 s \rho))$ with $\rho = \lVert w \rVert_2 / \lVert w \rVert_1$.
        """
        _require_share(within, math.inf, "within")
        return float(erf(within / (math.sqrt(2) * self._spread(path))))

    def band(self, path: Sequence[Value], *, probability: float) -> float:
        """The share of its length by which a path changes at most, with this probability."""
        _require_share(probability, 1, "probability")
        return float(erfinv(probability) * math.sqrt(2) * self._spread(path))

    def loose_probability(self, *, within: float) -> float:
        """What Theorem 4.2.1 of the thesis claims for every path: true, and below `probability`.

        One edge alone, with directions or calibrated, attains it.
        """
        _require_share(within, math.inf, "within")
        return float(erf(within / (math.sqrt(2) * self.sigma)))

    def order_probability(self, path: Sequence[Value], other: Sequence[Value]) -> float:
        r"""The probability that the first path is published as the shorter one.

        $\Phi((L_Q - L_P) / (s \sqrt{\sum w^2}))$, over the edges that only one of them has.
        """
        mine, others = self._edges(path), self._edges(other)
        apart = np.setxor1d(mine, others)
        if not len(apart):
            msg = "the two paths have the same edges; give two different paths"
            raise ParameterError(msg)
        sides = np.where(np.isin(apart, others), 1.0, -1.0) * self._weights[apart]
        return float(ndtr(math.fsum(sides.tolist()) / (self.deviation * np.linalg.norm(sides))))

    def shortest_paths(self, source: Value, target: Value, *, most: int = 1) -> list[list[Value]]:
        """The shortest paths between two vertices without repeated vertices, the shortest first: at most so many."""
        from scipy.sparse import csgraph  # noqa: PLC0415 - takes a while

        if type(most) is not int or most < 1:
            msg = f"most must be a whole number of at least 1; got {most!r}"
            raise ParameterError(msg)
        start, end = self._codes([source, target]).tolist()
        if start == end:
            msg = "a path joins two different vertices; got one"
            raise ParameterError(msg)
        before: Integers = cast("Any", csgraph).yen(self._matrix, start, end, most, return_predecessors=True)[1]
        if not len(before):
            msg = f"no path leads from {source!r} to {target!r}"
            raise ParameterError(msg)
        values = self.graph.domain.values("vertex")
        return [[values[code] for code in _walk_back(row, start, end)] for row in before]

    def margin(self, source: Value, target: Value) -> float:
        """By which share of its length the second-shortest path is longer than the shortest: beta of Corollary 4.2.1.

        Infinite if there is no second one. The corollary takes 2 sigma for *very probably kept*; for two single edges
        at sigma .15 that is a probability of .889, so take `stays_shortest`.
        """
        first, *rest = map(self.length, self.shortest_paths(source, target, most=2))
        return (rest[0] - first) / first if rest else math.inf

    def stays_shortest(self, source: Value, target: Value, *, rivals: int = 10) -> float:
        """Bound from below the probability that the shortest path stays shorter than each of its next rivals.

        One minus the probabilities that each rival alone becomes shorter (union bound). Paths beyond these rivals are
        left out: take more until the bound does not change.
        """
        if type(rivals) is not int or rivals < 1:
            msg = f"rivals must be a whole number of at least 1; got {rivals!r}"
            raise ParameterError(msg)
        path, *others = self.shortest_paths(source, target, most=rivals + 1)
        return max(0.0, 1 - math.fsum(self.order_probability(other, path) for other in others))

    @cached_property
    def _weights(self) -> Floats:
        return self.graph.require_weights()

    @cached_property
    def _matrix(self) -> Any:
        return self.graph.to_matrix()

    @cached_property
    def _keys(self) -> Integers:
        """One number per edge, ascending."""
        return self.graph.first.astype(np.int64) * self.graph.domain.size("vertex") + self.graph.second

    def _spread(self, path: Sequence[Value]) -> float:
        weights = self._weights[self._edges(path)]
        weights = weights / weights.max()  # squares of large weights would overflow
        return self.deviation * float(np.linalg.norm(weights) / weights.sum())

    def _codes(self, vertices: Sequence[Value]) -> Integers:
        known = self.graph.domain.axis("vertex").by_text
        for vertex in vertices:
            if str(vertex) not in known:
                msg = f"{vertex!r} is no vertex of the network"
                raise ParameterError(msg)
        return np.array([known[str(vertex)] for vertex in vertices], np.int64)

    def _edges(self, path: Sequence[Value]) -> Integers:
        """The numbers of the edges of a path."""
        codes = self._codes(path)
        if len(codes) < 2 or len(np.unique(codes)) < len(codes):  # noqa: PLR2004 - both ends of an edge
            msg = "a path has at least two vertices, each of them once"
            raise ParameterError(msg)
        low, high = codes[:-1], codes[1:]
        if not self.graph.directed:
            low, high = np.minimum(low, high), np.maximum(low, high)
        wanted = low * self.graph.domain.size("vertex") + high
        place = np.searchsorted(self._keys, wanted)
        missing = np.flatnonzero(np.append(self._keys, -1)[place] != wanted)
        if len(missing):
            step = int(missing[0])
            msg = f"no edge leads from {path[step]!r} to {path[step + 1]!r}"
            raise ParameterError(msg)
        return place


def _walk_back(before: Integers, start: int, end: int) -> list[int]:
    """List the vertices of a path by their predecessors."""
    path = [end]
    while path[-1] != start:
        path.append(int(before[path[-1]]))
    return path[::-1]


def _require_share(value: float, most: float, name: str) -> None:
    if not 0 < value < most:
        limit = "greater than 0" if most == math.inf else f"between 0 and {most:g}"
        msg = f"{name} must be {limit}; got {value!r}"
        raise ParameterError(msg)

"""Networks: a simple graph on public vertices, with or without weights and directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.axis import Value
from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain
from hedgerow.data.encoding import narrow_axis
from hedgerow.errors import DomainError, MissingExtra, ParameterError
from hedgerow.frontiers import Frontier, NextSymbol, SymbolLists
from hedgerow.numerics.arrays import Floats, Integers, sort_distinct
from hedgerow.numerics.vertex_pairs import count_pairs, rank_pairs, unrank_pairs


@dataclass(frozen=True, eq=False)
class KeptPaths:
    """Between which vertices shortest paths must stay, by their codes: pairs that are listed, and all pairs of some.

    It belongs to the private data, and is not published.

    Parameters
    ----------
    listed
        One row per pair: from which vertex to which one.
    between
        Vertices between all of which paths must stay, where there are any.
    """

    listed: Integers = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    between: Integers = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Dataset):
    """A simple graph: no loops, no parallel edges; which vertices there are, and their order, is public.

    Edge number `e` joins the vertices with codes `first[e] < second[e]`; with directions, it leads from `first[e]` to
    `second[e]`. Edges are distinct and sorted, so that their order says nothing.

    Parameters
    ----------
    weights
        The weight of each edge, above 0; None for a graph without weights.
    directed
        Whether edges have a direction; two edges may then join the same vertices, one in each direction.
    paths
        Between which vertices shortest paths must stay, for methods that keep them.

    Examples
    --------
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> graph = Graph.from_edges([("bob", "ann"), ("cleo", "ann")], domain=domain)
    >>> len(graph), graph.degrees().tolist(), graph.edges()
    (2, [2, 1, 1], [('ann', 'bob'), ('ann', 'cleo')])
    >>> roads = Graph.from_edges([("bob", "ann"), ("ann", "cleo")], weights=[2.5, 4], directed=True, domain=domain)
    >>> roads.edges(), roads.weights.tolist()
    ([('ann', 'cleo'), ('bob', 'ann')], [4.0, 2.5])
    """

    kind: ClassVar[str] = "graphs"
    units: ClassVar[tuple[str, ...]] = ("edge",)
    feature_sources: ClassVar[Mapping[str, str]] = {
        "weights": "name their column with --columns weight=NAME",
        "directions": "read it with directions, with --read directed=yes",
        "paths": "name a file with pairs of vertices, with --read paths=FILE",
    }

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weights: Floats | None = field(default=None, kw_only=True)
    directed: bool = field(default=False, kw_only=True)
    paths: KeptPaths | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        first, second = self.first, self.second
        paired = first.shape == second.shape and first.ndim == 1 and first.dtype.kind == second.dtype.kind == "i"
        size = self.domain.size("vertex")
        if not (paired and _are_sorted_pairs(first, second, size, directed=self.directed)):
            msg = "a graph needs sorted, distinct pairs first < second of codes of its domain; use Graph.from_columns"
            raise DomainError(msg)
        if self.weights is not None and not _are_weights(self.weights, len(first)):
            msg = "a weighted graph needs one finite weight above 0 per edge"
            raise DomainError(msg)
        if self.paths is not None and not _are_kept_paths(self.paths, size):
            msg = "paths that must stay join two different vertices of the domain"
            raise DomainError(msg)

    @property
    def axes(self) -> tuple[str, ...]:
        """Vertices."""
        return ("vertex",)

    @property
    def features(self) -> dict[str, str]:
        """Weights, directions and paths that must stay, if it has them, with how to read it without them."""
        remedies = {
            "weights": (self.weights is not None, "read the network without them, with --read weights=ignore"),
            "directions": (self.directed, "read the network without them, with --read symmetrise=yes"),
            "paths": (self.paths is not None, "leave out --read paths and --read between"),
        }
        return {feature: remedy for feature, (present, remedy) in remedies.items() if present}

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Value, Value]],
        *,
        domain: Domain,
        weights: Sequence[float] | None = None,
        directed: bool = False,
    ) -> Graph:
        """Make a graph of pairs of vertices of the domain; an edge may be listed twice, in either direction."""
        codes = domain.axis("vertex").codes
        pairs = [(codes.get(source, -1), codes.get(target, -1)) for source, target in edges]
        columns = np.array(pairs, np.int64).reshape(-1, 2)
        numbers = None if weights is None else np.array(weights, np.float64)
        return cls.from_columns(
            source=columns[:, 0], target=columns[:, 1], domain=domain, weights=numbers, directed=directed
        )

    @classmethod
    def from_columns(
        cls,
        *,
        source: NDArray[Any],
        target: NDArray[Any],
        domain: Domain,
        weights: Floats | None = None,
        directed: bool = False,
    ) -> Graph:
        """Make a graph of the codes of the ends of its edges; an edge may be listed twice, with one weight.

        Without directions, it may be listed in either of them.
        """
        vertices = domain.size("vertex")
        if len(source) and (min(source.min(), target.min()) < 0 or max(source.max(), target.max()) >= vertices):
            msg = "an edge has an end outside the domain; declare all vertices"
            raise DomainError(msg)
        if np.any(source == target):
            msg = "an edge joins a vertex to itself; remove loops"
            raise DomainError(msg)
        low, high = (source, target) if directed else (np.minimum(source, target), np.maximum(source, target))
        if weights is None and not directed:
            return cls.from_ranks(sort_distinct(rank_pairs(low, high, vertices)), domain)
        keys, place = np.unique(low.astype(np.int64) * vertices + high, return_index=True)
        if weights is not None and len(keys) < len(low):
            both = np.searchsorted(keys, low.astype(np.int64) * vertices + high)
            if np.any(weights != weights[place][both]):
                msg = "an edge is listed with two weights; keep one of them"
                raise DomainError(msg)
        first, second = (keys // vertices).astype(np.int32), (keys % vertices).astype(np.int32)
        chosen = None if weights is None else np.asarray(weights[place], np.float64)
        return cls(domain, first, second, weights=chosen, directed=directed)

    @classmethod
    def from_ranks(cls, ranks: Integers, domain: Domain) -> Graph:
        """Make a graph of the numbers of its edges among all pairs of vertices: distinct and ascending."""
        first, second = unrank_pairs(ranks, domain.size("vertex"))
        return cls(domain, first.astype(np.int32), second.astype(np.int32))

    def require_weights(self) -> Floats:
        """The weight of each edge; refuse a graph that has none."""
        if self.weights is None:
            msg = "the edges have no weights; name their column with --columns weight=NAME"
            raise ParameterError(msg)
        return self.weights

    def weighted(self, weights: Floats) -> Graph:
        """Return the same edges with these weights, for publication: paths that must stay are left out."""
        return replace(self, weights=weights, paths=None)

    def without_weights(self) -> Graph:
        """Return the same edges without weights."""
        return replace(self, weights=None, paths=None)

    def keeping(self, pairs: Iterable[tuple[Value, Value]] = (), *, between: Iterable[Value] = ()) -> Graph:
        """Return the same graph, whose shortest paths must stay between these pairs, and between all of `between`.

        Examples
        --------
        >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
        >>> graph = Graph.from_edges([("bob", "ann"), ("cleo", "ann")], weights=[1, 2], domain=domain)
        >>> graph.keeping([("bob", "cleo")]).paths.listed.tolist()
        [[1, 2]]
        """
        codes = self.domain.axis("vertex").codes
        listed = np.array([[codes.get(end, -1) for end in pair] for pair in pairs], np.int64).reshape(-1, 2)
        hubs = np.array([codes.get(vertex, -1) for vertex in between], np.int64)
        return replace(self, paths=KeptPaths(listed, hubs))

    def __len__(self) -> int:
        """Count the edges."""
        return len(self.first)

    @property
    def pairs(self) -> int:
        """The number of pairs of vertices, each of which may be an edge, or one in each direction: public."""
        return count_pairs(self.domain.size("vertex")) * (2 if self.directed else 1)

    def ranks(self) -> Integers:
        """Return the number of each edge among all pairs of vertices, ascending."""
        return rank_pairs(self.first, self.second, self.domain.size("vertex"))

    def degrees(self) -> Integers:
        """Count the edges of each vertex."""
        vertices = self.domain.size("vertex")
        return np.bincount(self.first, minlength=vertices) + np.bincount(self.second, minlength=vertices)

    def count_degrees(self) -> Integers:
        """Count the edges of each vertex, where the edges are: an edge is counted at both ends."""
        size = self.domain.size("vertex")
        return self.engine.open_symbols(self._ends()).count(NextSymbol(size)).by_code()[:size]

    def reordered(self, order: Integers) -> Graph:
        """Return the graph whose vertex number `i` is vertex `order[i]` of this one, under the names of this domain."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        moved = Graph.from_columns(
            source=place[self.first],
            target=place[self.second],
            domain=self.domain,
            weights=self.weights,
            directed=self.directed,
        )
        return moved.on(self.engine)

    def edges(self) -> list[tuple[Value, Value]]:
        """List the edges, each once, in the order of the vertices."""
        values = self.domain.values("vertex")
        return [(values[i], values[j]) for i, j in zip(self.first.tolist(), self.second.tolist(), strict=True)]

    def to_networkx(self) -> Any:
        """Return a networkx graph with all vertices and edges; needs the extra `graph`.

        Examples
        --------
        >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
        >>> Graph.from_edges([("bob", "ann")], domain=domain).to_networkx().degree["cleo"]
        0
        """
        try:
            import networkx as nx  # noqa: PLC0415 - an extra
        except ImportError:
            msg = "networkx graphs need the extra 'graph': pip install 'hedgerow[graph]'"
            raise MissingExtra(msg) from None
        graph = cast("Any", nx).DiGraph() if self.directed else cast("Any", nx).Graph()
        graph.add_nodes_from(self.domain.values("vertex"))
        if self.weights is None:
            graph.add_edges_from(self.edges())
        else:
            weights = self.weights.tolist()
            graph.add_weighted_edges_from([(*ends, weight) for ends, weight in zip(self.edges(), weights, strict=True)])
        return graph

    def to_matrix(self) -> Any:
        """Return the sparse matrix of weights, 1 without them; both cells of an edge without direction are set.

        Examples
        --------
        >>> domain = Domain.declare(vertex=["ann", "bob"])
        >>> Graph.from_edges([("bob", "ann")], weights=[2.5], domain=domain).to_matrix().toarray().tolist()
        [[0.0, 2.5], [2.5, 0.0]]
        """
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes a while

        size = self.domain.size("vertex")
        weights = np.ones(len(self)) if self.weights is None else self.weights
        ends = (self.first, self.second)
        if not self.directed:
            ends = (np.concatenate((self.first, self.second)), np.concatenate((self.second, self.first)))
            weights = np.concatenate((weights, weights))
        return csr_array((weights, ends), shape=(size, size))

    def frontier(self) -> Frontier:
        """Open a frontier of one row per edge, at the list of its two ends."""
        return self.engine.open_records(self._ends())

    def _ends(self) -> SymbolLists:
        size = self.domain.size("vertex")
        ends = np.full((len(self), 3), size, np.min_scalar_type(size))
        ends[:, 0], ends[:, 1] = self.first, self.second
        return SymbolLists(size, ends.ravel(), None)

    def count_units(self, unit: str) -> int:
        """Count the edges."""
        self.require_unit(unit)
        return len(self)

    def neighbour(self, index: int, *, unit: str) -> Graph:
        """Return this graph without one edge."""
        self.require_unit(unit)
        weights = None if self.weights is None else np.delete(self.weights, index)
        return replace(self, first=np.delete(self.first, index), second=np.delete(self.second, index), weights=weights)

    def bounded(self, unit: str) -> Graph:
        """Return the same: each edge is one unit."""
        self.require_unit(unit)
        return self

    def canonical(self) -> Graph:
        """Return the same: edges are sorted."""
        return self

    def narrowed(self) -> Graph:
        """Return the same edges over the vertices that have any: an inferred domain is private."""
        ends = np.concatenate((self.first, self.second)).astype(np.int64)
        axis, codes = narrow_axis(self.domain.axis("vertex"), ends)
        source, target = codes.reshape(2, -1)
        return Graph.from_columns(
            source=source,
            target=target,
            domain=self.domain.with_axes({"vertex": axis}),
            weights=self.weights,
            directed=self.directed,
        )

    def shuffled(self, order: np.random.Generator) -> Graph:
        """Return the same: edges have one order."""
        del order
        return self

    def to_bytes(self) -> bytes:
        """Return the whole content, in order."""
        axes = [(name, *axis.content()) for name, axis in self.domain.axes]
        ends = [self.first.tolist(), self.second.tolist()]
        weights = None if self.weights is None else self.weights.tolist()
        paths = None if self.paths is None else [self.paths.listed.tolist(), self.paths.between.tolist()]
        return msgspec.json.encode([self.kind, axes, self.domain.source.value, ends, weights, self.directed, paths])


def _are_sorted_pairs(first: NDArray[np.int32], second: NDArray[np.int32], vertices: int, *, directed: bool) -> bool:
    """Whether these are codes of vertices, in ascending order and each pair once; without directions, smaller first."""
    if not len(first):
        return True
    later = (first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] > second[:-1]))
    within = first[0] >= 0 and second.min() >= 0 and max(first.max(), second.max()) < vertices
    return bool(within and np.all(first != second if directed else first < second) and np.all(later))


def _are_weights(weights: Floats, edges: int) -> bool:
    numbers = weights.shape == (edges,) and weights.dtype == np.float64
    return bool(numbers and np.all(np.isfinite(weights)) and np.all(weights > 0))


def _are_kept_paths(paths: KeptPaths, vertices: int) -> bool:
    listed, between = paths.listed, paths.between
    if listed.ndim != 2 or listed.shape[1] != 2 or np.any(listed[:, 0] == listed[:, 1]):  # noqa: PLR2004 - from, to
        return False
    codes = np.concatenate((listed.ravel(), between))
    return not len(codes) or bool(codes.min() >= 0 and codes.max() < vertices)

"""Networks: a simple undirected graph on public vertices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.axis import Value
from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Domain
from hedgerow.data.encoding import narrow_axis
from hedgerow.errors import DomainError, MissingExtra
from hedgerow.frontiers import Frontier, NextSymbol, SymbolLists
from hedgerow.numerics.arrays import Integers, sort_distinct
from hedgerow.numerics.vertex_pairs import count_pairs, rank_pairs, unrank_pairs


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Dataset):
    """A simple undirected graph: no loops, no parallel edges; which vertices there are, and their order, is public.

    Edge number `e` joins the vertices with codes `first[e] < second[e]`. Edges are distinct and sorted, so that their
    order says nothing.

    Examples
    --------
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> graph = Graph.from_edges([("bob", "ann"), ("cleo", "ann")], domain=domain)
    >>> len(graph), graph.degrees().tolist(), graph.edges()
    (2, [2, 1, 1], [('ann', 'bob'), ('ann', 'cleo')])
    """

    kind: ClassVar[str] = "graphs"
    units: ClassVar[tuple[str, ...]] = ("edge",)

    first: NDArray[np.int32]
    second: NDArray[np.int32]

    def __post_init__(self) -> None:
        super().__post_init__()
        first, second = self.first, self.second
        paired = first.shape == second.shape and first.ndim == 1 and first.dtype.kind == second.dtype.kind == "i"
        if not (paired and _are_sorted_pairs(first, second, self.domain.size("vertex"))):
            msg = "a graph needs sorted, distinct pairs first < second of codes of its domain; use Graph.from_columns"
            raise DomainError(msg)

    @property
    def axes(self) -> tuple[str, ...]:
        """Vertices."""
        return ("vertex",)

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[Value, Value]], *, domain: Domain) -> Graph:
        """Make a graph of pairs of vertices of the domain; an edge may be listed twice, in either direction."""
        codes = domain.axis("vertex").codes
        pairs = [(codes.get(source, -1), codes.get(target, -1)) for source, target in edges]
        columns = np.array(pairs, np.int64).reshape(-1, 2)
        return cls.from_columns(source=columns[:, 0], target=columns[:, 1], domain=domain)

    @classmethod
    def from_columns(cls, *, source: NDArray[Any], target: NDArray[Any], domain: Domain) -> Graph:
        """Make a graph of the codes of the ends of its edges; an edge may be listed twice, in either direction."""
        vertices = domain.size("vertex")
        if len(source) and (min(source.min(), target.min()) < 0 or max(source.max(), target.max()) >= vertices):
            msg = "an edge has an end outside the domain; declare all vertices"
            raise DomainError(msg)
        if np.any(source == target):
            msg = "an edge joins a vertex to itself; remove loops"
            raise DomainError(msg)
        ranks = rank_pairs(np.minimum(source, target), np.maximum(source, target), vertices)
        return cls.from_ranks(sort_distinct(ranks), domain)

    @classmethod
    def from_ranks(cls, ranks: Integers, domain: Domain) -> Graph:
        """Make a graph of the numbers of its edges among all pairs of vertices: distinct and ascending."""
        first, second = unrank_pairs(ranks, domain.size("vertex"))
        return cls(domain, first.astype(np.int32), second.astype(np.int32))

    def __len__(self) -> int:
        """Count the edges."""
        return len(self.first)

    @property
    def pairs(self) -> int:
        """The number of pairs of vertices, each of which may be an edge: public."""
        return count_pairs(self.domain.size("vertex"))

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
        moved = Graph.from_columns(source=place[self.first], target=place[self.second], domain=self.domain)
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
        graph = cast("Any", nx).Graph()
        graph.add_nodes_from(self.domain.values("vertex"))
        graph.add_edges_from(self.edges())
        return graph

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
        return replace(self, first=np.delete(self.first, index), second=np.delete(self.second, index))

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
        return Graph.from_columns(source=source, target=target, domain=self.domain.with_axes({"vertex": axis}))

    def shuffled(self, order: np.random.Generator) -> Graph:
        """Return the same: edges have one order."""
        del order
        return self

    def to_bytes(self) -> bytes:
        """Return the whole content, in order."""
        axes = [(name, *axis.content()) for name, axis in self.domain.axes]
        ends = [self.first.tolist(), self.second.tolist()]
        return msgspec.json.encode([self.kind, axes, self.domain.source.value, ends])


def _are_sorted_pairs(first: NDArray[np.int32], second: NDArray[np.int32], vertices: int) -> bool:
    """Whether these are codes of vertices, the smaller one first, in ascending order and each pair once."""
    if not len(first):
        return True
    later = (first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] > second[:-1]))
    return bool(first[0] >= 0 and second.max() < vertices and np.all(first < second) and np.all(later))

"""What shortest paths that were kept tell about single weights: bounds that an outsider derives from a release.

Whoever knows between which vertices paths were kept reads them in the release. The sum of the *original* weights of
such a path is then at most that of every other path between its ends: linear inequalities. With bounds from what the
method does to edges on no such path, and on all of them, linear programming gives the least and the largest original
weight of an edge. Paths that compete are added as they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from hedgerow import progress
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.path_lengths import TOLERANCE, lengths_from, search_paths
from hedgerow.numerics.arrays import Flags, Floats, Integers

#: numbers in one array
_CELLS = 4_000_000
#: weights are unbounded from this multiple of the largest released one on
_FAR = 1_000.0
#: rounds in which competing paths are added for one bound, and paths in each of them
_ROUNDS, _ADDED = 40, 100
#: how near a solution is to a bound that it reaches, in middle weights
_SETTLED = 1e-9


class Bounds(NamedTuple):
    """The least and the largest weight that an edge may have had."""

    low: Floats
    high: Floats

    def both(self, other: Bounds) -> Bounds:
        """What both say."""
        return Bounds(np.maximum(self.low, other.low), np.minimum(self.high, other.high))

    def whole(self) -> Bounds:
        """The same for weights that are whole numbers from 1 on."""
        low = np.maximum(1.0, np.ceil(self.low * (1 - TOLERANCE)))
        return Bounds(low, np.maximum(low, np.floor(self.high * (1 + TOLERANCE))))

    def hold(self, truth: Floats) -> Flags:
        """Which true weights are within."""
        return (self.low <= truth * (1 + 1e-7)) & (truth <= self.high * (1 + 1e-7))

    def half_widths(self) -> Floats:
        """How far the ends are from the middle, relative to it; 1 without an upper bound."""
        bounded = np.isfinite(self.high)
        high = np.where(bounded, self.high, 1.0)
        return np.where(bounded, (high - self.low) / np.maximum(high + self.low, np.finfo(np.float64).tiny), 1.0)

    def middles(self, otherwise: Floats) -> Floats:
        """The middle; without an upper bound the other guess, but at least the lower one."""
        bounded = np.isfinite(self.high)
        return np.where(bounded, (self.low + np.where(bounded, self.high, 0)) / 2, np.maximum(otherwise, self.low))

    def at(self, edges: Integers) -> Bounds:
        """The bounds of some edges."""
        return Bounds(self.low[edges], self.high[edges])


class ReadPaths(NamedTuple):
    """What an outsider reads in a release: which edges are on the shortest path of each pair.

    `edges` has a row per pair, as a sparse matrix; where several paths are equally short, the row has all of them and
    `single` is false, since it is not known which one was kept.
    """

    edges: Any
    single: Flags
    sources: Integers

    def never(self) -> Flags:
        """Which edges are on none of these paths, for sure."""
        return np.asarray(self.edges.sum(0)).ravel() == 0

    def always(self) -> Flags:
        """Which edges are on all of these paths, for sure."""
        count = np.asarray(self.edges.sum(0)).ravel()
        return (count == len(self.single)) if len(self.single) and self.single.all() else np.zeros(len(count), np.bool_)


def all_kept_pairs(graph: Graph) -> Integers:
    """All pairs whose paths must stay, those of vertices between all of which they must among them; each once.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> graph = Graph.from_edges([("bob", "ann"), ("cleo", "ann")], weights=[1, 2], domain=domain)
    >>> all_kept_pairs(graph.keeping([("cleo", "bob")], between=["ann", "bob"])).tolist()
    [[0, 1], [1, 2]]
    """
    if graph.paths is None:
        return np.zeros((0, 2), np.int64)
    hubs = np.unique(graph.paths.between)
    one, other = (each.ravel() for each in np.meshgrid(hubs, hubs, indexing="ij"))
    pairs = np.concatenate((graph.paths.listed, np.stack((one, other), axis=1)[one != other]))
    if not graph.directed:
        pairs = np.sort(pairs, axis=1)
    return np.unique(pairs, axis=0)


def read_paths(released: Graph, pairs: Integers) -> ReadPaths:
    """Read the shortest paths of a release between pairs of vertices; pairs without a path are left out.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> edges, weights = [("ann", "bob"), ("bob", "cleo"), ("ann", "cleo")], [1, 1, 3]
    >>> graph = Graph.from_edges(edges, weights=weights, domain=domain)  # its edges are: 0-1, 0-2, 1-2
    >>> read_paths(graph, np.array([[0, 2]])).edges.toarray().astype(int).tolist()
    [[1, 0, 1]]
    """
    weights, edges = released.require_weights(), len(released)
    sources, row = np.unique(pairs[:, 0], return_inverse=True)
    targets, column = np.unique(pairs[:, 1], return_inverse=True)
    begins, ends = lengths_from(released, sources), _lengths_to(released, targets)
    lengths = begins[row, pairs[:, 1]]
    joined = np.flatnonzero(np.isfinite(lengths))
    slack = TOLERANCE * max(float(weights.max(initial=0)), float(lengths[joined].max(initial=0)))
    ways = [(released.first, released.second)]
    if not released.directed:
        ways.append((released.second, released.first))
    parts: list[Any] = []
    single = np.zeros(len(joined), np.bool_)
    step = max(1, _CELLS // max(1, edges))
    for begin in range(0, len(joined), step):
        some = joined[begin : begin + step]
        shortest = lengths[some][:, None]
        on = np.zeros((len(some), edges), np.bool_)
        for tail, head in ways:
            on |= begins[row[some]][:, tail] + weights + ends[column[some]][:, head] <= shortest + slack
        # of several paths, all edges together are longer than one of them
        single[begin : begin + step] = (on * weights).sum(1) <= shortest[:, 0] + slack
        parts.append(_sparse().csr_array(on.astype(np.float64)))
    matrix = _stack(parts) if parts else _sparse().csr_array((0, edges))
    return ReadPaths(matrix, single, pairs[joined])


def _lengths_to(graph: Graph, targets: Integers) -> Floats:
    """The length of a shortest path to each of these vertices from each vertex."""
    if not graph.directed:
        return lengths_from(graph, targets)
    turned = Graph.from_columns(
        source=graph.second,
        target=graph.first,
        domain=graph.domain,
        weights=graph.require_weights(),
        directed=True,
    )
    return lengths_from(turned, targets)


def bound_by_category(released: Graph, paths: ReadPaths, parameters: Mapping[str, Any]) -> Bounds:
    """What the method does to edges on none of the paths, and on all of them, bounds their weights.

    The first are raised by less than `rise` of their weight, unless they may be lowered too; the others are lowered by
    less than `fall` of it. Of all other edges nothing is known; nor of any by methods without these parameters, or if
    paths of a random share (`pairs`) of all were kept as well: those pairs are not known.
    """
    weights = released.require_weights()
    low, high = np.zeros(len(weights)), np.full(len(weights), np.inf)
    if "rise" not in parameters or parameters.get("pairs", 0):
        return Bounds(low, high)
    never, always = paths.never(), paths.always()
    rise, fall = float(parameters["rise"]), float(parameters.get("fall", 0.5))
    least = float(parameters.get("least", 0.0))  # of what a weight may move, the part that it moves at least
    low[never] = weights[never] / (1 + rise)
    if not parameters.get("two_sided", False):
        high[never] = weights[never] / (1 + least * rise)
    low[always] = weights[always] / (1 - least * fall)
    high[always] = weights[always] / (1 - fall)
    return Bounds(low, high)


def bound_by_paths(released: Graph, paths: ReadPaths, box: Bounds, targets: Integers) -> Bounds:
    """The least and the largest original weight of some edges, by linear programming.

    Parameters
    ----------
    box
        What is known of each edge before.
    targets
        The edges whose weights are bounded; others are left as the box has them.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(vertex=["ann", "bob", "cleo"])
    >>> edges, weights = [("ann", "bob"), ("bob", "cleo"), ("ann", "cleo")], [1, 1, 3]
    >>> graph = Graph.from_edges(edges, weights=weights, domain=domain)
    >>> box = Bounds(np.array([0, 2.0, 0]), np.array([np.inf, 3.0, np.inf]))
    >>> bound_by_paths(graph, read_paths(graph, np.array([[0, 2]])), box, np.array([0])).high.round(4).tolist()
    [3.0, 3.0, inf]
    """
    program = _Program(released, paths, box)
    low, high = box.low.copy(), box.high.copy()
    for done, edge in enumerate(cast("list[int]", targets.tolist())):
        progress.tell("bounding weights by paths", done, len(targets))
        least, most = program.extreme(edge, 1.0), program.extreme(edge, -1.0)
        low[edge], high[edge] = max(low[edge], least * (1 - 1e-7)), min(high[edge], most * (1 + 1e-7))
    return Bounds(low, high)


def _sparse() -> Any:
    from scipy import sparse  # noqa: PLC0415 - takes a while

    return sparse


def _stack(parts: list[Any]) -> Any:
    return _sparse().vstack(parts, format="csr")


class _Program:
    """Linear inequalities of kept paths, with those competing paths that were needed so far."""

    def __init__(self, released: Graph, paths: ReadPaths, box: Bounds) -> None:
        self.graph, self.pairs = released, paths.sources[paths.single]
        self.kept = paths.edges[np.flatnonzero(paths.single)]
        self.unit = float(np.median(released.require_weights()))
        self.far = _FAR * float(released.require_weights().max()) / self.unit
        high = np.minimum(box.high / self.unit, self.far)
        self.box = np.stack((np.minimum(box.low / self.unit, high), high), axis=1)
        self.rows: Any = _sparse().csr_array((0, len(released)))
        self.arcs = _Arcs(released)
        # the least and the largest weight of each edge among solutions that keep all paths: what they reach is settled
        self.reached = np.stack((np.full(len(released), np.inf), np.zeros(len(released))), axis=1)

    def extreme(self, edge: int, sign: float) -> float:
        """The least weight of an edge, or with sign -1 the largest; what is not settled is a bound all the same."""
        from scipy import optimize  # noqa: PLC0415 - takes a while

        goal = np.zeros(len(self.graph))
        goal[edge] = sign
        end = 0 if sign > 0 else 1
        value = float(self.box[edge, end])
        settled = sign * self.reached[edge, end] <= sign * value + _SETTLED
        for _ in range(0 if settled else _ROUNDS):
            limits = {"A_ub": self.rows, "b_ub": np.zeros(self.rows.shape[0])} if self.rows.shape[0] else {}
            solved: Any = cast("Any", optimize).linprog(goal, bounds=self.box, method="highs", **limits)
            if solved.status != 0:  # rounding: keep what is known
                break
            value = float(solved.x[edge])
            if not self._add_competitors(np.asarray(solved.x, np.float64)):
                self.reached[:, 0] = np.minimum(self.reached[:, 0], solved.x)
                self.reached[:, 1] = np.maximum(self.reached[:, 1], solved.x)
                break
        return np.inf if value >= self.far * (1 - 1e-6) else value * self.unit

    def _add_competitors(self, weights: Floats) -> bool:
        """Add paths that these weights make shorter than the kept ones, the worst first; whether there were any."""
        if not len(self.pairs):
            return False
        lengths = self.kept @ weights
        shortest, tree, row = self.arcs.search(weights, self.pairs[:, 0])
        excess = lengths - shortest[row, self.pairs[:, 1]]
        worst = np.argsort(-excess)[:_ADDED]
        worst = worst[excess[worst] > 1e-7 * np.maximum(1.0, lengths[worst])]
        if not len(worst):
            return False
        steps: list[tuple[int, int]] = []
        for number, pair in enumerate(cast("list[int]", worst.tolist())):
            steps += [(number, edge) for edge in self.arcs.walk(tree[row[pair]], *self.pairs[pair].tolist())]
        at = np.array(steps, np.int64).reshape(-1, 2)
        rivals = _sparse().csr_array((np.ones(len(at)), (at[:, 0], at[:, 1])), shape=(len(worst), len(weights)))
        self.rows = _stack([self.rows, self.kept[worst] - rivals])
        return True


class _Arcs:
    """The arcs of a network, whose weights change from search to search."""

    def __init__(self, graph: Graph) -> None:
        count = np.arange(len(graph))
        first, second = graph.first.astype(np.int64), graph.second.astype(np.int64)
        self.size = graph.domain.size("vertex")
        if graph.directed:
            self.tails, self.heads, self.edges = first, second, count
        else:
            self.tails, self.heads = np.concatenate((first, second)), np.concatenate((second, first))
            self.edges = np.concatenate((count, count))
        keys = (self.tails * self.size + self.heads).tolist()
        self.edge_of: dict[int, int] = dict(zip(keys, self.edges.tolist(), strict=True))

    def search(self, weights: Floats, sources: Integers) -> tuple[Floats, Integers, Integers]:
        """Lengths and trees of shortest paths from the distinct sources, and the row of each source."""
        distinct, row = np.unique(sources, return_inverse=True)
        # an edge of no weight would be none
        data = np.maximum(weights[self.edges], 1e-12)
        matrix = _sparse().csr_array((data, (self.tails, self.heads)), shape=(self.size, self.size))
        return *search_paths(matrix, distinct, trees=True), row

    def walk(self, tree: Integers, source: int, target: int) -> list[int]:
        """The edges of a path in a tree."""
        edges: list[int] = []
        while target != source:
            before = int(tree[target])
            edges.append(self.edge_of[before * self.size + target])
            target = before
        return edges

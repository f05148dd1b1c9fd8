"""Utility of released graphs: cut queries, degrees, edges, structure; and an attack by edge inference.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
Every score comes with the same measure of trivial releases, the controls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity
from hedgerow.kinds.graphs.cut_queries import (
    Cuts,
    community_cuts,
    community_pair_cuts,
    contiguous_cuts,
    cut_errors,
    ego_cuts,
    random_cuts,
)
from hedgerow.kinds.graphs.data import Graph
from hedgerow.kinds.graphs.edge_inference import measure_inference
from hedgerow.kinds.graphs.structure import (
    average_clustering,
    count_triangles,
    find_communities,
    label_components,
    largest_component,
    measure_paths,
    modularity,
    sample_vertices,
    transitivity,
)
from hedgerow.kinds.graphs.weight_measures import measure_weights, weight_controls
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.describe import spread
from hedgerow.measures.scoring import compared_score, mean_score
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.score import Score

Graphs: TypeAlias = Mapping[str, Graph]
RANDOM, STRUCTURED = "cuts between random vertices", "cuts along the structure"
#: charts that the report of graphs draws in its own way
DEGREES = "vertices by degree"
DENSITIES = "density of edges between blocks of the vertex order"
#: blocks of the vertex order in that chart
BLOCKS = 32
_QUERIES = 1_000
_SHARES = (20, 40, 60, 80, 100)


def describe(data: Graph) -> dict[str, Any]:
    """Describe a graph; every figure but the number of vertices is a function of the private data: for the owner only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(0, 1), (1, 2), (0, 2)], domain=Domain.declare(vertex=range(4)))
    >>> describe(graph)["triangles"], describe(graph)["edges per vertex"]
    (1, {'least': 0, 'most': 2, 'mean': 1.5, 'median': 2})
    """
    degrees, simple = data.degrees(), _without_directions(data)
    triangles = count_triangles(simple)
    return {
        "vertices": len(degrees),
        "edges": len(data),
        **({"directions": "yes; clustering is that of the network without them"} if data.directed else {}),
        "density": float(f"{len(data) / max(1, data.pairs):.4g}"),
        "domain": data.domain.source.value,
        **_describe_edges(data, degrees),
        "vertices without edges": int((degrees == 0).sum()),
        "connected components": len(np.unique(label_components(data))),
        "vertices of the largest component": largest_component(data),
        "triangles": int(triangles.sum()) // 3,
        "transitivity": round(transitivity(simple, triangles), 4),
        "average clustering": round(average_clustering(simple, triangles), 4),
    }


def _describe_edges(data: Graph, degrees: Integers) -> dict[str, Any]:
    """How many edges vertices have, in each direction if there are directions; how large weights are; what must stay.

    Whole numbers alone are spread as such: a weight is any number.
    """
    facts: dict[str, Any] = {"edges per vertex": spread(degrees)}
    if data.directed:
        size = len(degrees)
        ways = {"edges that leave a vertex": data.first, "edges that enter a vertex": data.second}
        facts |= {name: spread(np.bincount(ends, minlength=size)) for name, ends in ways.items()}
    if data.weights is not None and len(data):
        weights = data.weights
        figures = {"least": weights.min(), "most": weights.max(), "mean": weights.mean(), "median": np.median(weights)}
        facts["weights"] = {name: float(f"{value:.6g}") for name, value in figures.items()}
        facts["different weights"] = len(np.unique(weights))
    if data.paths is not None:
        facts["pairs whose paths must stay"] = len(data.paths.listed)
        facts["vertices between all of which paths must stay"] = len(data.paths.between)
    return facts


def _without_directions(data: Graph) -> Graph:
    """Return the same network without directions and weights; two edges of opposite directions become one."""
    if not data.directed:
        return data
    return Graph.from_columns(source=data.first, target=data.second, domain=data.domain)


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """The controls: no edges at all, and with the same guarantee a random graph and one drawn by noisy degrees.

    Of a release with weights they are the same network with trivial weights.
    """
    original = _as_released(compared.original, compared.released)
    if original.weights is not None:
        return {**weight_controls(original)}
    empty = Graph.from_ranks(np.zeros(0, np.int64), original.domain)
    return {
        "random graph": Control("random-graph", data=original),
        "noisy degrees": Control("noisy-degrees", data=original),
        "empty release": empty,
    }


def measure(
    compared: Comparison, controls: Graphs, rng: np.random.Generator, *, queries: int = _QUERIES
) -> list[Score]:
    """Compare a released graph with the original, and with the controls.

    Parameters
    ----------
    rng
        Draws the workloads, and the pairs of the attack.
    queries
        How many queries each workload of cuts has.
    """
    released = compared.released
    original = _as_released(compared.original, released)
    if original.weights is not None:
        return measure_weights(original, released, controls, rng, promise=_promise_about_arcs(compared))
    graphs = {"": released, **controls}
    communities = find_communities(original)
    return [
        *measure_cuts(original, graphs, communities, rng, queries=queries),
        *_degree_scores(original, graphs),
        *_measure_degrees(original, graphs),
        *_density_scores(original, released),
        *_measure_edges(original, graphs),
        *measure_structure(original, graphs, communities, sample_vertices(len(communities), rng)),
        *measure_inference(original, released, controls, rng),
    ]


def measure_cuts(
    original: Graph, graphs: Graphs, communities: Integers, rng: np.random.Generator, *, queries: int
) -> list[Score]:
    """The mean relative error of cut queries, for each workload; the release has the empty name among the graphs."""
    size = original.domain.size("vertex")
    workloads: dict[tuple[str, str], Iterator[Cuts]] = {
        (RANDOM, f"up to {share}% of vertices"): random_cuts(
            size, largest=max(2, share * size // 100), queries=queries, rng=rng
        )
        for share in _SHARES
    }
    workloads |= {
        (STRUCTURED, "two intervals"): contiguous_cuts(size, queries=queries, rng=rng),
        (STRUCTURED, "a neighbourhood"): ego_cuts(original, queries=queries, rng=rng),
        (STRUCTURED, "a community"): community_cuts(original, communities, queries=queries, rng=rng),
        (STRUCTURED, "two communities"): community_pair_cuts(original, communities, queries=queries, rng=rng),
    }
    scores: list[Score] = []
    for (group, at), cuts in workloads.items():
        errors = cut_errors(original, graphs, cuts)
        if len(errors[""]):
            others = {name: float(each.mean()) for name, each in errors.items() if name}
            name, chart = f"mean relative error of {group}, {at}", f"mean relative error of {group}"
            scores.append(mean_score(name, errors[""], others, chart=chart, at=at))
    return scores


def measure_structure(original: Graph, graphs: Graphs, communities: Integers, sources: Integers) -> list[Score]:
    """Figures of the structure, beside those of the original; paths start at `sources`."""
    measured = {
        name: _structure(graph, communities, sources) for name, graph in {**graphs, "original": original}.items()
    }
    return [
        compared_score(figure, {name: figures[figure] for name, figures in measured.items()}, better="neither")
        for figure in measured[""]
    ]


def _structure(graph: Graph, communities: Integers, sources: Integers) -> dict[str, float]:
    degrees, triangles = graph.degrees(), count_triangles(graph)
    paths = measure_paths(graph, sources)
    return {
        "edges": len(graph),
        "largest degree": int(degrees.max(initial=0)),
        "vertices without edges": int((degrees == 0).sum()),
        "triangles": int(triangles.sum()) // 3,
        "transitivity (global clustering)": transitivity(graph, triangles),
        "average local clustering": average_clustering(graph, triangles),
        "modularity of the communities of the original": modularity(graph, communities),
        "assortativity of degrees": degree_assortativity(graph),
        "vertices of the largest component": largest_component(graph),
        "mean length of shortest paths": paths.mean,
        "effective diameter (90% of shortest paths)": paths.effective_diameter,
    }


def degree_assortativity(graph: Graph) -> float:
    """The correlation of the degrees at the ends of edges; 0 if they do not vary."""
    degrees = graph.degrees().astype(np.float64)
    one, other = degrees[graph.first], degrees[graph.second]
    ends = np.concatenate((one, other))
    variance = float(ends.var()) if len(ends) else 0.0
    return float((one * other).mean() - ends.mean() ** 2) / variance if variance else 0.0


def _measure_degrees(original: Graph, graphs: Graphs) -> list[Score]:
    """The Kullback-Leibler divergence needs smoothing; the other two do not."""
    distances: dict[str, Callable[[Integers, Integers], float]] = {
        "Kullback-Leibler": smoothed_kullback_leibler,
        "Jensen-Shannon": jensen_shannon,
        "total variation": total_variation,
    }
    counts = {name: degree_counts(original, graph) for name, graph in graphs.items()}
    chart = "distance between the degree distributions"
    return [
        compared_score(
            f"{chart}: {at}", {name: far(*pair) for name, pair in counts.items()}, better="lower", chart=chart, at=at
        )
        for at, far in distances.items()
    ]


def _measure_edges(original: Graph, graphs: Graphs) -> list[Score]:
    agreed = {name: compare_edges(original, graph) for name, graph in graphs.items()}
    chart, whole = "edges that are kept", max(1, len(original))
    differing = {name: edges.differing / whole for name, edges in agreed.items()}
    kept = {
        "precision": {name: edges.precision for name, edges in agreed.items()},
        "recall": {name: edges.recall for name, edges in agreed.items()},
        "F1": {name: edges.f1 for name, edges in agreed.items()},
    }
    return [
        compared_score("edges added or lost, per edge of the original", differing, better="lower"),
        *(compared_score(f"{chart}: {at}", values, better="higher", chart=chart, at=at) for at, values in kept.items()),
    ]


def _degree_scores(original: Graph, graphs: Graphs) -> list[Score]:
    """Vertices per degree in bins of growing width, for a plot with logarithmic axes."""
    counts = dict(zip(("original", *graphs), degree_counts(original, *graphs.values()), strict=True))
    bins = degree_bins(max(1, len(counts[""]) - 1))
    means = {name: bin_means(each, bins).tolist() for name, each in counts.items()}
    return [
        compared_score(
            f"mean number of vertices of degree {begin} to {end - 1}",
            {name: each[number] for name, each in means.items()},
            better="neither",
            chart=DEGREES,
            at=f"{middle:.4g}",
        )
        for number, (begin, end, middle) in enumerate(zip(bins[:-1], bins[1:], bin_middles(bins), strict=True))
    ]


def _density_scores(original: Graph, released: Graph) -> list[Score]:
    """The density of each block of the upper triangle of the adjacency matrix."""
    before, after = (block_densities(graph, BLOCKS) for graph in (original, released))
    starts = (block_starts(original.domain.size("vertex"), BLOCKS)[:-1] + 1).tolist()
    return [
        compared_score(
            f"density of edges, blocks that start at vertices {starts[row]} and {starts[column]}",
            {"": float(after[row, column]), "original": float(before[row, column])},
            better="neither",
            chart=DENSITIES,
            at=str(starts[column]),
            across=str(starts[row]),
        )
        for row, column in zip(*np.triu_indices(len(starts)), strict=True)
    ]


def _promise_about_arcs(compared: Comparison) -> MuWeightedKAnonymity | None:
    promises = (part for part in compared.guarantee.parts() if isinstance(part, MuWeightedKAnonymity))
    return next(promises, None)


def _as_released(original: Graph, released: Graph) -> Graph:
    """Return the original with weights if the release has weights; refuse what cannot be compared."""
    if original.domain.values("vertex") != released.domain.values("vertex"):
        msg = "the release and the original have different vertices; read the original with the domain of the release"
        raise ParameterError(msg)
    if original.directed != released.directed:
        has, lacks = ("data", "release") if original.directed else ("release", "data")
        msg = f"the {has} has directions and the {lacks} has none; read the data as for publish (--read)"
        raise ParameterError(msg)
    if released.weights is None:
        if released.directed:
            msg = "networks with directions are measured by their weights, and the release has none"
            raise ParameterError(msg)
        return original if original.weights is None else original.without_weights()
    original.require_weights()
    same = np.array_equal(original.first, released.first) and np.array_equal(original.second, released.second)
    if not same:
        msg = (
            "the release has other edges than the data; weights are compared edge by edge: give the data of the release"
        )
        raise ParameterError(msg)
    return original


# Edges that two graphs share, and the density of blocks of an adjacency matrix.


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


def block_densities(graph: Graph, blocks: int) -> Floats:
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


# Distributions of degrees, and how far two of them are apart.

_SMOOTHING = 0.5
#: bins per doubling of the degree
_BINS = 2


def degree_counts(*graphs: Graph) -> list[Integers]:
    """Count the vertices of each degree 0, 1, ..., in each graph; up to the largest degree of all of them.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> graph = Graph.from_edges([(0, 1), (1, 2)], domain=Domain.declare(vertex=range(4)))
    >>> degree_counts(graph)[0].tolist()
    [1, 2, 1]
    """
    degrees = [graph.degrees() for graph in graphs]
    size = 1 + max(int(each.max(initial=0)) for each in degrees)
    return [np.bincount(each, minlength=size) for each in degrees]


def kullback_leibler(before: Integers, after: Integers) -> float:
    """The Kullback-Leibler divergence in nats; infinite if something occurs before that does not occur after.

    Examples
    --------
    >>> round(kullback_leibler(np.array([0, 1, 2, 5]), np.array([1, 1, 1, 5])), 6)
    0.173287
    """
    return _divergence(_shares(before), _shares(after))


def smoothed_kullback_leibler(before: Integers, after: Integers) -> float:
    """The Kullback-Leibler divergence in nats, with half a vertex added to every degree of both distributions."""
    return _divergence(_shares(before + _SMOOTHING), _shares(after + _SMOOTHING))


def jensen_shannon(before: Integers, after: Integers) -> float:
    """The Jensen-Shannon divergence in nats: 0 if equal, ln 2 if nothing is shared.

    Examples
    --------
    >>> round(jensen_shannon(np.array([0, 1, 2, 5]), np.array([1, 1, 1, 5])), 6)
    0.05394
    """
    one, other = _shares(before), _shares(after)
    middle = (one + other) / 2
    return max(0.0, (_divergence(one, middle) + _divergence(other, middle)) / 2)


def total_variation(before: Integers, after: Integers) -> float:
    """The total variation distance: 0 if equal, 1 if nothing is shared.

    Examples
    --------
    >>> total_variation(np.array([0, 1, 2, 5]), np.array([1, 1, 1, 5]))
    0.125
    """
    return float(np.abs(_shares(before) - _shares(after)).sum() / 2)


def degree_bins(largest: int) -> Integers:
    """Return the lower ends of bins of growing width, from degree 1 on, and one more end beyond the largest degree.

    Examples
    --------
    >>> degree_bins(10).tolist()
    [1, 2, 3, 4, 6, 8, 11]
    """
    last = math.ceil(_BINS * math.log2(max(1, largest) + 1))
    ends = np.unique(np.rint(2 ** (np.arange(last + 1) / _BINS)).astype(np.int64))
    return np.append(ends[ends <= largest], largest + 1)


def bin_middles(bins: Integers) -> Floats:
    """The geometric middle of each bin of degrees, for a logarithmic axis."""
    return np.sqrt(bins[:-1] * (bins[1:] - 1))


def bin_means(counts: Integers, bins: Integers) -> Floats:
    """The mean count of the degrees of each bin."""
    sums = np.concatenate(([0], np.cumsum(counts)))
    return np.diff(sums[np.minimum(bins, len(counts))]) / np.diff(bins)


def _shares(counts: NDArray[Any]) -> Floats:
    return counts / max(1e-300, float(counts.sum()))


def _divergence(one: Floats, other: Floats) -> float:
    occurring = one > 0
    if np.any(other[occurring] == 0):
        return math.inf
    return float(np.sum(one[occurring] * np.log(one[occurring] / other[occurring])))

"""Utility of released graphs: cut queries, degrees, edges, structure; and an attack by edge inference.

All of these compare with the original: they are for the owner only, and no guarantee covers them.
Every score comes with the same measure of trivial releases, the controls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Graph
from hedgerow.errors import ParameterError
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.cut_queries import Cuts, cut_errors
from hedgerow.measures.cut_workloads import (
    community_cuts,
    community_pair_cuts,
    contiguous_cuts,
    ego_cuts,
    random_cuts,
)
from hedgerow.measures.degree_distributions import (
    bin_means,
    bin_middles,
    degree_bins,
    degree_counts,
    jensen_shannon,
    smoothed_kullback_leibler,
    total_variation,
)
from hedgerow.measures.describe import spread
from hedgerow.measures.edge_agreement import block_densities, block_starts, compare_edges
from hedgerow.measures.edge_inference import measure_inference
from hedgerow.measures.graph_communities import find_communities, modularity
from hedgerow.measures.graph_distances import label_components, largest_component, measure_paths, sample_vertices
from hedgerow.measures.scoring import compared_score, mean_score
from hedgerow.measures.triangles import average_clustering, count_triangles, transitivity
from hedgerow.score import Score

__all__ = [
    "BLOCKS",
    "DEGREES",
    "DENSITIES",
    "controls",
    "degree_assortativity",
    "describe",
    "measure",
    "measure_cuts",
    "measure_structure",
]

Integers: TypeAlias = NDArray[np.int64]
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
    degrees, triangles = data.degrees(), count_triangles(data)
    return {
        "vertices": len(degrees),
        "edges": len(data),
        "density": float(f"{len(data) / max(1, data.pairs):.4g}"),
        "domain": data.domain.source.value,
        "edges per vertex": spread(degrees),
        "vertices without edges": int((degrees == 0).sum()),
        "connected components": len(np.unique(label_components(data))),
        "vertices of the largest component": largest_component(data),
        "triangles": int(triangles.sum()) // 3,
        "transitivity": round(transitivity(data, triangles), 4),
        "average clustering": round(average_clustering(data, triangles), 4),
    }


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """The controls: no edges at all, and with the same guarantee a random graph and one drawn by noisy degrees."""
    return {
        "random graph": Control("random-graph"),
        "noisy degrees": Control("noisy-degrees"),
        "empty release": Graph.from_ranks(np.zeros(0, np.int64), compared.original.domain),
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
    original, released = compared.original, compared.released
    _require_same_vertices(original, released)
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


def _require_same_vertices(original: Graph, released: Graph) -> None:
    if original.domain.values("vertex") != released.domain.values("vertex"):
        msg = "the release and the original have different vertices; read the original with the domain of the release"
        raise ParameterError(msg)

"""Degrees, triangles, paths, communities: by hand, by brute force, and as NetworkX has them."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from scipy.sparse import csgraph

from hedgerow import Domain, Graph
from hedgerow.kinds.graphs import measures as graphs
from hedgerow.kinds.graphs import structure
from hedgerow.kinds.graphs.cases import EDGE_CASES, graph_of
from hedgerow.kinds.graphs.measures import (
    bin_means,
    block_densities,
    block_starts,
    compare_edges,
    degree_bins,
    degree_counts,
    jensen_shannon,
    kullback_leibler,
    smoothed_kullback_leibler,
    total_variation,
)
from hedgerow.kinds.graphs.structure import (
    NeighbourLists,
    PathLengths,
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
from hedgerow.testing import strategies

FIGURE = EDGE_CASES["figure 7.2"]()
WITHOUT = graph_of([edge for edge in FIGURE.edges() if edge != (3, 4)], 8)


def matrix(graph):
    size = graph.domain.size("vertex")
    ones = sparse.csr_array((np.ones(len(graph), int), (graph.first, graph.second)), (size, size))
    return ones + ones.T


def random_graph(vertices, edges, seed):
    rng = np.random.default_rng(seed)
    ranks = np.sort(rng.choice(vertices * (vertices - 1) // 2, edges, replace=False))
    return Graph.from_ranks(ranks, Domain.declare(vertex=range(vertices)))


def blocks(groups, size, inside, outside, seed):
    """A graph of communities, edges within them more likely."""
    rng, vertices = np.random.default_rng(seed), groups * size
    one, other = np.triu_indices(vertices, 1)
    joined = rng.random(len(one)) < np.where(one // size == other // size, inside, outside)
    return Graph.from_columns(source=one[joined], target=other[joined], domain=Domain.declare(vertex=range(vertices)))


def test_the_degree_distributions_of_the_printed_figure():
    before, after = degree_counts(FIGURE, WITHOUT)
    assert (before.tolist(), after.tolist()) == ([0, 1, 2, 5], [1, 1, 1, 5])
    assert kullback_leibler(before, after) == pytest.approx(0.25 * math.log(2))
    assert round(kullback_leibler(before, after), 6) == 0.173287
    assert kullback_leibler(after, before) == math.inf
    assert total_variation(before, after) == 0.125
    assert round(jensen_shannon(before, after), 6) == 0.053940


def test_smoothing_adds_half_a_vertex_to_each_degree_of_either_graph():
    """B is the largest degree of both graphs and one more: 4 of them, on 8 vertices."""
    before, after = degree_counts(FIGURE, WITHOUT)
    one, other = (np.array(counts) / 10 for counts in ([0.5, 1.5, 2.5, 5.5], [1.5, 1.5, 1.5, 5.5]))
    assert smoothed_kullback_leibler(before, after) == pytest.approx((one * np.log(one / other)).sum())


def test_bins_hold_every_degree_once():
    counts = np.arange(200)
    bins = degree_bins(199)
    assert (bins[0], bins[-1]) == (1, 200)
    assert (bin_means(counts, bins) * np.diff(bins)).sum() == pytest.approx(counts[1:].sum())
    assert degree_bins(1).tolist() == [1, 2]


def test_edges_are_compared_by_hand():
    agreement = compare_edges(FIGURE, graph_of([(0, 5), (0, 6), (1, 2), (4, 7)], 8))
    assert (agreement.shared, agreement.precision, agreement.recall) == (2, 0.5, 0.2)
    assert agreement.f1 == pytest.approx(2 * 0.5 * 0.2 / 0.7)
    assert agreement.differing == 10  # 8 lost and 2 added: half of the sum of |A - A~|
    nothing = graph_of([], 8)
    for one, other, rate in ((FIGURE, nothing, 0), (nothing, FIGURE, 0), (nothing, nothing, 1)):
        agreement = compare_edges(one, other)
        assert (agreement.precision, agreement.recall, agreement.f1) == (rate, rate, rate)


def test_densities_of_blocks_of_the_printed_figure():
    """Blocks of rows 1 to 3 and columns 6 to 8 need an uneven split; four and four vertices do here."""
    assert block_densities(FIGURE, 2).tolist() == [[1 / 6, 9 / 16], [9 / 16, 0]]
    assert block_starts(10, 4).tolist() == [0, 3, 5, 8, 10]
    assert block_starts(2, 4).tolist() == [0, 1, 2]
    assert block_densities(EDGE_CASES["complete"](), 2).tolist() == [[1, 1], [1, 1]]


@given(data=strategies.of_kind("graphs"))
def test_triangles_and_common_neighbours_are_those_of_brute_force(data):
    adjacency = matrix(data).toarray()
    squares = adjacency @ adjacency
    closed = (adjacency @ squares).diagonal() // 2
    assert count_triangles(data).tolist() == closed.tolist()
    assert structure._count_by_words(data).tolist() == closed.tolist()
    one, other = np.triu_indices(data.domain.size("vertex"), 1)
    lists = NeighbourLists.of(data)
    assert lists.count_common(one, other).tolist() == squares[one, other].tolist()
    assert lists.count_common(other, one).tolist() == squares[one, other].tolist()
    assert lists.contain(one, other).tolist() == adjacency[one, other].astype(bool).tolist()


@pytest.mark.parametrize("chunk", [1, 30, 1 << 20])
def test_triangles_are_counted_in_parts(monkeypatch, chunk):
    graph = random_graph(150, 2_000, 1)
    adjacency = matrix(graph)
    exact = ((adjacency @ adjacency) * adjacency).sum(1) // 2
    monkeypatch.setattr(structure, "_CHUNK", chunk)
    for factor in (0, 1 << 40):  # looked up, and compared by words
        monkeypatch.setattr(structure, "_WORDS_PER_LOOKUP", factor)
        assert count_triangles(graph).tolist() == exact.tolist()


@given(data=strategies.of_kind("graphs"))
def test_paths_and_components_are_those_of_scipy(data):
    sources = np.arange(data.domain.size("vertex"))
    far = csgraph.shortest_path(matrix(data), unweighted=True)
    lengths = far[np.isfinite(far) & (far > 0)]
    assert measure_paths(data, sources).mean == pytest.approx(lengths.mean() if len(lengths) else 0)
    labels = csgraph.connected_components(matrix(data))[1]
    ours = label_components(data)
    assert len(set(zip(labels.tolist(), ours.tolist(), strict=True))) == len(set(labels)) == len(set(ours.tolist()))
    assert largest_component(data) == np.bincount(labels).max()


def test_paths_from_more_sources_than_a_word_has_bits():
    path = graph_of([(vertex, vertex + 1) for vertex in range(299)], 300)
    sources = sample_vertices(300, np.random.default_rng(2), most=150)
    assert len(set(sources.tolist())) == 150
    far = np.abs(sources[:, None] - np.arange(300))
    measured = measure_paths(path, sources)
    assert measured.mean == pytest.approx(far[far > 0].mean())
    assert measured.effective_diameter == pytest.approx(np.quantile(far[far > 0], 0.9), abs=1)
    assert sample_vertices(5, np.random.default_rng(2)).tolist() == [0, 1, 2, 3, 4]


def test_the_effective_diameter_is_interpolated():
    assert PathLengths.of_counts(np.array([3, 8, 2])) == (1.2, 1.5)
    assert PathLengths.of_counts(np.array([3, 10])) == (1, 0.9)
    assert PathLengths.of_counts(np.array([3])) == (0, 0)


def test_communities_of_a_graph_that_has_them_are_returned():
    graph = blocks(6, 30, 0.5, 0.01, 3)
    communities = find_communities(graph)
    assert communities.tolist() == np.repeat(np.arange(6), 30).tolist()
    assert modularity(graph, communities) > 0.7
    assert find_communities(graph).tolist() == communities.tolist()
    cliques = EDGE_CASES["two cliques"]()
    assert find_communities(cliques).tolist() == [0] * 5 + [1] * 5


@pytest.mark.parametrize("name", EDGE_CASES)
def test_communities_are_never_worse_than_none_and_never_join_components(name):
    graph = EDGE_CASES[name]()
    communities = find_communities(graph)
    assert modularity(graph, communities) >= max(0, modularity(graph, np.arange(len(communities))))
    components = label_components(graph)
    assert len(set(zip(communities.tolist(), components.tolist(), strict=True))) == len(set(communities.tolist()))


def test_modularity_by_hand():
    """Two triangles joined by an edge: 6 of 7 edges inside, half of the degrees in each."""
    graph = graph_of([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)], 6)
    assert modularity(graph, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(6 / 7 - 0.5)
    assert modularity(graph_of([], 4), np.zeros(4, np.int64)) == 0


@given(data=strategies.of_kind("graphs", vertices=12, most=40))
@settings(max_examples=60)
def test_figures_are_those_of_networkx(data):
    graph = nx.Graph()
    graph.add_nodes_from(range(data.domain.size("vertex")))
    graph.add_edges_from(data.edges())
    assert transitivity(data) == pytest.approx(nx.transitivity(graph))
    assert average_clustering(data) == pytest.approx(nx.average_clustering(graph))
    assert count_triangles(data).tolist() == list(nx.triangles(graph).values())
    assert largest_component(data) == max(map(len, nx.connected_components(graph)))
    if len(data):
        communities = find_communities(data)
        groups = [set(np.flatnonzero(communities == group).tolist()) for group in np.unique(communities)]
        assert modularity(data, communities) == pytest.approx(nx.community.modularity(graph, groups))
        pairs = {tuple(sorted((data.degrees()[i], data.degrees()[j]))) for i, j in data.edges()}
        if len({degree for pair in pairs for degree in pair}) > 1:
            assert graphs.degree_assortativity(data) == pytest.approx(nx.degree_assortativity_coefficient(graph))
    if len(data) and nx.is_connected(graph):
        ours = measure_paths(data, np.arange(data.domain.size("vertex"))).mean
        assert ours == pytest.approx(nx.average_shortest_path_length(graph))


def test_assortativity_by_hand():
    """A star joins the highest degree with the lowest ones; a circle has one degree only."""
    assert graphs.degree_assortativity(EDGE_CASES["star"]()) == pytest.approx(-1)
    assert graphs.degree_assortativity(graph_of([(0, 1), (1, 2), (0, 2)], 3)) == 0
    assert graphs.degree_assortativity(graph_of([], 3)) == 0


def test_a_merged_graph_has_the_modularity_of_its_partition():
    graph = blocks(4, 10, 0.5, 0.1, 4)
    labels = np.random.default_rng(5).integers(0, 7, 40)
    labels[:7] = np.arange(7)
    weighted = structure._Weighted.of(graph)
    merged = weighted.merge(labels)
    assert structure._modularity(merged, np.arange(7)) == pytest.approx(modularity(graph, labels))
    pairs = np.array([0, 0, 1, 1, 2, 2, 2])
    assert structure._modularity(merged, pairs) == pytest.approx(modularity(graph, pairs[labels]))


@pytest.mark.parametrize("merged", [False, True])
def test_a_vertex_moves_where_modularity_is_highest(merged):
    graph = blocks(3, 6, 0.6, 0.2, 6)
    weighted = structure._Weighted.of(graph)
    if merged:
        weighted = weighted.merge(np.arange(18) // 2)
    size = len(weighted.loops)
    labels = np.random.default_rng(7).integers(0, 4, size)
    for vertex in range(size):
        tried = []
        for label in range(4):
            moved = labels.copy()
            moved[vertex] = label
            tried.append(structure._modularity(weighted, moved))
        target = structure._move_some(weighted, labels, np.arange(size) == vertex)
        assert structure._modularity(weighted, target) == pytest.approx(max(tried))
        assert (target != labels).sum() <= 1


def test_no_edge_leaves_the_centre_of_a_star():
    """Else all pairs of its neighbours would be looked up."""
    low, _ = structure._orient(EDGE_CASES["star"]())
    assert 4 not in low.tolist()

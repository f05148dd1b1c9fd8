"""Cut queries against the printed figure and a brute force, and their workloads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow import Domain, Graph
from hedgerow.kinds.graphs import cut_queries
from hedgerow.kinds.graphs.cases import EDGE_CASES, graph_of
from hedgerow.kinds.graphs.cut_queries import (
    Cuts,
    community_cuts,
    community_pair_cuts,
    contiguous_cuts,
    count_cuts,
    cut_errors,
    ego_cuts,
    random_cuts,
)
from hedgerow.testing import strategies

FIGURE = EDGE_CASES["figure 7.2"]()


def members(cuts):
    """The sets of each query, one row of flags each."""
    unpacked = [
        np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").T[: cuts.queries].astype(bool)
        for words in (cuts.sources, cuts.targets)
    ]
    return unpacked[0], unpacked[1]


def drawn(cuts):
    parts = [members(part) for part in cuts]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def cut_of(vertices, source, target):
    flags = np.zeros((2, 1, vertices), bool)
    flags[0, 0, source] = flags[1, 0, target] = True
    return Cuts.of_members(*flags)


def dense_graph(vertices, share, seed):
    rng = np.random.default_rng(seed)
    pairs = vertices * (vertices - 1) // 2
    return Graph.from_ranks(np.flatnonzero(rng.random(pairs) < share), Domain.declare(vertex=range(vertices)))


def test_the_cut_of_the_printed_figure():
    """Six edges between v1, v2 and v6, v7, v8; without one of them the error is 1/6 (the bound is 0.01)."""
    cut = cut_of(8, [0, 1], [5, 6, 7])
    assert count_cuts(FIGURE, cut).tolist() == [6]
    without = FIGURE.neighbour(0, unit="edge")
    assert cut_errors(FIGURE, {"": without}, [cut])[""].tolist() == [pytest.approx(1 / 6)]


def test_an_error_is_relative_to_at_least_a_thousandth_of_all_edges():
    graph = dense_graph(80, 0.9, 1)
    more = Graph.from_ranks(np.arange(graph.pairs), graph.domain)
    gap = next(pair for pair in range(graph.pairs) if pair not in set(graph.ranks().tolist()))
    one, other = (int(each[0]) for each in (more.first[gap : gap + 1], more.second[gap : gap + 1]))
    [error] = cut_errors(graph, {"": more}, [cut_of(80, [one], [other])])[""]
    assert error == pytest.approx(1 / (0.001 * len(graph)))


@given(data=strategies.of_kind("graphs"), seed=st.integers(0, 1_000), queries=st.integers(1, 150))
def test_counts_are_those_of_brute_force_even_if_the_sets_overlap(data, seed, queries):
    rng = np.random.default_rng(seed)
    source, target = rng.random((2, queries, data.domain.size("vertex"))) < 0.5
    brute = [
        sum((s[i] and t[j]) or (s[j] and t[i]) for i, j in zip(data.first.tolist(), data.second.tolist(), strict=True))
        for s, t in zip(source, target, strict=True)
    ]
    assert count_cuts(data, Cuts.of_members(source, target)).tolist() == brute


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_many_edges_are_added_up_in_parts(monkeypatch, chunk):
    graph = dense_graph(90, 0.7, 2)
    monkeypatch.setattr(cut_queries, "_WORDS_AT_ONCE", chunk)
    source, target = np.random.default_rng(3).random((2, 70, 90)) < 0.5
    adjacency = np.zeros((90, 90), bool)
    adjacency[graph.first, graph.second] = adjacency[graph.second, graph.first] = True
    joined = [(adjacency & (np.outer(s, t) | np.outer(t, s))).sum() // 2 for s, t in zip(source, target, strict=True)]
    assert count_cuts(graph, Cuts.of_members(source, target)).tolist() == joined


def test_random_cuts_have_the_declared_sizes_and_fair_sides():
    source, target = drawn(random_cuts(40, largest=12, queries=30_000, rng=np.random.default_rng(4)))
    assert not (source & target).any()
    assert source.any(1).all()
    assert target.any(1).all()
    sizes = (source | target).sum(1)
    counts = np.bincount(sizes, minlength=13)[2:]
    assert stats.chisquare(counts).pvalue > 1e-6  # uniform on 2 to 12, although small ones are tossed again most
    assert stats.chisquare((source | target).sum(0)).pvalue > 1e-6
    assert stats.binomtest(int(source.sum()), int(sizes.sum())).pvalue > 1e-6


def test_a_workload_is_drawn_in_parts_of_bounded_size(monkeypatch):
    monkeypatch.setattr(cut_queries, "_FLAGS_AT_ONCE", 1_000)
    parts = list(random_cuts(10, largest=5, queries=150, rng=np.random.default_rng(5)))
    assert [part.queries for part in parts] == [64, 64, 22]


def test_contiguous_cuts_are_two_intervals_that_may_touch():
    source, target = drawn(contiguous_cuts(9, queries=3_000, rng=np.random.default_rng(6)))
    for flags in (source, target):
        steps = np.diff(flags.astype(int), axis=1, prepend=0, append=0)
        assert ((steps == 1).sum(1) == 1).all()
    last, first = 8 - source[:, ::-1].argmax(1), target.argmax(1)
    assert (last < first).all()
    assert (last + 1 == first).any()
    intervals = {(tuple(s), tuple(t)) for s, t in zip(source.tolist(), target.tolist(), strict=True)}
    assert len(intervals) == 330  # 11 places, 4 of them: each pair of intervals is drawn at some time


def test_ego_cuts_are_a_neighbourhood_and_the_rest():
    graph = graph_of([(0, 1), (0, 2), (3, 4)], 6)
    source, target = drawn(ego_cuts(graph, queries=500, rng=np.random.default_rng(7)))
    assert (source ^ target).all()
    sets = {tuple(np.flatnonzero(row).tolist()) for row in source}
    assert sets == {(0, 1, 2), (0, 1), (0, 2), (3, 4)}


def test_cuts_of_communities_follow_them():
    graph = graph_of([(0, 1), (1, 2), (3, 4), (2, 3)], 7)
    communities = np.array([5, 5, 5, 2, 2, 8, 9])
    rng = np.random.default_rng(8)
    source, target = drawn(community_cuts(graph, communities, queries=400, rng=rng))
    assert (source ^ target).all()
    assert {tuple(np.flatnonzero(row).tolist()) for row in source} == {(0, 1, 2), (3, 4)}
    assert 0.5 < source[:, 0].mean() < 0.7  # drawn by the vertices that have edges: 3 of 5
    source, target = drawn(community_pair_cuts(graph, communities, queries=400, rng=rng))
    pairs = {(tuple(np.flatnonzero(s)), tuple(np.flatnonzero(t))) for s, t in zip(source, target, strict=True)}
    assert pairs == {((0, 1, 2), (3, 4)), ((3, 4), (0, 1, 2))}


def test_two_communities_are_those_of_two_vertices_given_that_they_differ():
    sizes = np.array([5, 0, 3, 2])
    pairs = np.stack(cut_queries._draw_two(sizes, 60_000, np.random.default_rng(9)))
    counts = np.bincount(pairs[0] * 4 + pairs[1], minlength=16)
    weights = np.outer(sizes, sizes)
    np.fill_diagonal(weights, 0)
    possible = weights.ravel() > 0
    assert counts[~possible].sum() == 0
    expected = 60_000 * weights.ravel()[possible] / weights.sum()
    assert stats.chisquare(counts[possible], expected).pvalue > 1e-6


@pytest.mark.parametrize("graph", [graph_of([], 1), graph_of([], 2), graph_of([(0, 1)], 2), graph_of([], 5)])
def test_workloads_that_a_graph_does_not_have_are_empty(graph):
    rng, size = np.random.default_rng(10), graph.domain.size("vertex")
    everybody = np.zeros(size, np.int64)
    assert list(community_cuts(graph, everybody, queries=5, rng=rng)) == []
    assert list(community_pair_cuts(graph, np.arange(size), queries=5, rng=rng)) == [] or len(graph)
    assert bool(list(ego_cuts(graph, queries=5, rng=rng))) == bool(len(graph))
    assert bool(list(random_cuts(size, largest=size, queries=5, rng=rng))) == (size > 1)
    assert bool(list(contiguous_cuts(size, queries=5, rng=rng))) == (size > 1)

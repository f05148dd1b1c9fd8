"""Scores of weighted networks: by brute force on small ones, 0 for a release that is the original, controls beside."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hedgerow import Distortion, Domain, Graph
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.cases import EDGE_CASES, equip, graph_of
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity
from hedgerow.kinds.graphs.measures import controls, describe, measure
from hedgerow.kinds.graphs.path_lengths import (
    Pairs,
    compare_paths,
    kept_pairs,
    lengths_from,
    sample_pairs,
    share_unique,
)
from hedgerow.kinds.graphs.weight_measures import count_inversions, draw, extremes_kept, kendall_tau, measure_weights
from hedgerow.measures.comparison import Comparison


def rng(seed=1):
    return np.random.default_rng(seed)


def network(seed, vertices=7, *, directed=False, largest=4, share=0.5):
    """A random network whose whole weights are full of ties."""
    draw_from = rng(seed)
    one, other = np.nonzero(draw_from.random((vertices, vertices)) < share)
    kept = one != other if directed else one < other
    weights = draw_from.integers(1, largest + 1, int(kept.sum())).astype(np.float64)
    return Graph.from_columns(
        source=one[kept],
        target=other[kept],
        domain=Domain.declare(vertex=range(vertices)),
        weights=weights,
        directed=directed,
    )


def changed(graph, seed, most=3):
    return graph.weighted(graph.weights + rng(seed).integers(0, most, len(graph)))


def compare(original, released, guarantee=None):
    comparison = Comparison(original, released, guarantee or Distortion(), {})
    return {score.name: score for score in measure(comparison, controls(comparison), rng())}


def shortest(graph, source, target):
    try:
        return {tuple(path) for path in nx.all_shortest_paths(graph.to_networkx(), source, target, weight="weight")}
    except nx.NetworkXNoPath:
        return set()


# ---- paths


@given(seed=st.integers(0, 10_000), directed=st.booleans())
@settings(max_examples=60)
def test_a_pair_is_kept_if_one_of_its_shortest_paths_stays_one(seed, directed):
    before = network(seed, directed=directed)
    after = changed(before, seed + 1)
    size = before.domain.size("vertex")
    expected = []
    for source in range(size):
        for target in range(size):
            old = shortest(before, source, target) if source != target else set()
            if old:
                expected.append(bool(old & shortest(after, source, target)))
    compared = compare_paths(before, after, Pairs(np.arange(size)))
    assert compared.kept.tolist() == expected
    lengths = [lengths_from(graph, np.arange(size)) for graph in (before, after)]
    joined = np.isfinite(lengths[0]) & ~np.eye(size, dtype=bool)
    assert np.array_equal(compared.ratios, lengths[1][joined] / lengths[0][joined])


@given(seed=st.integers(0, 10_000), directed=st.booleans())
@settings(max_examples=40)
def test_single_shortest_paths_are_counted(seed, directed):
    graph = network(seed, directed=directed, largest=2)
    size = graph.domain.size("vertex")
    counts = [
        len(found)
        for source in range(size)
        for target in range(size)
        if source != target and (found := shortest(graph, source, target))
    ]
    share = np.mean([count == 1 for count in counts]) if counts else 1.0
    assert share_unique(graph, Pairs(np.arange(size))) == pytest.approx(share)


def test_long_paths_with_a_fork_at_their_beginning_are_not_single():
    """A fork is seen from the far end of a path of a hundred edges."""
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), *pairwise(range(3, 103))]
    graph = Graph.from_edges(edges, weights=np.ones(len(edges)), domain=Domain.declare(vertex=range(103)))
    # from vertex 0 only vertices 1 and 2 are reached by one path
    assert share_unique(graph, Pairs(np.array([0]))) == pytest.approx(2 / 102)


@pytest.mark.parametrize("directed", [False, True])
def test_pairs_whose_paths_must_stay_are_those_that_are_compared(directed):
    graph = network(3, 8, directed=directed, share=0.7).keeping([(5, 1), (2, 6), (6, 2)], between=[0, 3, 4])
    pairs = kept_pairs(graph, rng())
    mask = pairs.mask(pairs.sources, 8, directed=directed)
    chosen = {(int(pairs.sources[row]), int(column)) for row, column in zip(*np.nonzero(mask), strict=True)}
    both = {(0, 3), (0, 4), (3, 4)}
    if directed:
        assert chosen == {(5, 1), (2, 6), (6, 2)} | both | {(j, i) for i, j in both}
    else:
        assert chosen == {(1, 5), (2, 6)} | both
    assert kept_pairs(replace(graph, paths=None), rng()) is None


def test_sources_of_large_networks_are_sampled():
    graph = replace(EDGE_CASES["many"](), weights=None)
    assert sample_pairs(graph, rng()).sources.tolist() == list(range(40))
    drawn = sample_pairs(graph, rng(), most=10).sources
    assert len(np.unique(drawn)) == 10
    assert np.all(np.diff(drawn) > 0)


# ---- order


@given(values=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30))
def test_kendall_tau_is_that_of_scipy(values):
    before, after = (np.array([pair[at] for pair in values], np.float64) for at in (0, 1))
    expected = stats.kendalltau(before, after).statistic if len(values) > 1 else 0.0
    assert kendall_tau(before, after) == pytest.approx(0.0 if np.isnan(expected) else expected)


@given(codes=st.lists(st.integers(0, 40), max_size=60))
def test_inversions_are_counted(codes):
    by_hand = sum(codes[i] > codes[j] for j in range(len(codes)) for i in range(j))
    assert count_inversions(np.array(codes, np.int64)) == by_hand


def test_the_heaviest_arc_of_a_vertex_stays_or_not():
    domain = Domain.declare(vertex=range(5))
    edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3)]
    graph = Graph.from_edges(edges, weights=[1, 5, 2, 7, 4], domain=domain, directed=True)
    swapped = graph.weighted(np.array([5.0, 1.0, 2.0, 7.0, 4.0]))
    # vertex 2 has one arc only, and does not count
    assert extremes_kept(graph, swapped, 1.0) == extremes_kept(graph, swapped, -1.0) == 0.5
    # without directions vertices 0 to 3 have two edges or more; swapping those of 0 spares 1 (edge to 4) alone
    both = Graph.from_edges(edges, weights=[1, 5, 2, 7, 4], domain=domain)
    other = both.weighted(np.array([5.0, 1.0, 2.0, 7.0, 4.0]))
    assert extremes_kept(both, other, 1.0) == 0.5


# ---- scores


@pytest.mark.parametrize("features", [("weights",), ("weights", "directions")])
@pytest.mark.parametrize("name", [name for name in EDGE_CASES if len(EDGE_CASES[name]())])
def test_a_release_that_is_the_original_has_no_error(name, features):
    graph = equip(EDGE_CASES[name](), features)
    for name_of, score in compare(graph, graph).items():
        if name_of.startswith(("shortest paths kept", "lengths of paths within", "weights within")):
            assert score.value == 1
        elif name_of.startswith(("weights changed", "mean relative change")):
            assert score.value == 0
        assert np.isfinite(score.value)
    assert json.dumps(describe(graph))


def test_scores_say_how_much_weights_and_paths_changed():
    graph = network(5, 12, largest=60).keeping(between=[0, 1, 2, 3])
    release = graph.weighted(graph.weights * np.where(np.arange(len(graph)) % 2, 1.08, 1.0))
    scores = compare(graph, release)
    odd = len(graph) // 2 / len(graph)
    assert scores["weights changed"].value == pytest.approx(odd)
    assert scores["weights within a relative change: 5 %"].value == pytest.approx(1 - odd)
    assert scores["weights within a relative change: 10 %"].value == 1
    assert 0.9 < scores["order of weights that is told (Kendall's tau)"].value <= 1
    kept = scores["shortest paths kept, pairs whose paths must stay"]
    told = dict(kept.controls)
    assert told["all doubled"] == 1 > kept.value - 1e-9
    assert set(told) == {"weights left out", "median added to all", "all doubled", "weights exchanged"}
    assert 1 <= scores["ratio of the lengths of paths, after to before: 95 % quantile"].value <= 1.08 + 1e-9
    histogram = [score.value for score in scores.values() if score.chart.startswith("ratio of")]
    assert sum(histogram) == pytest.approx(1)
    assert all(score.scope == "owner" for score in scores.values())


def test_arcs_are_counted_as_anonymous_where_that_is_promised():
    graph = Graph.from_edges(
        [(0, 1), (0, 2), (0, 3), (0, 4)],
        weights=[40, 10, 48, 43],
        domain=Domain.declare(vertex=range(5)),
        directed=True,
    )
    promise = MuWeightedKAnonymity(mu=10, k=3, share=0.5)
    score = compare(graph, graph.weighted(np.array([35.0, 32.0, 36.0, 33.0])), promise)["arcs that are anonymous"]
    assert score.value == 1
    assert dict(score.controls)["original"] == 0.75
    assert "arcs that are anonymous" not in compare(graph, graph)


def test_the_drawn_part_is_where_weights_are_largest():
    graph = network(8, 60, largest=1000, share=0.3)
    scores = draw(graph, changed(graph, 9))
    assert len(scores) == 80
    assert len({name for score in scores for name in (score.at, score.across)}) <= 40
    weights = dict(zip(graph.edges(), graph.weights.tolist(), strict=True))
    for score in scores:
        assert dict(score.controls)["original"] == weights[int(score.at), int(score.across)]


def test_what_cannot_be_compared_is_refused_in_one_line():
    graph = network(2)
    bare = graph.without_weights()
    with pytest.raises(ParameterError, match="the edges have no weights; name their column with --columns weight="):
        compare(bare, graph)
    with pytest.raises(ParameterError, match="the data has directions and the release has none; read the data as for"):
        compare(network(2, directed=True), graph)
    with pytest.raises(ParameterError, match="the release has other edges than the data"):
        compare(graph, network(3))
    with pytest.raises(ParameterError, match="networks with directions are measured by their weights"):
        compare(network(2, directed=True), network(2, directed=True).without_weights())


def test_a_release_without_weights_is_compared_without_them():
    graph = network(2)
    names = {score.name for score in measure_bare(graph)}
    assert "edges" in names
    assert not any("weights" in name for name in names)


def measure_bare(graph):
    comparison = Comparison(graph, graph.without_weights(), Distortion(), {})
    return measure(comparison, {}, rng(), queries=20)


def test_networks_with_directions_are_described():
    graph = equip(EDGE_CASES["isolated vertices"](), ("weights", "directions")).keeping([(6, 7)], between=[6, 8])
    facts = describe(graph)
    assert facts["weights"] == {"least": 1.0, "most": 3.0, "mean": 2.0, "median": 2.0}
    assert facts["edges that leave a vertex"]["most"] == 2
    assert facts["triangles"] == 1
    assert facts["pairs whose paths must stay"] == 1
    assert facts["vertices between all of which paths must stay"] == 2
    assert "directions" not in describe(graph_of([(0, 1)], 3))
    assert measure_weights(graph, graph, {}, rng())

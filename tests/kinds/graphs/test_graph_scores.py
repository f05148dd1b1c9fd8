"""Scores of graphs: for the owner, beside controls, 0 for a release that is the original; and edge inference."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from hedgerow import Domain, Graph, PureDP
from hedgerow.errors import ParameterError
from hedgerow.evaluate import evaluate
from hedgerow.kinds.graphs.cases import EDGE_CASES, graph_of
from hedgerow.kinds.graphs.edge_inference import (
    Targets,
    area_under_curve,
    draw_targets,
    measure_inference,
    score_pairs,
    without_targets,
)
from hedgerow.kinds.graphs.measures import describe, measure
from hedgerow.measures.comparison import Comparison
from hedgerow.methods import find_method
from hedgerow.releases.owner_files import read_scores, write_scores
from hedgerow.testing import strategies

PROMISE = PureDP(epsilon=1, unit="edge")
LARGE = {"random graph", "noisy degrees", "empty release"}


def groups(seed, size=25, count=6):
    """Communities of 25 vertices, dense inside."""
    rng, vertices = np.random.default_rng(seed), size * count
    one, other = np.triu_indices(vertices, 1)
    joined = rng.random(len(one)) < np.where(one // size == other // size, 0.4, 0.01)
    return Graph.from_columns(source=one[joined], target=other[joined], domain=Domain.declare(vertex=range(vertices)))


def random_release(data):
    return find_method("random-graph")().publish(data, PROMISE, seed=1)


def compare(original, released, **controls):
    return {
        score.name: score
        for score in measure(
            Comparison(original, released, PROMISE, {}), controls, np.random.default_rng(1), queries=100
        )
    }


@given(data=strategies.of_kind("graphs"))
@settings(max_examples=40)
def test_a_graph_that_is_compared_with_itself_has_no_error(data):
    for score in compare(data, data).values():
        if score.name.startswith(("mean relative error", "distance between", "edges added")):
            assert (score.low, score.value, score.high) == (0, 0, 0)
        elif score.name.startswith(("edges that are kept", "edge inference")):
            assert score.value == 1
        else:
            assert score.value == dict(score.controls)["original"]


@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_cases_have_scores_that_can_be_written(name, tmp_path):
    data = EDGE_CASES[name]()
    release = random_release(data)
    scores = evaluate(release, data, seed=1)
    write_scores(tmp_path / "s.json", scores, release.manifest())
    assert read_scores(tmp_path / "s.json").scores == tuple(scores)
    assert json.dumps(describe(data))


def test_scores_are_for_the_owner_and_stand_beside_controls():
    data = groups(2)
    scores = {score.name: score for score in evaluate(random_release(data), data, seed=1)}
    for score in scores.values():
        assert score.scope == "owner"
        named = {name for name, _ in score.controls}
        assert named >= LARGE or named >= {"original"} or named >= {"random graph", "guessing"}
    empty = dict(scores["distance between the degree distributions: total variation"].controls)["empty release"]
    assert empty == 1
    assert scores["edges"].value == pytest.approx(len(data), rel=0.05)


def test_only_cuts_along_the_structure_tell_a_graph_with_the_same_communities_from_a_random_one():
    """Cuts between random vertices mostly measure the number of edges (erratum E9)."""
    data = groups(3)
    like = compare(data, groups(4), random=random_release(data).data)
    for name, score in like.items():
        other = dict(score.controls).get("random")
        if name.startswith("mean relative error of cuts between random vertices"):
            assert abs(score.value - other) < 0.2
        if name.startswith("mean relative error of cuts along the structure, a community"):
            assert score.value < 0.3
            assert other > 1
    structure = like["modularity of the communities of the original"]
    values = dict(structure.controls)
    assert structure.value == pytest.approx(values["original"], abs=0.1)
    assert values["random"] < 0.1 < structure.value


def test_a_description_by_hand():
    facts = describe(EDGE_CASES["isolated vertices"]())
    assert facts == {
        "vertices": 12,
        "edges": 3,
        "density": 0.04545,
        "domain": "declared",
        "edges per vertex": {"least": 0, "most": 2, "mean": 0.5, "median": 0},
        "vertices without edges": 9,
        "connected components": 10,
        "vertices of the largest component": 3,
        "triangles": 1,
        "transitivity": 1.0,
        "average clustering": 0.25,
    }


def test_graphs_on_other_vertices_are_not_compared():
    release = random_release(graph_of([(0, 1)], 3))
    with pytest.raises(ParameterError, match="have different vertices; read the original with the domain of the"):
        evaluate(release, graph_of([(0, 1)], 4))


def test_pairs_are_ranked_by_edge_then_common_neighbours_then_degrees():
    graph = graph_of([(0, 1), (0, 2), (0, 3), (4, 5)], 7)
    scores = score_pairs(graph, np.arange(graph.pairs))
    of = dict(zip([(i, j) for i in range(7) for j in range(i + 1, 7)], scores.tolist(), strict=True))
    assert of[0, 1] > of[4, 5] > of[1, 2] == of[2, 3] > of[0, 4] > of[1, 4] > of[1, 6] == of[5, 6]


@given(data=strategies.of_kind("graphs", least=2))
@settings(max_examples=40)
def test_targets_are_edges_and_pairs_that_are_none(data):
    for setting, targets in draw_targets(data, np.random.default_rng(1), most=5).items():
        ranks = data.ranks()
        assert len(targets.edges) == len(targets.others) > 0
        assert np.isin(targets.edges, ranks).all()
        assert not np.isin(targets.others, ranks).any()
        assert len(np.unique(targets.others)) == len(targets.others)
        rest = without_targets(data, targets)
        assert len(rest) == len(data) - len(targets.edges)
        if setting.endswith("two"):
            scored = score_pairs(data, np.append(targets.others, data.pairs - 1))
            assert len(scored) == len(targets.others) + 1
            adjacency = np.zeros((data.domain.size("vertex"),) * 2, int)
            adjacency[data.first, data.second] = adjacency[data.second, data.first] = 1
            common = (adjacency @ adjacency)[np.triu_indices(len(adjacency), 1)]
            assert (common[targets.others] > 0).all()


def test_the_area_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(2)
    edges, others = rng.integers(0, 6, 40) + 0.0, rng.integers(0, 5, 30) + 0.0
    wins = (edges[:, None] > others).mean() + (edges[:, None] == others).mean() / 2
    rate = area_under_curve(edges, others)
    assert rate.value == pytest.approx(wins)
    assert rate.low < wins < rate.high


def test_the_interval_of_the_area_covers_it_as_often_as_it_says():
    """Normal scores, a known area; 95 % of 2,000 intervals: two-sided, false alarm below 1e-6."""
    rng = np.random.default_rng(3)
    area = stats.norm.cdf(1 / 2**0.5)
    covered = 0
    for _ in range(2_000):
        rate = area_under_curve(rng.normal(1, 1, 200), rng.normal(0, 1, 200))
        covered += rate.low <= area <= rate.high
    assert stats.binomtest(covered, 2_000, 0.95).pvalue > 1e-6
    for factor in (0.9, 1.1):
        assert stats.binomtest(covered, 2_000, 2 * stats.norm.cdf(1.96 * factor**2) - 1).pvalue < 1e-6


def test_the_attack_wins_on_the_original_and_guesses_on_a_random_graph():
    data = groups(5)
    scores = measure_inference(data, data, {"random graph": random_release(data).data}, np.random.default_rng(4))
    areas = [score for score in scores if score.name.endswith("ROC curve")]
    assert [score.at for score in areas] == ["random pairs", "pairs at distance two"]
    for score in areas:
        others = dict(score.controls)
        assert score.value == score.high == 1
        assert others["guessing"] == 0.5
        assert others["random graph"] == pytest.approx(0.5, abs=0.12)
    # communities tell a lot about random pairs, and little about pairs that share a neighbour
    known = [dict(score.controls)["original without these pairs"] for score in areas]
    assert known[1] < 0.6 < known[0] < 1
    for score in scores:
        if "advantage" in score.name:
            assert (score.value, dict(score.controls)["guessing"]) == (1, 0)
            assert abs(dict(score.controls)["random graph"]) < 0.12


def test_the_advantage_is_the_difference_of_two_shares():
    data = graph_of([(0, 1), (2, 3), (4, 5), (6, 7)], 8)
    released = graph_of([(0, 1), (2, 3), (0, 2)], 8)
    from hedgerow.kinds.graphs.edge_inference import _advantage

    targets = Targets(data.ranks(), np.array([1, 2, 3, 4]))  # (0, 2), (0, 3), (0, 4), (0, 5)
    assert _advantage(released, targets).value == 0.5 - 0.25


def test_a_release_that_has_lost_all_edges_is_an_attack_by_guessing():
    data = groups(6)
    nothing = graph_of([], data.domain.size("vertex"))
    for score in measure_inference(data, nothing, {}, np.random.default_rng(5)):
        assert score.value == (0.5 if "ROC" in score.name else 0)


def test_evaluating_twice_with_one_seed_gives_the_same_scores():
    data = groups(7)
    release = dataclasses.replace(random_release(data))
    assert evaluate(release, data, seed=3) == evaluate(release, data, seed=3)

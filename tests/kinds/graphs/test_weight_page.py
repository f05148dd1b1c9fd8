"""The charts of weighted networks: what they draw, with and without a comparison."""

from __future__ import annotations

import pytest

from hedgerow import Distortion, Domain, Graph, find_method
from hedgerow.charts import score_charts
from hedgerow.evaluate import attack, evaluate
from hedgerow.kinds.graphs.cases import EDGE_CASES, equip
from hedgerow.kinds.graphs.charts import charts
from hedgerow.releases.owner_files import read_scores, write_scores
from hedgerow.report import report

NASTY = "</script><script>alert(1)</script>"


def release_of(data):
    return find_method("gaussian-weights")(sigma=0.15).publish(data, Distortion(), seed=1)


def titled(drawn):
    return {chart["title"]: chart["spec"] for chart in drawn}


def roads(directed=False):
    edges = [(i, (i * 7 + step) % 60) for step in (1, 2, 5) for i in range(60) if i != (i * 7 + step) % 60]
    graph = Graph.from_edges(edges, domain=Domain.declare(vertex=range(60)), directed=directed)
    return equip(graph, ("weights",))


def test_weights_are_drawn_from_the_release_alone():
    data = roads()
    histogram, part = titled(charts(data, compared=False)).values()
    assert sum(row["edges of that weight"] for row in histogram["data"]["values"]) == len(data)
    assert len(part["data"]["values"]) <= 40
    lines = part["layer"][0]["data"]["values"]
    weights = {(str(one), str(other)): weight for (one, other), weight in zip(data.edges(), data.weights, strict=True)}
    assert lines
    assert all(line["weight"] == weights[line["from"], line["to"]] for line in lines)
    assert charts(data, compared=True) == []


def test_a_part_is_drawn_before_and_after_with_vertices_at_the_same_places():
    data = roads(directed=True)
    drawn = titled(score_charts(evaluate(release_of(data), data, seed=1), kind="graphs"))
    before, after = (drawn[f"Heaviest part of the network: {name}"] for name in ("original", "this release"))
    assert before["data"]["values"] == after["data"]["values"]
    scales = [each["layer"][0]["encoding"]["strokeWidth"]["scale"] for each in (before, after)]
    assert scales[0] == scales[1]
    lines = [each["layer"][0]["data"]["values"] for each in (before, after)]
    places = [[(line["x"], line["y"], line["x2"], line["y2"]) for line in each] for each in lines]
    assert places[0] == places[1]
    ratios = [new["weight"] / old["weight"] for old, new in zip(*lines, strict=True)]
    assert 0.4 < min(ratios) < 1 < max(ratios) < 1.6


def test_shares_lengths_and_levels_are_drawn_beside_the_controls():
    data = roads().keeping(between=[0, 1, 2])
    drawn = titled(score_charts(evaluate(release_of(roads()), data, seed=1), kind="graphs"))
    for title in ("Share of weights within a relative change", "Share of lengths of paths within a relative change"):
        rows = drawn[title]["data"]["values"]
        assert {row["series"] for row in rows} >= {"this release", "all doubled", "weights exchanged"}
        shares = [row["share"] for row in rows if row["series"] == "this release"]
        assert shares == sorted(shares)
        assert {row["change"] for row in rows} == {0.05, 0.1, 0.15, 0.2, 0.4}
    bars = drawn["Ratio of the lengths of paths, after to before"]["data"]["values"]
    assert sum(bar["share of pairs"] for bar in bars) == pytest.approx(1)
    levels = drawn["Weights before and after: the middle, and 90 % of the edges"]["data"]["values"]
    for row in levels:
        assert row["low"] <= row["released"] <= row["high"]
        assert row["series"] != "original" or row["released"] == row["original"]


@pytest.mark.parametrize("features", [("weights",), ("weights", "directions")])
@pytest.mark.parametrize("name", [name for name in EDGE_CASES if len(EDGE_CASES[name]())])
def test_every_edge_case_has_a_page(name, features, tmp_path):
    data = equip(EDGE_CASES[name](), features)
    release = release_of(data)
    scores = [*evaluate(release, data, seed=1), *attack(release, data, seed=1)]
    write_scores(tmp_path / "s.json", scores, release.manifest())
    assert read_scores(tmp_path / "s.json").scores == tuple(scores)
    assert "A release of graphs by gaussian-weights" in report([("R", release)], [scores])
    assert "Made by Hedgerow" in report([("R", release)])


def test_names_of_vertices_cannot_leave_the_drawing():
    domain = Domain.declare(vertex=[NASTY, "b", "c"])
    data = Graph.from_edges([("b", NASTY), ("c", NASTY)], weights=[1, 2], domain=domain)
    release = release_of(data)
    assert "<script>alert(1)" not in report([("R", release)], [evaluate(release, data, seed=1)])


def test_the_charts_of_a_large_network_stay_small():
    data = equip(Graph.from_ranks(EDGE_CASES["many"]().ranks(), Domain.declare(vertex=range(40))), ("weights",))
    release = release_of(data)
    bare = len(report([("R", release)]))
    assert len(report([("R", release)], [evaluate(release, data, seed=1)])) - bare < 150_000

"""The charts of graphs: what they draw, with and without a comparison."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import Domain, Graph, PureDP
from hedgerow.charts import score_charts
from hedgerow.evaluate import evaluate
from hedgerow.kinds.graphs.cases import EDGE_CASES, graph_of
from hedgerow.kinds.graphs.charts import charts
from hedgerow.kinds.graphs.layout import lay_out
from hedgerow.methods import find_method
from hedgerow.report import report

RINGS = graph_of(
    [(i, (i + step) % 100) for step in (1, 2, 5) for i in range(100)] + [(0, i) for i in range(20, 60)], 100
)


def release_of(data):
    return find_method("random-graph")().publish(data, PureDP(epsilon=1, unit="edge"), seed=1)


def titled(drawn):
    return {chart["title"]: chart["spec"] for chart in drawn}


def test_without_a_comparison_the_release_is_drawn_by_degrees_density_and_its_largest_vertices():
    drawn = titled(charts(RINGS, compared=False))
    degrees, density, part = drawn.values()
    assert list(drawn)[2] == "The 60 vertices with most edges in the release"
    rows = [(row["degree"], row["vertices of that degree"]) for row in degrees["data"]["values"]]
    # degrees 6 and 7 are one bin, of 59 and 40 vertices; one vertex has degree 46, in a bin from 45 to 46
    assert rows == [(pytest.approx(42**0.5), 49.5), (pytest.approx((45 * 46) ** 0.5), 0.5)]
    tiles = {(row["across"], row["at"]): row["value"] for row in density["data"]["values"]}
    assert len(tiles) == 32 * 32
    assert all(tiles[row, column] == value for (column, row), value in tiles.items())
    vertices, edges = part["data"]["values"], part["layer"][0]["data"]["values"]
    assert vertices[0]["name"] == "0"
    assert len(vertices) == 60
    assert sum(bool(vertex["label"]) for vertex in vertices) == 12
    shown = {int(vertex["name"]) for vertex in vertices}
    assert len(edges) == sum(one in shown and other in shown for one, other in RINGS.edges())


def test_with_a_comparison_only_the_drawing_is_of_the_release_alone():
    [title] = titled(charts(EDGE_CASES["two cliques"](), compared=True))
    assert title == "The released network"
    assert charts(EDGE_CASES["no edges"](), compared=False) == []


def test_scores_are_drawn_before_and_after():
    release = release_of(RINGS)
    scores = evaluate(release, RINGS, seed=1)
    drawn = titled(score_charts(scores, kind="graphs"))
    series = {row["series"] for row in drawn["Vertices by degree, before and after"]["data"]["values"]}
    assert series == {
        "original",
        "this release",
        "random graph",
        "noisy degrees",
    }  # an empty graph has no degree to draw
    before, after = (drawn[f"Density of the adjacency matrix: {name}"] for name in ("original", "this release"))
    assert len(before["data"]["values"]) == len(after["data"]["values"]) == 32 * 32
    assert before["encoding"]["color"]["scale"] == after["encoding"]["color"]["scale"]
    alone = titled(charts(RINGS, compared=False))["Density of the adjacency matrix of the release"]
    assert before["data"]["values"] == [
        {**row, "value": pytest.approx(row["value"])} for row in alone["data"]["values"]
    ]
    assert "Edge inference: area under the ROC curve (lower is better)" in drawn


@pytest.mark.parametrize("name", EDGE_CASES)
def test_every_edge_case_has_a_page(name):
    data = EDGE_CASES[name]()
    release = release_of(data)
    assert "A release of graphs by random-graph" in report([("R", release)], [evaluate(release, data, seed=1)])
    assert "Made by Hedgerow" in report([("R", release)])


def test_names_of_vertices_cannot_leave_the_drawing():
    domain = Domain.declare(vertex=["</script><script>alert(1)</script>", "b"])
    release = release_of(Graph.from_edges([("b", domain.values("vertex")[0])], domain=domain))
    assert "<script>alert(1)" not in report([("R", release)])


def test_the_layout_is_the_same_each_time_and_puts_communities_apart():
    cliques = EDGE_CASES["two cliques"]()
    points = lay_out(10, cliques.first.astype(np.int64), cliques.second.astype(np.int64))
    assert np.array_equal(points, lay_out(10, cliques.first.astype(np.int64), cliques.second.astype(np.int64)))
    assert np.abs(points).max() == pytest.approx(1)
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert 2 * far[:5, :5].mean() < far[:5, 5:].mean() > 2 * far[5:, 5:].mean()
    assert lay_out(0, np.zeros(0, np.int64), np.zeros(0, np.int64)).shape == (0, 2)

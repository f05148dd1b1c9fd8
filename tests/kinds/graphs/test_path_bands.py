"""Bands of path lengths: the laws of the thesis, against its figures, simulation and brute force."""

from __future__ import annotations

import json
import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import VECTORS
from scipy import stats

from hedgerow import Distortion, Domain, GaussianWeights, Graph, PathBands
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs import path_bands
from hedgerow.testing import changed

FALSE_ALARM = 1e-6
VECTOR = json.loads((VECTORS / "gaussian-weights.json").read_text())


def weighted(edges, weights, *, directed=False):
    names = sorted({vertex for edge in edges for vertex in edge})
    return Graph.from_edges(edges, weights=weights, directed=directed, domain=Domain.declare(vertex=names))


def figure(**changes):
    """The network of Figure 4.3, with some weights changed."""
    case = VECTOR["figure 4.3"]
    edges = [tuple(edge) for edge in case["edges"]]
    weights = {**dict(zip(edges, case["weights"], strict=True)), **changes.get("weights", {})}
    return weighted(edges, [weights[edge] for edge in edges])


def chain(weights, *, directed=True):
    return weighted([(step, step + 1) for step in range(len(weights))], weights, directed=directed)


def check_vectors():
    case = VECTOR["theorem 4.2.1"]
    path, sigma = [0, 1, 2, 3], case["sigma"]
    for row in case["bands"]:
        within = row["sigmas"] * sigma
        directed = PathBands(chain(case["weights"]), sigma=sigma)
        assert directed.probability(path, within=within) == pytest.approx(row["directed"], abs=5e-6)
        assert directed.loose_probability(within=within) == pytest.approx(row["claimed"], abs=5e-5)
        assert directed.band(path, probability=row["directed"]) == pytest.approx(within, rel=1e-3)
        plain, calibrated = (
            PathBands(chain(case["weights"], directed=False), sigma=sigma, calibrated=each) for each in (False, True)
        )
        assert calibrated.probability(path, within=within) == directed.probability(path, within=within)
        if "averaged" in row:
            assert plain.probability(path, within=within) == pytest.approx(row["averaged"], abs=5e-6)


def check_order():
    case = VECTOR["order"]
    for pair in case["pairs"]:
        first, second = pair["first"], pair["second"]
        # two paths from vertex 0 to vertex 99 with nothing in common
        edges, weights, paths = [], [], []
        for side, lengths in enumerate((first, second)):
            inner = [10 * side + step + 1 for step in range(len(lengths))]
            path = [0, *inner, 99]
            paths.append(path)
            edges += list(pairwise(path))
            weights += [*lengths, 1e-9]  # the last step is as good as nothing
        bands = PathBands(weighted(edges, weights, directed=True), sigma=case["sigma"])
        assert bands.order_probability(*paths) == pytest.approx(pair["probability"], abs=5e-5)
        assert bands.order_probability(*reversed(paths)) == pytest.approx(1 - pair["probability"], abs=5e-5)
    kept = case["figure 4.3, path 1 to 6 and its runner-up"]
    bands = PathBands(figure(), sigma=case["sigma"], calibrated=True)
    assert bands.order_probability(*bands.shortest_paths(1, 6, most=2)) == pytest.approx(kept, abs=5e-8)
    assert bands.stays_shortest(1, 6, rivals=1) == pytest.approx(kept, abs=5e-8)
    # the third path shares less with the first: it is longer, and a likelier winner
    assert bands.stays_shortest(1, 6) == pytest.approx(0.99985, abs=5e-6)


def check_figure():
    case, bands = VECTOR["figure 4.3"], PathBands(figure(), sigma=0.15)
    for row in case["paths"]:
        assert bands.shortest_paths(*row["ends"], most=2) == [row["path"], row["second"]]
        assert bands.length(row["path"]) == row["length"]
        assert bands.margin(*row["ends"]) == pytest.approx(row["margin"], abs=5e-5)
    for ends, length in case["distances"].items():
        (path,) = bands.shortest_paths(*map(int, ends.split("-")))
        assert bands.length(path) == length


def test_the_band_of_a_path():
    check_vectors()


def test_which_path_is_shorter():
    check_order()


def test_figure_4_3():
    check_figure()


def test_figure_4_4():
    case = VECTOR["figure 4.4"]
    edge, weight = case["changed"]
    bands = PathBands(figure(weights={tuple(edge): weight}), sigma=case["sigma"])
    for ends in case["tied"]:
        assert bands.margin(*ends) == 0
    outlier = case["outlier"]["to"] / case["outlier"]["from"] - 1
    assert outlier > 2 * case["sigma"]
    assert PathBands(figure(), sigma=case["sigma"]).probability([1, 3], within=outlier) > 0.99


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=8), st.floats(0.01, 0.5), st.floats(0.01, 1))
def test_the_theorem_is_true_and_loose(weights, sigma, within):
    path = list(range(len(weights) + 1))
    for directed in (True, False):
        bands = PathBands(chain(weights, directed=directed), sigma=sigma)
        exact, loose = bands.probability(path, within=within), bands.loose_probability(within=within)
        assert exact >= loose - 1e-12
        if len(weights) == 1 and directed:
            assert exact == pytest.approx(loose)
        if exact < 0.999:
            assert bands.band(path, probability=exact) == pytest.approx(within)


def simulate(bands, path, *, within, copies=4_000, seed=1):
    """Of many copies of a path that are published, how many are within the band."""
    graph, steps = bands.graph, len(path) - 1
    first = (np.arange(copies)[:, None] * (steps + 1) + np.arange(steps)).ravel()
    weights = np.tile([bands.length(edge) for edge in pairwise(path)], copies)
    domain = Domain.declare(vertex=range(copies * (steps + 1)))
    data = Graph.from_columns(source=first, target=first + 1, domain=domain, weights=weights, directed=graph.directed)
    method = GaussianWeights(sigma=bands.sigma, calibrated=bands.calibrated)
    lengths = method.publish(data, Distortion(), seed=seed).data.weights.reshape(copies, steps).sum(axis=1)
    return int((np.abs(lengths / bands.length(path) - 1) <= within).sum())


@pytest.mark.parametrize(("factor", "accepted"), [(1.0, True), (0.9, False), (1.1, False)])
@pytest.mark.parametrize(("directed", "calibrated"), [(True, False), (False, False), (False, True)])
def test_the_law_is_that_of_the_method(factor, accepted, directed, calibrated):
    path, copies = [0, 1, 2, 3], 20_000
    bands = PathBands(chain([6, 5, 10], directed=directed), sigma=0.15, calibrated=calibrated)
    within = bands.band(path, probability=0.7)
    count = simulate(bands, path, within=within, copies=copies)
    claimed = PathBands(bands.graph, sigma=0.15 * factor, calibrated=calibrated).probability(path, within=within)
    assert (stats.binomtest(count, copies, claimed).pvalue > FALSE_ALARM) == accepted


def all_paths(graph, source, target):
    """Every path without repeated vertices, by brute force, with its length."""
    values = graph.domain.values("vertex")
    weights = dict(zip(graph.edges(), graph.weights.tolist(), strict=True))
    if not graph.directed:
        weights |= {(second, first): weight for (first, second), weight in weights.items()}
    found = []
    inner = [value for value in values if value not in (source, target)]
    for count in range(len(inner) + 1):
        for middle in permutations(inner, count):
            steps = list(pairwise((source, *middle, target)))
            if all(step in weights for step in steps):
                found.append(sum(weights[step] for step in steps))
    return sorted(found)


@given(st.integers(0, 2**32), st.booleans())
def test_shortest_paths_are_those_of_brute_force(seed, directed):
    draw = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(6) for j in range(6) if (i < j or (directed and i > j)) and draw.random() < 0.5]
    domain = Domain.declare(vertex=range(6))
    graph = Graph.from_edges(pairs, weights=draw.integers(1, 5, len(pairs)), directed=directed, domain=domain)
    wanted, bands = all_paths(graph, 0, 5), PathBands(graph, sigma=0.1)
    if not wanted:
        with pytest.raises(ParameterError, match="no path leads from 0 to 5"):
            bands.shortest_paths(0, 5)
        return
    paths = bands.shortest_paths(0, 5, most=4)
    assert [bands.length(path) for path in paths] == wanted[:4]
    assert len({tuple(path) for path in paths}) == len(paths)
    assert bands.margin(0, 5) == (wanted[1] / wanted[0] - 1 if len(wanted) > 1 else math.inf) or len(wanted) > 1
    assert 0 <= bands.stays_shortest(0, 5) <= 1


def test_more_rivals_make_the_bound_smaller():
    bands = PathBands(figure(), sigma=0.2)
    bounds = [bands.stays_shortest(3, 4, rivals=rivals) for rivals in (1, 2, 5)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == pytest.approx(bands.order_probability(*bands.shortest_paths(3, 4, most=2)))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda bands: bands.length([1]), "a path has at least two vertices, each of them once"),
        (lambda bands: bands.length([1, 2, 1]), "a path has at least two vertices, each of them once"),
        (lambda bands: bands.length([1, 6]), "no edge leads from 1 to 6"),
        (lambda bands: bands.length([1, 7]), "7 is no vertex of the network"),
        (lambda bands: bands.shortest_paths(1, 1), "a path joins two different vertices; got one"),
        (lambda bands: bands.shortest_paths(1, 6, most=0), "most must be a whole number of at least 1; got 0"),
        (lambda bands: bands.stays_shortest(1, 6, rivals=0), "rivals must be a whole number of at least 1; got 0"),
        (lambda bands: bands.probability([1, 2], within=0), "within must be greater than 0; got 0"),
        (lambda bands: bands.band([1, 2], probability=1), "probability must be between 0 and 1; got 1"),
        (lambda bands: bands.order_probability([1, 2], [2, 1]), "the two paths have the same edges"),
        (lambda bands: PathBands(bands.graph, sigma=0), "PathBands.sigma must be greater than 0; got 0"),
        (lambda bands: PathBands(bands.graph.without_weights(), sigma=1), "the edges have no weights"),
    ],
)
def test_bad_questions(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask(PathBands(figure(), sigma=0.1))


@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("_spread", "np.linalg.norm(weights) / weights.sum()", "1", check_vectors),
        ("probability", "math.sqrt(2) * ", "", check_vectors),
        ("order_probability", "np.setxor1d(mine, others)", "np.union1d(mine, others)", check_order),
        ("margin", "/ first if rest", "/ rest[0] if rest", check_figure),
    ],
    ids=["the loose band", "no root of two", "edges of both count", "a share of the longer path"],
)
def test_planted_bugs_are_caught(name, old, new, check):
    with changed(path_bands.PathBands, name, old, new), pytest.raises(AssertionError):
        check()

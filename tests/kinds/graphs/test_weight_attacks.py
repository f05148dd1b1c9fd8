"""Attacks on weights: bounds that always hold and are as tight as all paths make them, exact weights, averages."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hedgerow import Distortion, Domain, Graph, find_method
from hedgerow.errors import ParameterError
from hedgerow.evaluate import attack as attack_release
from hedgerow.kinds.graphs.attacks import (
    EXACT,
    FACTORS,
    PATHS,
    attack,
    average_releases,
    bound_by_releases,
    effective_deviation,
    factor_interval,
    guess_exact,
    score_bounds,
    shrink_factor,
    stand_out,
)
from hedgerow.kinds.graphs.criterion import MuWeightedKAnonymity
from hedgerow.kinds.graphs.weight_bounds import (
    Bounds,
    all_kept_pairs,
    bound_by_category,
    bound_by_paths,
    read_paths,
)
from hedgerow.numerics.short_decimals import DIGITS, round_to_digits
from hedgerow.publisher import recipe_of
from hedgerow.score import ATTACK

#: how far the made releases move weights
MOVES = {"rise": 1.0, "fall": 0.5}


def rng(seed=1):
    return np.random.default_rng(seed)


def network(seed, vertices=7, *, directed=False, share=0.6, whole=False):
    draw = rng(seed)
    one, other = np.nonzero(draw.random((vertices, vertices)) < share)
    kept = one != other if directed else one < other
    weights = draw.uniform(1, 10, int(kept.sum()))
    return Graph.from_columns(
        source=one[kept],
        target=other[kept],
        domain=Domain.declare(vertex=range(vertices)),
        weights=np.rint(weights) if whole else weights,
        directed=directed,
    )


def pairs_of(seed, vertices=7, count=4):
    draw = rng(seed)
    pairs = np.array([draw.choice(vertices, 2, replace=False) for _ in range(count)])
    return np.unique(pairs, axis=0)


def move_categories(graph, pairs, seed):
    """A release that keeps all paths: those on none of them rise, those on all of them fall (Prop. 4.2.2, 4.2.3)."""
    paths, draw = read_paths(graph, pairs), rng(seed)
    weights, up = graph.weights.copy(), draw.random(len(graph))
    never, always = paths.never(), paths.always()
    weights[never] *= 1 + up[never]
    weights[always] *= 1 - up[always] / 2
    return graph.weighted(weights)


def attacked(graph, release, **more):
    arguments = {"undone_by": (), "parameters": {}, "rng": rng(), **more}
    return {score.name.removeprefix(ATTACK): score for score in attack(graph, release, **arguments)}


# ---- kept paths


@given(seed=st.integers(0, 5_000), directed=st.booleans(), whole=st.booleans())
@settings(max_examples=30, deadline=None)
def test_bounds_always_hold(seed, directed, whole):
    graph, pairs = network(seed, directed=directed, whole=whole), pairs_of(seed)
    release = move_categories(graph, pairs, seed + 1)
    box, paths = bound_by_releases([release], pairs, MOVES, whole=whole)
    targets = rng(seed).permutation(len(graph))[:4]
    bounds = bound_by_paths(release, paths, box, targets)
    assert bounds.hold(graph.weights).all()
    assert np.all(bounds.low >= box.low)
    assert np.all(bounds.high <= box.high)


def all_competitors(graph, pairs):
    """One inequality for each pair and each simple path that is not its shortest one, by networkx."""
    drawn = graph.to_networkx()
    edge_of = {edge: number for number, edge in enumerate(graph.edges())}
    edge_of = edge_of if graph.directed else edge_of | {(j, i): number for (i, j), number in edge_of.items()}
    rows = []
    for source, target in pairs.tolist():
        if not nx.has_path(drawn, source, target):
            continue
        ways = list(nx.all_simple_paths(drawn, source, target))
        vectors = [np.bincount([edge_of[step] for step in pairwise(way)], minlength=len(graph)) for way in ways]
        best = min(range(len(ways)), key=lambda way: vectors[way] @ graph.weights)
        rows += [vectors[best] - vector for way, vector in enumerate(vectors) if way != best]
    return np.array(rows).reshape(-1, len(graph))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_all_paths_at_once(seed, directed):
    graph, pairs = network(seed, 6, directed=directed), pairs_of(seed, 6, 5)
    release = move_categories(graph, pairs, seed + 1)
    box, paths = bound_by_releases([release], pairs, MOVES)
    bounds = bound_by_paths(release, paths, box, np.arange(len(graph)))
    rows = all_competitors(release, pairs)
    limits = {"A_ub": rows, "b_ub": np.zeros(len(rows))} if len(rows) else {}
    for edge in range(len(graph)):
        for end, sign in ((bounds.low, 1.0), (bounds.high, -1.0)):
            goal = np.zeros(len(graph))
            goal[edge] = sign
            solved = linprog(goal, bounds=np.stack(box, axis=1), method="highs", **limits)
            expected = solved.x[edge] if solved.status == 0 else np.inf
            assert end[edge] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_a_detour_with_known_weights_bounds_a_kept_edge():
    """0-1 is the shortest path between its ends, so its weight is at most that of 0-2-1, which was only raised."""
    graph = Graph.from_edges([(0, 1), (0, 2), (1, 2)], weights=[3, 4, 5], domain=Domain.declare(vertex=range(4)))
    graph = graph.keeping([(0, 1)])
    release = graph.weighted(np.array([2.5, 6.0, 7.0]))
    box, paths = bound_by_releases([release], all_kept_pairs(graph), MOVES)
    assert box.low.tolist() == [2.5, 3.0, 3.5]
    assert box.high.tolist() == [5.0, 6.0, 7.0]
    wide = bound_by_paths(release, paths, Bounds(box.low, np.array([np.inf, 6.0, 7.0])), np.array([0]))
    assert wide.high[0] == pytest.approx(13, rel=1e-6)


def test_a_second_release_narrows_the_bounds_and_shows_what_did_not_change():
    graph, pairs = network(4, 9), pairs_of(4, 9)
    releases = [move_categories(graph, pairs, seed) for seed in (1, 2, 3)]
    widths = []
    for count in (1, 2, 3):
        box, _ = bound_by_releases(releases[:count], pairs, MOVES)
        assert box.hold(graph.weights).all()
        widths.append(np.median(box.half_widths()))
    assert widths[0] > widths[1] >= widths[2]
    partial = ~(read_paths(graph, pairs).never() | read_paths(graph, pairs).always())
    assert partial.any()
    assert np.array_equal(box.low[partial], graph.weights[partial])


def test_parameters_of_the_method_decide_about_the_bounds():
    graph, pairs = network(4, 9), pairs_of(4, 9)
    paths = read_paths(graph, pairs)
    never = paths.never()
    for parameters, low, high in (
        (MOVES, 1 / 2, 1),
        ({"rise": 0.25, "least": 0.2}, 1 / 1.25, 1 / 1.05),
        (MOVES | {"two_sided": True}, 1 / 2, np.inf),
    ):
        box = bound_by_category(graph, paths, parameters)
        assert box.low[never] == pytest.approx(low * graph.weights[never])
        assert box.high[never] == pytest.approx(high * graph.weights[never])


@pytest.mark.parametrize(
    "parameters", [{"rise": 0.8, "fall": 0.3}, {"pairs": 0.2}, {"two_sided": True}, {"ties": "allow"}]
)
@pytest.mark.parametrize("directed", [False, True])
def test_bounds_hold_for_releases_by_the_method(directed, parameters):
    for seed in range(2):
        graph = network(seed, 9, directed=directed, whole=bool(seed % 2))
        graph = graph.keeping(
            [pair for pair in pairs_of(seed, 9, 6).tolist() if nx.has_path(graph.to_networkx(), *pair)]
        )
        method = find_method("greedy-weights")(**parameters)
        releases = [method.publish(graph, Distortion(), seed=number).data for number in (1, 2)]
        said = dict(recipe_of(method).parameters)
        for count in (1, 2):
            box, paths = bound_by_releases(releases[:count], all_kept_pairs(graph), said, whole=bool(seed % 2))
            bounds = bound_by_paths(releases[0], paths, box, rng(seed).permutation(len(graph))[:6])
            assert bounds.hold(graph.weights).all()


def test_pairs_with_several_shortest_paths_tell_nothing_wrong():
    assert np.isinf(bound_by_category(network(1), read_paths(network(1), pairs_of(1)), {"mu": 3}).high).all()
    square = [(0, 1), (1, 3), (0, 2), (2, 3)]
    graph = Graph.from_edges(square, weights=[1, 1, 1, 1], domain=Domain.declare(vertex=range(4)))
    paths = read_paths(graph, np.array([[0, 3]]))
    assert paths.single.tolist() == [False]
    assert not paths.never().any()
    assert not paths.always().any()
    bounds = bound_by_paths(graph, paths, bound_by_category(graph, paths, MOVES), np.arange(4))
    assert np.isinf(bounds.high).all()


def test_pairs_between_all_of_some_vertices_are_listed_once():
    graph = network(1).keeping([(3, 1)], between=[1, 2, 3])
    assert all_kept_pairs(graph).tolist() == [[1, 2], [1, 3], [2, 3]]
    turned = network(1, directed=True).keeping([(3, 1)], between=[1, 2])
    assert all_kept_pairs(turned).tolist() == [[1, 2], [2, 1], [3, 1]]


def test_bounds_of_whole_numbers_are_whole():
    bounds = Bounds(np.array([0.0, 1.9, 2.0]), np.array([1.8, 3.7, np.inf])).whole()
    assert bounds.low.tolist() == [1, 2, 2]
    assert bounds.high.tolist() == [1, 3, np.inf]


def test_scores_of_bounds_stand_beside_those_edge_by_edge_and_a_control():
    truth = np.array([1.0, 2.0, 4.0])
    bounds, box = Bounds(truth * 0.96, truth * 1.04), Bounds(truth / 2, truth)
    scores = {score.name: score for score in score_bounds(PATHS, bounds, box, truth, truth[::-1])}
    assert scores[f"{ATTACK}{PATHS}: weights bounded to within 5 %"].value == 1
    assert dict(scores[f"{ATTACK}{PATHS}: weights bounded to within 25 %"].controls) == {"edge by edge": 0.0}
    held = scores[f"{ATTACK}{PATHS}: bounds that hold"]
    assert held.value == 1
    assert dict(held.controls)["weights of others (control)"] == pytest.approx(1 / 3)


def test_the_attack_by_paths_does_better_than_its_control():
    graph = network(11, 14, share=0.5).keeping(between=[0, 1, 2, 3])
    release = move_categories(graph, all_kept_pairs(graph), 1)
    scores = attacked(
        graph,
        release,
        undone_by=(PATHS,),
        parameters=MOVES,
        again=lambda: move_categories(graph, all_kept_pairs(graph), 2),
    )
    for name in (PATHS, f"{PATHS} of two releases"):
        held = scores[f"{name}: bounds that hold"]
        assert held.value == 1 > dict(held.controls)["weights of others (control)"]
        error = scores[f"{name}: relative root mean square error"]
        assert error.value < dict(error.controls)["weights of others (control)"]
    exact = scores[f"{EXACT}, equal in two releases: guesses that are right"]
    assert exact.value == 1 > dict(exact.controls)["any edge"]


# ---- Gaussian factors


@pytest.mark.parametrize(
    ("parameters", "directed", "deviation"),
    [
        ({"sigma": 0.2}, True, 0.2),
        ({"sigma": 0.2}, False, 0.2 / 2**0.5),
        ({"sigma": 0.2, "calibrated": True}, False, 0.2),
        ({"sigma": 0.2, "calibrated": True}, True, 0.2),
        ({"sigma": 0.2, "owner": "one"}, False, 0.2),
    ],
)
def test_the_deviation_of_a_factor_is_that_of_the_method(parameters, directed, deviation):
    assert effective_deviation(parameters, directed=directed) == pytest.approx(deviation)
    graph = network(2, 90, directed=directed)
    release = find_method("gaussian-weights")(**parameters).publish(graph, Distortion(), seed=3)
    factors = release.data.weights / graph.weights
    assert factors.std() == pytest.approx(deviation, rel=0.1)
    covered = factor_interval(release.data.weights, deviation).hold(graph.weights).mean()
    assert covered == pytest.approx(0.95, abs=0.02)


def test_releases_average_out_and_the_best_multiple_errs_less():
    weights, deviation, draw = rng().uniform(1, 9, 20_000), 0.2, rng(2)
    graph = Graph.from_columns(
        source=np.arange(20_000),
        target=np.arange(20_000) + 1,
        domain=Domain.declare(vertex=range(20_001)),
        weights=weights,
    )
    releases = [graph.weighted(weights * (1 - deviation * draw.normal(size=20_000).clip(-4, 4))) for _ in range(16)]
    error = (average_releases(releases) / weights - 1).std()
    assert error == pytest.approx(deviation / 4, rel=0.03)
    plain, shrunk = (
        float(np.sqrt(((guess / weights - 1) ** 2).mean()))
        for guess in (releases[0].weights, shrink_factor(releases[0].weights, deviation))
    )
    assert shrunk < plain


def test_whole_numbers_are_recovered_by_rounding():
    graph = network(3, 30, directed=True, whole=True)
    release = find_method("gaussian-weights")(sigma=0.05).publish(graph, Distortion(), seed=3)
    scores = {score.name.removeprefix(ATTACK): score for score in attack_release(release, graph, seed=1)}
    exact = scores["rounding to whole numbers: weights recovered exactly"]
    controls = dict(exact.controls)
    assert exact.value > 0.7 > controls["weights of others (control)"]
    assert controls["release as it is"] == 0
    twice = scores["mean of two releases, rounded: weights recovered exactly"]
    assert twice.value > exact.value


@pytest.mark.slow
def test_what_comes_back_from_a_public_network():
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    table = np.loadtxt(Path(folder) / "eies" / "eies_acquaintance_time2.edges")
    people, codes = np.unique(table[:, :2], return_inverse=True)
    ends = codes.reshape(-1, 2)
    graph = Graph.from_columns(
        source=ends[:, 0],
        target=ends[:, 1],
        domain=Domain.declare(vertex=people.astype(int).tolist()),
        weights=table[:, 2].copy(),
        directed=True,
    )
    scores = {}
    for name, parameters in (("gaussian-weights", {"sigma": 0.1}), ("greedy-weights", {})):
        data = graph.keeping(between=people[:6].astype(int).tolist()) if name == "greedy-weights" else graph
        release = find_method(name)(**parameters).publish(data, Distortion(), seed=1)
        scores |= {score.name.removeprefix(ATTACK): score for score in attack_release(release, data, seed=1)}
    rounded = scores["factor interval, rounded: weights recovered exactly"]
    assert rounded.value > 0.93
    assert dict(rounded.controls)["weights of others (control)"] < 0.5
    for name in (PATHS, f"{PATHS} of two releases"):
        assert scores[f"{name}: bounds that hold"].value == 1
    one, two = (scores[f"{name}: weights recovered exactly"].value for name in (PATHS, f"{PATHS} of two releases"))
    assert two > one > 0.3


# ---- exact weights


def test_numbers_of_few_digits_stand_out():
    drawn = rng().uniform(1e-6, 1e4, 5_000)
    assert stand_out(np.round(drawn, 1)).all()
    assert stand_out(drawn).mean() < 0.001
    assert stand_out(round_to_digits(drawn, up=True)).mean() < 0.02
    assert stand_out(round_to_digits(drawn, up=True), DIGITS).all()
    assert not stand_out(drawn, DIGITS).mean() > 0.001


def test_digits_tell_hardly_anything_if_all_weights_were_changed():
    """Of seven digits, the last two are 0 once in a hundred times."""
    graph = network(8, 60, whole=True)
    release = find_method("greedy-weights")().publish(graph.keeping([(0, 1)]), Distortion(), seed=1)
    changed = release.data.weights != graph.weights
    assert changed.mean() > 0.99
    for name, flags in guess_exact(release.data, None, None, {}, whole=True).items():
        assert flags[changed].mean() < 0.03, name
        assert name == "many digits" or flags[~changed].all()


def test_many_digits_tell_weights_that_had_many_and_were_left():
    graph = network(6, 20)
    moved = np.arange(len(graph)) % 3 > 0
    release = graph.weighted(np.where(moved, round_to_digits(graph.weights * 1.3, up=True), graph.weights))
    guesses = guess_exact(release, None, None, {})
    assert np.array_equal(guesses["many digits"], ~moved)
    assert not guesses["few digits"][~moved].any()


def test_large_whole_numbers_in_a_release_were_not_left():
    graph = Graph.from_edges([(0, 1), (1, 2)], weights=[900_000, 7], domain=Domain.declare(vertex=range(3)))
    release = graph.keeping([(1, 2)]).weighted(np.array([1_234_567.0, 7.0]))
    box, _ = bound_by_releases([release], np.array([[1, 2]]), MOVES, whole=True)
    assert box.hold(graph.weights).all()
    assert box.high[1] == 7


def test_weights_that_were_left_are_told_apart():
    graph = network(6, 20, directed=True, whole=True)
    moved = np.arange(len(graph)) % 3 > 0
    release = graph.weighted(np.where(moved, graph.weights + rng().uniform(-0.4, 0.4, len(graph)), graph.weights))
    promise = MuWeightedKAnonymity(mu="0.3", k=2, share=0.01)
    scores = attacked(graph, release, guarantee=promise)
    digits = scores[f"{EXACT}, few digits: weights recovered exactly"]
    assert digits.value == pytest.approx((~moved).mean())
    right = scores[f"{EXACT}, few digits: guesses that are right"]
    assert right.value == 1 > dict(right.controls)["any edge"]
    assert f"{EXACT}, not anonymous: guesses that are right" in scores
    assert f"{EXACT}, equal in two releases: guesses that are right" not in scores


# ---- what cannot be attacked


def test_networks_that_cannot_be_attacked_are_refused():
    graph = network(1)
    with pytest.raises(ParameterError, match="there are no attacks on networks without weights"):
        attacked(graph, graph.without_weights())
    with pytest.raises(ParameterError, match="the edges of the data are not those of the release"):
        attacked(graph, network(2))
    with pytest.raises(ParameterError, match="the edges have no weights"):
        attacked(graph.without_weights(), graph)


def test_a_second_release_that_cannot_be_made_is_left_out():
    graph = network(1)

    def fail():
        msg = "there is no key"
        raise ParameterError(msg)

    for again in (fail, lambda: graph, None):
        names = attacked(graph, graph, undone_by=(FACTORS,), parameters={"sigma": 0.1}, again=again)
        assert not any("two releases" in name for name in names)

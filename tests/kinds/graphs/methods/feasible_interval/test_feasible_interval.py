"""Intervals of weights: the examples of the thesis, all paths of small networks, both kinds of distances, mutants."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from exact_intervals import exact_interval, random_network, simple_paths
from project import VECTORS

from hedgerow.errors import DomainError
from hedgerow.kinds.graphs.methods import network_distances, stored_paths
from hedgerow.kinds.graphs.methods.feasible_interval import FeasibleIntervals
from hedgerow.testing import changed

VECTOR = json.loads((VECTORS / "greedy-weights.json").read_text())
FIGURE, AFTER = VECTOR["Figure 4.3"], VECTOR["after Figure 4.7"]
EDGES = [f"{first}{second}" for first, second in FIGURE["edges"]]
BOTH = pytest.mark.parametrize("in_table", [True, False], ids=["table", "searches"])


def figure(*, after, in_table, pairs=None):
    """Figure 4.3, or the state after Figure 4.7."""
    ends = np.array(FIGURE["edges"]).T - 1
    weights = np.array(FIGURE["weights"], float)
    intervals = FeasibleIntervals.of(
        *ends, weights, 6, np.array(pairs or FIGURE["pairs"]) - 1, directed=False, in_table=in_table
    )
    if after:
        weights[[EDGES.index(edge) for edge in AFTER["changed"]]] = list(AFTER["changed"].values())
        intervals.move_all(weights)
    return intervals


def stored(intervals):
    """The edges of each path, by number."""
    paths = intervals.paths
    return (
        [part.tolist() for part in np.split(paths.arcs.edge[paths.passed], paths.starts[1:-1])]
        if len(paths.pairs)
        else []
    )


def pair_up(network, **more):
    ends = np.array(network.edges).T
    return FeasibleIntervals.of(
        *ends,
        np.array(network.weights, float),
        network.vertices,
        np.array(network.pairs).reshape(-1, 2),
        directed=network.directed,
        **more,
    )


@BOTH
def test_the_six_vertices_of_figure_4_3(in_table):
    pairs = [[int(key[0]), int(key[1])] for key in FIGURE["distances"]]
    intervals = figure(after=False, in_table=in_table, pairs=pairs)
    assert intervals.lengths.tolist() == list(FIGURE["distances"].values())
    intervals = figure(after=False, in_table=in_table)
    numbers = [[EDGES.index(f"{a}{b}") for a, b in path] for path in FIGURE["paths"]]
    assert stored(intervals) == numbers
    assert dict(zip(EDGES, intervals.visits.tolist(), strict=True)) == FIGURE["visits"]
    assert intervals.pairs_of(EDGES.index("25")).tolist() == [0, 2]


@BOTH
def test_the_interval_of_2_5_after_figure_4_7(in_table):
    intervals = figure(after=True, in_table=in_table)
    assert intervals.lengths.tolist() == AFTER["lengths"]
    assert intervals.rise(EDGES.index("25")) == AFTER["rise of 2-5"]
    assert intervals.fall(EDGES.index("25")) == AFTER["fall of 2-5"]


@BOTH
def test_the_whole_trace_with_half_of_each_interval(in_table):
    intervals = figure(after=True, in_table=in_table)
    trace = AFTER["trace"]
    for name, way, bound, weight in trace["moves"]:
        edge = EDGES.index(name)
        through = intervals.pairs_of(edge)
        up = int((intervals.lengths[through] > intervals.first_lengths[through]).sum()) * 2 < len(through)
        assert up == (way == "rise")
        assert (intervals.rise(edge) if up else intervals.fall(edge)) == bound
        step = trace["fraction"] * bound
        intervals.move(edge, intervals.weights[edge] + (step if up else -step))
        assert intervals.weights[edge] == weight
    assert intervals.lengths.tolist() == trace["lengths"]
    assert intervals.broken().tolist() == []


def compare_with_all_paths(seeds, moves=8):
    """Intervals, paths and distances of random networks, while weights move, beside all simple paths in fractions."""
    compared = 0
    for seed in seeds:
        network = random_network(seed)
        both = [pair_up(network, in_table=in_table) for in_table in (True, False)]
        rivals = [simple_paths(network, *pair) for pair in network.pairs]
        paths, weights = stored(both[0]), [Fraction(weight) for weight in network.weights]
        for path, others, unique in zip(paths, rivals, both[0].paths.unique, strict=True):
            lengths = [sum(weights[edge] for edge in other) for other in others]
            shortest = [other for other, length in zip(others, lengths, strict=True) if length == min(lengths)]
            assert sum(weights[edge] for edge in path) == min(lengths)
            assert len(path) == min(map(len, shortest))
            assert unique == (len(shortest) == 1)
        draw = np.random.default_rng(seed)
        for _ in range(moves):
            edge, up = int(draw.integers(len(weights))), bool(draw.integers(2))
            rise, fall = exact_interval(rivals, paths, weights, edge)
            for intervals in both:
                expected = math.inf if rise is None else float(rise)
                assert intervals.rise(edge) == pytest.approx(expected, abs=1e-7)
                assert intervals.fall(edge) == pytest.approx(float(fall), abs=1e-7)
                compared += 1
            bound = (weights[edge] if rise is None else rise) if up else fall
            if bound:
                step = Fraction(bound * int(draw.integers(1, 8)), 8)
                weights[edge] += step if up else -step
                for intervals in both:
                    intervals.move(edge, float(weights[edge]))
        for intervals in both:
            assert not len(intervals.broken())
            lengths = [float(sum(weights[edge] for edge in path)) for path in paths]
            assert intervals.lengths == pytest.approx(lengths)
    return compared


def test_intervals_are_those_of_all_simple_paths():
    """With ties, equal weights, directions or none, often not connected; by a table and by searches."""
    assert compare_with_all_paths(range(250)) == 250 * 16


@pytest.mark.slow
def test_intervals_are_those_of_all_simple_paths_of_thousands_of_networks():
    assert compare_with_all_paths(range(1_000, 6_000)) == 5_000 * 16


@pytest.mark.parametrize(
    ("owner", "name", "old", "new"),
    [
        (network_distances.AllDistances, "moved", "np.minimum(old + (after - before), detours.lengths)", "old"),
        (network_distances.AllDistances, "_go_round", "weights[self._arcs.edge[arcs] == edge] = np.inf", "pass"),
        (network_distances.AllDistances, "fall", "best = weight", "best = np.inf"),
        (network_distances.AllDistances, "_go_round", "if not better.any()", "if True"),
        (network_distances.Searches, "fall", "nearer[starts] != nearer[ends]", "nearer[starts] > nearer[ends]"),
        (network_distances.Searches, "rise", "self._set(edge, math.inf)", "pass"),
        (network_distances.Searches, "moved", "self._set(edge,", "(edge,"),
        (stored_paths, "_last_arcs", "if np.any(counts > 1):", "if False:"),
    ],
)
def test_mutants_of_the_intervals_are_caught(owner, name, old, new):
    with changed(owner, name, old, new), pytest.raises(AssertionError):
        compare_with_all_paths(range(250))


def test_outside_its_interval_a_path_is_lost():
    """The other half of the lemma: just beyond an end, the check of all paths finds a lost one."""
    beyond = 0
    for seed in range(150):
        network = random_network(seed)
        for edge in range(len(network.edges)):
            for way in (1, -1):
                intervals = pair_up(network)
                bound = intervals.rise(edge) if way > 0 else intervals.fall(edge)
                if math.isinf(bound) or (way < 0 and bound >= network.weights[edge]):
                    continue
                weights = intervals.weights.copy()
                weights[edge] += way * (bound + 1e-3)
                intervals.move_all(weights)
                assert len(intervals.broken(unique=False))
                beyond += 1
    assert beyond > 300


def test_the_lightest_edge_is_a_distance():
    """Proposition 4.2.1: weights cannot all change if all lengths stay, since the lightest weight is one of them."""
    for seed in range(100):
        network = random_network(seed)
        lightest = int(np.argmin(network.weights))
        ends = [network.edges[lightest]]
        intervals = FeasibleIntervals.of(
            *np.array(network.edges).T,
            np.array(network.weights, float),
            network.vertices,
            np.array(ends),
            directed=network.directed,
        )
        assert intervals.first_lengths[0] == network.weights[lightest]
        assert stored(intervals) in ([[lightest]], [[edge for edge, of in enumerate(network.edges) if of == ends[0]]])


def lose_paths(fall):
    """Lower one edge of each of 60 networks of 14 vertices by .999 of a bound: paths kept, and how many are lost."""
    kept = lost = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        cells = np.stack(np.triu_indices(14, 1))
        first, second = cells[:, draw.random(cells.shape[1]) < 0.3]
        weights = draw.uniform(1, 10, len(first))
        pairs = cells.T[draw.permutation(cells.shape[1])[:30]]
        pairs = pairs[~FeasibleIntervals.unreachable(first, second, 14, pairs, directed=False)]
        kept += len(pairs)
        broken = np.zeros(len(pairs), bool)
        for edge in range(len(first)):
            intervals = FeasibleIntervals.of(first, second, weights, 14, pairs, directed=False, in_table=False)
            bound = fall(intervals, edge)
            moved = weights.copy()
            moved[edge] -= 0.999 * min(bound, weights[edge])
            intervals.move_all(moved)
            broken[intervals.broken()] = True
        lost += int(broken.sum())
    return kept, lost


def test_the_printed_bound_of_proposition_4_2_5_breaks_paths_without_directions():
    """It takes walks through an edge in one of its directions only; the lemma takes both."""
    assert lose_paths(FeasibleIntervals.fall)[1] == 0
    with changed(network_distances.Searches, "fall", "nearer[starts] != nearer[ends]", "nearer[starts] > nearer[ends]"):
        kept, lost = lose_paths(FeasibleIntervals.fall)
    assert lost > kept / 20


def test_ties_are_broken_by_fewest_edges_then_by_the_smallest_vertices_from_the_end():
    first, second = np.array([0, 0, 0, 1, 2, 1]), np.array([1, 2, 4, 3, 3, 4])
    weights = np.array([1.0, 1, 2, 1, 1, 1])
    intervals = FeasibleIntervals.of(first, second, weights, 5, np.array([[3, 0], [0, 4]]), directed=False)
    assert stored(intervals) == [[0, 3], [2]]
    assert intervals.paths.unique.tolist() == [False, False]


@BOTH
def test_a_bridge_may_rise_without_end_and_fall_to_nothing(in_table):
    ends = np.array([0, 1]), np.array([1, 2])
    bridge = FeasibleIntervals.of(*ends, np.array([2.0, 3]), 3, np.array([[0, 2]]), directed=False, in_table=in_table)
    assert (bridge.rise(0), bridge.fall(0)) == (math.inf, 2.0)


@BOTH
def test_no_pairs_no_edges(in_table):
    none = np.zeros(0, int)
    empty = FeasibleIntervals.of(none, none, np.zeros(0), 3, none, directed=False, in_table=in_table)
    assert empty.broken().tolist() == empty.visits.tolist() == []
    free = FeasibleIntervals.of(np.array([0]), np.array([1]), np.ones(1), 3, none, directed=False, in_table=in_table)
    assert (free.rise(0), free.fall(0)) == (math.inf, 1.0)


def test_a_pair_without_a_path_is_refused():
    ends = np.array([0]), np.array([1])
    pairs = np.array([[0, 1], [1, 0]])
    assert FeasibleIntervals.unreachable(*ends, 2, pairs, directed=True).tolist() == [False, True]
    with pytest.raises(DomainError, match="a pair of vertices has no path between them"):
        FeasibleIntervals.of(*ends, np.ones(1), 2, pairs, directed=True)


def test_weights_that_are_lost_in_sums_close_no_circle():
    first, second = np.array([0, 1, 1, 2]), np.array([1, 2, 3, 3])
    weights = np.array([1e9, 1e-12, 1e-12, 1e-12])
    intervals = FeasibleIntervals.of(first, second, weights, 4, np.array([[0, 2], [0, 3]]), directed=False)
    assert intervals.broken().tolist() == []
    assert all(path[0] == 0 for path in stored(intervals))

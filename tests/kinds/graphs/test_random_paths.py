"""Randomised shortest paths: vectors, sums over walks, and formulas as they are printed, which are wrong."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from anonymous_arcs import network, random_network
from project import VECTORS

from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.random_paths import (
    RandomWalks,
    most_probable_path,
    scale_theta,
    sum_walks_between,
    update_row,
)

VECTOR = json.loads((VECTORS / "affinity-weights.json").read_text())
PATH = VECTOR["most probable path"]
DIAMOND = network([arc[:2] for arc in PATH["arcs"]], [arc[2] for arc in PATH["arcs"]])
#: five vertices with cycles
FIVE = network(
    [(0, 1), (0, 2), (1, 2), (2, 1), (1, 3), (2, 4), (3, 2), (3, 4), (4, 0)],
    [0.6, 0.9, 0.3, 0.4, 0.7, 1.1, 0.5, 0.8, 0.2],
)


def matrices(data, theta, target):
    """Weights, probabilities and steps as matrices; the row of the destination of the last one is 0."""
    weights = data.to_matrix().toarray()
    shares = np.divide(1, weights, where=weights > 0, out=np.zeros_like(weights))
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    steps = shares * np.exp(-theta * weights)
    steps[target] = 0
    return weights, shares, steps


def walks_by_length(data, theta, source, target, most=600):
    """The sum of weights of walks, and their mean length, arc by arc."""
    weights, _, steps = matrices(data, theta, target)
    at, lengths = np.zeros(len(weights)), np.zeros(len(weights))
    at[source] = 1.0
    total = length = 0.0
    for _ in range(most):
        lengths = lengths @ steps + at @ (steps * weights)
        at = at @ steps
        total, length = total + at[target], length + lengths[target]
        at[target] = lengths[target] = 0
    return total, length / total


@pytest.mark.parametrize(("theta", "direct", "shortest", "mean"), PATH["rows"])
def test_the_most_probable_path_is_not_the_shortest_one(theta, direct, shortest, mean):
    walks = RandomWalks.to(DIAMOND, 3, theta)
    assert walks.probability([0, 3]) == pytest.approx(direct, abs=6e-5)
    assert walks.probability([0, 1, 3]) == pytest.approx(shortest, abs=6e-5)
    assert walks.expected_lengths()[0] == pytest.approx(mean, abs=6e-5)
    best = most_probable_path(DIAMOND, 0, 3, theta)
    assert best.vertices == ((0, 3) if direct > shortest else (0, 1, 3))
    assert best.probability == pytest.approx(max(direct, shortest), abs=6e-5)


@pytest.mark.parametrize(("weight", "probability"), VECTOR["lemma 5.3.1"]["rows"])
def test_a_lighter_arc_on_a_cycle_makes_its_path_less_probable(weight, probability):
    """Lemma 5.3.1 claims that a path gets less probable when an arc of it gets heavier."""
    loop = network([(0, 1), (1, 2), (2, 1), (2, 3)], [1, weight, 0.1, 1])
    walks = RandomWalks.to(loop, 3, 0.5)
    assert walks.probability([0, 1, 2, 3]) == pytest.approx(probability, abs=6e-6)
    _, _, steps = matrices(loop, 0.5, 3)
    assert walks.probability([0, 1, 2, 3]) == pytest.approx(1 - steps[1, 2] * steps[2, 1])


@pytest.mark.parametrize("theta", [0.3, 1.0, 4.0])
def test_sums_over_walks_on_five_vertices(theta):
    """By their logarithms, by the inverse, and walk by walk."""
    walks = RandomWalks.to(FIVE, 4, theta)
    weights, _, steps = matrices(FIVE, theta, 4)
    total, mean = walks_by_length(FIVE, theta, 0, 4)
    sums = sum_walks_between(steps)
    assert math.exp(walks.log_sums[0]) == pytest.approx(total, rel=1e-10)
    assert sums[0, 4] == pytest.approx(total, rel=1e-10)
    assert walks.expected_lengths()[0] == pytest.approx(mean, rel=1e-9)
    assert (sums @ (weights * steps) @ sums)[0, 4] / sums[0, 4] == pytest.approx(mean, rel=1e-9)
    # the mean length is the derivative of -ln Z, by theta
    near = [RandomWalks.to(FIVE, 4, theta + step).log_sums[0] for step in (-1e-5, 1e-5)]
    assert (near[0] - near[1]) / 2e-5 == pytest.approx(mean, rel=1e-7)


def test_the_most_probable_path_is_so_among_all():
    for seed in range(40):
        data = random_network(seed, directed=seed % 2 == 0, vertices=5)
        size = data.domain.size("vertex")
        walks = RandomWalks.to(data, 1, 0.4)
        arcs = set(zip(walks.tail.tolist(), walks.head.tolist(), strict=True))
        paths = [
            (0, *inner, 1)
            for length in range(size - 1)
            for inner in itertools.permutations(range(2, size), length)
            if set(itertools.pairwise((0, *inner, 1))) <= arcs
        ]
        if paths:
            best = most_probable_path(data, 0, 1, 0.4)
            assert best.vertices in paths
            assert best.probability == pytest.approx(max(map(walks.probability, paths)))


def test_large_weights_do_not_underflow():
    """With theta = 20 and weights from 10 to 100, every step of the matrix is 0."""
    draw = np.random.default_rng(1)
    cells = np.argwhere(~np.eye(12, dtype=bool))
    data = network(cells.tolist(), draw.uniform(40, 100, len(cells)).tolist())
    _, _, steps = matrices(data, 20.0, 3)
    assert not steps.any()
    walks = RandomWalks.to(data, 3, 20.0)
    assert np.all(np.isfinite(walks.log_sums))
    d = min(length for length in shortest_lengths(data, 0, 3))
    assert walks.expected_lengths()[0] == pytest.approx(d, rel=1e-6)
    assert walks.log_sums[0] == pytest.approx(-20 * d, abs=10)
    scaled = RandomWalks.to(data, 3, scale_theta(data, 20.0))
    assert scaled.expected_lengths()[0] > d


def shortest_lengths(data, source, target):
    from scipy.sparse.csgraph import dijkstra

    return [dijkstra(data.to_matrix(), indices=source)[target]]


def test_where_no_walk_leads():
    data = network([(0, 1), (2, 3)], [1, 2])
    walks = RandomWalks.to(data, 1, 1.0)
    assert walks.log_sums.tolist() == [-1.0, 0.0, -math.inf, -math.inf]
    assert walks.expected_lengths().tolist() == [1.0, 0.0, math.inf, math.inf]
    with pytest.raises(ParameterError, match="no path leads from the first vertex to the second one"):
        most_probable_path(data, 2, 1, 1.0)
    with pytest.raises(ParameterError, match="7 is not a vertex of the domain"):
        most_probable_path(data, 7, 1, 1.0)
    for theta in (0, -1.0, math.nan):
        with pytest.raises(ParameterError, match="theta must be a number above 0"):
            RandomWalks.to(data, 1, theta)


# ---- a changed weight


def changed_steps(data, theta, target, arc, weight):
    """Steps before, and after the weight of an arc was changed: its whole row changes."""
    ends = list(zip(data.first.tolist(), data.second.tolist(), strict=True))
    weights = data.weights.copy()
    weights[ends.index(arc)] = weight
    return matrices(data, theta, target)[2], matrices(data.weighted(weights), theta, target)[2]


def test_the_update_of_a_row_is_exact():
    draw = np.random.default_rng(3)
    for seed in range(60):
        data = random_network(seed, directed=True, ties=False)
        source, target = data.first.tolist()[0], data.domain.size("vertex") - 1
        arc = (source, data.second.tolist()[0])
        before, after = changed_steps(data, 0.2, target, arc, float(draw.uniform(0.5, 9)))
        updated = update_row(sum_walks_between(before), source, after[source] - before[source])
        assert np.allclose(updated, sum_walks_between(after), rtol=0, atol=1e-12)


def test_the_formulas_of_chapter_5_are_wrong_as_printed():
    theta, target, arc, weight = 1.0, 4, (0, 1), 1.4
    (i, j), change = arc, 1.4 - 0.6
    before, after = changed_steps(FIVE, theta, target, arc, weight)
    old, new = sum_walks_between(before), sum_walks_between(after)
    _, shares, _ = matrices(FIVE, theta, target)
    _, now, _ = matrices(FIVE.weighted(np.where(FIVE.weights == 0.6, 1.4, FIVE.weights)), theta, target)
    factor = now[i, j] / shares[i, j]
    # (5.8) is true, and (5.10) forgets that the other arcs of the row change
    others = 1 / 0.9
    assert now[i, j] == pytest.approx(1 / (1 + weight * others))
    assert now[0, 2] / shares[0, 2] != pytest.approx(1, abs=0.05)
    # (5.11) scales the whole matrix
    scaled = math.exp(-theta * change) * factor * before
    assert sum_walks_between(scaled)[0, 4] != pytest.approx(new[0, 4], rel=0.01)
    # (5.13) changes one entry
    entry = np.zeros(5)
    entry[j] = after[i, j] - before[i, j]
    assert update_row(old, i, entry)[0, 4] != pytest.approx(new[0, 4], rel=0.01)
    beta = (1 - math.exp(-theta * change) * factor) * before[i, j]
    printed = old - beta / (1 + beta * old[j, i]) * np.outer(old[:, i], old[j])
    assert printed[0, 4] == pytest.approx(update_row(old, i, entry)[0, 4])
    # (5.14) takes Z_ij for the product of Z_ii and Z_jj
    assert old[0, 4] - beta / (1 + beta * old[j, i]) * old[0, 4] != pytest.approx(new[0, 4], rel=0.01)
    # (5.15) takes the length from these: compare with the true one, of the network with the new weight
    weights = FIVE.to_matrix().toarray()
    heavier = weights.copy()
    heavier[i, j] += change
    wrong = before.copy()
    wrong[i, j] = after[i, j]
    stale = sum_walks_between(wrong)
    true = (new @ (heavier * after) @ new)[0, 4] / new[0, 4]
    assert (stale @ (heavier * wrong) @ stale)[0, 4] / stale[0, 4] != pytest.approx(true, rel=1e-3)


def test_the_mean_length_is_wrong_as_printed():
    """With S = exp(-theta W ln W + ln P ln W) and a minus sign, it is negative."""
    weights, shares, steps = matrices(FIVE, 1.0, 4)
    there = weights > 0
    exponent = np.zeros_like(weights)
    exponent[there] = -weights[there] * np.log(weights[there]) + np.log(shares[there]) * np.log(weights[there])
    printed = np.where(there, np.exp(exponent), 0.0)
    printed[4] = 0
    sums = sum_walks_between(steps)
    assert -(sums @ printed @ sums)[0, 4] / sums[0, 4] < 0
    assert (sums @ (weights * steps) @ sums)[0, 4] / sums[0, 4] > 0

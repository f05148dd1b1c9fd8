"""laplace-graph: how many pairs are published has a closed form, and it is close to that of continuous noise."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from project import VECTORS
from scipy import stats

from hedgerow import CorrelatedDP, LaplaceGraph, PureDP
from hedgerow.errors import GuaranteeError, ParameterError
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.kinds.graphs.methods import memory_limits
from hedgerow.numerics.vertex_pairs import count_pairs
from hedgerow.privacy import survivors
from hedgerow.testing import check_publisher, check_replay, mutant
from laws import FALSE_ALARM

EDGE = PureDP(epsilon=1, unit="edge")
VECTOR = json.loads((VECTORS / "laplace-graph.json").read_text())["false edges"]
#: the chance of an entry 0, and of an entry 1, to be at least 1/2 with noise on multiples of 1/1000
FALSE = math.exp(-0.5) / (1 + math.exp(-0.001))
TRUE = 1 - math.exp(-0.501) / (1 + math.exp(-0.001))


def test_the_chance_is_that_of_continuous_noise():
    assert pytest.approx(0.5 * math.exp(-0.5), abs=2e-4) == FALSE
    assert pytest.approx(VECTOR["chance"], abs=5e-4) == FALSE
    pairs = count_pairs(VECTOR["vertices"]) - VECTOR["edges"]
    assert pairs * FALSE == pytest.approx(VECTOR["expected"], rel=2e-3)


@pytest.mark.parametrize(("complete", "chance"), [(False, FALSE), (True, TRUE)], ids=["no edges", "all edges"])
def test_as_many_pairs_are_published_as_computed(complete, chance):
    edges = [(i, j) for j in range(60) for i in range(j)] if complete else []
    data = graph_of(edges, 60)
    published = sum(len(LaplaceGraph().publish(data, EDGE, seed=seed).data) for seed in range(40))
    trials = 40 * data.pairs
    assert stats.binomtest(published, trials, chance).pvalue > FALSE_ALARM
    for factor in (0.9, 1.1):
        assert stats.binomtest(published, trials, chance * factor).pvalue < FALSE_ALARM


def test_k_edges_together_are_protected_by_k_times_the_noise():
    data = graph_of([(0, 1), (1, 2)], 3)
    for k in (1, 4):
        promise = CorrelatedDP(epsilon=1, k=k, unit="edge")
        same = PureDP(epsilon=Fraction(1, k), unit="edge")
        assert check_replay(LaplaceGraph(), data, data.neighbour(0, unit="edge"), promise, 1).loss == Fraction(1, k)
        published = [LaplaceGraph().publish(data, either, seed=5).data.to_bytes() for either in (promise, same)]
        assert published[0] == published[1]


@pytest.mark.parametrize("vertices", [1, 2, 3])
def test_the_smallest_graphs_are_published(vertices):
    for edges in ([], [(i, j) for j in range(vertices) for i in range(j)]):
        data = graph_of(edges, vertices)
        assert LaplaceGraph().publish(data, PureDP(epsilon=80, unit="edge"), seed=1).data.edges() == data.edges()


def test_the_loss_is_the_whole_budget():
    data = graph_of([(0, 1), (1, 2)], 3)
    assert check_replay(LaplaceGraph(), data, data.neighbour(0, unit="edge"), EDGE, 1).loss == 1


def test_too_many_vertices_are_refused_with_what_to_do():
    message = (
        r"laplace-graph would draw about 3e\+09 pairs that are no edges, and at most 33,554,432 fit in memory; "
        r"give a larger epsilon, or use random-graph"
    )
    with pytest.raises(ParameterError, match=message):
        LaplaceGraph().publish(graph_of([(0, 1)], 100_000), EDGE)
    # what is refused here is what a ledger would refuse, with another remedy
    assert memory_limits._DRAWN == survivors._MOST


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Laplace(l1=_STEPS)", "Laplace(l1=Fraction(_STEPS, 2))"),
        ("candidates=data.pairs", "candidates=int(data.ranks().max(initial=0)) + 1"),
        ("ranks, data.domain)", "edges.codes, data.domain)"),
    ],
    ids=["halved sensitivity", "pairs after the last edge left out", "exact instead of noisy"],
)
def test_mutants_of_laplace_graph_are_caught(old, new):
    with pytest.raises(GuaranteeError):
        check_publisher(mutant(LaplaceGraph, old, new, Fraction=Fraction)(), EDGE)

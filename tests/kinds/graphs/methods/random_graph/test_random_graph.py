"""random-graph: every graph of the noisy number of edges is equally likely, and the number is all that is asked."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow import CorrelatedDP, Domain, Graph, PureDP, RandomGraph
from hedgerow.errors import GuaranteeError, ParameterError
from hedgerow.frontiers import PairRank
from hedgerow.frontiers.sharded import ShardedEngine
from hedgerow.kinds.graphs.cases import graph_of, random_data
from hedgerow.numerics import sampling as distinct_numbers
from hedgerow.numerics.sampling import sample_distinct
from hedgerow.testing import changed, check_publisher, check_replay, mutant, output_distribution, worst_loss
from laws import FALSE_ALARM

EDGE = PureDP(epsilon=1, unit="edge")


def uniform_chance(size: int, below: int, draws: int = 6_000) -> float:
    """The p-value of a sample of sets under the law in which all are equally likely."""
    coins = np.random.default_rng(3)
    counts = Counter(tuple(sample_distinct(size, below, coins).tolist()) for _ in range(draws))
    sets = math.comb(below, size)
    return stats.chisquare([*counts.values(), *[0] * (sets - len(counts))]).pvalue


@pytest.mark.parametrize(("size", "below"), [(2, 6), (3, 6), (4, 6), (1, 40), (5, 10), (9, 10)])
def test_all_sets_of_distinct_numbers_are_equally_likely(size, below):
    assert uniform_chance(size, below) > FALSE_ALARM


@pytest.mark.parametrize(
    "bug", ["drawn[:size]", "drawn[len(drawn) - size :]"], ids=["the largest are dropped", "the smallest are dropped"]
)
def test_a_surplus_that_is_not_dropped_at_random_is_noticed(bug):
    drop = "np.delete(drawn, coins.choice(len(drawn), len(drawn) - size, replace=False))"
    with changed(distinct_numbers, "_sample_few", drop, bug):
        assert uniform_chance(2, 6) < FALSE_ALARM


@given(below=st.integers(0, 300), share=st.fractions(0, 1), seed=st.integers(0, 9))
def test_distinct_numbers_are_as_many_as_asked_for(below, share, seed):
    size = int(share * below)
    drawn = sample_distinct(size, below, np.random.default_rng(seed))
    assert len(drawn) == size
    assert np.all(np.diff(drawn) > 0)
    assert not size or (drawn[0] >= 0 and drawn[-1] < below)


def test_a_sample_out_of_two_trillions_is_spread_over_all_of_them():
    below = 2 * 10**12
    drawn = sample_distinct(200_000, below, np.random.default_rng(1))
    assert stats.kstest(drawn / below, "uniform").pvalue > FALSE_ALARM


def test_the_number_of_edges_is_kept_when_the_noise_is_small_and_the_edges_are_not():
    ring = graph_of([(i, (i + 1) % 200) for i in range(200)], 200)
    release = RandomGraph().publish(ring, PureDP(epsilon=60, unit="edge"), seed=1)
    assert len(release.data) == 200
    assert len(np.intersect1d(release.data.ranks(), ring.ranks())) < 12


def test_k_edges_together_are_protected_by_k_times_the_noise():
    data = graph_of([(0, 1), (1, 2)], 3)
    for k in (1, 4):
        promise = CorrelatedDP(epsilon=1, k=k, unit="edge")
        same = PureDP(epsilon=Fraction(1, k), unit="edge")
        assert check_replay(RandomGraph(), data, data.neighbour(0, unit="edge"), promise, 1).loss == Fraction(1, k)
        published = [RandomGraph().publish(data, either, seed=5).data.to_bytes() for either in (promise, same)]
        assert published[0] == published[1]


@pytest.mark.parametrize("vertices", [1, 2, 3])
@pytest.mark.parametrize("complete", [False, True])
def test_the_smallest_graphs_are_published(vertices, complete):
    edges = [(i, j) for j in range(vertices) for i in range(j)] if complete else []
    for seed in range(20):
        published = RandomGraph().publish(graph_of(edges, vertices), EDGE, seed=seed).data
        assert 0 <= len(published) <= published.pairs
        assert published.domain.size("vertex") == vertices


def test_the_loss_is_the_whole_budget_and_no_more():
    data = graph_of([(0, 1), (1, 2)], 3)
    neighbour = data.neighbour(0, unit="edge")
    assert check_replay(RandomGraph(), data, neighbour, EDGE, 1).loss == 1
    laws = (output_distribution(RandomGraph(), graph, EDGE, low=-4, high=7) for graph in (data, neighbour))
    assert worst_loss(*laws) == pytest.approx(1, abs=1e-9)


def test_noise_beyond_memory_is_refused_with_what_to_do():
    data = graph_of([], 100_000)
    with pytest.raises(ParameterError, match=r"edges would be published, and at most 67,108,864 fit .* larger eps"):
        for seed in range(9):
            RandomGraph().publish(data, PureDP(epsilon="0.000000001", unit="edge"), seed=seed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Laplace(l1=1)", "Laplace(l1=Fraction(1, 2))"),
        ("possible_edges(noisy, ", "possible_edges(int(exact[0]), "),
        ("ledger.coins()", "np.random.default_rng(int(data.ranks().sum()))"),
    ],
    ids=["halved sensitivity", "exact instead of noisy", "coins of the edges"],
)
def test_mutants_of_random_graph_are_caught(old, new):
    with pytest.raises(GuaranteeError):
        check_publisher(mutant(RandomGraph, old, new, Fraction=Fraction, np=np)(), EDGE)


# ---- the rule that numbers pairs


@given(data=random_data(st, least=0), shards=st.integers(1, 3))
def test_edges_are_counted_by_the_number_of_their_pair(data, shards):
    for graph in (data, data.on(ShardedEngine(shards))):
        counted = graph.frontier().count(PairRank(data.domain.size("vertex")))
        assert counted.codes.tolist() == data.ranks().tolist()
        assert set(counted.counts.tolist()) <= {1}


def test_pairs_of_a_million_vertices_have_numbers():
    domain = Domain.declare(vertex=range(1_000_000))
    data = Graph.from_edges([(999_998, 999_999), (0, 1), (77, 500_000)], domain=domain)
    rule = PairRank(1_000_000)
    assert data.frontier().count(rule).codes.tolist() == data.ranks().tolist()
    assert rule.size == data.pairs == data.ranks()[-1] + 1

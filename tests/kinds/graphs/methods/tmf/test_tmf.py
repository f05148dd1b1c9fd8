"""tmf: drawn sparsely, it has the law of its definition: noise on every pair, and the highest entries."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow import CorrelatedDP, PureDP, TopMFilter
from hedgerow.errors import GuaranteeError, ParameterError
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.kinds.graphs.methods import tmf
from hedgerow.kinds.graphs.methods.tmf import choose_cutoff, keep_highest
from hedgerow.testing import changed, check_publisher, check_replay, mutant, output_distribution, worst_loss
from laws import FALSE_ALARM

EDGE = PureDP(epsilon=1, unit="edge")
SHARE = 0.3


def discrete_laplace(draw, rate, size):
    return draw.geometric(-math.expm1(-rate), size) - draw.geometric(-math.expm1(-rate), size)


def by_definition(data, epsilon, steps, runs):
    """Noise on the number of edges and on every pair: for each run, which pairs are the highest."""
    draw = np.random.default_rng(11)
    noisy = len(data) + discrete_laplace(draw, SHARE * epsilon, runs)
    most = np.clip(noisy, 0, data.pairs)
    entries = discrete_laplace(draw, (1 - SHARE) * epsilon / steps, (runs, data.pairs))
    entries[:, data.ranks()] += steps
    values = entries + draw.random(entries.shape)  # ties are broken at random
    lowest = np.take_along_axis(np.sort(values, axis=1), np.minimum(data.pairs - most, data.pairs - 1)[:, None], axis=1)
    return (values >= lowest) & (most > 0)[:, None]


def published(data, epsilon, runs):
    promise = PureDP(epsilon=epsilon, unit="edge")
    return [TopMFilter(count_share=SHARE).publish(data, promise, seed=seed).data.ranks() for seed in range(runs)]


def same_law(sample, definition) -> float:
    """The p-value of a sample under frequencies of the definition; rare values are merged."""
    law, drawn = Counter(definition), Counter(sample)
    common = [value for value, count in law.items() if count * len(sample) >= 8 * len(definition)]
    observed = [drawn[value] for value in common]
    expected = [law[value] * len(sample) / len(definition) for value in common]
    rest = len(sample) - sum(expected)
    if rest > 1:
        observed, expected = [*observed, len(sample) - sum(observed)], [*expected, rest]
    return stats.chisquare(observed, np.array(expected) * sum(observed) / sum(expected)).pvalue


def as_masks(kept):
    return (kept @ (1 << np.arange(kept.shape[1]))).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [pytest.param(1, marks=pytest.mark.slow), 4])
@pytest.mark.parametrize(
    "edges",
    [
        pytest.param([], marks=pytest.mark.slow),
        [(0, 1), (0, 2), (2, 3)],
        pytest.param([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], marks=pytest.mark.slow),
    ],
)
def test_small_graphs_have_the_law_of_the_definition(edges, epsilon):
    """All 64 graphs on four vertices; an edge is one step, also where fewer pairs than edges reach the cutoff."""
    data = graph_of(edges, 4)
    sample = [int((1 << ranks).sum()) for ranks in published(data, epsilon, 2_500)]
    assert same_law(sample, as_masks(by_definition(data, epsilon, 1, 150_000))) > FALSE_ALARM
    for wrong in (0.7, 1.4):
        assert same_law(sample, as_masks(by_definition(data, epsilon * wrong, 1, 150_000))) < FALSE_ALARM


@pytest.mark.slow
def test_larger_graphs_have_the_law_of_the_definition():
    """An edge is a thousand steps here: how many edges are kept, and how many pairs are published."""
    data, epsilon = graph_of([(i, i + 1) for i in range(12)], 40), 2
    assert choose_cutoff(data.pairs, len(data), (1 - SHARE) * epsilon)[0] > 1
    edges = set(data.ranks().tolist())
    sample = [(len(ranks), len(edges & set(ranks.tolist()))) for ranks in published(data, epsilon, 2_500)]
    for factor, accepted in ((1, True), (0.7, False), (1.4, False)):
        kept = by_definition(data, epsilon * factor, 1_000, 20_000)
        law = list(zip(kept.sum(1).tolist(), kept[:, data.ranks()].sum(1).tolist(), strict=True))
        assert (same_law(sample, law) > FALSE_ALARM) == accepted


@given(pairs=st.integers(0, 10**12), most=st.integers(0, 10**7), epsilon=st.floats(0.01, 60))
def test_a_cutoff_is_reached_by_enough_pairs_and_not_by_far_more(pairs, most, epsilon):
    most = min(most, pairs)
    steps, cutoff = choose_cutoff(pairs, most, epsilon)
    enough = most + 6 * math.sqrt(most) + 20
    expected = pairs * math.exp(-epsilon * cutoff / steps) / (1 + math.exp(-epsilon / steps))
    assert cutoff >= 1
    assert expected <= 2 * enough
    if steps > 1:
        assert cutoff >= steps  # higher than an edge, where all entries have the same odds
        assert enough <= expected * (1 + 1e-9)
        assert stats.binom.cdf(most - 1, pairs, expected / pairs) < 1e-8


def test_one_step_per_edge_keeps_more_edges_than_many():
    """At the cutoff 1 it is randomised response, which no noise on a finer lattice beats."""
    data = graph_of([(i, (i * i + 7) % 400) for i in range(400) if i != (i * i + 7) % 400], 400)
    kept = []
    for limit in ("< enough", "< 0"):
        with changed(tmf, "choose_cutoff", "< enough", limit):
            promise = PureDP(epsilon=8, unit="edge")
            released = [TopMFilter().publish(data, promise, seed=seed).data.ranks() for seed in range(10)]
        kept.append(np.mean([len(np.intersect1d(data.ranks(), ranks)) for ranks in released]) / len(data))
    assert kept[0] > kept[1] + 0.05


@given(
    entries=st.lists(st.integers(1, 4), max_size=8),
    most=st.integers(0, 12),
    seed=st.integers(0, 99),
)
def test_the_highest_are_kept_or_others_are_added(entries, most, seed):
    coins, pairs = np.random.default_rng(seed), 12
    ranks = np.sort(coins.choice(pairs, len(entries), replace=False))
    kept = keep_highest(ranks, np.array(entries, np.int64), most, pairs, coins)
    assert len(kept) == most
    assert np.all(np.diff(kept) > 0)
    assert not most or (kept[0] >= 0 and kept[-1] < pairs)
    inside = np.isin(ranks, kept)
    if most <= len(ranks):
        assert set(kept) <= set(ranks)
        values = np.array(entries)
        assert not most or values[inside].min() >= values[~inside].max(initial=0)
    else:
        assert inside.all()


def test_ties_and_others_are_chosen_evenly():
    coins = np.random.default_rng(8)
    ties = Counter()
    others = Counter()
    for _ in range(4_000):
        ties.update(keep_highest(np.array([1, 4, 6]), np.array([2, 2, 3]), 2, 9, coins).tolist())
        others.update(keep_highest(np.array([1, 4, 6]), np.array([2, 2, 3]), 5, 9, coins).tolist())
    assert (ties[6], ties[1] + ties[4]) == (4_000, 4_000)
    assert stats.chisquare([ties[1], ties[4]]).pvalue > FALSE_ALARM
    # the two added pairs of a run differ, so that their numbers vary less than those of independent ones
    assert stats.chisquare([others[rank] for rank in (0, 2, 3, 5, 7, 8)]).pvalue > FALSE_ALARM


def test_the_exact_loss_stays_within_the_promise():
    data = graph_of([(0, 1), (1, 2)], 3)
    neighbour = data.neighbour(0, unit="edge")
    assert check_replay(TopMFilter(), data, neighbour, EDGE, 1).loss == 1
    laws = (
        output_distribution(TopMFilter(count_share=0.5), graph, EDGE, low=-1, high=4) for graph in (data, neighbour)
    )
    assert 0.5 < worst_loss(*laws) <= 1


def test_k_edges_together_are_protected_by_k_times_the_noise():
    data = graph_of([(0, 1), (1, 2)], 3)
    for k in (1, 4):
        promise = CorrelatedDP(epsilon=1, k=k, unit="edge")
        same = PureDP(epsilon=Fraction(1, k), unit="edge")
        assert check_replay(TopMFilter(), data, data.neighbour(0, unit="edge"), promise, 1).loss == Fraction(1, k)
        published = [TopMFilter().publish(data, either, seed=5).data.to_bytes() for either in (promise, same)]
        assert published[0] == published[1]


@pytest.mark.parametrize("vertices", [1, 2, 3])
def test_the_smallest_graphs_are_published(vertices):
    for edges in ([], [(i, j) for j in range(vertices) for i in range(j)]):
        data = graph_of(edges, vertices)
        assert TopMFilter().publish(data, PureDP(epsilon=1000, unit="edge"), seed=1).data.edges() == data.edges()
        assert len(TopMFilter().publish(data, EDGE, seed=1).data) <= data.pairs


def test_noise_beyond_memory_is_refused_with_what_to_do():
    with pytest.raises(ParameterError, match=r"fit in memory; give a larger epsilon"):
        for seed in range(9):
            TopMFilter().publish(graph_of([], 100_000), PureDP(epsilon="0.00000001", unit="edge"), seed=seed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Laplace(l1=steps)", "Laplace(l1=Fraction(steps, 2))"),
        ("choose_cutoff(data.pairs, most,", "choose_cutoff(data.pairs, len(data),"),
        ("candidates=data.pairs", "candidates=int(edges.max(initial=0)) + 1"),
        ("from_ranks(kept,", "from_ranks(fill(np.intersect1d(ranks, edges), most, edges, ledger.coins(), data.pairs),"),
    ],
    ids=["halved sensitivity", "cutoff of the exact number", "pairs after the last edge left out", "as implemented"],
)
def test_mutants_of_tmf_are_caught(old, new):
    broken = mutant(TopMFilter, old, new, Fraction=Fraction, fill=fill_with_non_edges)
    with pytest.raises(GuaranteeError):
        check_publisher(broken(), EDGE)


def fill_with_non_edges(passed, most, edges, coins, pairs):
    """Add as many pairs without an edge as edges are missing: what implementations of the paper do."""
    others = np.setdiff1d(np.arange(pairs), edges)
    missing = min(max(0, most - len(passed)), len(others))
    return np.sort(np.concatenate((passed[:most], coins.choice(others, missing, replace=False)))).astype(np.int64)

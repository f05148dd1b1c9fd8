"""DER keeps its promise: the replay law, the exact law of small cases, and planted bugs that are caught."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import DER, GuaranteeError, PureDP
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.kinds.graphs.methods import der
from hedgerow.testing import changed, check_publisher, check_replay, mutant, output_distribution, worst_loss

EDGE = PureDP(epsilon=1, unit="edge")


def blocks(sizes, vertices):
    """Cliques after each other: something to split."""
    edges, start = [], 0
    for size in sizes:
        edges += [(start + i, start + j) for j in range(size) for i in range(j)]
        start += size
    return graph_of(edges, vertices)


@given(
    seed=st.integers(0, 10**6),
    method=st.sampled_from(
        [
            DER(),
            DER(height=3),
            DER(height=2, midpoints=True),
            DER(height=3, order="noisy degrees"),
            DER(height=2, grid=2),
        ]
    ),
)
@settings(max_examples=30)
def test_the_replay_law_holds_on_graphs_that_are_split(seed, method):
    draw = np.random.default_rng(seed)
    data = blocks(draw.integers(3, 9, 3).tolist(), 30)
    promise = PureDP(epsilon=int(draw.integers(1, 40)), unit="edge")
    neighbour = data.neighbour(int(draw.integers(len(data))), unit="edge")
    check_replay(method, data, neighbour, promise, seed)
    check_replay(method, neighbour, data, promise, seed)


@pytest.mark.parametrize("epsilon", [1, 8])
@pytest.mark.parametrize("edges", [[(0, 1)], [(0, 1), (1, 2), (0, 2)]])
def test_the_exact_law_without_splits(edges, epsilon):
    """Three vertices, one leaf: count and arrangement use up almost all of what is promised."""
    promise = PureDP(epsilon=epsilon, unit="edge")
    data = graph_of(edges, 3)
    laws = [
        output_distribution(DER(height=0), graph, promise, low=-3, high=6)
        for graph in (data, data.neighbour(0, unit="edge"))
    ]
    assert 0.3 * epsilon < worst_loss(*laws) <= epsilon


@pytest.mark.slow
@pytest.mark.parametrize("edges", [[(0, 3)], [(0, 1), (0, 2), (2, 3)]])
def test_the_exact_law_with_splits(edges):
    """Four vertices, one depth of regions: every split point, every count in a window, every placement."""
    promise = PureDP(epsilon=6, unit="edge")
    data = graph_of(edges, 4)
    method = DER(height=1, grid=2)
    law = output_distribution(method, data, promise, low=-1, high=2)
    for edge in range(len(data)):
        other = output_distribution(method, data.neighbour(edge, unit="edge"), promise, low=-1, high=2)
        assert 0 < worst_loss(law, other) <= 6


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ones=ones,", "ones=leaves.ones,"),
        ("np.argsort(-noisy,", "np.argsort(-data.count_degrees(),"),
        ("Laplace(l1=2)", "Laplace(l1=1)"),
        ("explore(data.reordered(order))", "explore(data.reordered(np.argsort(-data.degrees(), kind='stable')))"),
    ],
    ids=["exact counts arranged", "order by exact degrees", "one end of an edge forgotten", "order without a question"],
)
def test_mutants_of_the_publisher_are_caught(old, new):
    broken = mutant(DER, old, new)
    with pytest.raises(GuaranteeError):
        for order, height in itertools.product(("noisy degrees", "declared"), (0, 2)):
            check_publisher(broken(order=order, height=height), EDGE)


@pytest.mark.parametrize(
    ("owner", "name", "old", "new"),
    [
        (der.SplitPoints, "allowed", "(cells >= self.least)", "(cells >= 1)"),
        (der.Exploration, "choose_splits", "sensitivity=UNITS", "sensitivity=UNITS // 2"),
        (der, "grow_tree", "are_leaves(children, noisy, depth)", "are_leaves(children, exact, depth)"),
        (der, "grow_tree", "Laplace(l1=1)", "Laplace(l1=Fraction(1, 2))"),
    ],
    ids=["small parts allowed", "scores move less", "leaves by exact counts", "halved sensitivity"],
)
def test_mutants_of_the_tree_are_caught(owner, name, old, new):
    """On graphs with something to split: the awkward shapes are too small for most of these."""
    with changed(owner, name, old, new), pytest.raises(GuaranteeError):
        for seed in range(30):
            draw = np.random.default_rng(seed)
            data = blocks(draw.integers(3, 8, 3).tolist(), 24)
            neighbour = data.neighbour(int(draw.integers(len(data))), unit="edge")
            promise = PureDP(epsilon=int(draw.integers(1, 60)), unit="edge")
            check_replay(DER(height=3), data, neighbour, promise, seed)

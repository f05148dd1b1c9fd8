"""Degree-corrected blocks: degrees are estimated, blocks are counted, edges are placed; its law, and planted bugs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hedgerow import DegreeCorrectedBlocks, GuaranteeError, PureDP, RandomGraph
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.kinds.graphs.methods import degree_corrected_blocks as publisher
from hedgerow.kinds.graphs.methods.degree_model import estimate_degrees, fit_mixture, fit_weights, noisy_poisson
from hedgerow.kinds.graphs.methods.edge_draw import place_edges
from hedgerow.kinds.graphs.methods.region_counts_model import fit_to_total, fit_tree
from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.testing import changed, check_publisher, check_replay, mutant, output_distribution, worst_loss

EDGE = PureDP(epsilon=1, unit="edge")


def blocks_of(vertices, size):
    """The blocks of a matrix that is cut at every multiple of `size`."""
    starts = np.arange(0, vertices, size)
    rows, columns = np.triu_indices(len(starts))
    ends = np.minimum(starts + size, vertices)
    return Regions(starts[rows], ends[rows], starts[columns], ends[columns])


@pytest.mark.parametrize("mean", [0.02, 1.0, 7.5, 60.0])
@pytest.mark.parametrize("scale", [0.3, 4.0])
def test_the_law_of_a_noisy_poisson_variable(mean, scale):
    """Against the sum over all degrees and all noise, from the formulas."""
    ratio = np.exp(-1 / scale)
    degrees, values = np.arange(0, 400), np.arange(-20, 120)
    noise = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values[:, None] - degrees)
    expected = noise @ stats.poisson.pmf(degrees, mean)
    assert noisy_poisson(np.array([mean]), scale, -20, 119).ravel() == pytest.approx(expected, abs=1e-12)


def test_the_mixture_returns_the_degrees_that_noise_has_blurred():
    """Half of the vertices expect 2 edges and half expect 20; noise of scale 4 hides which."""
    draw = np.random.default_rng(3)
    means = np.repeat([2.0, 20.0], 5_000)
    decay = -np.expm1(-1 / 4)
    noise = draw.geometric(decay, 10_000) - draw.geometric(decay, 10_000)
    points, weights = fit_mixture(draw.poisson(means) + noise, 4.0)
    assert weights.sum() == pytest.approx(1)
    assert weights @ points == pytest.approx(11, rel=0.03)
    assert weights[points < 7].sum() == pytest.approx(0.5, abs=0.05)
    assert weights[(points > 15) & (points < 25)].sum() == pytest.approx(0.5, abs=0.05)


def test_expected_degrees_ascend_with_noisy_ones():
    draw = np.random.default_rng(4)
    noisy = draw.integers(-10, 300, 2_000)
    expected = estimate_degrees(noisy, 3.0, draw)
    order = np.lexsort((expected, noisy))
    blurred = noisy[order] < 60
    assert np.all(np.diff(expected[order][blurred]) >= 0)
    assert np.array_equal(expected[noisy >= 60], noisy[noisy >= 60])
    assert np.all(expected > 0)


@pytest.mark.parametrize("scale", [1e-9, 1e4, 4e9, 1e15])
def test_degrees_are_estimated_under_any_noise(scale):
    """Noise of a large scale needs no large table of chances, and no vertex has more neighbours than there are."""
    draw = np.random.default_rng(8)
    noisy = np.rint(draw.laplace(5, scale, 300)).astype(np.int64)
    expected = estimate_degrees(noisy, scale, draw)
    assert np.all((expected > 0) & (expected <= 299))


def test_coarse_degrees_are_estimated_as_fine_ones_are():
    """Noise of scale 700 is that of degrees rounded to 2: the vertices with many edges keep about their mean."""
    draw = np.random.default_rng(3)
    decay = -np.expm1(-1 / 700)
    noise = draw.geometric(decay, 10_000) - draw.geometric(decay, 10_000)
    degrees = draw.poisson(np.repeat([5.0, 4_000.0], [9_000, 1_000]))
    expected = estimate_degrees(degrees + noise, 700.0, draw)
    assert np.sort(expected)[-1_000:].mean() == pytest.approx(4_000, rel=0.05)
    assert expected.mean() == pytest.approx(degrees.mean(), rel=0.1)


def test_weights_give_vertices_their_degrees():
    draw = np.random.default_rng(5)
    blocks = blocks_of(60, 15)
    edges = draw.integers(5, 80, len(blocks))
    degrees = draw.gamma(2.0, 4.0, 60)
    degrees *= 2 * edges.sum() / degrees.sum()
    weights = fit_weights(degrees, blocks, edges)
    sums = np.concatenate(([0.0], np.cumsum(weights)))
    expected = np.zeros(60)
    for top, bottom, left, right, number in zip(
        blocks.top, blocks.bottom, blocks.left, blocks.right, edges, strict=True
    ):
        expected[top:bottom] += number * weights[top:bottom] / (sums[bottom] - sums[top])
        expected[left:right] += number * weights[left:right] / (sums[right] - sums[left])
    # blocks fix the sums over 15 vertices each, which these degrees do not have exactly
    assert np.corrcoef(expected, degrees)[0, 1] > 0.9
    assert expected.sum() == pytest.approx(degrees.sum())


@given(seed=st.integers(0, 10**6), size=st.integers(1, 9), dense=st.booleans())
@settings(max_examples=60)
def test_every_block_gets_its_edges_each_once(seed, size, dense):
    draw = np.random.default_rng(seed)
    blocks = blocks_of(24, size)
    edges = draw.integers(0, blocks.cells + 1) if dense else draw.integers(0, 1 + blocks.cells // 4)
    weights = draw.gamma(0.3, 1.0, 24) + 1e-9  # a few vertices have almost all the weight
    row, column = place_edges(blocks, edges, weights, draw)
    assert np.all(row < column)
    assert len(np.unique(row * 24 + column)) == len(row)
    owner = [
        np.flatnonzero((blocks.top <= i) & (i < blocks.bottom) & (blocks.left <= j) & (j < blocks.right))
        for i, j in zip(row, column, strict=True)
    ]
    assert np.array_equal(np.bincount(np.array(owner, int).ravel(), minlength=len(blocks)), edges)


@pytest.mark.parametrize("size", [4, 8], ids=["blocks drawn", "one block, listed"])
def test_the_first_edge_is_placed_by_weight(size):
    """One edge in one block: its chances are products of weights; with other weights they are refused."""
    weights = np.array([1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 1.0, 6.0])
    blocks = blocks_of(8, size)[:1]
    draws = 5_000
    edges = np.ones(1, np.int64)
    coins = np.random.default_rng(9)
    placed = [place_edges(blocks, edges, weights, coins) for _ in range(draws)]
    counts = np.zeros((8, 8))
    for row, column in placed:
        counts[row, column] += 1
    rows, columns = np.triu_indices(size, 1)

    def p_value(powers):
        chances = (weights**powers)[rows] * (weights**powers)[columns]
        return stats.chisquare(counts[rows, columns], draws * chances / chances.sum()).pvalue

    assert p_value(1.0) > 1e-6
    assert max(p_value(0.75), p_value(1.3)) < 1e-6


@given(seed=st.integers(0, 10**6))
def test_tree_least_squares_agrees_with_linear_algebra(seed):
    draw = np.random.default_rng(seed)
    parent, depth = np.array([-1, 0, 0, 0, 1, 1, 2, 2, 2, 4, 4]), np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3])
    counts, variance = draw.normal(0, 9, len(parent)), draw.uniform(0.5, 9, len(parent))
    variance[0] = np.inf
    leaves = [node for node in range(len(parent)) if node not in parent]
    design = np.zeros((len(parent), len(leaves)))
    for column, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            design[node, column] = 1
            node = parent[node]
    scale = np.sqrt(1 / variance)
    best = np.linalg.lstsq(design * scale[:, None], counts * scale, rcond=None)[0]
    assert fit_tree(parent, depth, counts, variance) == pytest.approx(design @ best, abs=1e-6)


@given(
    counts=st.lists(st.floats(-50, 50), min_size=1, max_size=12),
    cells=st.integers(0, 30),
)
def test_fitted_counts_are_in_range_and_keep_their_total(counts, cells):
    sizes = np.full(len(counts), cells)
    fitted = fit_to_total(np.array(counts), np.ones(len(counts)), sizes)
    assert np.all((fitted >= 0) & (fitted <= cells))
    assert abs(fitted.sum() - np.clip(sum(counts), 0, cells * len(counts))) <= 1


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e30], ids=lambda size: f"variances about {size:g}")
def test_counts_are_fitted_under_any_noise(size):
    draw = np.random.default_rng(7)
    for _ in range(100):
        cells = draw.integers(0, 100, 30)
        counts, variance = draw.normal(0, 50, 30), size * 10 ** draw.uniform(-4, 4, 30)
        fitted = fit_to_total(counts, variance, cells)
        assert np.all((fitted >= 0) & (fitted <= cells))
        assert abs(fitted.sum() - np.clip(counts.sum(), 0, cells.sum())) < 1.5


@pytest.mark.parametrize("weight", [0.0, 1e-300, 1e150])
def test_equal_weights_are_equal_however_small(weight):
    """Half of the pairs of six vertices, listed: each pair is taken in about every second draw."""
    draw = np.random.default_rng(2)
    counts = np.zeros((6, 6))
    for _ in range(400):
        row, column = place_edges(Regions.whole(6), np.array([8]), np.full(6, weight), draw)
        counts[row, column] += 1
    taken = counts[np.triu_indices(6, 1)]
    assert abs(taken - 400 * 8 / 15).max() < 60


def test_degrees_and_blocks_are_kept_where_a_random_graph_loses_them():
    """Four communities of 60 vertices and a hub in each."""
    draw = np.random.default_rng(1)
    edges = {
        (min(i, j) + 60 * c, max(i, j) + 60 * c) for c in range(4) for i, j in draw.integers(0, 60, (400, 2)) if i != j
    }
    edges |= {(60 * c, 60 * c + i) for c in range(4) for i in range(1, 60)}
    data = graph_of(sorted(edges), 240)
    promise = PureDP(epsilon=2, unit="edge")
    ours, rival = (method().publish(data, promise, seed=2).data for method in (DegreeCorrectedBlocks, RandomGraph))

    def inside(graph):
        return (graph.first // 60 == graph.second // 60).mean()

    assert inside(data) == 1
    assert inside(ours) > 0.85
    assert inside(rival) < 0.3
    hubs = np.arange(4) * 60
    assert min(ours.degrees()[hubs]) > 35
    assert max(rival.degrees()[hubs]) < 30


@given(
    seed=st.integers(0, 10**6),
    method=st.sampled_from([DegreeCorrectedBlocks(), DegreeCorrectedBlocks(least=0.5, contrast=500)]),
)
@settings(max_examples=20)
def test_the_replay_law_holds_on_graphs_that_are_split(seed, method):
    draw = np.random.default_rng(seed)
    pairs = {(min(i, j), max(i, j)) for i, j in draw.integers(0, 30, (90, 2)).tolist() if i != j}
    data = graph_of(sorted(pairs), 30)
    promise = PureDP(epsilon=int(draw.integers(1, 40)), unit="edge")
    neighbour = data.neighbour(int(draw.integers(len(data))), unit="edge")
    check_replay(method, data, neighbour, promise, seed)
    check_replay(method, neighbour, data, promise, seed)


@pytest.mark.slow
def test_the_exact_law_of_a_small_case():
    """Three vertices: every degree in a window and every count."""
    promise = PureDP(epsilon=2, unit="edge")
    data = graph_of([(0, 1), (1, 2)], 3)
    method = DegreeCorrectedBlocks(contrast=1)
    laws = [
        output_distribution(method, graph, promise, low=0, high=3) for graph in (data, data.neighbour(0, unit="edge"))
    ]
    assert 0.3 < worst_loss(*laws) <= 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Laplace(l1=2)", "Laplace(l1=1)"),
        ("estimate_degrees(noisy,", "estimate_degrees(data.degrees(),"),
        ("fit_leaves(tree.noisy)", "tree.leaves.ones"),
        ("self.contrast * float(degrees.sum()) / 2", "self.contrast * len(data)"),
    ],
    ids=["one end of an edge forgotten", "exact degrees", "exact counts", "height of the exact number of edges"],
)
def test_mutants_are_caught(old, new):
    with pytest.raises(GuaranteeError):
        check_publisher(mutant(DegreeCorrectedBlocks, old, new)(), EDGE)


def test_a_mutant_of_the_tree_is_caught():
    with changed(publisher, "grow_tree", "are_leaves(children, noisy, depth)", "are_leaves(children, exact, depth)"):
        with pytest.raises(GuaranteeError):
            for seed in range(40):
                test_the_replay_law_holds_on_graphs_that_are_split.hypothesis.inner_test(seed, DegreeCorrectedBlocks())

"""DER: the vectors of its paper, and what every run of it must satisfy."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import VECTORS

from hedgerow import DER, DegreeCorrectedBlocks, PureDP
from hedgerow.audit import Recorder
from hedgerow.data.axis import MOST_VALUES
from hedgerow.errors import ParameterError
from hedgerow.frontiers import LatticeBin
from hedgerow.kinds.graphs.cases import from_vector, graph_of
from hedgerow.kinds.graphs.methods import der
from hedgerow.kinds.graphs.methods.der import IMPOSSIBLE, UNITS, SplitPoints, TreeBudget, least_cells
from hedgerow.kinds.graphs.methods.region_counts_model import (
    MOST_DEPTHS,
    combine,
    greatest_height,
    level_share,
    level_shares,
)
from hedgerow.numerics.adjacency_regions import Regions
from hedgerow.privacy import ExactAnswers, NoisyAnswers
from hedgerow.publisher import publish_with

VECTOR = json.loads((VECTORS / "der.json").read_text())
EDGE = PureDP(epsilon=1, unit="edge")
SCALES = 2 * math.sqrt(2)


def pairs_of(vertices):
    return vertices * (vertices - 1) // 2


def random_graph(draw, vertices, edges):
    ranks = draw.choice(pairs_of(vertices), min(edges, pairs_of(vertices)), replace=False)
    rows, columns = np.triu_indices(vertices, 1)
    return graph_of(list(zip(rows[ranks].tolist(), columns[ranks].tolist(), strict=True)), vertices)


def lattice_of(data, regions, grid):
    """The edges of each bin, counted one by one."""
    bins = grid + 1
    counted = data.frontier().count(LatticeBin(regions, np.full(len(regions), bins)))
    table = np.zeros((len(regions), bins * bins), np.int64)
    table[counted.cells, counted.codes] = counted.counts
    return table.reshape(-1, bins, bins)


@pytest.mark.parametrize("case", VECTOR["splits"]["cases"], ids=lambda case: str(case["at"]))
def test_splits_of_the_figure(case):
    data = from_vector(VECTOR["noise off"])
    row, column = case["at"]
    parts = Regions.whole(8).quadrants(np.array([row]), np.array([column]))
    assert parts.cells.tolist() == case["cells"]
    first, second = data.first, data.second
    ones = [
        int((((first < row) == top) & ((second < column) == left)).sum())
        for top in (True, False)
        for left in (True, False)
    ]
    assert ones == case["ones"]
    least = VECTOR["splits"]["least"]
    assert least == least_cells(28, 1)
    points = SplitPoints(Regions.whole(8), 32, least)
    scores = points.scores(lattice_of(data, Regions.whole(8), 32)).reshape(32, 32)
    score = scores[row - 1, column - 1]
    if case["allowed"]:
        assert score / (least * UNITS) == pytest.approx(case["score"], abs=1 / (least * UNITS))
    else:
        assert score == IMPOSSIBLE


def test_densities_of_the_full_matrix_of_the_figure():
    """Example 7.4.1 and the prefix sums of the printed method, where every edge is two cells."""
    data = from_vector(VECTOR["noise off"])
    matrix = np.zeros((8, 8), int)
    matrix[data.first, data.second] = matrix[data.second, data.first] = 1
    assert matrix.mean() == 20 / 64
    parts = [matrix[:3, :5], matrix[:3, 5:], matrix[3:, :5], matrix[3:, 5:]]
    assert [(int(part.sum()), part.size) for part in parts] == [(1, 15), (8, 9), (11, 25), (0, 15)]
    sums = matrix.cumsum(0).cumsum(1)
    assert sums[2].tolist() == [0, 0, 0, 1, 1, 4, 7, 9]
    assert sums[7].tolist() == [3, 6, 9, 11, 12, 15, 18, 20]


@pytest.mark.parametrize("height", ["1", "2", "5", "9"])
def test_shares_of_the_depths(height):
    case, depths = VECTOR["shares"][height], int(height)
    assert [level_share(depth, depths) for depth in range(depths + 1)] == pytest.approx(case["levels"], abs=6e-6)
    shares = level_shares(Fraction(1), depths)
    assert sum(shares) == 1
    # shares are rounded down to 2**-16, and the greatest depth gets the rest
    assert float(shares[-1]) == pytest.approx(case["deepest"], abs=depths * 2**-16 + 1e-5)
    assert [float(share) for share in shares[:-1]] == pytest.approx(case["levels"][1:-1], abs=2**-15)


@pytest.mark.parametrize("vertices", [name for name in VECTOR["heights"] if name != "where"])
def test_heights(vertices):
    for epsilon, heights in VECTOR["heights"][vertices].items():
        heights_now = [greatest_height(pairs_of(int(vertices)), float(epsilon) / k, SCALES) for k in (1, 5, 25)]
        assert heights_now == heights, epsilon


def test_the_printed_height_is_greater_for_fifteen_vertices():
    """The print has `|V|^2` for the number of cells."""
    assert greatest_height(pairs_of(15), 1.0, SCALES) == 1
    assert greatest_height(15**2 / 2, 1.0, SCALES) == 2


def test_two_counts_are_combined_by_inverse_variance():
    """`e1 = .1, e2 = .2`: variances 200 and 50, combined 40; the weights of the print give 44.98."""
    first, second = 2 / 0.1**2, 2 / 0.2**2
    weight = float(combine(np.array([1.0]), np.array([0.0]), np.array([first]), np.array([second]))[0])
    assert weight**2 * first + (1 - weight) ** 2 * second == pytest.approx(40)
    assert weight == pytest.approx(0.2)


def test_midpoints_share_what_is_for_split_points():
    """Multipliers 4770, 1192, 298, 75, 19, 4.7, 1.2, ...: six depths of nine choose, and they share all of it."""
    pairs, part = pairs_of(5242), Fraction(1, 10)
    plain = TreeBudget.divide(Fraction(1), Fraction(1, 2), part, height=9)
    multipliers = [float(plain.partition * least_cells(pairs, depth) / 2) for depth in range(1, 10)]
    assert multipliers[:7] == pytest.approx([4770, 1192, 298, 75, 19, 4.7, 1.2], rel=0.03)
    chosen = plain.with_midpoints(part, pairs)
    assert chosen.midpoints == {7, 8, 9}
    assert chosen.partition == part / 6


@given(seed=st.integers(0, 10**6), vertices=st.integers(2, 12), grid=st.integers(1, 5), depth=st.integers(1, 3))
def test_one_edge_moves_a_score_by_at_most_one_unit(seed, vertices, grid, depth):
    """By brute force over all edges of random graphs and random regions."""
    draw = np.random.default_rng(seed)
    data = random_graph(draw, vertices, int(draw.integers(1, pairs_of(vertices) + 1)))
    corners = np.sort(draw.choice(vertices + 1, (2, 2)), axis=1) if vertices > 3 else np.array([[0, vertices]] * 2)
    regions = Regions(*(np.array([bound]) for bound in (*corners[0], *corners[1])))
    if int(regions.cells[0]) == 0:
        return
    points = SplitPoints(regions, grid, least_cells(pairs_of(vertices), depth))

    def scores(graph):
        inside = (graph.first >= regions.top) & (graph.first < regions.bottom)
        inside &= (graph.second >= regions.left) & (graph.second < regions.right)
        kept = graph_of(list(zip(graph.first[inside].tolist(), graph.second[inside].tolist(), strict=True)), vertices)
        return points.scores(lattice_of(kept, regions, grid))

    before = scores(data)
    for edge in range(len(data)):
        after = scores(data.neighbour(edge, unit="edge"))
        assert np.abs(after - before).max() <= UNITS
        assert np.array_equal(after == IMPOSSIBLE, before == IMPOSSIBLE)


def test_densities_and_cells_are_exact_for_the_largest_domain():
    """A sensitivity of whole units needs exact quotients; the products exceed int64."""
    draw = np.random.default_rng(4)
    pairs = pairs_of(MOST_VALUES)
    scale = least_cells(pairs, 1) * UNITS
    cells = draw.integers(pairs // 16, pairs + 1, 2_000)
    ones = np.minimum(draw.integers(0, 1 << 31, 2_000), cells)
    quotients = [one * scale // cell for one, cell in zip(ones.tolist(), cells.tolist(), strict=True)]
    assert der._density(ones, cells, scale).tolist() == quotients
    bounds = np.sort(draw.integers(0, MOST_VALUES + 1, (2, 2_000, 2)), axis=2)
    bounds[:, :200] = 0, MOST_VALUES
    regions = Regions(bounds[0, :, 0], bounds[0, :, 1], bounds[1, :, 0], bounds[1, :, 1])
    regions = regions[np.flatnonzero(regions.cells > 0)]
    for rank in (np.zeros(len(regions), np.int64), draw.integers(0, regions.cells), regions.cells - 1):
        row, column = regions.unrank(rank)
        assert np.array_equal(regions.rank(row, column), rank)
        assert np.all((row >= regions.top) & (row < regions.bottom) & (row < column))
        assert np.all((column >= regions.left) & (column < regions.right))


@given(seed=st.integers(0, 10**6), vertices=st.integers(2, 40), height=st.integers(-1, 4))
@settings(max_examples=60)
def test_every_run_makes_a_simple_graph_within_the_budget(seed, vertices, height):
    draw = np.random.default_rng(seed)
    data = random_graph(draw, vertices, int(draw.integers(0, pairs_of(vertices) + 1)))
    method = DER(height=height, midpoints=bool(seed % 2), fitted=bool(seed % 3))
    release = method.publish(data, EDGE, seed=seed)
    assert np.all(release.data.first < release.data.second)
    assert np.all(np.diff(release.data.ranks()) > 0)
    assert sum(entry.spend for entry in release.evidence.entries) <= 1


@pytest.mark.parametrize("order", ["declared", "noisy degrees"])
@pytest.mark.parametrize("vertices", range(2, 30))
def test_almost_without_noise_the_graph_comes_back(vertices, order):
    draw = np.random.default_rng(vertices)
    data = random_graph(draw, vertices, int(draw.integers(0, pairs_of(vertices) + 1)))
    for height in (-1, 0, 2):
        release = DER(order=order, height=height).publish(data, PureDP(epsilon=10**6, unit="edge"), seed=vertices)
        assert release.data.edges() == data.edges()


def test_leaves_cover_every_pair_once():
    """The arrangement is asked about regions whose cells are all pairs, each in one of them."""
    draw = np.random.default_rng(5)
    data = random_graph(draw, 300, 4_000)
    recorder = Recorder(NoisyAnswers(3))
    publish_with(DER(), data, EDGE, recorder)
    sizes = recorder.transcript[-1][0].regions.sizes
    assert sizes.sum() == data.pairs
    assert len(sizes) > 50


def test_fitted_counts_do_not_add_edges_to_an_empty_graph():
    """Clipping adds half a noise scale per empty leaf: here about 240 edges, and fitting about 10."""
    draw = np.random.default_rng(6)
    data = random_graph(draw, 1_000, 2_000)
    sizes = {
        fitted: np.mean([len(DER(fitted=fitted).publish(data, EDGE, seed=seed).data) for seed in range(5)])
        for fitted in (True, False)
    }
    assert abs(sizes[True] - 2_000) < 150
    assert sizes[False] > 2_200


def test_dense_blocks_are_kept_and_separated():
    blocks = [(i, j) for block in range(3) for i in range(40) for j in range(i)]
    edges = [(i + 40 * (n // 780), j + 40 * (n // 780)) for n, (i, j) in enumerate(blocks)]
    data = graph_of(edges, 200)
    released = DER().publish(data, PureDP(epsilon=4, unit="edge"), seed=1).data
    shared = len(np.intersect1d(data.ranks(), released.ranks()))
    assert shared > 0.8 * len(data)
    assert abs(len(released) - len(data)) < 0.1 * len(data)


def test_without_noise_each_height_returns_the_graph():
    data = from_vector(VECTOR["noise off"])
    for height in range(4):
        released = publish_with(DER(height=height), data, EDGE, ExactAnswers()).data
        assert released.edges() == data.edges()


def test_fractions_beyond_one_are_refused():
    with pytest.raises(ParameterError, match=r"count and partition must be at most 1 together; got 0\.8 and 0\.3"):
        DER(count=0.8, partition=0.3)


@pytest.mark.parametrize("vertices", [2, 9, 40])
def test_the_greatest_height_has_a_share_for_every_depth(vertices):
    """Far more depths than a graph can be split into: each of them could be asked about."""
    assert greatest_height(1e300, 1e9, 1.0) == MOST_DEPTHS
    assert min(level_shares(Fraction(1), MOST_DEPTHS)) > 0
    data = random_graph(np.random.default_rng(vertices), vertices, 60)
    for method in (DER(height=MOST_DEPTHS), DegreeCorrectedBlocks(contrast=1e300)):
        assert method.publish(data, PureDP(epsilon=10**6, unit="edge"), seed=1).data.edges() == data.edges()
    with pytest.raises(ParameterError, match=r"DER\.height must be at most 32; got 33"):
        DER(height=MOST_DEPTHS + 1)


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_two_vertices_have_one_pair(edges):
    released = [DER().publish(graph_of(edges, 2), EDGE, seed=seed).data for seed in range(50)]
    assert {len(data) for data in released} == {0, 1}

"""What the printed DER loses, by exact enumeration, and that the shipped one does not.

Each test names the claimed and the measured loss, and shows that without the flaw the claim holds: of the whole
transcript (split points, counts and placements), and of the released graph alone.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import der_literal
import numpy as np
import pytest
from der_literal import NEVER, PrintedDER, adjacency, all_graphs, redrawn_law

from hedgerow import PureDP, find_method
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.testing import check_replay, output_distribution, worst_loss

ROUNDING = 1e-9
GRAPHS = all_graphs(4)
#: graphs on four vertices with and without one edge, by number
PAIRS = [(graph, graph ^ 1 << pair) for graph in range(64) for pair in range(6) if graph >> pair & 1]
SOUND = PrintedDER(charged_once=False, capped=False, leaves_exempt=False)


def transcript_loss(method: PrintedDER, pairs=PAIRS) -> float:
    return max(method.loss(adjacency(GRAPHS[here], 4), adjacency(GRAPHS[there], 4)) for here, there in pairs)


def release_loss(method: PrintedDER) -> float:
    laws = np.array([method.release_law(edges) for edges in GRAPHS])
    assert laws.sum(axis=1) == pytest.approx(1)
    return max(float(np.abs(np.log(laws[here] / laws[there])).max()) for here, there in PAIRS)


def shipped_loss(here, there, vertices, *, within, epsilon=1, seeds=2, **settings) -> Fraction:
    """The greatest loss of the shipped method over some transcripts, by the bounds of its mechanisms; refused above."""
    promise = PureDP(epsilon=epsilon, unit="edge")
    method = find_method("der")(**settings)
    graphs = graph_of(here, vertices), graph_of(there, vertices)
    return max(check_replay(method, *graphs, promise, seed, within=within).loss for seed in range(seeds))


# ---- E1: an edge is two cells and is charged once


def test_an_edge_in_two_mirror_regions_loses_nearly_twice_the_claim():
    printed = SOUND.but(charged_once=True)
    claimed, measured, repaired = 1, transcript_loss(printed), transcript_loss(SOUND)
    assert measured == pytest.approx(1.5705, abs=1e-4)
    assert repaired == pytest.approx(0.7935, abs=1e-4)
    assert repaired < claimed < measured


def test_nearly_all_of_it_if_most_is_for_counts():
    """Claimed 1, measured 1.975: counts of mirror regions lose twice their budget."""
    printed = SOUND.but(charged_once=True, count=0.98, partition=0.01)
    assert transcript_loss(printed) == pytest.approx(1.9752, abs=1e-4)
    assert transcript_loss(printed.but(charged_once=False)) <= 1


def test_the_released_graph_alone_loses_more_than_the_claim():
    """Claimed 0.1, measured 0.137: coins that settle where mirror regions differ do not hide it."""
    printed = SOUND.but(charged_once=True, epsilon=0.1, count=0.98, partition=0.01)
    claimed, measured, repaired = 0.1, release_loss(printed), release_loss(printed.but(charged_once=False))
    assert measured == pytest.approx(0.1369, abs=1e-4)
    assert repaired < claimed < measured


def test_so_does_an_edge_on_five_vertices():
    """Claimed 1, measured 1.63 to 1.65; only neighbours in the order may share all regions with their mirror image."""
    everything = list(itertools.combinations(range(5), 2))
    losses = []
    for edge in everything:
        rest = [other for other in everything if other != edge]
        for here, there in (([], [edge]), (rest, everything)):
            pair = adjacency(here, 5), adjacency(there, 5)
            assert SOUND.loss(*pair) < 1
            if edge[1] - edge[0] > 1:
                losses.append(SOUND.but(charged_once=True).loss(*pair))
    assert 1.63 < min(losses) < max(losses) < 1.65


# ---- E3: the sensitivity of a small region is capped by its number of cells


def test_an_edge_in_a_small_region_loses_more_than_its_part_of_the_claim():
    """With k = 5: claimed 1/5 for one edge, measured 0.503, and 0.226 of the released graph alone."""
    printed = SOUND.but(capped=True, k=5, count=0.9, partition=0.05)
    claimed, repaired = 1 / 5, printed.but(capped=False)
    assert transcript_loss(printed) == pytest.approx(0.5030, abs=1e-4)
    assert release_loss(printed) == pytest.approx(0.2256, abs=1e-4)
    assert release_loss(repaired) < transcript_loss(repaired) < claimed < release_loss(printed)


@pytest.mark.parametrize(("k", "measured"), [(2, 1.505), (6, 3.926)])
def test_k_edges_in_small_regions_lose_more_than_the_claim(k, measured):
    """Claimed 1 for k edges; with height 2 the leaves are single cells."""
    printed = SOUND.but(capped=True, k=k, height=2, count=0.9, partition=0.05)
    # k edges are added to the empty graph, or removed from the complete one
    pairs = [(start, start ^ sum(1 << pair for pair in set_of)) for start in (0, 63) for set_of in _sets(k)]
    assert transcript_loss(printed, pairs) == pytest.approx(measured, abs=1e-3)
    assert transcript_loss(printed.but(capped=False), pairs) < 1


def _sets(k):
    return [(0, 1), (0, 5), (2, 3)] if k == 2 else [range(6)]


# ---- E4: leaves are exempt from the least size of parts


def test_a_part_of_one_cell_makes_the_choice_of_a_split_lose_more_than_the_claim():
    """16 vertices, the only edge from the first to the last: claimed 1 in all, and 0.8 of it for the split point."""
    empty, edge = adjacency([], 16), adjacency([(0, 15)], 16)
    printed = SOUND.but(leaves_exempt=True, count=0.1, partition=0.8)
    assert printed.loss(empty, edge) == pytest.approx(1.5361, abs=1e-4)
    assert printed.but(leaves_exempt=False).loss(empty, edge) < 0.3
    # the split point of the root is charged twice already: it loses more than its share of the whole budget, too
    root, whole = (0, 16, 0, 16), printed.but(charged_once=True)
    lost = {exempt: _split_loss(whole.but(leaves_exempt=exempt), empty, edge, root) for exempt in (True, False)}
    assert lost[True] > 3 * 0.8
    assert lost[False] < 0.8


def _split_loss(method, here, there, root) -> float:
    ours, theirs = method.splits(here, root, 1), method.splits(there, root, 1)
    return max(abs(ours[split] - theirs[split]) for split in ours)


# ---- E5: placements with ones on the diagonal are drawn again


def test_a_placement_may_be_drawn_again_for_ever():
    """One edge and one one in a 2 x 2 block on the diagonal: an endless run says that there is an edge."""
    odds = 0.5
    with_edge, without = (redrawn_law(np.array(block), 1, odds) for block in ([[0, 1], [1, 0]], [[0, 0], [0, 0]]))
    assert with_edge[NEVER] == pytest.approx(1 / (1 + math.exp(odds)))
    assert NEVER not in without
    assert sum(without.values()) == pytest.approx(1)


def test_drawing_again_is_not_the_exponential_mechanism():
    """In a 3 x 3 block the wrong placements get the chance of those on the diagonal, too: 7/4 of what they should."""
    odds, block = 0.5, np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    law = redrawn_law(block, 1, odds)
    wrong, right = law[frozenset([(0, 2)])], law[frozenset([(0, 1)])]
    assert right / wrong == pytest.approx(math.exp(odds) * 4 / 7)
    assert NEVER not in law


# ---- the shipped method, on the same pairs


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"height": 1}, {"height": 2, "count": 0.9, "partition": 0.05}],
    ids=str,
)
def test_the_shipped_method_keeps_the_promise_on_four_vertices(settings):
    losses = [shipped_loss(GRAPHS[a], GRAPHS[b], 4, within=Fraction(1), seeds=1, **settings) for a, b in PAIRS]
    assert Fraction(1, 2) < max(losses) <= 1


@pytest.mark.parametrize("k", [2, 6])
def test_the_shipped_method_keeps_the_promise_for_k_edges(k):
    settings = {"height": 2, "count": 0.9, "partition": 0.05}
    for chosen in _sets(k):
        edges = GRAPHS[sum(1 << pair for pair in chosen)]
        loss = shipped_loss([], edges, 4, within=Fraction(1), epsilon=Fraction(1, k), seeds=4, **settings)
        assert Fraction(1, 2) < loss <= 1


def test_the_shipped_method_keeps_the_promise_for_the_part_of_one_cell():
    settings = {"height": 1, "count": 0.1, "partition": 0.8}
    assert 0 < shipped_loss([], [(0, 15)], 16, within=Fraction(1), seeds=20, **settings) <= 1


@pytest.mark.slow
def test_the_exact_law_of_the_shipped_method_on_three_vertices():
    """Promised 1, measured about 0.6: the greatest log-ratio of a released graph over all graphs one edge apart."""
    promise, graphs = PureDP(epsilon=1, unit="edge"), [graph_of(edges, 3) for edges in all_graphs(3)]
    laws = [output_distribution(find_method("der")(height=1), graph, promise, low=-1, high=3) for graph in graphs]
    losses = [worst_loss(laws[graph], laws[graph ^ 1 << pair]) for graph in range(8) for pair in range(3)]
    assert 0.5 < max(losses) < 0.7


# ---- the enumeration itself


def test_the_printed_example_of_a_split():
    """Eight vertices, split after row 3 and column 5: densities 1/15, 8/9, 11/25 and 0, and a score of 8/9."""
    edges = [(0, 5), (0, 6), (0, 7), (1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 3), (3, 4)]
    matrix = adjacency(edges, 8)
    parts = der_literal._parts((0, 8, 0, 8), 3, 5)
    assert [(der_literal._ones(matrix, part), der_literal._area(part)) for part in parts] == [
        (1, 15),
        (8, 9),
        (11, 25),
        (0, 15),
    ]
    assert der_literal._scores(matrix.tobytes(), 8, (0, 8, 0, 8), 4)[3, 5] == pytest.approx(8 / 9)


def test_budgets_and_placements_are_those_of_the_print():
    method = PrintedDER(count=1, partition=0, height=2)
    assert [method._count_share(depth) for depth in (1, 2)] == pytest.approx([0.32748, 0.67252], abs=1e-5)
    # four cells near the diagonal, two true, two ones, epsilon 1: the sensitivity is 2
    total = der_literal._log_total(4, 2, 2, 0.5)
    groups = [math.exp(odds - total) for odds in (0, math.log(4) + 0.5, 1)]
    assert groups == pytest.approx([0.096963, 0.639463, 0.263574], abs=1e-6)


def test_a_released_graph_loses_no_more_than_its_transcript():
    method = SOUND.but(charged_once=True, count=0.7)
    laws = np.array([method.release_law(edges) for edges in GRAPHS])
    for here, there in PAIRS[::5]:
        released = float(np.abs(np.log(laws[here] / laws[there])).max())
        assert released <= transcript_loss(method, [(here, there)]) + ROUNDING


def test_the_loss_of_a_placement_is_that_of_all_placements():
    here, there = adjacency([(0, 2), (1, 3)], 4), adjacency([(0, 2), (0, 3)], 4)
    part = (0, 2, 2, 4)
    placements = der_literal._placements(part)
    for ones in range(5):
        chosen = placements[placements.sum(axis=1) == ones]
        laws = []
        for matrix in (here, there):
            weight = np.exp(SOUND._odds(part, 1) / 2 * (chosen == matrix[:2, 2:].ravel()).sum(axis=1))
            laws.append(weight / weight.sum())
        expected = np.log(laws[0] / laws[1]).max()
        assert SOUND.placement_loss(here, there, part, ones, 1) == pytest.approx(expected)

"""What the printed DER loses, by exact enumeration, and that the shipped one does not.

Each test names the claimed and the measured loss, and shows that without the flaw the claim holds: of the whole
transcript (split points, counts and placements), and of the released graph alone.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
import pytest

from hedgerow import PureDP, find_method
from hedgerow.kinds.graphs.cases import graph_of
from hedgerow.testing import check_replay, output_distribution, worst_loss

# ---- DER as it is printed, on the whole symmetric matrix, with the exact law of what it draws on small graphs
#
# It is here to show what it loses; `hedgerow.DER` is the corrected method. Each flaw can be repaired on its own:
#
# - `charged_once`: an edge is two cells, (i, j) and (j, i), but regions off the diagonal, and levels of the tree, are
#   charged as if it was one. Repaired by halving all budgets.
# - `capped`: the sensitivity of a small region is its number of cells, if that is below k (or 2 k).
# - `leaves_exempt`: the parts of the last split may be as small as they like.
#
# A placement with ones on the diagonal is to be drawn again among those of the same score. That is `redrawn_law`;
# elsewhere the diagonal has no cells to place ones in.

#: noise so far from 0 that both tails are merged
FAR = 30
#: the outcome of a placement that is drawn again for ever
NEVER = "never"

Region = tuple[int, int, int, int]


def adjacency(edges, vertices):
    """The symmetric matrix of a graph."""
    matrix = np.zeros((vertices, vertices), np.int64)
    for i, j in edges:
        matrix[i, j] = matrix[j, i] = 1
    return matrix


def all_graphs(vertices):
    """All graphs as sets of edges; graph number `g` has pair number `p` if bit `p` of `g` is set."""
    pairs = list(itertools.combinations(range(vertices), 2))
    return [[pair for bit, pair in enumerate(pairs) if graph >> bit & 1] for graph in range(2 ** len(pairs))]


@dataclass(frozen=True)
class PrintedDER:
    """The printed method, of a given height, with the exact losses and laws of its draws."""

    epsilon: float = 1.0
    k: int = 1
    height: int = 1
    count: float = 0.5
    partition: float = 0.1
    dense: float = 0.8
    charged_once: bool = True
    capped: bool = True
    leaves_exempt: bool = True

    def but(self, **repaired: bool) -> PrintedDER:
        """The same with flaws repaired, or only some of them left."""
        return replace(self, **repaired)

    # ---- budgets and sensitivities, as printed

    @cached_property
    def _budget(self) -> float:
        return self.epsilon if self.charged_once else self.epsilon / 2

    def _count_share(self, depth: int) -> float:
        ratio, total = 2 ** (1 / 3), self._budget * self.count
        shares = [ratio**i * (ratio - 1) * total / (ratio ** (self.height + 1) - 1) for i in range(self.height + 1)]
        return shares[depth] + (shares[0] if depth == self.height else 0)

    def _left_over(self, depth: int) -> float:
        """What a leaf at this depth has for its placement: what is meant for it, counts and splits below it."""
        counts = sum(self._count_share(below) for below in range(depth + 1, self.height))
        splits = self._budget * self.partition * (self.height - depth) / self.height
        return self._budget * (1 - self.count - self.partition) + counts + splits

    def _sensitivity(self, region: Region) -> int:
        """Twice k for a region that touches the diagonal, k for others; at most the number of its cells."""
        cells = 2 * self.k if _touches_diagonal(region) else self.k
        return min(cells, _area(region)) if self.capped else cells

    def _least(self, depth: int, vertices: int) -> float:
        exempt = self.leaves_exempt and depth == self.height
        return 1 if exempt else vertices**2 / 4 ** (depth + 1)

    # ---- the laws of single draws

    def splits(self, matrix, region: Region, depth: int) -> dict[tuple[int, int], float]:
        """The law of the split point whose parts are at this depth: logarithms of probabilities."""
        vertices = len(matrix)
        moved = (2 if _touches_diagonal(region) else 1) * self.k * 4 ** (depth + 1) / vertices**2
        factor = self._budget * self.partition / self.height / (2 * moved)
        scores = _scores(matrix.tobytes(), vertices, region, self._least(depth, vertices))
        total = np.logaddexp.reduce([factor * score for score in scores.values()]) if scores else 0.0
        return {split: factor * score - total for split, score in scores.items()}

    def _odds(self, region: Region, depth: int) -> float:
        """The logarithm of the odds of a correct cell in a placement: half of this per unit of score."""
        return self._left_over(depth) / self._sensitivity(region)

    # ---- the loss of whole transcripts: split points, counts and placements

    def loss(self, here, there) -> float:
        """The greatest log-ratio of the probabilities of a transcript, on one graph and on another; exact."""
        return max(self._loss(*pair, (0, len(here), 0, len(here)), 0) for pair in ((here, there), (there, here)))

    def _loss(self, here, there, region: Region, depth: int) -> float:
        """The loss of a region that is split: parts are drawn independently, given the split point."""
        ours, theirs = (self.splits(matrix, region, depth + 1) for matrix in (here, there))
        losses = [-math.inf]  # no split point is allowed
        for split, chance in ours.items():
            below = sum(self._part_loss(here, there, part, depth + 1) for part in _parts(region, *split))
            losses.append(chance - theirs[split] + below)
        return max(losses)

    def _part_loss(self, here, there, part: Region, depth: int) -> float:
        """The loss of the counts of a part, and of what follows from them."""
        if np.array_equal(_cut(here, part), _cut(there, part)):
            return 0.0
        noisy = np.arange(-FAR, _area(part) + FAR)
        own = self._count_share(depth) / self._sensitivity(part) * _closer(here, there, part, noisy)
        inner = -math.inf if depth == self.height else self._loss(here, there, part, depth)
        leaf = own + self._leaf_loss(here, there, part, noisy, depth)
        if inner == -math.inf:
            return float(leaf.max())
        stops = (noisy >= self.dense * _area(part)) | (noisy < self.dense * len(here) ** 2 / 4**self.height)
        return float(np.where(stops, leaf, own + inner).max())

    def _leaf_loss(self, here, there, part: Region, noisy, depth: int):
        """The loss of a leaf for each noisy count: the second count above the greatest depth, and the placement."""
        cells = _area(part) - _on_diagonal(part)
        placed = np.array([self.placement_loss(here, there, part, ones, depth) for ones in range(cells + 1)])
        if depth == self.height:
            return placed[np.clip(noisy, 0, cells)]
        first, second = self._count_share(depth), self._count_share(self.height)
        both = (first**2 * noisy[:, None] + second**2 * noisy) / (first**2 + second**2)
        own = second / self._sensitivity(part) * _closer(here, there, part, noisy)
        return (own + placed[np.clip(np.floor(both + 0.5), 0, cells).astype(np.int64)]).max(axis=1)

    def placement_loss(self, here, there, part: Region, ones: int, depth: int) -> float:
        """The greatest log-ratio of a placement of so many ones."""
        cells = _area(part) - _on_diagonal(part)
        ours, theirs = _cut(here, part), _cut(there, part)
        gained, lost = int(np.sum(ours > theirs)), int(np.sum(ours < theirs))
        return _placement_loss(cells, ones, self._odds(part, depth), int(ours.sum()) - gained, gained, lost)

    # ---- the law of the released graph, of a tree of height 1 on at most four vertices

    def release_law(self, edges, vertices: int = 4) -> np.ndarray:
        """The probability of every graph to be released, by a tree of height 1."""
        assert self.height == 1
        matrix = adjacency(edges, vertices)
        law = np.zeros(2 ** (vertices * (vertices - 1) // 2))
        for split, chance in self.splits(matrix, (0, vertices, 0, vertices), 1).items():
            placed = np.ones(1)
            for part in _parts((0, vertices, 0, vertices), *split):
                placed = (placed[:, None] * self._part_law(matrix, part)).ravel()
            law += math.exp(chance) * (placed @ _symmetrised(split, vertices))
        return law

    def _part_law(self, matrix, part: Region):
        """The law of a placement in a part, in the order of `_placements`."""
        truth = np.array([matrix[cell] for cell in _off_diagonal(part)], np.int64)
        placements = _placements(part)
        weight = np.exp(self._odds(part, 1) / 2 * (placements == truth).sum(1))
        size = placements.sum(1)
        counts = _clipped_law(int(truth.sum()), len(truth), self._count_share(1) / self._sensitivity(part))
        return counts[size] * weight / np.bincount(size, weight)[size]


def redrawn_law(truth, ones: int, odds: float) -> dict[object, float]:
    """The law of a placement in a region on the diagonal: drawn again in its group of equal score while it is invalid.

    `truth` is the part of the matrix; placements are sets of cells, and NEVER is one without end.
    """
    cells = list(itertools.product(range(len(truth)), repeat=2))
    groups: dict[int, list[frozenset]] = {}
    for placement in map(frozenset, itertools.combinations(cells, ones)):
        groups.setdefault(sum(int(truth[cell]) for cell in placement), []).append(placement)
    weights = {true: len(group) * math.exp(odds * true) for true, group in groups.items()}
    law: dict[object, float] = {}
    for true, group in groups.items():
        valid = [placement for placement in group if all(i != j for i, j in placement)]
        for outcome in valid or [NEVER]:
            law[outcome] = weights[true] / sum(weights.values()) / max(1, len(valid))
    return law


def _parts(region: Region, row: int, column: int) -> list[Region]:
    top, bottom, left, right = region
    return [(a, b, c, d) for a, b in ((top, row), (row, bottom)) for c, d in ((left, column), (column, right))]


def _area(region: Region) -> int:
    top, bottom, left, right = region
    return (bottom - top) * (right - left)


def _on_diagonal(region: Region) -> int:
    top, bottom, left, right = region
    return max(0, min(bottom, right) - max(top, left))


def _touches_diagonal(region: Region) -> bool:
    return _on_diagonal(region) > 0


def _cut(matrix, region: Region):
    top, bottom, left, right = region
    return matrix[top:bottom, left:right]


def _ones(matrix, region: Region) -> int:
    return int(_cut(matrix, region).sum())


def _closer(here, there, region: Region, noisy):
    """How much closer noisy counts are to the count here than to the count there."""
    return np.abs(noisy - _ones(there, region)) - np.abs(noisy - _ones(here, region))


@cache
def _scores(matrix: bytes, vertices: int, region: Region, least: float) -> dict[tuple[int, int], float]:
    """The difference of the greatest and the least density of the parts of each split point that is allowed."""
    ones = np.frombuffer(matrix, np.int64).reshape(vertices, vertices)
    top, bottom, left, right = region
    scores = {}
    for split in itertools.product(range(top + 1, bottom), range(left + 1, right)):
        parts = _parts(region, *split)
        if min(map(_area, parts)) >= least:
            density = [_ones(ones, part) / _area(part) for part in parts]
            scores[split] = max(density) - min(density)
    return scores


def _off_diagonal(region: Region) -> list[tuple[int, int]]:
    top, bottom, left, right = region
    return [(i, j) for i in range(top, bottom) for j in range(left, right) if i != j]


@cache
def _placements(region: Region):
    """All placements of ones in the cells of a region: a row of bits each."""
    cells = len(_off_diagonal(region))
    return np.arange(2**cells)[:, None] >> np.arange(cells) & 1


@cache
def _placement_loss(cells: int, ones: int, odds: float, common: int, gained: int, lost: int) -> float:
    """The greatest log-ratio of placements; `gained` cells are true only here, and `lost` ones only there."""
    agreeing = [
        (2 * on - gained) - (2 * off - lost)
        for on, off in itertools.product(range(gained + 1), range(lost + 1))
        if 0 <= ones - on - off <= cells - gained - lost
    ]
    # a placement agrees with the truth in cells - true - ones + 2 w cells, w of its ones being true
    totals = (_log_total(cells, common + own, ones, odds) - odds / 2 * own for own in (gained, lost))
    return max(agreeing) * odds / 2 - next(totals) + next(totals)


def _log_total(cells: int, true: int, ones: int, odds: float) -> float:
    """The logarithm of the sum of e**(odds w) over all placements, w of whose ones are true."""
    terms = [
        _log_choose(true, w) + _log_choose(cells - true, ones - w) + odds * w
        for w in range(max(0, ones + true - cells), min(true, ones) + 1)
    ]
    return float(np.logaddexp.reduce(terms))


def _log_choose(size: int, chosen: int) -> float:
    return math.lgamma(size + 1) - math.lgamma(chosen + 1) - math.lgamma(size - chosen + 1)


def _clipped_law(true: int, cells: int, rate: float):
    """The law of a count with discrete Laplace noise, clipped to 0 ... cells."""
    inner = math.tanh(rate / 2) * np.exp(-rate * np.abs(np.arange(cells + 1) - true))
    if cells == 0:
        return np.ones(1)
    inner[0] = math.exp(-rate * true) / (1 + math.exp(-rate))
    inner[-1] = math.exp(-rate * (cells - true)) / (1 + math.exp(-rate))
    if true == 0:
        inner[0] = 1 - inner[1:].sum()
    if true == cells:
        inner[-1] = 1 - inner[:-1].sum()
    return inner


@cache
def _symmetrised(split: tuple[int, int], vertices: int):
    """The chance of each graph given the placements in all parts: two cells that differ are set alike by a coin."""
    ones = np.zeros((1, vertices, vertices))
    for part in _parts((0, vertices, 0, vertices), *split):
        placed = np.zeros((len(_placements(part)), vertices, vertices))
        for number, cell in enumerate(_off_diagonal(part)):
            placed[:, *cell] = _placements(part)[:, number]
        ones = (ones[:, None] + placed).reshape(-1, vertices, vertices)
    pairs = list(itertools.combinations(range(vertices), 2))
    graphs = np.arange(2 ** len(pairs))
    chance = np.ones((len(ones), len(graphs)))
    for number, (i, j) in enumerate(pairs):
        one = (ones[:, i, j] + ones[:, j, i])[:, None] / 2
        chance *= np.where(graphs >> number & 1, one, 1 - one)
    return chance


# ---- tests

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
    parts = _parts((0, 8, 0, 8), 3, 5)
    assert [(_ones(matrix, part), _area(part)) for part in parts] == [
        (1, 15),
        (8, 9),
        (11, 25),
        (0, 15),
    ]
    assert _scores(matrix.tobytes(), 8, (0, 8, 0, 8), 4)[3, 5] == pytest.approx(8 / 9)


def test_budgets_and_placements_are_those_of_the_print():
    method = PrintedDER(count=1, partition=0, height=2)
    assert [method._count_share(depth) for depth in (1, 2)] == pytest.approx([0.32748, 0.67252], abs=1e-5)
    # four cells near the diagonal, two true, two ones, epsilon 1: the sensitivity is 2
    total = _log_total(4, 2, 2, 0.5)
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
    placements = _placements(part)
    for ones in range(5):
        chosen = placements[placements.sum(axis=1) == ones]
        laws = []
        for matrix in (here, there):
            weight = np.exp(SOUND._odds(part, 1) / 2 * (chosen == matrix[:2, 2:].ravel()).sum(axis=1))
            laws.append(weight / weight.sum())
        expected = np.log(laws[0] / laws[1]).max()
        assert SOUND.placement_loss(here, there, part, ones, 1) == pytest.approx(expected)

"""Arrangements: the exponential mechanism on placements, its price, and what the ledger lets through."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from graph_toys import FIGURE, TwoRegions, graph_on
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow import PureDP
from hedgerow.audit.exact_enumeration import _outcomes
from hedgerow.errors import BudgetExceeded, InternalError, ParameterError, PromiseBroken
from hedgerow.privacy import Arrange, ExactAnswers, Laplace, Ledger, NoisyAnswers, Shares, arrangement
from hedgerow.privacy.arrangement import CellRegions, PlacedOnes
from hedgerow.privacy.questions import ArrangementQuestion
from hedgerow.privacy.samplers import bits
from hedgerow.testing import changed, check_replay, mutant, output_distribution, worst_loss
from laws import FALSE_ALARM, fits

BOTH_WAYS = [(1.0, True), (0.9, False), (1.1, False)]
COPIES = 60_000
NONE = np.zeros(0, np.int64)


def regions_of(size, ones, true, copies=1):
    """So many equal regions with these true positions."""
    at = np.repeat(np.arange(copies), len(true))
    return CellRegions.of(size, ones, at, np.tile(np.array(true, np.int64), copies), copies)


def placements(regions, share, *, seed=71, cells=1):
    """Count the placements of equal regions, as they come out."""
    copies = len(regions.sizes)
    placed = Arrange(cells=cells).draw(regions, Shares.spread(Fraction(share), copies), bits(seed=seed))
    rows = placed.positions.reshape(copies, -1)
    assert np.array_equal(placed.at.reshape(copies, -1), np.repeat(np.arange(copies)[:, None], rows.shape[1], axis=1))
    return Counter(map(tuple, rows.tolist()))


def law_of(size, ones, true, share):
    """Score all placements, cell by cell."""
    options = list(itertools.combinations(range(size), ones))
    scores = [sum((cell in true) == (cell in placed) for cell in range(size)) for placed in options]
    weights = [math.exp(score * share / 2) for score in scores]
    return {placed: weight / sum(weights) for placed, weight in zip(options, weights, strict=True)}


# ---- the law


@pytest.mark.parametrize(
    ("size", "ones", "true"), [(4, 2, [1, 3]), (6, 3, [0, 4]), (5, 4, [1, 2, 3]), (7, 2, [0, 1, 2, 6]), (5, 1, [4])]
)
def test_placements_follow_the_exponential_mechanism(size, ones, true):
    counts = placements(regions_of(size, ones, true, 3 * COPIES), 1)
    for factor, accepted in BOTH_WAYS:
        assert (fits(counts, law_of(size, ones, set(true), factor)) > FALSE_ALARM) == accepted


def test_a_share_is_divided_among_the_cells_of_a_unit():
    counts = placements(regions_of(6, 3, [0, 4], 3 * COPIES), 3, cells=3)
    assert fits(counts, law_of(6, 3, {0, 4}, 1.0)) > FALSE_ALARM
    assert fits(counts, law_of(6, 3, {0, 4}, 3.0)) < FALSE_ALARM


@pytest.mark.parametrize("true", [[], [0, 1], [2, 3, 5]])
def test_a_share_of_nothing_places_uniformly(true):
    counts = placements(regions_of(6, 3, true, COPIES), 0)
    assert fits(counts, law_of(6, 3, set(), 0.0)) > FALSE_ALARM


def test_enumeration_is_the_same_law():
    regions = CellRegions.of(np.array([4, 3]), np.array([2, 1]), np.array([0, 0, 1]), np.array([1, 3, 0]), 2)
    question = ArrangementQuestion("x", Arrange(), Shares.of([Fraction(1), Fraction(2)]), regions)
    joint = {
        tuple(zip(placed.at.tolist(), placed.positions.tolist(), strict=True)): chance
        for placed, chance in _outcomes(question, 0, 0)
    }
    first, second = law_of(4, 2, {1, 3}, 1.0), law_of(3, 1, {0}, 2.0)
    assert len(joint) == len(first) * len(second) == 18
    for one, other in itertools.product(first, second):
        key = (*((0, position) for position in one), *((1, position) for position in other))
        assert math.isclose(joint[key], first[one] * second[other], rel_tol=1e-12)


def test_positions_are_uniform_within_true_cells_and_within_the_others():
    """A large sparse region and a crowded one: every true cell, and every other, is as likely as its like."""
    rng = np.random.default_rng(5)
    for size, ones in [(1_000, 60), (1_000, 900)]:
        true = np.sort(rng.permutation(size)[:200])
        counts = np.zeros(size, np.int64)
        for seed in range(300):
            counts[
                Arrange().draw(regions_of(size, ones, true), Shares.of([Fraction(1)]), bits(seed=seed)).positions
            ] += 1
        others = np.setdiff1d(np.arange(size), true)
        for cells in (true, others):
            chance = counts[cells].mean() / 300
            # draws without replacement spread less than independent ones: the test is one-sided
            spread = ((counts[cells] - 300 * chance) ** 2).sum() / (300 * chance * (1 - chance))
            assert stats.chi2(len(cells)).sf(spread) > FALSE_ALARM
        assert counts[true].mean() > 1.05 * counts[others].mean()


def test_mutants_of_the_draw_are_caught():
    """True cells first in the order, half the odds, cells that are not true drawn twice: each is another law."""
    regions, law = regions_of(6, 3, [3, 5], COPIES), law_of(6, 3, {3, 5}, 1.0)
    assert fits(placements(regions, 1), law) > FALSE_ALARM
    with changed(Arrange, "draw", "share / self.cells", "share / (2 * self.cells)"):
        assert fits(placements(regions, 1), law) < FALSE_ALARM
    with changed(CellRegions, "place", "np.sort(chosen)", "chosen"), pytest.raises(AssertionError, match="impossible"):
        fits(Counter(map(tuple, one_by_one(regions_of(6, 3, [3, 5])))), law)
    ranks = "uniform_subsets(regions.sizes - counts, regions.ones - kept, source)"
    doubled = "np.repeat(uniform_subsets(regions.sizes - counts, np.minimum(1, regions.ones - kept), source), "
    doubled += "(regions.ones - kept)[regions.ones > kept])"
    with changed(Arrange, "draw", ranks, doubled), pytest.raises(AssertionError, match="impossible"):
        fits(placements(regions, 1), law)
    with changed(CellRegions, "false_cells", '"right"', '"left"'), pytest.raises(AssertionError, match="impossible"):
        fits(placements(regions, 1), law)


def one_by_one(regions):
    return [
        Arrange().draw(regions, Shares.of([Fraction(1)]), bits(seed=seed)).positions.tolist() for seed in range(200)
    ]


@given(
    regions=st.lists(
        st.integers(0, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.sets(st.integers(0, n - 1)) if n else st.just(set()))),
        max_size=8,
    ),
    share=st.sampled_from([0, Fraction(1, 3), 5, 10**6]),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_every_region_gets_its_ones_in_order(regions, share, seed):
    sizes, ones = (np.array([region[part] for region in regions], np.int64) for part in (0, 1))
    cells = [(at, position) for at, region in enumerate(regions) for position in region[2]]
    at, positions = np.array(cells, np.int64).reshape(-1, 2).T
    described = CellRegions.of(sizes, ones, at, positions, len(regions))
    shares = Shares.spread(Fraction(share), len(regions))
    exact = Arrange().answer_exactly(described)
    for placed in (exact, Arrange().draw(described, shares, bits(seed=seed))):
        assert np.bincount(placed.at, minlength=len(regions)).tolist() == ones.tolist()
        assert np.all((placed.positions >= 0) & (placed.positions < sizes[placed.at]))
        pairs = list(zip(placed.at.tolist(), placed.positions.tolist(), strict=True))
        assert pairs == sorted(set(pairs))
        if share == 10**6 or placed is exact:
            kept = Counter(at for at, position in pairs if position in regions[at][2])
            assert all(kept[n] == min(len(true), number) for n, (_, number, true) in enumerate(regions))


def test_without_noise_the_first_true_cells_are_kept():
    regions = CellRegions.of(
        np.array([6, 6, 0]), np.array([2, 4, 0]), np.array([1, 0, 0, 0, 1]), np.array([5, 5, 1, 3, 0]), 3
    )
    placed = Arrange().answer_exactly(regions)
    assert placed.at.tolist() == [0, 0, 1, 1, 1, 1]
    assert placed.positions.tolist() == [1, 3, 0, 1, 2, 5]


# ---- the price


def exact_losses(size, ones, true, other, share):
    first, second = law_of(size, ones, true, share), law_of(size, ones, other, share)
    return {placed: math.log(first[placed] / second[placed]) for placed in first}


def test_one_cell_loses_less_than_its_share():
    """All small regions, log-odds 1, one cell toggled: the bound holds for every placement, and is nearly reached."""
    largest = 0.0
    for size in range(1, 7):
        for ones, mask in itertools.product(range(size + 1), range(2**size)):
            true = {cell for cell in range(size) if mask >> cell & 1}
            for cell in range(size):
                losses = exact_losses(size, ones, true, true ^ {cell}, 1.0)
                one, other = regions_of(size, ones, sorted(true)), regions_of(size, ones, sorted(true ^ {cell}))
                for placed, loss in losses.items() if cell == 0 else ():
                    answer = PlacedOnes(np.zeros(ones, np.int64), np.array(placed, np.int64))
                    assert loss <= Arrange().loss(one, other, answer, Shares.of([Fraction(1)])) + 1e-12
                largest = max(largest, *map(abs, losses.values()))
    assert 0.888 < largest < 0.889


def test_the_bound_is_the_rise_of_the_score_and_the_cells_that_differ():
    one = CellRegions.of(np.array([5, 4]), np.array([2, 1]), np.array([0, 0, 1]), np.array([0, 3, 2]), 2)
    other = CellRegions.of(np.array([5, 4]), np.array([2, 1]), np.array([0, 0, 1]), np.array([4, 3, 1]), 2)
    shares = Shares.of([Fraction(1, 3), Fraction(5)])
    placed = PlacedOnes(np.array([0, 0, 1]), np.array([0, 2, 1]))
    # region 0: cells 0 and 4 differ, and the answer agrees with `one` on both; region 1: on neither
    assert Arrange().loss(one, other, placed, shares) == Fraction(2, 3)
    assert Arrange().loss(other, one, placed, shares) == 10
    assert Arrange(cells=4).loss(other, one, placed, shares) == Fraction(10, 4)
    assert Arrange().over(4) == Arrange(cells=4)
    assert Arrange().loss(one, one, placed, shares) == 0


@pytest.mark.parametrize(
    "edges", [[(0, 1)], [(0, 1), (0, 2), (1, 2)], [(0, 3), (1, 2)], [(0, 1), (1, 2), (2, 3), (0, 3)]]
)
def test_a_method_that_arranges_loses_what_it_promises_and_no_more(edges):
    data = graph_on(4, edges)
    promise = PureDP(epsilon=2, unit="edge")
    here = output_distribution(TwoRegions(), data, promise, low=-2, high=5)
    assert math.isclose(sum(here.values()), 1, rel_tol=1e-9)
    worst = max(
        worst_loss(here, output_distribution(TwoRegions(), neighbour, promise, low=-2, high=5))
        for neighbour in data.neighbours("edge")
    )
    assert 0.5 < worst <= 2


def test_bugs_of_a_method_that_arranges_are_caught():
    neighbour = FIGURE.neighbour(4, unit="edge")
    promise = PureDP(epsilon=1, unit="edge")

    def caught(old, new, message):
        with pytest.raises((PromiseBroken, BudgetExceeded), match=message):
            check_replay(mutant(TwoRegions, old, new)(), FIGURE, neighbour, promise, 3)

    caught("ones=np.clip(noisy, 0, sizes)", "ones=exact", "'positions' is asked differently of a neighbour")
    caught("spend=tree.left(nodes)", "spend=ledger.budget", "would spend 4/3 along a path that may spend 1")
    caught("under=nodes,\n", "under=regions,\n", "asks twice below the same node")
    caught("np.unique(begins[placed.at] + placed.positions)", "data.ranks()", "publishes something else")
    # an edge that is a cell of two regions, as in the printed method, costs twice
    once = "at,\n            data.ranks() - begins[at],\n            sizes=sizes,"
    twice = "np.repeat([0, 1], len(data)), np.tile(data.ranks(), 2), sizes=data.pairs + (begins := 0 * begins),"
    caught(once, twice, "loses 5/3 between neighbours where 1 was promised")


# ---- the ledger


def asked(answers, **changes):
    """Arrange two regions below the root of a ledger of budget 1."""
    ledger = Ledger(Fraction(1), answers)
    tree = ledger.paths(spend=Fraction(1), label="cells")
    given = {
        "at": np.array([1, 0, 0]),
        "positions": np.array([2, 4, 1]),
        "sizes": np.array([5, 3]),
        "ones": np.array([2, 1]),
        "under": np.repeat(tree.root, 2),
        "spend": Fraction(1, 2),
        "label": "places",
    } | changes
    return ledger, tree, tree.arrange(given.pop("at"), given.pop("positions"), **given)


def test_regions_are_nodes_with_what_is_left():
    ledger, tree, placed = asked(ExactAnswers(), spend=[Fraction(1, 2), Fraction(0)])
    assert placed.at.tolist() == [0, 0, 1]
    assert placed.positions.tolist() == [1, 4, 2]
    assert tree.left(placed.nodes).fractions() == [Fraction(1, 2), Fraction(1)]
    tree.ask(np.array([3]), Laplace(l1=1), under=placed.nodes[:1], spend=Fraction(1, 4), label="again")
    assert tree.close() == Fraction(1, 4)
    [entry] = ledger.evidence().entries
    assert entry.mechanisms == ("exponential", "discrete Laplace")
    assert entry.questions == ("places", "again")


def test_one_number_may_be_given_for_all_regions():
    _, _, placed = asked(NoisyAnswers(seed=1), sizes=9, ones=2)
    assert placed.at.tolist() == [0, 0, 1, 1]
    _, _, placed = asked(NoisyAnswers(seed=1), at=NONE, positions=NONE, sizes=0, ones=0)
    assert placed.positions.tolist() == []


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"spend": Fraction(2)}, BudgetExceeded, "'places' would spend 2 along a path that may spend 1"),
        ({"spend": Fraction(-1)}, BudgetExceeded, "must spend more than 0"),
        ({"ones": np.array([6, 1])}, ParameterError, "nor more ones than cells; clip the noisy counts"),
        ({"ones": np.array([-1, 1])}, ParameterError, "fewer than 0 ones"),
        ({"sizes": np.array([-5, 3])}, ParameterError, "fewer than 0 cells"),
        ({"sizes": 2**62}, ParameterError, r"more than 2\*\*62 together"),
        ({"sizes": 2**60, "ones": 2**40}, ParameterError, r"about 2\.2e\+12 ones would be placed"),
        ({"sizes": np.array([5])}, InternalError, "sizes must be one number, or one per region: got 1 for 2"),
        ({"positions": np.array([3, 4, 1])}, InternalError, "a true cell is outside its region"),
        ({"positions": np.array([2, -1, 1])}, InternalError, "a true cell is outside its region"),
        ({"positions": np.array([2, 4, 4])}, InternalError, "a true cell is listed twice"),
        ({"positions": np.array([2, 4])}, InternalError, "each true cell needs its region and its position"),
        ({"at": np.array([1, 0, 2])}, InternalError, "in a region that was not given"),
    ],
)
def test_questions_that_are_refused_cost_nothing(changes, error, message):
    class NoAnswers:
        publishable = False

        def answer(self, question):
            raise AssertionError(question.label)

    with pytest.raises(error, match=message):
        asked(NoAnswers(), **changes)


def test_the_public_part_says_nothing_about_true_cells():
    one = ArrangementQuestion("x", Arrange(), Shares.of([Fraction(1)]), regions_of(9, 2, [1, 2, 3]))
    other = ArrangementQuestion("x", Arrange(), Shares.of([Fraction(1)]), regions_of(9, 2, []))
    assert one.public() == other.public()
    assert one.moved(other)
    assert not one.moved(one)
    for different in [
        ArrangementQuestion("y", Arrange(), Shares.of([Fraction(1)]), regions_of(9, 2, [])),
        ArrangementQuestion("x", Arrange(cells=2), Shares.of([Fraction(1)]), regions_of(9, 2, [])),
        ArrangementQuestion("x", Arrange(), Shares.of([Fraction(2)]), regions_of(9, 2, [])),
        ArrangementQuestion("x", Arrange(), Shares.of([Fraction(1)]), regions_of(8, 2, [])),
        ArrangementQuestion("x", Arrange(), Shares.of([Fraction(1)]), regions_of(9, 3, [])),
        ArrangementQuestion("x", Arrange(), Shares.of([Fraction(1)]), regions_of(9, 2, []), np.zeros(1, np.int64)),
    ]:
        assert different.public() != one.public()


def test_several_tokens_per_record_share_a_region():
    """With two tokens per record the odds are halved, and two cells of one region together lose the share."""
    tree = Ledger(Fraction(1), NoisyAnswers(seed=2)).paths(spend=Fraction(1), touches=2, label="cells")
    with changed(
        arrangement.Arrange, "draw", "counts = regions.counts", "counts = regions.counts; assert self.cells == 2"
    ):
        tree.arrange(NONE, NONE, sizes=3, ones=1, under=tree.root, spend=Fraction(1), label="places")
    one, other = regions_of(4, 2, [0, 1]), regions_of(4, 2, [])
    placed = PlacedOnes(np.zeros(2, np.int64), np.array([0, 1]))
    assert Arrange(cells=2).loss(one, other, placed, Shares.of([Fraction(1)])) == 1


def test_one_region_may_be_asked_of_the_ledger():
    ledger = Ledger(Fraction(1), NoisyAnswers(seed=3))
    placed = ledger.arrange(np.array([8, 1, 5]), size=10, ones=4, spend=Fraction(1, 4), label="places")
    assert len(placed) == 4
    assert np.all(np.diff(placed) > 0)
    assert ledger.left == Fraction(3, 4)
    with pytest.raises(BudgetExceeded, match="'places' would spend 1 where 3/4 of 1 is left"):
        ledger.arrange(np.array([8]), size=10, ones=4, spend=Fraction(1), label="places")
    with pytest.raises(ParameterError, match="'places' must spend more than 0"):
        ledger.arrange(np.array([8]), size=10, ones=4, spend=Fraction(0), label="places")
    exact = Ledger(Fraction(1), ExactAnswers())
    assert exact.arrange(np.array([8, 1]), size=10, ones=3, spend=Fraction(1), label="places").tolist() == [0, 1, 8]

"""Fisher's noncentral hypergeometric distribution and uniform subsets are drawn exactly."""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from test_samplers import Scripted

import hedgerow.privacy.noncentral_hypergeometric  # noqa: F401 - the module, which a function of the package hides
from hedgerow.privacy.arrangement import uniform_below, uniform_subsets
from hedgerow.privacy.interval_refinement import BITS
from hedgerow.privacy.samplers import bits
from hedgerow.testing import changed
from laws import FALSE_ALARM, fits

module = sys.modules["hedgerow.privacy.noncentral_hypergeometric"]
BOTH_WAYS = [(1.0, True), (0.9, False), (1.1, False)]
DRAWS = 200_000


def draw(cells, true, ones, log_odds, source, size=1):
    """Draw many of one law."""
    numbers = (np.full(size, number, np.int64) for number in (cells, true, ones))
    return module.noncentral_hypergeometric(*numbers, [Fraction(log_odds)], np.zeros(size, np.int64), source)


def chances(cells, true, ones, odds):
    """The law from binomial coefficients."""
    support = range(max(0, true + ones - cells), min(true, ones) + 1)
    weights = {w: math.comb(true, w) * math.comb(cells - true, ones - w) * odds**w for w in support}
    return {w: weight / sum(weights.values()) for w, weight in weights.items()}


# ---- the law


@pytest.mark.parametrize(
    ("cells", "true", "ones", "log_odds", "expected"),
    [
        (4, 2, 2, 1.0, {0: 0.051915, 1: 0.564481, 2: 0.383604}),
        (4, 2, 2, 0.5, {0: 0.096963, 1: 0.639463, 2: 0.263574}),  # as printed: twice the sensitivity
        (9, 8, 8, 1.0, {7: 0.746388, 8: 0.253612}),
        (9, 8, 7, 0.5, {6: 0.679780, 7: 0.320220}),
        (12, 5, 4, 1.0, {0: 0.009355, 1: 0.127145, 2: 0.414741, 3: 0.375794, 4: 0.072965}),
    ],
)
def test_the_worked_examples(cells, true, ones, log_odds, expected):
    law = chances(cells, true, ones, math.exp(log_odds))
    assert law.keys() == expected.keys()
    theirs = stats.nchypergeom_fisher(cells, true, ones, math.exp(log_odds))
    for value, chance in expected.items():
        assert abs(law[value] - chance) < 6e-7
        assert math.isclose(theirs.pmf(value), law[value], rel_tol=1e-9)
    counted = Counter(draw(cells, true, ones, Fraction(log_odds), bits(seed=31), DRAWS).tolist())
    assert fits(counted, law) > FALSE_ALARM


def test_group_sizes_add_up_to_all_placements():
    for cells in range(13):
        for true, ones in itertools.product(range(cells + 1), repeat=2):
            groups = [
                math.comb(true, w) * math.comb(cells - true, ones - w)
                for w in range(max(0, true + ones - cells), min(true, ones) + 1)
            ]
            assert sum(groups) == math.comb(cells, ones)
            best, worst = (
                cells - true - ones + 2 * min(true, ones),
                cells - true - ones + 2 * max(0, true + ones - cells),
            )
            assert len(groups) == (best - worst) // 2 + 1 <= cells // 2 + 1


@pytest.mark.parametrize(
    ("cells", "true", "ones", "log_odds"),
    [
        (30, 10, 10, Fraction(1)),
        (10_000, 100, 120, Fraction(4)),  # sparse: nearly all weight on few values
        (300, 280, 150, Fraction(3, 2)),  # crowded: the smallest value is above 0
        (10**6, 3_000, 500_000, Fraction(1, 2)),  # more values than are computed
        (5 * 10**11, 40_000, 60_000, Fraction(14)),  # cells of a whole network
    ],
)
def test_draws_have_the_claimed_odds(cells, true, ones, log_odds):
    sample = draw(cells, true, ones, log_odds, bits(seed=32), DRAWS // 4 if true < 1_000 else DRAWS // 20)
    counts = Counter(sample.tolist())
    for factor, accepted in BOTH_WAYS:
        law = relative_chances(cells, true, ones, float(log_odds) * factor)
        impossible = set(counts) - set(law)
        assert (not impossible and fits(counts, law) > FALSE_ALARM) == accepted


def relative_chances(cells, true, ones, log_odds):
    """The law by ratios of integers, from any value near the mean: independent of the sampler's mode and windows."""
    odds, low, high = math.exp(log_odds), max(0, true + ones - cells), min(true, ones)
    # the mean m of independent draws: m / (true - m) = odds (ones - m) / (cells - true - ones + m)
    values = np.linspace(low, high, 10_001)
    balance = values * (cells - true - ones + values) - odds * (true - values) * (ones - values)
    start = int(values[np.abs(balance).argmin()])
    weights = {start: 1.0}

    def ratio(value):
        return (true - value) * (ones - value) / ((value + 1) * (cells - true - ones + value + 1)) * odds

    for end, step in ((high, 1), (low, -1)):
        value, best = start, 1.0
        while value != end and weights[value] > 1e-14 * best:
            weights[value + step] = weights[value] * (ratio(value) if step > 0 else 1 / ratio(value - 1))
            value, best = value + step, max(best, weights[value + step])
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


def test_no_odds_is_the_hypergeometric_distribution():
    counts = Counter(draw(50, 20, 15, 0, bits(seed=33), DRAWS).tolist())
    law = {w: float(stats.hypergeom(50, 20, 15).pmf(w)) for w in range(16)}
    assert fits(counts, law) > FALSE_ALARM


@pytest.mark.parametrize("log_odds", [Fraction(10**6), Fraction(10**9), Fraction(500)])
def test_huge_odds_keep_all_that_can_be_kept(log_odds):
    for cells, true, ones in [(10, 4, 6), (10**9, 10**5, 10**5), (2**62, 7, 5), (100, 90, 80)]:
        assert set(draw(cells, true, ones, log_odds, bits(seed=34), 50).tolist()) == {min(true, ones)}


def test_laws_that_have_one_value_need_no_bits():
    class NoBits:
        def words(self, size):
            assert size == 0
            return np.zeros(0, np.uint64)

    cells, true, ones = np.array([[0, 0, 0], [5, 0, 3], [5, 3, 0], [5, 5, 2], [5, 2, 5], [1, 1, 1]]).T
    which = np.zeros(len(cells), np.int64)
    drawn = module.noncentral_hypergeometric(cells, true, ones, [Fraction(1)], which, NoBits())
    assert drawn.tolist() == [0, 0, 0, 2, 2, 1]


def test_each_row_has_its_own_law():
    """Rows of very different widths and odds in one call, each a sample of its own law."""
    rows = [(4, 2, 2, 0), (40, 20, 20, 1), (10**6, 2_000, 3_000, 2), (10**4, 5_000, 4_000, 0), (9, 8, 7, 2)]
    copies = 20_000
    table = np.tile(rows, (copies, 1)).astype(np.int64)
    shares = [Fraction(0), Fraction(1, 2), Fraction(2)]
    drawn = module.noncentral_hypergeometric(table[:, 0], table[:, 1], table[:, 2], shares, table[:, 3], bits(seed=35))
    for number, (cells, true, ones, which) in enumerate(rows):
        sample = Counter(drawn.reshape(-1, len(rows))[:, number].tolist())
        assert fits(sample, relative_chances(cells, true, ones, float(shares[which]))) > FALSE_ALARM


def test_half_the_odds_is_caught():
    with changed(module, "noncentral_hypergeometric", "float(value) for", "float(value) / 2 for"):
        counted = Counter(draw(12, 5, 4, 1, bits(seed=36), DRAWS).tolist())
    assert fits(counted, chances(12, 5, 4, math.e)) < FALSE_ALARM


# ---- floats decide only what they may

AWKWARD = [
    (4, 2, 2, Fraction(1)),
    (12, 5, 4, Fraction(1, 3)),
    (300, 280, 150, Fraction(3, 2)),
    (10**6, 3_000, 500_000, Fraction(1, 2)),
    (5 * 10**11, 4_000, 6_000, Fraction(14)),
    (2**62, 50, 2**61, Fraction(0)),
    (2**62, 1_000, 900, Fraction(36)),
]


@pytest.mark.parametrize(("cells", "true", "ones", "log_odds"), AWKWARD)
def test_floats_decide_as_decimals_do(cells, true, ones, log_odds, monkeypatch):
    """With a bound so wide that floats decide nothing, the same bits give the same draws."""
    size = 40 if true > 100 else 300
    fast = draw(cells, true, ones, log_odds, bits(seed=41), size)
    calls = []
    exact = module.exact_draw
    monkeypatch.setattr(module, "exact_draw", lambda *arguments: calls.append(1) or exact(*arguments))
    draw(cells, true, ones, log_odds, bits(seed=41), size)
    assert calls == []
    monkeypatch.setattr(module, "LOG_ERROR", 1e6)
    assert np.array_equal(draw(cells, true, ones, log_odds, bits(seed=41), size), fast)
    assert len(calls) == size


def boundary(cells, true, ones, log_odds, place):
    """The sum of the first weights over all, to 80 digits, in the order in which U is looked up."""
    law = module._with_mode(*(np.array([n]) for n in (true, ones, cells - true - ones)), np.array([float(log_odds)]))
    mode, low, high = int(law.mode[0]), max(0, true + ones - cells), min(true, ones)
    values = [*range(mode, high + 1), *range(mode - 1, low - 1, -1)]
    with localcontext() as context:
        context.prec = 80
        odds = (Decimal(log_odds.numerator) / log_odds.denominator).exp()
        weights = [math.comb(true, w) * math.comb(cells - true, ones - w) * odds**w for w in values]
        return values[place], values[place + 1], sum(weights[: place + 1]) / sum(weights)


@settings(max_examples=150, deadline=None)
@given(
    law=st.sampled_from([(4, 2, 2, Fraction(1)), (12, 5, 4, Fraction(1, 3)), (60, 30, 20, Fraction(5, 4))]),
    place=st.integers(0, 30),
    off=st.sampled_from([-(2**60), -1, 0, 1, 2**60]),
)
def test_the_bits_that_follow_decide_next_to_a_boundary(law, place, off):
    """U agrees with a boundary in 52 bits; the 64 bits that follow are a little below or above it."""
    cells, true, ones, log_odds = law
    place %= min(true, ones) - max(0, true + ones - cells)
    below, above, edge = boundary(cells, true, ones, log_odds, place)
    with localcontext() as context:
        context.prec = 80
        number = int(edge * 2 ** (BITS + 64)) + off
    source = Scripted([(number >> 64) << (64 - BITS), number & (2**64 - 1), 0])
    if off == 0:
        return  # the next bits decide, and they were not scripted to
    drawn = draw(cells, true, ones, log_odds, source)[0]
    assert drawn == (below if off < 0 else above)


@pytest.mark.parametrize("top", [0, 1, 2**BITS - 1, 2**BITS - 2])
def test_the_first_and_the_last_number_are_decided_exactly(top):
    """All bits zero is the mode; all bits one is the value that is looked up last."""
    source = Scripted([top << (64 - BITS), 5])
    drawn = draw(60, 30, 20, Fraction(5, 4), source)[0]
    values, _, _ = boundary(60, 30, 20, Fraction(5, 4), 0)
    assert drawn == (values if top < 2 else 0)


@pytest.mark.parametrize(
    "law", [(10**4, 200, 300, Fraction(3)), (10**5, 200, 300, Fraction(1, 2)), (99, 90, 9, Fraction(0))]
)
def test_what_floats_leave_out_is_decided_by_decimals(law, monkeypatch):
    """With windows of few values many draws fall outside of them, above or below, and all draws are the same."""
    fast = draw(*law, bits(seed=43), 400)
    monkeypatch.setattr(module, "_DEVIATIONS", 0.0)
    monkeypatch.setattr(module, "_MORE", 2.0)
    exact, calls = module.exact_draw, []
    monkeypatch.setattr(module, "exact_draw", lambda *arguments: calls.append(1) or exact(*arguments))
    assert np.array_equal(draw(*law, bits(seed=43), 400), fast)
    assert len(calls) > 20


def test_a_wrong_mode_costs_time_and_nothing_else(monkeypatch):
    """The sampler begins at the mode; begun elsewhere, values are looked up in another order, with the same law."""
    original = module._with_mode

    def shifted(true, ones, rest, odds):
        law = original(true, ones, rest, odds)
        return module._Laws(true, ones, rest, odds, np.maximum(law.mode - 7, np.maximum(0, -rest)))

    monkeypatch.setattr(module, "_with_mode", shifted)
    counts = Counter(draw(3_000, 100, 200, Fraction(2), bits(seed=44), 20_000).tolist())
    assert fits(counts, relative_chances(3_000, 100, 200, 2.0)) > FALSE_ALARM


def test_the_error_bound_covers_the_weights():
    """Logarithms of weights far from the mode, compared with sums of exact ratios."""
    cells, true, ones, odds = 10**12, 10**6, 2 * 10**6, 13.0
    laws = module._with_mode(*(np.array([n]) for n in (true, ones, cells - true - ones)), np.array([odds]))
    width = 4_000
    full = np.array([width])
    weights, spreads, _ = module._wing(laws, 1, full, width, np.array([False]))
    mode = int(laws.mode[0])
    with localcontext() as context:
        context.prec = 50
        height = Decimal(0)
        for step in range(1, width):
            at = mode + step - 1
            ratio = Fraction((true - at) * (ones - at), (at + 1) * (cells - true - ones + at + 1))
            height += (Decimal(ratio.numerator) / ratio.denominator).ln() + 13
            error = abs(Decimal(weights[0, step].item()) - height.exp())
            assert error <= Decimal(spreads[0, step].item()) / 100  # a margin of a hundred
    assert np.all(spreads[0] <= 1e-6 * weights[0])


# ---- uniform subsets


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 1000])
def test_numbers_below_a_limit_are_equally_likely(limit):
    drawn = uniform_below(np.full(DRAWS, limit), bits(seed=51))
    assert drawn.min() >= 0
    assert drawn.max() < limit
    if limit > 1:
        assert stats.chisquare(np.bincount(drawn, minlength=limit)).pvalue > FALSE_ALARM


def test_numbers_below_huge_limits_have_no_bias():
    """A remainder of 64 bits would take the lower third twice as often."""
    limit = 3 * 2**60
    drawn = uniform_below(np.full(DRAWS, limit), bits(seed=52))
    assert stats.chisquare(np.bincount(drawn // 2**60, minlength=3)).pvalue > FALSE_ALARM
    assert drawn.max() < limit
    assert np.all(uniform_below(np.full(1_000, 2**62), bits(seed=52)) >= 0)


@pytest.mark.parametrize("count", range(6))
def test_subsets_are_equally_likely(count):
    sizes, counts = np.full(60_000, 5), np.full(60_000, count)
    drawn = uniform_subsets(sizes, counts, bits(seed=53)).reshape(60_000, count)
    assert np.array_equal(drawn // 5, np.repeat(np.arange(60_000)[:, None], count, axis=1))
    law = dict.fromkeys(itertools.combinations(range(5), count), 1 / math.comb(5, count))
    counted = Counter(map(tuple, (drawn % 5).tolist()))
    assert set(counted) <= set(law)
    assert len(law) == 1 or fits(counted, law) > FALSE_ALARM


@given(
    sets=st.lists(st.integers(0, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), max_size=12),
    seed=st.integers(0, 99),
)
def test_subsets_have_their_sizes_and_lie_in_their_sets(sets, seed):
    sizes, counts = np.array(sets, np.int64).reshape(-1, 2).T
    drawn = uniform_subsets(sizes, counts, bits(seed=seed))
    assert np.all(np.diff(drawn) > 0)
    home = np.repeat(np.arange(len(sizes)), sizes)
    assert np.bincount(home[drawn], minlength=len(sizes)).tolist() == counts.tolist()


def test_drawing_with_replacement_is_caught():
    """The check for elements that were drawn before, left out: subsets come out too small or not uniform."""
    uniform = sys.modules["hedgerow.privacy.arrangement"]
    with changed(uniform, "_distinct", "new[1:] = elements[1:] != elements[:-1]", "pass"):
        drawn = uniform.uniform_subsets(np.full(1_000, 5), np.full(1_000, 2), bits(seed=54))
    assert not np.all(np.diff(drawn) > 0)


def test_subsets_of_huge_and_of_nearly_full_sets():
    sizes = np.array([2**61, 10, 2**20, 2**20, 0, 3])
    counts = np.array([1_000, 10, 2**20 - 3, 17, 0, 0])
    drawn = uniform_subsets(sizes, counts, bits(seed=55))
    ends = np.cumsum(sizes)
    assert np.diff(np.searchsorted(drawn, ends), prepend=0).tolist() == counts.tolist()
    assert np.all(np.diff(drawn) > 0)

"""Draws at the very edge: chosen bits, compared with the truth computed from twice as many."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from test_samplers import Scripted

from hedgerow.privacy import samplers
from hedgerow.privacy.interval_refinement import BITS
from hedgerow.privacy.rates import RationalRate
from hedgerow.privacy.samplers import bits
from laws import FALSE_ALARM, chi_square

#: few leading bits set, or all of them: where an interval of W is widest against its logarithm
TOPS = st.one_of(st.integers(0, 40), st.integers(2**BITS - 40, 2**BITS - 1), st.integers(0, 2**BITS - 1))
WORDS = st.integers(0, 2**64 - 1)


def wait(top, following):
    """-ln W of 52 and 64 bits, to 80 digits; the bits after those change it by next to nothing."""
    with localcontext() as context:
        context.prec = 80
        return -((Decimal((top << 64) | following) + Decimal("0.5")) / 2 ** (BITS + 64)).ln()


@settings(max_examples=400)
@given(
    top=TOPS,
    following=WORDS,
    rate=st.sampled_from([Fraction(1, 997), Fraction(1, 10), Fraction(3), Fraction(40)]),
)
def test_a_floor_is_what_the_following_bits_make_it(top, following, rate):
    source = Scripted([top << (64 - BITS), following])
    drawn = samplers.geometric([RationalRate(rate)], np.zeros(1, np.int64), source)[0]
    truth = wait(top, following) / Decimal(rate.numerator) * Decimal(rate.denominator)
    if (top << 64) | following < 2**60:
        return  # so few bits are set that those not scripted matter
    # a truth within 1e-15 of an integer could be moved by bits that were not scripted
    if abs(truth - round(truth)) > Decimal("1e-15") * (1 + abs(truth)):
        assert drawn == int(truth)


@settings(max_examples=400)
@given(
    tops=st.lists(TOPS, min_size=3, max_size=3),
    following=st.lists(WORDS, min_size=3, max_size=3),
    equal=st.booleans(),
)
def test_a_race_is_won_by_the_bits_that_follow(tops, following, equal):
    if equal:
        tops = [tops[0]] * 3  # nothing but the bits that follow can tell them apart
    scores = np.array([[0, 1, 0]])
    source = Scripted([*(top << (64 - BITS) for top in tops), *following])
    drawn = samplers.choose(scores, [Fraction(1, 3)], np.zeros(1, np.int64), source)[0]
    # the words that follow are read for those still in the race: fill in for all of them
    waits = [wait(top, word) for top, word in zip(tops, following, strict=True)]
    if (
        not equal
        and len(set(tops)) == 3
        and min(abs(a - b) for a, b in zip(sorted(tops), sorted(tops)[1:], strict=False)) > 2**40
    ):
        arrival = [float(w) * math.exp(-s / 3) for w, s in zip(waits, scores[0], strict=True)]
        assert drawn == int(np.argmin(arrival))
    if equal:
        arrival = [w * Decimal(math.exp(-int(s) / 3)) for w, s in zip(waits, scores[0], strict=True)]
        ahead = [i for i, a in enumerate(arrival) if a == min(arrival)]
        close = sorted(arrival)[1] - min(arrival) < Decimal("1e-12") * min(arrival)
        assert close or drawn in ahead


def test_all_zero_bits_do_not_decide_however_large_the_rate():
    """W is below 2**-52 but not known: at rate 40 the float says 0, the bits that follow say 1."""
    source = Scripted([0, 2**40])
    assert samplers.geometric([RationalRate(Fraction(40))], np.zeros(1, np.int64), source)[0] == 1


def test_a_race_is_not_decided_where_a_wait_is_unbounded():
    """Bits all one: the wait may be next to nothing. Bits all zero: it may be very long."""
    most = 2**BITS - 1
    # behind by ten, and first all the same: its wait is below 2**-116
    source = Scripted([most << 12, (most - 1) << 12, 2**64 - 1, 0])
    assert samplers.choose(np.array([[0, 30]]), [Fraction(1, 3)], np.zeros(1, np.int64), source)[0] == 0
    # ahead by 7/3, and last all the same: its wait is above 80
    other = int(math.exp(-5) * 2**BITS)
    source = Scripted([0, other << 12, 0, 0])
    assert samplers.choose(np.array([[7, 0]]), [Fraction(1, 3)], np.zeros(1, np.int64), source)[0] == 1


def test_successes_beyond_the_drawn_chance_are_thinned():
    """2**870 candidates at 604 scales: drawn at e**-600 and thinned by e**-4 and a half more."""
    source = bits(seed=61)
    found = np.array([len(samplers.successes(2**870, Fraction(1), 604, source)) for _ in range(2_000)])
    mean = math.exp(870 * math.log(2) - 604) / (1 + math.exp(-1))
    assert chi_square(found, stats.poisson(mean).cdf, cells=8) > FALSE_ALARM
    assert chi_square(found, stats.poisson(mean * 1.4).cdf, cells=8) < FALSE_ALARM


@pytest.mark.parametrize("size", [2**59, 2**62])
def test_families_beyond_a_word_together_are_placed_exactly(size):
    from hedgerow.privacy import Laplace, Shares
    from hedgerow.privacy.survivors import CandidateSets, draw_survivors

    families = CandidateSets.of(size, np.arange(38, 58), np.zeros(0, np.int64), np.zeros(0, np.int64), 20)
    shares = Shares.spread(Fraction(1), 20)
    found = draw_survivors(Laplace(l1=1), families, np.zeros(0, np.int64), shares, bits(seed=1))
    assert len(found.codes) > 5
    assert all(0 <= code < size for code in found.codes.tolist())
    assert (np.diff(found.at) >= 0).all()

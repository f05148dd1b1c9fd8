"""Survivors of a threshold are those of asking every candidate one by one."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow.errors import InternalError, ParameterError
from hedgerow.privacy import Laplace, Shares
from hedgerow.privacy import survivors as module
from hedgerow.privacy.samplers import bits
from hedgerow.privacy.survivors import CandidateSets, draw_survivors, exact_survivors
from hedgerow.testing import changed
from laws import FALSE_ALARM, fits

COUNTS = [0, 3, 0, 1]  # of one family: candidates 1 and 3 are listed
CUTOFF = 2
COPIES = 60_000


def mutated_draw(old, new):
    with changed(module, "draw_survivors", old, new):
        return module.draw_survivors


def draw_many(rate: Fraction, *, seed: int = 51, draw=None):
    """Draw the survivors of many equal families in one call; return one outcome a family."""
    listed = [code for code, count in enumerate(COUNTS) if count]
    at = np.repeat(np.arange(COPIES), len(listed))
    codes = np.tile(listed, COPIES)
    exact = np.array(COUNTS)[codes]
    families = CandidateSets.of(len(COUNTS), CUTOFF, at, codes, COPIES)
    found = (draw or draw_survivors)(Laplace(l1=1), families, exact, Shares.spread(rate, COPIES), bits(seed=seed))
    outcomes = [[] for _ in range(COPIES)]
    for home, code, noisy in zip(*(part.tolist() for part in found), strict=True):
        outcomes[home].append((code, min(noisy, 6)))
    return Counter(tuple(outcome) for outcome in outcomes)


def one_by_one(rate: float) -> dict[object, float]:
    """The law of asking all four candidates, values from 6 on lumped."""
    options = []
    for code, count in enumerate(COUNTS):
        values = {v: math.tanh(rate / 2) * math.exp(-rate * abs(v - count)) for v in range(-60, 120)}
        kept = Counter()
        for value, chance in values.items():
            kept[None if value < CUTOFF else (code, min(value, 6))] += chance
        options.append(kept)
    return {
        tuple(cell for cell in row if cell is not None): math.prod(
            option[cell] for option, cell in zip(options, row, strict=True)
        )
        for row in itertools.product(*options)
    }


@pytest.mark.parametrize(("factor", "accepted"), [(1.0, True), (0.9, False), (1.1, False)])
@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(3, 2)])
def test_survivors_are_those_of_asking_one_by_one(rate, factor, accepted):
    assert (fits(draw_many(rate), one_by_one(float(rate) * factor)) > FALSE_ALARM) == accepted


def test_noising_every_candidate_gives_the_same_sample():
    """The definition itself, drawn: noise on all four, then the cutoff."""
    noisy = Laplace(l1=1).draw(np.tile(COUNTS, COPIES), Fraction(1, 2), bits(seed=52)).reshape(-1, 4)
    drawn = Counter(
        tuple((code, min(value, 6)) for code, value in enumerate(row) if value >= CUTOFF) for row in noisy.tolist()
    )
    assert fits(drawn, one_by_one(0.5)) > FALSE_ALARM


def families_of(codes, candidates, cutoff=1):
    return CandidateSets.of(candidates, cutoff, np.zeros(len(codes), np.int64), np.array(codes), 1)


def test_ranks_of_empty_candidates_become_codes():
    """The rank map of the printed example: codes 1, 2 and 5 of 8 are listed."""
    families = families_of([1, 2, 5], 8)
    for place in (module._place_many, module._place_huge):
        at, codes = place(np.arange(5), np.array([0]), np.array([5]), families)
        assert (at.tolist(), codes.tolist()) == ([0] * 5, [0, 3, 4, 6, 7])


@given(
    st.lists(st.tuples(st.integers(0, 6), st.sets(st.integers(0, 5))), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_ranks_run_through_all_empty_candidates_of_all_families(drawn, shuffle):
    sizes = np.array([size for size, _ in drawn])
    listed = [sorted(code for code in codes if code < size) for size, codes in drawn]
    at = np.array([home for home, codes in enumerate(listed) for _ in codes], np.int64)
    codes = np.array([code for codes in listed for code in codes], np.int64)
    families = CandidateSets.of(sizes, 1, at, codes, len(sizes))
    order = list(range(len(sizes)))
    shuffle.shuffle(order)  # families are grouped by share and cutoff, in any order
    every = [(home, code) for home in order for code in range(sizes[home]) if code not in listed[home]]
    empties = np.array([sizes[home] - len(listed[home]) for home in order])
    for place in (module._place_many, module._place_huge):
        homes, found = place(np.arange(len(every)), np.array(order), empties, families)
        assert list(zip(homes.tolist(), found.tolist(), strict=True)) == every


def test_families_of_many_shares_and_cutoffs_are_each_what_they_are_alone():
    """Interleaved families of three settings, drawn in one call, have the law of each."""
    copies = 120_000
    settings = [(Fraction(1, 2), 2), (Fraction(3, 2), 2), (Fraction(1, 2), 4)]
    shares = Shares.of([share for share, _ in settings] * copies)
    cutoffs = np.array([cutoff for _, cutoff in settings] * copies)
    at = np.arange(3 * copies)
    families = CandidateSets.of(3, cutoffs, at, at % 2, 3 * copies)
    found = draw_survivors(Laplace(l1=1), families, np.full(len(at), 2), shares, bits(seed=53))
    for number, (share, cutoff) in enumerate(settings):
        tail = math.exp(-float(share) * cutoff) / (1 + math.exp(-float(share)))
        hits = np.bincount(found.codes[found.at % 3 == number], minlength=3)
        spurious = int(hits[2])  # code 2 is always empty
        assert stats.binomtest(spurious, copies, tail).pvalue > FALSE_ALARM
        assert stats.binomtest(spurious, copies, tail * 1.1).pvalue < FALSE_ALARM


def test_candidates_may_exceed_any_machine_word():
    size = 2**70
    ids = np.array([3, 2**69], object)
    families = CandidateSets.of(size, 45, np.zeros(2, np.int64), ids, 1)
    exact = np.array([10_000, 10_000])
    found = draw_survivors(Laplace(l1=1), families, exact, Shares.of([Fraction(1)]), bits(seed=2))
    assert {3, 2**69} <= set(found.codes.tolist())
    assert found.codes.tolist() == sorted(found.codes.tolist())
    assert all(0 <= code < size for code in found.codes.tolist())
    assert 5 < len(found.codes) < 80  # 24 spurious ones are expected


def test_the_order_of_survivors_tells_nothing():
    """Real survivors are listed last here, and still come sorted with the spurious ones."""
    families = CandidateSets.of(1_000, 1, np.zeros(3, np.int64), np.array([999, 500, 2]), 1)
    exact = np.array([50, 50, 50])
    found = draw_survivors(Laplace(l1=1), families, exact, Shares.of([Fraction(1)]), bits(seed=3))
    assert found.codes.tolist() == sorted(found.codes.tolist())
    assert len(found.codes) > 50


def test_without_noise_the_listed_ones_that_reach_the_cutoff_survive():
    families = CandidateSets.of(9, 3, np.zeros(3, np.int64), np.array([7, 1, 4]), 1)
    found = exact_survivors(families, np.array([3, 2, 5]))
    assert (found.codes.tolist(), found.noisy.tolist()) == ([4, 7], [5, 3])


@pytest.mark.parametrize(
    ("codes", "candidates", "message"),
    [
        ([3], 3, "outside its candidates"),
        ([-1], 3, "outside its candidates"),
        ([1, 1], 3, "listed twice"),
    ],
)
def test_listings_that_are_not_what_they_say_are_refused(codes, candidates, message):
    with pytest.raises(InternalError, match=message):
        families_of(codes, candidates).check(np.ones(len(codes), np.int64))


def test_a_cutoff_below_one_is_refused():
    with pytest.raises(ParameterError, match="cutoff must be at least 1; got 0"):
        families_of([0], 3, cutoff=0)


def test_survivors_that_skip_the_empty_ones_would_show():
    """The planted bug: only candidates with records are noised."""
    skipping = mutated_draw(
        "_empty_survivors(mechanism, families, shares, source)",
        "(families.at[:0], families.codes[:0])",
    )
    assert fits(draw_many(Fraction(1, 2), draw=skipping), one_by_one(0.5)) < FALSE_ALARM


def test_one_trial_too_many_would_show():
    """The printed loop: one test more than there are empty candidates."""
    with changed(
        module,
        "_empty_survivors",
        "(families.candidates - counts)[order]",
        "(families.candidates - counts + 1)[order]",
    ):
        with pytest.raises((AssertionError, IndexError)):
            assert fits(draw_many(Fraction(1, 2)), one_by_one(0.5)) > FALSE_ALARM


def test_questions_with_too_many_spurious_survivors_are_refused_by_public_numbers():
    families = CandidateSets.of(2**40, 1, np.zeros(3, np.int64), np.array([5, 6, 7]), 1)
    with pytest.raises(ParameterError, match=r"about 4e\+11 of the empty candidates would reach") as caught:
        families.require_few(Laplace(l1=1), Shares.of([Fraction(1)]))
    assert "1,099,511,627,7" not in str(caught.value)

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

from hedgerow.errors import InternalError, ParameterError
from hedgerow.privacy import Laplace, Shares
from hedgerow.privacy import survivors as module
from hedgerow.privacy.samplers import bits
from hedgerow.privacy.survivors import Families, draw_survivors, quiet_survivors
from laws import FALSE_ALARM, fits

COUNTS = [0, 3, 0, 1]  # of one family: candidates 1 and 3 are listed
CUTOFF = 2
COPIES = 60_000


def draw_many(rate: Fraction, *, skip_empty: int = 0, seed: int = 51):
    """Draw the survivors of many equal families in one call; return one outcome a family."""
    listed = [code for code, count in enumerate(COUNTS) if count]
    at = np.repeat(np.arange(COPIES), len(listed))
    codes = np.tile(listed, COPIES)
    exact = np.array(COUNTS)[codes]
    families = Families.of(len(COUNTS) - skip_empty, CUTOFF, at, codes, COPIES)
    found = draw_survivors(
        Laplace(l1=1), families, exact, Shares.spread(rate, COPIES), bits(seed=seed)
    )
    outcomes = [[] for _ in range(COPIES)]
    for home, code, noisy in zip(*(part.tolist() for part in found), strict=True):
        outcomes[home].append((code, min(noisy, 6)))
    return Counter(tuple(outcome) for outcome in outcomes)


def one_by_one(rate: float) -> dict[object, float]:
    """The law of asking all four candidates, values from 6 on lumped."""
    options = []
    for code, count in enumerate(COUNTS):
        values = {
            v: math.tanh(rate / 2) * math.exp(-rate * abs(v - count)) for v in range(-60, 120)
        }
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
    noisy = (
        Laplace(l1=1).draw(np.tile(COUNTS, COPIES), Fraction(1, 2), bits(seed=52)).reshape(-1, 4)
    )
    drawn = Counter(
        tuple((code, min(value, 6)) for code, value in enumerate(row) if value >= CUTOFF)
        for row in noisy.tolist()
    )
    assert fits(drawn, one_by_one(0.5)) > FALSE_ALARM


def families_of(codes, candidates, cutoff=1):
    return Families.of(candidates, cutoff, np.zeros(len(codes), np.int64), np.array(codes), 1)


def test_ranks_of_empty_candidates_become_codes():
    """The rank map of the printed example: codes 1, 2 and 5 of 8 are listed."""
    for place in (module._place_many, module._place_huge):
        at, codes = place(
            np.arange(5), np.array([0]), np.array([5]), np.zeros(3, np.int64), np.array([1, 2, 5])
        )
        assert (at.tolist(), codes.tolist()) == ([0] * 5, [0, 3, 4, 6, 7])


@given(st.lists(st.tuples(st.integers(0, 6), st.sets(st.integers(0, 5))), min_size=1, max_size=6))
def test_ranks_run_through_all_empty_candidates_of_all_families(drawn):
    sizes = [size for size, _ in drawn]
    listed = [sorted(code for code in codes if code < size) for size, codes in drawn]
    at = np.array([home for home, codes in enumerate(listed) for _ in codes], np.int64)
    codes = np.array([code for codes in listed for code in codes], np.int64)
    empties = np.array([size - len(codes) for size, codes in zip(sizes, listed, strict=True)])
    members = np.arange(len(sizes))
    every = [
        (home, code)
        for home, size in enumerate(sizes)
        for code in range(size)
        if code not in listed[home]
    ]
    for place in (module._place_many, module._place_huge):
        homes, found = place(np.arange(len(every)), members, empties, at, codes)
        assert list(zip(homes.tolist(), found.tolist(), strict=True)) == every


def test_candidates_may_exceed_any_machine_word():
    size = 2**70
    ids = np.array([3, 2**69], object)
    families = Families.of(size, 45, np.zeros(2, np.int64), ids, 1)
    exact = np.array([10_000, 10_000])
    found = draw_survivors(Laplace(l1=1), families, exact, Shares.of([Fraction(1)]), bits(seed=2))
    assert {3, 2**69} <= set(found.codes.tolist())
    assert found.codes.tolist() == sorted(found.codes.tolist())
    assert all(0 <= code < size for code in found.codes.tolist())
    assert 5 < len(found.codes) < 80  # 24 spurious ones are expected


def test_the_order_of_survivors_tells_nothing():
    """Real survivors are listed last here, and still come sorted with the spurious ones."""
    families = Families.of(1_000, 1, np.zeros(3, np.int64), np.array([999, 500, 2]), 1)
    exact = np.array([50, 50, 50])
    found = draw_survivors(Laplace(l1=1), families, exact, Shares.of([Fraction(1)]), bits(seed=3))
    assert found.codes.tolist() == sorted(found.codes.tolist())
    assert len(found.codes) > 50


def test_without_noise_the_listed_ones_that_reach_the_cutoff_survive():
    families = Families.of(9, 3, np.zeros(3, np.int64), np.array([7, 1, 4]), 1)
    found = quiet_survivors(families, np.array([3, 2, 5]))
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


def test_a_dropped_empty_candidate_would_show():
    """One candidate fewer, as a loop that skips one would have it, is another law."""
    listed_last = draw_many(Fraction(1, 2), skip_empty=0)
    assert fits(listed_last, one_by_one(0.5)) > FALSE_ALARM
    # candidate 0 left out of the law: every outcome that has it is now impossible
    missing = {
        outcome: chance
        for outcome, chance in one_by_one(0.5).items()
        if not any(code == 0 for code, _ in outcome)
    }
    with pytest.raises(AssertionError, match="impossible"):
        fits(listed_last, missing)

"""Raking, and DiffPart where a universe is small enough to count every itemset at once."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import GuaranteeError, PureDP
from hedgerow.privacy import NoiseOff
from hedgerow.publishers.base import publish_with
from hedgerow.publishers.sets import diffpart
from hedgerow.publishers.sets.diffpart import DiffPart
from hedgerow.steps.raking import rake, spare_cutoff
from hedgerow.testing import check_publisher, mutant
from test_diffpart import RECORD, sets_of, worst


def sums_above(histogram, queries):
    masks = np.arange(len(histogram))
    return [int(histogram[(masks & query) == query].sum()) for query in queries]


@given(st.lists(st.integers(0, 50), min_size=15, max_size=15))
def test_without_noise_and_cutoff_nothing_changes(counts):
    noisy = np.array([0, *counts])
    masks, held = rake(noisy, 1, variance=0.0)
    assert masks.tolist() == [mask for mask in range(1, 16) if noisy[mask]]
    assert held == pytest.approx(noisy[masks].astype(float))


def test_what_a_cutoff_loses_is_given_back_to_small_queries():
    draw = np.random.default_rng(3)
    exact = np.zeros(2**10, np.int64)
    exact[1:] = draw.poisson(3.0, 2**10 - 1)  # all of it below the cutoff but for luck
    exact[[0b1, 0b11, 0b101, 0b1000]] = [5_000, 3_000, 2_000, 4_000]
    masks, held = rake(exact, 8, variance=0.0)
    kept, raked = np.zeros(2**10), np.zeros(2**10)
    kept[masks], raked[masks] = exact[masks], held
    singles = [1 << item for item in range(10)]
    truth = np.array(sums_above(exact, singles))
    before = np.abs(np.array(sums_above(kept, singles)) - truth) / truth
    after = np.abs(np.array(sums_above(raked, singles)) - truth) / truth
    assert before.max() > 0.5
    assert after.max() < 0.25


def test_differences_that_noise_explains_are_left_alone():
    noisy = np.array([0, 900, 600, 41, 2, -3, 3, -1])
    _, held = rake(noisy, 35, variance=50.0)
    assert held.tolist() == [900, 600, 41]


@pytest.mark.parametrize("spend", [1e-9, 0.1, 1.0, 50.0, 1e9])
@pytest.mark.parametrize("total", [-100, 0, 1_000, 10**9])
def test_the_cutoff_is_the_least_that_expects_little_noise(spend, total):
    cells = 2**12
    noisy = np.zeros(cells, np.int64)
    noisy[1] = total
    cutoff = spare_cutoff(noisy, spend)
    a = np.exp(-spend)

    def spurious(t):
        return cells * a**t * (t * (1 - a) + a) / (1 - a * a)

    allowed = max(1, total) / 300
    assert spurious(cutoff) <= allowed * (1 + 1e-6)
    assert cutoff == 1 or spurious(cutoff - 1) > allowed * (1 - 1e-6)


def test_a_small_universe_is_counted_at_once_and_comes_back_without_noise():
    data = sets_of([[0, 1]] * 30 + [[2]] * 9 + [[0, 1, 2, 3]] * 8, 5)
    release = publish_with(DiffPart(), data, RECORD, NoiseOff())
    assert release.data.itemsets() == data.itemsets()
    assert [entry.spend for entry in release.evidence.entries] == [1]


def test_sets_longer_than_a_record_may_be_are_nobodys():
    method = DiffPart(longest=2, c1=0.1, tau_split=0.0)
    for seed in range(5):
        release = method.publish(sets_of([[0, 1, 2]] * 99, 8), RECORD, seed=seed)
        assert max(len(itemset) for itemset, _ in release.data.itemsets()) == 2


def test_the_exact_loss_of_counting_all_at_once():
    method = DiffPart(c1=0.1, tau_split=0.0)
    assert 0.3 < worst(method, [[0, 1, 2], [2]], 3, low=0, high=1) <= 1 + 1e-9


@pytest.mark.parametrize("unit", ["record", "person"])
def test_counting_at_once_passes_the_call_of_the_mutants(unit):
    result = check_publisher(DiffPart(), PureDP(epsilon=1, unit=unit))
    assert result.moved == result.replays


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("exact[1:], Laplace(l1=1)", "exact[1:], Laplace(l1=Fraction(1, 2))", "loses 2"),
        (
            "spare_cutoff(noisy, spend)",
            "spare_cutoff(exact, spend), int(counts.sum())",
            "publishes something else",
        ),
        (
            "noisy = np.zeros_like(exact)",
            "noisy = np.zeros_like(exact); ledger.ask(exact, Laplace(l1=1), spend=1, label='a')",
            "would spend|has 0 left|spend",
        ),
    ],
    ids=["wrong l1", "exact instead of noisy", "share spent twice"],
)
def test_mutants_of_counting_at_once_are_caught(old, new, message):
    broken = mutant(DiffPart, old, new, Fraction=Fraction, _Leaves=diffpart._Leaves)
    with pytest.raises(GuaranteeError, match=message):
        check_publisher(broken(), RECORD)

"""Raking, and DiffPart where a universe is small enough to count every itemset at once."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_diffpart import RECORD, sets_of, worst

from hedgerow import Domain, GuaranteeError, PureDP, Sets
from hedgerow.data import Taxonomy
from hedgerow.privacy import NoiseOff, Shares
from hedgerow.publishers.base import publish_with
from hedgerow.publishers.sets import diffpart
from hedgerow.publishers.sets.diffpart import DiffPart
from hedgerow.steps.cuts import Cuts, Families
from hedgerow.steps.raking import rake, spare_cutoff
from hedgerow.testing import check_publisher, mutant


def sums_above(histogram, queries):
    masks = np.arange(len(histogram))
    return [int(histogram[(masks & query) == query].sum()) for query in queries]


@given(st.lists(st.integers(0, 50), min_size=15, max_size=15))
def test_without_noise_and_cutoff_nothing_changes(counts):
    noisy = np.array([0, *counts])
    masks, held = rake(noisy, 15, 1, spend=50.0)
    assert masks.tolist() == [mask for mask in range(1, 16) if noisy[mask]]
    assert held == pytest.approx(noisy[masks].astype(float))


def test_what_a_cutoff_loses_is_given_back_to_small_queries():
    draw = np.random.default_rng(3)
    exact = np.zeros(2**10, np.int64)
    exact[1:] = draw.poisson(3.0, 2**10 - 1)  # all of it below the cutoff but for luck
    exact[[0b1, 0b11, 0b101, 0b1000]] = [5_000, 3_000, 2_000, 4_000]
    masks, held = rake(exact, 2**10 - 1, 8, spend=50.0)
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
    _, held = rake(noisy, 7, 35, spend=0.2)
    assert held.tolist() == [900, 600, 41]
    _, held = rake(noisy, 7, 35, spend=5.0)  # with less noise they are believed
    assert held.tolist() != [900, 600, 41]


@pytest.mark.parametrize("spend", [1e-9, 0.1, 1.0, 50.0, 1e9])
@pytest.mark.parametrize("total", [-100, 0, 1_000, 10**9])
def test_the_cutoff_is_the_least_that_expects_little_noise(spend, total):
    cells = 2**12
    noisy = np.zeros(cells, np.int64)
    noisy[1] = total
    cutoff = spare_cutoff(noisy, cells, spend)
    a = np.exp(-spend)

    def spurious(t):
        return cells * a**t * (t * (1 - a) + a) / (1 - a * a)

    allowed = max(1, total) / 100
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
        found = dict(release.data.itemsets())
        assert max(map(len, found)) == 2
        assert 80 < found[0, 1] < 120  # the first two of each record


def test_only_small_universes_are_counted_at_once():
    def inner(items, **parameters):
        return DiffPart(**parameters)._tree(Domain.declare(item=range(items))).inner

    assert [inner(items) for items in (1, 2, 20)] == [0, 1, 1]
    assert inner(21) > 1
    assert inner(20, consistent=False) > 1
    assert inner(20, leaf_mode="two-stage") > 1


def test_raking_takes_the_bias_off_what_is_published(monkeypatch):
    """Half of the records are in itemsets too rare to be published, three runs of each."""
    counts = np.random.default_rng(8).poisson(2.0, 2**14)
    counts[[1, 2, 3, 12]] += 8_000
    masks = np.flatnonzero(counts)[1:]
    data = Sets.from_masks(masks, counts[masks], Domain.declare(item=range(14)))
    truth = data.count_items(most=20)

    def error():
        runs = [DiffPart().publish(data, RECORD, seed=seed).data for seed in range(3)]
        return np.mean([np.abs(run.count_items(most=20) - truth) / truth for run in runs])

    raked = error()
    monkeypatch.setattr(diffpart, "rake", plain)
    assert raked < 0.5 * error()


def plain(noisy, _cells, cutoff, _spend):
    masks = np.flatnonzero(noisy >= cutoff)
    return masks[masks > 0], noisy[masks[masks > 0]].astype(float)


def test_a_split_must_reach_its_deviations_at_every_height():
    tree = Taxonomy.by_fanout(4, 2)
    families = Families.of(Cuts.whole(tree))
    shares = Shares.spread(Fraction(1, 4), len(families.owner))
    method = DiffPart(fanout=2, c2=1.0, tau_split=0.0, force=True)
    # the root has height 2: 2 * sqrt(2) / (1 / 4) = 11.3
    assert set(method._split_cutoff(families, shares).tolist()) == {12}


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
            "spare_cutoff(noisy, cells, spend)",
            "spare_cutoff(exact, cells, spend), int(counts.sum())",
            "publishes something else",
        ),
        (
            "noisy = np.zeros_like(exact)",
            "noisy = np.zeros_like(exact); ledger.ask(exact, Laplace(l1=1), spend=1, label='a')",
            "would spend",
        ),
    ],
    ids=["wrong l1", "exact instead of noisy", "share spent twice"],
)
def test_mutants_of_counting_at_once_are_caught(old, new, message):
    broken = mutant(DiffPart, old, new, Fraction=Fraction, _Leaves=diffpart._Leaves)
    with pytest.raises(GuaranteeError, match=message):
        check_publisher(broken(), RECORD)

"""The raked histogram: raking, its law, and planted bugs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Domain, GuaranteeError, PureDP, Sets
from hedgerow.errors import ParameterError
from hedgerow.kinds.sets.methods.raked_histogram import publisher
from hedgerow.kinds.sets.methods.raked_histogram.model import rake, spurious_cutoff
from hedgerow.kinds.sets.methods.raked_histogram.publisher import RakedHistogram
from hedgerow.privacy import ExactAnswers
from hedgerow.publisher import publish_with
from hedgerow.testing import check_publisher, mutant, sets_of
from laws import worst

RECORD = PureDP(epsilon=1, unit="record")


def sums_above(histogram, queries):
    masks = np.arange(len(histogram))
    return [int(histogram[(masks & query) == query].sum()) for query in queries]


@given(st.lists(st.integers(0, 50), min_size=15, max_size=15))
def test_without_noise_and_cutoff_nothing_changes(counts):
    noisy = np.array([0, *counts])
    masks, raked = rake(noisy, 15, 1, spend=50.0)
    assert masks.tolist() == [mask for mask in range(1, 16) if noisy[mask]]
    assert raked == pytest.approx(noisy[masks].astype(float))


def test_what_a_cutoff_loses_is_made_up_for_in_small_queries():
    draw = np.random.default_rng(3)
    exact = np.zeros(2**10, np.int64)
    exact[1:] = draw.poisson(3.0, 2**10 - 1)  # all of it below the cutoff but for luck
    exact[[0b1, 0b11, 0b101, 0b1000]] = [5_000, 3_000, 2_000, 4_000]
    masks, raked = rake(exact, 2**10 - 1, 8, spend=50.0)
    kept, fitted = np.zeros(2**10), np.zeros(2**10)
    kept[masks], fitted[masks] = exact[masks], raked
    singles = [1 << item for item in range(10)]
    truth = np.array(sums_above(exact, singles))
    before = np.abs(np.array(sums_above(kept, singles)) - truth) / truth
    after = np.abs(np.array(sums_above(fitted, singles)) - truth) / truth
    assert before.max() > 0.5
    assert after.max() < 0.25


def test_differences_that_noise_explains_are_left_alone():
    noisy = np.array([0, 900, 600, 41, 2, -3, 3, -1])
    _, raked = rake(noisy, 7, 35, spend=0.2)
    assert raked.tolist() == [900, 600, 41]
    _, raked = rake(noisy, 7, 35, spend=5.0)  # with less noise they are believed
    assert raked.tolist() != [900, 600, 41]


@pytest.mark.parametrize("spend", [1e-9, 0.1, 1.0, 50.0, 1e9])
@pytest.mark.parametrize("total", [-100, 0, 1_000, 10**9])
def test_the_cutoff_is_the_least_that_expects_little_noise(spend, total):
    cells = 2**12
    noisy = np.zeros(cells, np.int64)
    noisy[1] = total
    cutoff = spurious_cutoff(noisy, cells, spend, 0.01)
    a = np.exp(-spend)

    def spurious(t):
        return cells * a**t * (t * (1 - a) + a) / (1 - a * a)

    allowed = max(1, total) / 100
    assert spurious(cutoff) <= allowed * (1 + 1e-6)
    assert cutoff == 1 or spurious(cutoff - 1) > allowed * (1 - 1e-6)


def test_without_noise_the_data_comes_back():
    data = sets_of([[0, 1]] * 30 + [[2]] * 9 + [[0, 1, 2, 3]] * 8, 5)
    release = publish_with(RakedHistogram(), data, RECORD, ExactAnswers())
    assert release.data.itemsets() == data.itemsets()
    assert [entry.spend for entry in release.evidence.entries] == [1]


def test_sets_longer_than_a_record_may_be_are_nobodys():
    method = RakedHistogram(longest=2, threshold=0.1, spurious=0.0)
    assert method.workload == {"longest": 2}
    for seed in range(5):
        release = method.publish(sets_of([[0, 1, 2]] * 99, 8), RECORD, seed=seed)
        counts = dict(release.data.itemsets())
        assert max(map(len, counts)) == 2
        assert 80 < counts[0, 1] < 120  # the first two of each record


def test_more_than_twenty_items_are_refused_before_anything_is_asked():
    RakedHistogram().publish(sets_of([[0]], 20), RECORD)
    domain = Domain.declare(item=range(21))
    data = Sets.from_records([[0]], domain=domain)
    asked = []
    with pytest.raises(ParameterError, match="every itemset, of up to 20 items; got 21: use pairwise-marginals"):
        RakedHistogram().publish(data, RECORD, before_asking=lambda: asked.append(1))
    assert not asked


def test_raking_takes_the_bias_off_what_is_published(monkeypatch):
    """Half of the records are in itemsets too rare to be published, three runs of each."""
    counts = np.random.default_rng(8).poisson(2.0, 2**10)
    counts[[1, 2, 3, 12]] += 500
    masks = np.flatnonzero(counts)[1:]
    data = Sets.from_masks(masks, counts[masks], Domain.declare(item=range(10)))
    truth = data.count_items(most=20)

    def error():
        runs = [RakedHistogram().publish(data, RECORD, seed=seed).data for seed in range(3)]
        return np.mean([np.abs(run.count_items(most=20) - truth) / truth for run in runs])

    raked = error()
    monkeypatch.setattr(publisher, "rake", plain)
    assert raked < 0.5 * error()


def plain(noisy, _cells, cutoff, _spend):
    masks = np.flatnonzero(noisy >= cutoff)
    return masks[masks > 0], noisy[masks[masks > 0]].astype(float)


def test_the_exact_loss_stays_within_the_promise():
    method = RakedHistogram(threshold=0.1, spurious=0.0)
    assert 0.3 < worst(method, sets_of([[0, 1, 2], [2]], 3), unit="record", low=0, high=1) <= 1 + 1e-9


@pytest.mark.parametrize("unit", ["record", "person"])
def test_the_shipped_class_passes_the_call_of_the_mutants(unit):
    result = check_publisher(RakedHistogram(), PureDP(epsilon=1, unit=unit))
    assert result.moved == result.replays


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("exact[1:], Laplace(l1=1)", "exact[1:], Laplace(l1=Fraction(1, 2))", "loses 2"),
        (
            "self._cutoff(noisy, cells, spend)",
            "self._cutoff(noisy, cells, spend) + len(data)",
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
def test_mutants_of_the_raked_histogram_are_caught(old, new, message):
    broken = mutant(RakedHistogram, old, new, Fraction=Fraction)
    with pytest.raises(GuaranteeError, match=message):
        check_publisher(broken(), RECORD)

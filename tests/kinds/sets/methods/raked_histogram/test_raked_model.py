"""The raked histogram from 11 items on, beside a model of sizes, items and pairs: its laws, and planted bugs."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import GuaranteeError, PairwiseMarginals, PureDP
from hedgerow.kinds.sets.methods.pairwise_marginals import items_model
from hedgerow.kinds.sets.methods.pairwise_marginals import publisher as pairwise
from hedgerow.kinds.sets.methods.raked_histogram import publisher
from hedgerow.kinds.sets.methods.raked_histogram.model import (
    blend_counts,
    blend_queries,
    list_queries,
    noise_variance,
    rake_to,
    sum_supersets,
)
from hedgerow.kinds.sets.methods.raked_histogram.publisher import RakedHistogram
from hedgerow.testing import check_publisher, check_replay, mutant, sets_of, strategies
from laws import worst

RECORD = PureDP(epsilon=1, unit="record")
ELEVEN = st.lists(st.sets(st.integers(0, 10), min_size=1, max_size=5), min_size=2, max_size=12).map(
    lambda records: sets_of(map(sorted, records), 11)
)


#: more rounds of the model repeat the same steps
SHORT = partial(PairwiseMarginals, steps=20)
#: what the noisy number of records, times epsilon, must reach so that itemsets are counted: anything does, or nothing
ENOUGH = {"itemsets": -(10**9), "model": 10**9}


@pytest.fixture
def always_with_model(monkeypatch):
    monkeypatch.setattr(publisher, "_FEW_ITEMS", 0)
    monkeypatch.setattr(publisher, "_ENOUGH", ENOUGH["itemsets"])
    monkeypatch.setattr(publisher, "PairwiseMarginals", SHORT)


@pytest.fixture
def always_with_itemsets(monkeypatch):
    monkeypatch.setattr(publisher, "_ENOUGH", ENOUGH["itemsets"])


# ---- privacy


@pytest.mark.parametrize(("unit", "path"), [("record", "itemsets"), ("record", "model"), ("person", "itemsets")])
def test_the_replay_law_holds_with_a_model(unit, path, monkeypatch):
    monkeypatch.setattr(publisher, "_ENOUGH", ENOUGH[path])
    monkeypatch.setattr(publisher, "PairwiseMarginals", SHORT)
    moved = []

    @settings(max_examples=8)
    @given(
        data=ELEVEN, index=st.integers(0, 50), seed=strategies.seeds(), epsilon=st.sampled_from([Fraction(1, 2), 40])
    )
    def law(data, index, seed, epsilon):
        neighbour = data.neighbour(index % data.count_neighbours(unit), unit=unit)
        moved.append(check_replay(RakedHistogram(), data, neighbour, PureDP(epsilon=epsilon, unit=unit), seed).moved)

    law()
    assert sum(moved) >= len(moved) / 2


@pytest.mark.parametrize(
    ("items", "epsilon", "itemsets"),
    [(10, 3, 3), (11, 200, 98), (11, 3, None)],
    ids=["few items", "both", "few records"],
)
def test_from_eleven_items_on_the_model_has_half_of_the_budget_or_all_of_it(items, epsilon, itemsets):
    data = sets_of([[0, 1]] * 300 + [[0, 2, 3]] * 90 + [[1]] * 80, items)
    release = RakedHistogram().publish(data, PureDP(epsilon=epsilon, unit="record"), seed=1)
    spent = {entry.label: entry.spend for entry in release.evidence.entries}
    assert spent.get("itemset counts") == itemsets
    assert release.evidence.total() == epsilon
    assert spent.get("records") == (Fraction(epsilon, 50) if items > 10 else None)
    assert ("sizes" in spent) == (items > 10)


@pytest.mark.parametrize(("path", "high"), [("itemsets", 1), ("model", 2)])
def test_the_exact_loss_with_a_model(monkeypatch, path, high):
    """On one item, everything that can be published is enumerated, with weights in whole records."""
    for module in (items_model, pairwise):
        monkeypatch.setattr(module, "UNIT", 1)
    monkeypatch.setattr(publisher, "_FEW_ITEMS", 0)
    monkeypatch.setattr(publisher, "_ENOUGH", ENOUGH[path])
    assert 0.05 < worst(RakedHistogram(), sets_of([[0]], 1), unit="record", low=0, high=high) <= 1 + 1e-9


@pytest.mark.parametrize("epsilon", [20, 60])
def test_the_number_of_records_decides_by_its_noisy_answer(epsilon):
    """Around the threshold both paths are taken, whatever the seed of the rest."""
    data = sets_of([[0, 1]] * 1_250, 11)
    promise = PureDP(epsilon=epsilon, unit="record")
    asked = [
        "itemset counts"
        in {entry.label for entry in RakedHistogram().publish(data, promise, seed=seed).evidence.entries}
        for seed in range(3)
    ]
    assert asked == [epsilon == 60] * 3


@pytest.mark.usefixtures("always_with_model")
def test_the_shipped_class_passes_the_call_of_the_mutants():
    result = check_publisher(RakedHistogram(), RECORD, repeats=1)
    assert result.moved == result.replays


@pytest.mark.usefixtures("always_with_model")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("exact[1:], Laplace(l1=1)", "exact[1:], Laplace(l1=Fraction(1, 2))", "loses"),
        ("self._ask_itemsets(data, for_itemsets)", "self._ask_itemsets(data, ledger)", "would spend|reserved"),
        ("model[masks] = counts", "model[masks] = counts; model[1] += len(data)", "publishes something else"),
        (
            "method.synthesise(data, for_model).histogram()",
            "data.histogram()",
            "publishes something else",
        ),
        ('label="records")', 'label="records") * 0 + exact - 10**9', "publishes something else|asked differently"),
    ],
    ids=["wrong l1", "budget spent twice", "exact number of records", "the data as the model", "an exact decision"],
)
def test_mutants_with_a_model_are_caught(old, new, message):
    enough = ENOUGH["itemsets"] + 3 if "10**9" in new else ENOUGH["itemsets"]
    broken = mutant(RakedHistogram, old, new, Fraction=Fraction, _FEW_ITEMS=0, _ENOUGH=enough, PairwiseMarginals=SHORT)
    with pytest.raises(GuaranteeError, match=message):
        check_publisher(broken(), RECORD, repeats=1)


@pytest.mark.slow
@pytest.mark.parametrize(("l1", "private"), [("1", True), ("Fraction(1, 20)", False)], ids=["shipped", "loud"])
def test_seen_from_outside_one_record_changes_little(l1, private):
    """A black box: in how many runs two records or more are published, if there is one record, or none.

    With 800 runs the standard error of the logarithm of the ratio is 0.07 for the shipped class.
    """
    names = {"_FEW_ITEMS": 0, "_ENOUGH": ENOUGH["itemsets"], "PairwiseMarginals": SHORT, "Fraction": Fraction}
    method = mutant(RakedHistogram, "exact[1:], Laplace(l1=1)", f"exact[1:], Laplace(l1={l1} * 1)", **names)()
    shares = [
        np.mean([len(method.publish(sets_of([[0]] * number, 1), RECORD, seed=seed).data) > 1 for seed in range(800)])
        for number in (1, 0)
    ]
    assert (abs(np.log((shares[0] + 0.001) / (shares[1] + 0.001))) < 1.2) == private


# ---- utility


@pytest.mark.usefixtures("always_with_itemsets")
def test_triples_that_pairs_do_not_tell_apart_are_kept():
    """Four triples have all pairs of four others: the most random records with these pairs have all eight."""
    kept, others = [(0, 1, 2), (0, 3, 4), (1, 3, 5), (2, 4, 5)], [(0, 1, 3), (0, 2, 4), (1, 2, 5), (3, 4, 5)]
    data = sets_of([list(triple) for triple in kept for _ in range(2_000)], 11)
    counts = dict(RakedHistogram().publish(data, RECORD, seed=3).data.itemsets())
    model = dict(PairwiseMarginals().publish(data, RECORD, seed=3).data.itemsets())
    assert [counts[triple] for triple in kept] == pytest.approx([2_000] * 4, rel=0.03)
    assert all(counts.get(triple, 0) < 20 for triple in others)
    assert all(model[triple] > 500 for triple in others)


@pytest.mark.usefixtures("always_with_itemsets")
def test_items_are_as_good_as_those_of_the_model_where_sums_are_noise():
    draw = np.random.default_rng(5)
    records = [np.flatnonzero(draw.random(16) < np.linspace(0.4, 0.05, 16)) for _ in range(5_000)]
    data = sets_of([one.tolist() for one in records if len(one)], 16)
    truth = data.count_items(most=16)
    runs = [RakedHistogram().publish(data, RECORD, seed=seed).data.count_items(most=16) for seed in range(2)]
    assert np.mean([np.abs(run - truth) / truth for run in runs]) < 0.1
    # the sum over half of 65,536 counts, each with half of the budget
    assert np.sqrt(2**15 * noise_variance(0.5)) > 0.25 * truth.mean()


# ---- means and raking


@given(st.lists(st.integers(1, 500), min_size=15, max_size=15), st.lists(st.integers(0, 500), min_size=15, max_size=15))
def test_without_noise_counts_are_believed_and_with_much_of_it_the_model(model, noisy):
    model, noisy = np.array([0, *model]), np.array([0, *noisy])
    assert blend_counts(model, noisy, 1, spend=100.0) == pytest.approx(noisy.astype(float), abs=1e-3)
    assert blend_counts(model, noisy, 10**9, spend=1e-6) == pytest.approx(model.astype(float), abs=1)


def test_what_the_model_lacks_must_reach_the_cutoff():
    assert blend_counts(np.array([0, 0, 0, 50]), np.array([0, 9, 10, 50]), 10, spend=1.0).tolist() == [0, 0, 10, 50]


def test_targets_are_sums_where_these_are_sure_and_the_model_s_where_not():
    draw = np.random.default_rng(2)
    model, noisy = draw.integers(1, 90, 2**6), draw.integers(1, 90, 2**6)
    model[0] = noisy[0] = 0
    sure = dict(blend_queries(model, noisy, model_spend=0.01, spend=50.0))
    assert set(sure) == {query for size in range(4) for query in list_queries(6, size)}
    assert list(sure.values()) == pytest.approx(sum_supersets(noisy)[list(sure)], rel=1e-3)
    unsure = dict(blend_queries(model, noisy, model_spend=50.0, spend=1e-4))
    assert set(unsure) == {query for size in range(3) for query in list_queries(6, size)}  # no triples
    assert list(unsure.values()) == pytest.approx(sum_supersets(model)[list(unsure)], rel=1e-3)


def test_raking_to_what_is_there_changes_nothing_and_ends_with_the_number_of_records():
    counts = np.random.default_rng(4).random(2**5) * 20
    counts[0] = 0
    queries = [query for size in (2, 1, 0) for query in list_queries(5, size)]
    sums = {query: float(counts[(np.arange(32) & query) == query].sum()) for query in queries}
    assert rake_to(counts, list(sums.items())) == pytest.approx(counts)
    moved = rake_to(counts, [*((query, 1.2 * number) for query, number in sums.items() if query), (0, 300.0)])
    assert moved.sum() == pytest.approx(300)

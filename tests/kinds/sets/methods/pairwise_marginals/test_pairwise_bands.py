"""Bands of sizes: what they cost, how they are chosen, and that long records of another kind stay so."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise_cases import BRANCHES, UNIT, banded, forced

from hedgerow import GuaranteeError, PairwiseMarginals, PureDP
from hedgerow.kinds.sets.methods.pairwise_marginals import items_model
from hedgerow.kinds.sets.methods.pairwise_marginals.draw import deal_by_band
from hedgerow.kinds.sets.methods.pairwise_marginals.items_model import (
    SizeBands,
    SizeHistogram,
    upper_edges,
    weigh_by_size,
)
from hedgerow.kinds.sets.methods.pairwise_marginals.pairs_model import Population
from hedgerow.testing import changed, check_replay, mutant, sets_of, strategies

CLEAR = PureDP(epsilon=8, unit="record")
LOUD = PureDP(epsilon=50, unit="record")
#: records of up to seven items, in two bands or three
MIXED = st.lists(st.sets(st.integers(0, 6), min_size=1), min_size=2, max_size=9).map(
    lambda records: sets_of([[0], [1], [0, 2], [1, 2, 3], [*range(4)], [*range(7)], *map(sorted, records)], 7)
)
APART = "size beyond which items were counted apart"


# ---- sensitivity


def test_no_record_counts_for_more_than_its_bound():
    """For many bands and bounds, also such as are never chosen, and every size; and some record reaches it."""
    size = np.arange(1_000)
    for cuts in ((), (2,), (16,), (4, 16)):
        for bounds in itertools.product((1, 3, 8, 64), repeat=len(cuts) + 1):
            bands = SizeBands(cuts, bounds)
            moved = (size * bands.weigh(999)).sum(axis=0)
            assert moved.max() <= UNIT * bands.most
            assert moved[-1] > 0.9 * UNIT * bands.most
            assert np.all(np.count_nonzero(bands.weigh(999), axis=0) == 1)


def test_one_band_weighs_as_if_there_were_none():
    for bound in (1, 5, 64):
        weights = weigh_by_size(bound, 300)
        assert SizeBands((), (bound,)).weigh(300).tolist() == [weights.tolist()]
        assert SizeBands((), (bound,)).shares(300).tolist() == (weights / UNIT).tolist()


@settings(max_examples=30)
@given(data=MIXED, record=st.sets(st.integers(0, 6), min_size=1))
def test_a_record_moves_the_items_of_one_band(data, record):
    bands = SizeBands((2, 4), (1, 3, 5))
    larger = sets_of([*([int(item) for item in one] for one in data.records()), sorted(record)], 7)
    moved = [int(np.abs(larger.weigh_items(weights) - data.weigh_items(weights)).sum()) for weights in bands.weigh(7)]
    assert sum(moved) <= UNIT * 5
    assert [number for number, each in enumerate(moved) if each] == [int(bands.of(np.array(len(record))))]


@pytest.mark.parametrize("branch", BRANCHES)
def test_the_replay_law_holds_with_bands(branch):
    apart = []

    @settings(max_examples=10)
    @given(data=MIXED, index=st.integers(0, 50), seed=strategies.seeds(), epsilon=st.sampled_from([5, 50]))
    def law(data, index, seed, epsilon):
        promise = PureDP(epsilon=epsilon, unit="record")
        neighbour = data.neighbour(index % data.count_neighbours("record"), unit="record")
        with banded(), forced(branch) as method:
            check_replay(method, data, neighbour, promise, seed)
            apart.append(APART in dict(method.publish(data, promise, seed=seed).evidence.notes))

    law()
    assert sum(apart) >= len(apart) / 2


def neighbours(method):
    """The replay law on records of all sizes, each left out in turn."""
    data = sets_of([[0], [1], [0, 2], [3, 4, 5], [1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 6]], 7)
    for index in range(data.count_neighbours("record")):
        check_replay(method, data, data.neighbour(index, unit="record"), LOUD, 1)


def test_the_shipped_class_passes_the_calls_of_the_mutants():
    for branch in ("off", "again"):
        with banded(), forced(branch) as method:
            neighbours(method)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("band == np.arange", "band >= np.arange", "loses"),
        ("weigh_by_size(self.most, items, ", "weigh_by_size(2 * self.most, items, ", "loses"),
    ],
    ids=["a record in several bands", "weights of another bound"],
)
def test_weights_that_break_the_promise_are_caught(old, new, message):
    with (
        banded(),
        changed(SizeBands, "weigh", old, new),
        forced("off") as method,
        pytest.raises(GuaranteeError, match=message),
    ):
        neighbours(method)


@pytest.mark.parametrize(
    ("branch", "old", "new", "message"),
    [
        ("off", "Laplace(l1=UNIT * bands.most), spend", "Laplace(l1=UNIT * bands.bounds[0]), spend", "loses"),
        (
            "again",
            "mechanism = Laplace(l1=UNIT * bands.most)",
            "mechanism = Laplace(l1=UNIT * bands.bounds[0])",
            "loses",
        ),
        (
            "off",
            "SizeBands.choose(sizes.by_size,",
            "SizeBands.choose(data.count_sizes(np.arange(8)) + 0.0,",
            "loses|something else|differently",
        ),
    ],
    ids=["the bound of the first band", "the same when asked again", "bands by exact sizes"],
)
def test_questions_that_break_the_promise_are_caught(branch, old, new, message):
    broken = mutant(PairwiseMarginals, old, new)
    with banded(), forced(branch, broken) as method, pytest.raises(GuaranteeError, match=message):
        neighbours(method)


# ---- choice


def test_bands_are_chosen_where_noise_is_small_and_most_pairs_are_in_long_records():
    sizes = np.zeros(101)
    sizes[1:5], sizes[100] = 10_000, 2_000
    assert SizeBands.choose(sizes, 4.0, 100).cuts == (2, 16)
    assert SizeBands.choose(sizes, 0.004, 100).cuts == ()
    sizes[10] = 40_000  # now many pairs are in records of ten items
    assert SizeBands.choose(sizes, 4.0, 100).cuts == (8,)
    equal = np.zeros(21)
    equal[20] = 50_000
    assert SizeBands.choose(equal, 4.0, 20).cuts == ()


def test_bands_of_sizes_add_up_to_all_of_them():
    noisy = np.array([40, 30, 4, 20, 10, 6, 5, 3, 2, 1, *[0] * 10, 12, 20])
    sizes = SizeHistogram.estimate(noisy, upper_edges(30), 1.0)
    parts = sizes.split((2, 8))
    assert sum(part.by_size for part in parts) == pytest.approx(sizes.by_size)
    assert sum(part.bins for part in parts) == pytest.approx(sizes.bins)
    assert [np.flatnonzero(part.by_size).max() for part in parts] == [2, 8, 30]


def test_a_size_is_in_the_same_band_wherever_it_is_counted():
    """In the data, in the estimated sizes, in the population that is fitted, and where items are dealt."""
    sizes = np.arange(1, 31)
    bands = SizeBands((2, 8), (1, 3, 5))
    band = bands.of(sizes)
    assert np.flatnonzero(np.diff(band)).tolist() == [1, 7]  # records of 2 and of 8 items are the last of their bands
    assert bands.weigh(30)[:, 1:].argmax(axis=0).tolist() == band.tolist()
    parts = SizeHistogram.estimate(np.full(len(upper_edges(30)), 100), upper_edges(30), 1.0).split(bands.cuts)
    assert np.argmax([part.by_size[1:] > 0 for part in parts], axis=0).tolist() == band.tolist()
    assert np.searchsorted(bands.starts(sizes), np.arange(30), "right").tolist() == (band + 1).tolist()
    population = Population.from_tokens(sizes, sizes - 1, np.zeros(30, np.int64), 1, bands.cuts)
    assert (
        np.repeat([part.band for part in population.classes], [len(part.sizes) for part in population.classes]).tolist()
        == band.tolist()
    )


# ---- records


def test_items_are_dealt_within_their_band():
    sizes = np.array([1, 1, 2, 2, 5, 5])
    expected = np.array([[3.0, 3, 0, 0, 0, 0, 0], [0, 0, 2, 2, 2, 2, 2]])
    row, item = deal_by_band(expected, sizes, SizeBands((2,), (1, 5)).starts(sizes), np.random.default_rng(1))
    assert np.bincount(row).tolist() == sizes.tolist()
    assert np.bincount(item).tolist() == [3, 3, 2, 2, 2, 2, 2]
    assert set(item[row < 4].tolist()) == {0, 1}


def test_a_population_is_counted_by_band():
    sizes, row = np.array([1, 2, 4, 5, 9]), np.array([0, 1, 2, 2, 3, 4, 4])
    population = Population.from_tokens(sizes, row, np.array([0, 1, 0, 1, 2, 0, 2]), 3, (4,))
    assert population.weigh_items(np.ones(10)).tolist() == [[2, 2, 0], [1, 0, 2]]
    assert population.repeated(10).weigh_items(np.ones(10)).tolist() == [[4, 4, 0], [2, 0, 4]]


@pytest.mark.parametrize("branch", ["off", "again"])
def test_long_records_of_another_kind_stay_so(branch, monkeypatch):
    """Short records have items of the first half, long ones of the second; with one band they are mixed.

    With pairs they are not quite so mixed, since items of both halves are never together.
    """
    draw = np.random.default_rng(3)
    records = [draw.choice(20, size, replace=False).tolist() for size in draw.integers(1, 4, 3_000)]
    records += [(20 + draw.choice(20, size, replace=False)).tolist() for size in draw.integers(8, 13, 800)]
    data = sets_of(records, 40)

    def misplaced():
        """How many of the items of short records are of the second half."""
        with forced(branch, steps=30) as method:
            starts, items, weights = method.publish(data, CLEAR, seed=1).data.arrays()
        sizes = np.diff(starts)
        short = np.repeat(sizes <= 4, sizes)
        return np.average(items[short] >= 20, weights=np.repeat(weights, sizes)[short])

    assert misplaced() < 0.1
    monkeypatch.setattr(items_model, "_CUTS", ())
    assert misplaced() > 0.3

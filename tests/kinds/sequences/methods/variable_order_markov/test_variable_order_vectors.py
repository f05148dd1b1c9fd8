"""The steps of variable-order-markov by themselves: vectors that a separate script computed, and laws."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import VECTORS

from hedgerow.kinds.sequences.methods.variable_order_markov import plan_model, publisher
from hedgerow.kinds.sequences.methods.variable_order_markov.draw import expected_ends, log_odds
from hedgerow.kinds.sequences.methods.variable_order_markov.model import (
    GRID,
    ContextTree,
    _rake,
    posterior_counts,
)
from hedgerow.kinds.sequences.methods.variable_order_markov.plan_model import (
    LengthHistogram,
    bin_edges,
    choose_tokens,
    estimate_lengths,
    token_cost,
)
from hedgerow.kinds.sequences.methods.variable_order_markov.publisher import (
    Tokens,
    content_hashes,
    copy_offsets,
    kept_positions,
)
from hedgerow.numerics.projections import isotonic_regression, project_to_simplex
from hedgerow.numerics.sampling import systematic_counts
from hedgerow.privacy.samplers import coins
from laws import sequences_over

VECTOR = json.loads((VECTORS / "variable-order-markov.json").read_text())
RECORDS = [[int(item) - 1 for item in text] for text in VECTOR["records"]]
COINS = coins((5, 0))
FEW = 1e-4


# ---- lengths


@pytest.mark.parametrize("longest", ["32", "128"])
def test_bins(longest):
    assert bin_edges(int(longest)).tolist() == VECTOR["bins"][longest]


@given(st.integers(1, 10_000))
def test_bins_partition_all_lengths(longest):
    edges = bin_edges(longest)
    assert edges[0] == 1
    assert edges[-1] == longest + 1
    assert np.all(np.diff(edges) >= 1)


def test_the_non_rising_fit():
    case = VECTOR["non-rising fit"]
    values, weights = (np.array([case[name]], np.float64) for name in ("values", "weights"))
    assert (-isotonic_regression(-values, weights))[0].tolist() == pytest.approx(case["fitted"])


@pytest.mark.parametrize("case", VECTOR["projections"])
def test_projection(case):
    values, total, projected = case
    assert project_to_simplex(np.array([values], np.float64), np.array([total]))[0].tolist() == projected


def test_lengths():
    case = VECTOR["lengths"]
    noisy = np.array(case["noisy"], np.float64)
    lengths = estimate_lengths(noisy, np.arange(1, 10), case["scale"])
    assert lengths.by_length[1:].tolist() == pytest.approx(case["estimated"])
    assert lengths.number == 102


def test_lengths_without_a_certain_bin_or_without_a_tail():
    """No bin is certain: all are smoothed. The last one is: nothing is."""
    assert estimate_lengths(np.zeros(3), np.arange(1, 5), 1.0).number == 1
    lengths = estimate_lengths(np.array([1.0, -2, 50]), np.arange(1, 5), 1.0)
    assert lengths.by_length.tolist() == [0, 0, 0, 49]  # the sum stays


@given(st.lists(st.integers(-60, 60), min_size=19, max_size=19), st.floats(0.1, 50))
def test_lengths_are_not_negative_and_keep_their_sum(noisy, scale):
    lengths = estimate_lengths(np.array(noisy, np.float64), bin_edges(32), scale)
    assert np.all(lengths.by_length >= 0)
    assert lengths.number == max(1, sum(noisy))


# ---- how many tokens


@pytest.mark.parametrize("weight", [200, 300])
def test_costs_of_tokens(weight, monkeypatch):
    """With the weight of the method, and with the smaller one that it was described with."""
    monkeypatch.setattr(plan_model, "_NOISE", float(weight))
    case = VECTOR[f"tokens per sequence, noise {weight}"]
    lengths = LengthHistogram(np.array(case["by length"], np.float64))
    for tokens, cost in case["costs"].items():
        assert token_cost(lengths, 4, 0.9, int(tokens)) == pytest.approx(cost, abs=FEW)
    for items, spend, chosen, cost in case["chosen"]:
        assert choose_tokens(lengths, items + 1, spend) == chosen
        assert token_cost(lengths, items + 1, spend, chosen) == pytest.approx(cost, abs=FEW)


# ---- which tokens


def first_rows(tokens, symbols):
    """The rows of the start and of each item, by name."""
    tree = ContextTree(symbols)
    tree.add_level(np.zeros(symbols, np.int64), np.arange(symbols), np.zeros(symbols, np.bool_), np.zeros(symbols))
    table = tokens.descend(tree).count(1, symbols, symbols).reshape(symbols, symbols)
    return dict(zip([*(str(item + 1) for item in range(symbols - 1)), "^"], table.tolist(), strict=True))


def test_rows_of_all_tokens():
    case = dict(VECTOR["rows of all tokens"])
    tokens = Tokens.of(sequences_over(RECORDS, 3), 10)
    assert tokens.count(0, 1, 4).sum() == case.pop("tokens")
    rows = first_rows(tokens, 4)
    assert rows == case
    # what comes in goes out
    assert np.sum(list(rows.values()), axis=0)[:3].tolist() == [sum(rows[item]) for item in "123"] == [5, 9, 10]


def test_rows_of_four_tokens(monkeypatch):
    case = dict(VECTOR["rows of four tokens, offset 1/2"])
    monkeypatch.setattr(publisher, "copy_offsets", lambda hashes, _: np.full(len(hashes), 0.5))
    tokens = Tokens.of(sequences_over(RECORDS, 3), 4)
    assert tokens.count(0, 1, 4).sum() == case.pop("tokens")
    assert first_rows(tokens, 4) == case


@pytest.mark.parametrize("case", VECTOR["offsets"])
def test_offsets(case):
    codes, offsets, kept = case
    copies = np.arange(len(offsets))
    hashes = content_hashes(np.array([0, len(codes)]), np.array(codes))
    drawn = copy_offsets(np.repeat(hashes, len(copies)), copies)
    assert drawn.tolist() == pytest.approx(offsets, abs=1e-6)
    assert kept_positions(np.full(len(copies), len(codes) + 1), drawn, 4).tolist() == kept


def test_copies_are_spread_evenly():
    codes = VECTOR["offsets"][0][0]
    hashes = np.repeat(content_hashes(np.array([0, 5]), np.array(codes)), 1_000)
    kept = kept_positions(np.full(1_000, 6), copy_offsets(hashes, np.arange(1_000)), 4)
    assert np.bincount(kept.ravel()).tolist() == VECTOR["kept of 1,000 copies"]


def mixed(codes):
    """The hash of one list, as its definition says."""
    word, top = len(codes), 2**64

    def mix(z):
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % top
        z = (z ^ z >> 27) * 0x94D049BB133111EB % top
        return z ^ z >> 31

    word = mix(word)
    for code in codes:
        word = mix((word + code + 1) % top)
    return word


@given(st.lists(st.lists(st.integers(0, 2**20), min_size=1, max_size=12), min_size=1, max_size=40))
def test_hashes_are_those_of_the_definition(lists):
    """Many lists are hashed together, the last few one by one."""
    starts = np.cumsum([0, *map(len, lists)])
    assert content_hashes(starts, np.concatenate(lists)).tolist() == [mixed(codes) for codes in lists]


@given(st.integers(1, 60), st.integers(1, 1_000), st.floats(0, 1, exclude_max=True))
def test_kept_tokens_are_distinct_and_as_many_as_allowed(more, most, offset):
    kept = kept_positions(np.array([most + more]), np.array([offset]), most)[0]
    assert len(set(kept.tolist())) == most
    assert kept[0] >= 0
    assert kept[-1] < most + more


def cells_of(records, most):
    """How often each pair of a symbol and the one before it is counted."""
    return Tokens.of(sequences_over(records, 3), most).descend(_first_order()).count(1, 4, 4)


def _first_order():
    tree = ContextTree(4)
    tree.add_level(np.zeros(4, np.int64), np.arange(4), np.zeros(4, np.bool_), np.zeros(4))
    return tree


RANDOM = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), min_size=1, max_size=12)


@given(RANDOM, st.integers(1, 12), st.integers(0, 11), st.randoms())
def test_one_sequence_more_adds_its_own_tokens_and_moves_no_other(records, most, number, random):
    """Among many equal sequences, too; and the order of sequences does not matter."""
    records = [*records, *records[:2], *records[:1]]
    without = records.copy()
    gone = without.pop(number % len(records))
    moved = cells_of(records, most) - cells_of(without, most)
    assert moved.min() >= 0
    assert moved.sum() == min(len(gone) + 1, most)
    random.shuffle(records)
    without.insert(0, gone)
    assert np.array_equal(cells_of(records, most), cells_of(without, most))


def test_weights_count_as_copies():
    data = sequences_over([[0, 1, 2, 0, 1]] * 7 + [[2]] * 3, 3)
    merged = data.canonical()
    for most in (2, 4, 20):
        one, other = Tokens.of(data, most), Tokens.of(merged, most)
        assert np.array_equal(one.count(0, 1, 4), other.count(0, 1, 4))


# ---- shrinkage


@pytest.mark.parametrize("case", VECTOR["shrinkage"])
def test_shrinkage(case):
    noisy, mean, shrunk = (np.array(part, np.float64) for part in case)
    assert posterior_counts(noisy, mean, np.ones(1), COINS).tolist() == pytest.approx(shrunk.tolist(), abs=FEW)


def test_the_grid():
    assert len(GRID) == 27
    assert GRID[-1] == 2**4.5


@given(st.data())
@settings(max_examples=60)
def test_shrunk_counts_are_not_negative_and_large_ones_stay(data):
    size = data.draw(st.integers(1, 40))
    draw = np.random.default_rng(data.draw(st.integers(0, 999)))
    noisy, scale = draw.laplace(0, 300, size), np.exp2(draw.uniform(-4, 8, size))
    shrunk = posterior_counts(noisy, np.exp2(draw.uniform(-20, 12, size)), scale, COINS)
    assert np.all(shrunk >= 0)
    large = noisy >= 12 * scale
    assert np.array_equal(shrunk[large], noisy[large])


def test_posterior_means_are_the_sums_of_their_definition():
    """Two cumulative sums give the same as all grid points one by one."""
    from hedgerow.kinds.sequences.methods.variable_order_markov.model import _fit, _means_under

    count = np.linspace(0, 12, 97)
    chance = _fit(np.array([0.1, 3.0, 3.0, 70.0]), 0.7)
    weight = chance * np.exp(-np.abs(count[:, None] - GRID))
    assert _means_under(chance, count).tolist() == pytest.approx((weight @ GRID / weight.sum(axis=1)).tolist())


def test_many_cells_are_sampled_for_the_fit():
    """A class of more than 6,000 cells is fitted to 6,000 of them: about the same as all."""
    draw = np.random.default_rng(3)
    noisy = draw.exponential(2, 50_000) + draw.laplace(0, 1, 50_000)
    few, other = (posterior_counts(noisy, np.full(50_000, 2.0), np.ones(1), coins((seed, 0))) for seed in (1, 2))
    assert not np.array_equal(few, other)
    assert np.abs(few - other).mean() < 0.1
    exact = noisy * 0 + np.mean(noisy)
    assert np.mean((few - noisy) ** 2) < np.mean((exact - noisy) ** 2)


# ---- scaling, ends


def test_scaling():
    case = VECTOR["scaling"]
    rows, sums = np.array(case["rows"], np.float64), np.array(case["row sums"], np.float64)
    columns = np.array([case["column sums"]], np.float64)
    scaled = _rake(rows, sums, np.zeros(2, np.int64), columns)
    assert scaled.ravel().tolist() == pytest.approx(np.ravel(case["scaled"]).tolist(), abs=FEW)


def test_ends():
    case = VECTOR["ends"]
    many, odds = np.array(case["sequences"]), log_odds(np.array(case["chances"]))
    for number, shift in case["shifts"].items():
        ends = expected_ends(many, odds, int(number))
        assert (log_odds(ends / many) - odds).tolist() == pytest.approx([shift] * 3, abs=1e-5)
    for number, ending in case["ending"].items():
        assert expected_ends(many, odds, int(number)).tolist() == pytest.approx(ending, abs=FEW)


def test_apportioning():
    case = VECTOR["apportioning"]
    assert (
        systematic_counts(np.array(case["values"]), case["total"], 1 - case["offset"]).tolist() == case["apportioned"]
    )


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.integers(1, 10**9), st.floats(0, 1, exclude_max=True))
def test_apportioned_numbers_are_whole_and_add_up(values, total, offset):
    values = np.array([*values, 1.0])
    whole = systematic_counts(values, total, 1 - offset)
    assert whole.sum() == total
    assert np.all(whole >= 0)
    assert np.abs(whole - values * total / values.sum()).max() < 1 + 1e-6 * total / 1e3

"""Measures of matrices: the vectors of the thesis and its corrections, bounds that hold, and those that do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hedgerow import Matrix, find_method
from hedgerow.evaluate import evaluate
from hedgerow.kinds.matrices.measures import measure_ranges
from hedgerow.kinds.matrices.row_measures import (
    angle_bounds,
    classify,
    compare_angles,
    compare_distances,
    compare_ranks,
    expect_of_shuffled,
    has_classifier,
    scores_of_rank,
    value_difference,
)
from hedgerow.privacy.distortion import Distortion


def rng(seed=1):
    return np.random.default_rng(seed)


def angle(first, second):
    cosine = first @ second / (np.linalg.norm(first) * np.linalg.norm(second))
    return math.acos(min(1.0, max(-1.0, cosine)))


# ---- numbers and ranks

BEFORE = np.array([[1, 9, 4], [5, 2, 6], [3, 7, 8], [2, 8, 1.0]])
AFTER = np.array([[2, 8, 5], [1, 3, 9], [4, 6, 7], [3, 9, 2.0]])


def test_the_small_example():
    assert value_difference(BEFORE, AFTER)[0] == pytest.approx(0.314436, abs=1e-6)
    assert compare_ranks(BEFORE, AFTER) == pytest.approx((5 / 6, 1 / 3, 0, 1))
    published = compare_ranks(BEFORE, AFTER, argsort=True)
    assert published.rp == pytest.approx(7 / 6)
    assert published.rk == pytest.approx(1 / 3)  # the same in both readings


def test_the_salaries_keep_their_ranks():
    before = np.array([[78082.0], [250821], [45614], [15286]])
    after = np.array([[83712.0], [236523], [51356], [21563]])
    assert value_difference(before, after)[0] == pytest.approx(0.065768, abs=1e-6)
    assert compare_ranks(before, after)[:2] == (0, 1)


def test_both_norms_are_those_of_numpy():
    before, after = rng().normal(size=(2, 30, 5))
    expected = [np.linalg.norm(before - after, of) / np.linalg.norm(before, of) for of in (None, 2)]
    assert value_difference(before, after) == pytest.approx(expected)


def test_numbers_that_differ_in_their_last_bits_are_ties():
    before = np.array([[0.1 + 0.2], [0.3], [0.3]])
    assert compare_ranks(before, np.full((3, 1), 0.3)) == (0, 1, 0, 1)


def test_ties_are_averaged_on_request():
    before, after = np.array([[1.0], [1], [1], [2]]), np.array([[4.0], [3], [2], [1]])
    assert compare_ranks(before, after, ties="average").rp == pytest.approx((2 + 1 + 0 + 3) / 4)
    assert compare_ranks(before, after).rp == pytest.approx((3 + 1 + 1 + 3) / 4)


@pytest.mark.parametrize(("rows", "columns", "rp"), [(699, 9, 233.0), (569, 30, 189.7)])
def test_a_random_order_gives_what_is_expected_of_it(rows, columns, rp):
    expected = expect_of_shuffled(rows, columns)
    assert expected.rp == pytest.approx(rp, abs=0.05)
    values = rng(3).normal(size=(rows, columns))
    order = rng(4)
    shuffled = np.stack([order.permutation(column) for column in values.T], axis=1)
    assert compare_ranks(values, shuffled).rp == pytest.approx(expected.rp, rel=0.03)


# ---- angles


def test_proportional_rows_have_no_angle_although_they_differ():
    assert angle(np.array([1.0, 2, 3]), np.array([10.0, 20, 30])) == pytest.approx(0, abs=1e-7)


def test_a_rotation_keeps_all_angles_and_distances_but_not_those_of_some_columns():
    values = rng().normal(size=(40, 6))
    turn = np.linalg.qr(rng(2).normal(size=(6, 6)))[0]
    kept = compare_angles(values, values @ turn, rng(), tolerances=(1e-10,))
    assert (kept.shares, kept.pairs) == ((1.0,), 780)
    assert compare_distances(values, values @ turn, rng()).max() < 1e-10
    rows, half = np.array([[1.0, 0, 5], [2, 0, -5]]), math.sqrt(0.5)
    turned = rows @ np.array([[half, 0, -half], [0, 1, 0], [half, 0, half]])
    assert angle(*rows) == pytest.approx(angle(*turned))
    assert math.degrees(angle(*rows[:, :2])) == pytest.approx(0)
    assert math.degrees(angle(*turned[:, :2])) == pytest.approx(180)


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_on_angles_holds(seed):
    draw = rng(seed)
    before = draw.normal(3, 1, (60, 5))
    after = before + draw.normal(0, 0.5, before.shape)
    bounds = angle_bounds(before, after)
    units = [values / np.linalg.norm(values, axis=1, keepdims=True) for values in (before, after)]
    angles = [np.arccos(np.clip(unit @ unit.T, -1, 1)) for unit in units]
    total = bounds[:, None] + bounds
    checked = np.isfinite(total)
    assert checked.mean() > 0.5
    assert np.all(np.abs(angles[0] - angles[1])[checked] <= total[checked] + 1e-7)


def test_the_printed_condition_does_not_bound_a_row():
    """Theorem 2.2.1 of the thesis: both conditions hold, and the noise of a row is larger than the row itself."""
    data, noise = np.array([[10.0, 0], [0, 1]]), np.array([[0.0, 0], [3, 0]])
    singular = [np.linalg.svd(values, compute_uv=False) for values in (data, data + noise)]
    assert np.linalg.norm(noise, 2) <= min(singular[0][0], singular[1][0] - singular[0][1])
    directions = [np.linalg.svd(values)[2][:1].T for values in (data, data + noise)]
    assert np.linalg.norm(data[1] @ directions[0]) == pytest.approx(0)
    assert np.linalg.norm(noise[1] @ directions[1]) == pytest.approx(2.9988, abs=1e-4)


def test_a_sample_of_pairs_is_near_all_pairs_and_has_an_interval():
    draw = rng(7)
    before = draw.normal(2, 1, (300, 4))
    after = before + draw.normal(0, 0.05, before.shape)
    every = compare_angles(before, after, rng())
    sample = compare_angles(before, after, rng(), most_rows=100, most_pairs=20_000)
    assert sample.pairs == 20_000
    for share, low, high, exact in zip(sample.shares, sample.low, sample.high, every.shares, strict=True):
        assert low < share < high
        assert low - 0.01 < exact < high + 0.01


def test_angles_of_a_rank_are_those_of_the_truncated_rows():
    values = rng().normal(size=(20, 5))
    left, singular, right = np.linalg.svd(values, full_matrices=False)
    truncated = (left[:, :2] * singular[:2]) @ right[:2]
    assert scores_of_rank(values, 2) @ scores_of_rank(values, 2).T == pytest.approx(truncated @ truncated.T)


def test_rows_of_zeros_are_left_out_and_counted():
    values = np.array([[0.0, 0], [1, 1], [2, 0], [0, 3]])
    shares = compare_angles(values, values, rng())
    assert (shares.pairs, shares.zero_rows) == (3, 1)


# ---- labels, and the whole evaluation


def test_a_classifier_learns_what_is_there_and_nothing_else():
    labels = np.repeat(["ill", "well"], 30)
    values = rng().normal(size=(60, 3)) + 4 * (labels == "ill")[:, None]
    assert classify(values, values, labels).released > 0.9
    assert classify(values, values[::-1], labels).transferred < 0.2
    assert not has_classifier(None)
    assert not has_classifier(np.repeat(["a"], 9))
    assert not has_classifier(np.repeat(["a", "b"], [9, 4]))


def released(method, data, **parameters):
    return find_method(method)(**parameters).publish(data, Distortion(), seed=1)


def made_up(rows=40, **named):
    values = rng(5).integers(0, 9, (rows, 4)) + np.arange(rows)[:, None] % 7
    return Matrix.from_rows(values.astype(float), ids=range(rows), **named)


def scores_of(release, data):
    return {score.name: score for score in evaluate(release, data, seed=1)}


def test_an_evaluation_has_the_measures_of_the_thesis_beside_a_random_order():
    data = made_up(labels=["ab"[row % 2] for row in range(40)])
    scores = scores_of(released("svd", data, rank=2), data)
    for name in ("(VD)", "(RP)", "(RK)", "(CP)", "(CK)", "(RP as published)", "(CP as published)"):
        assert any(name in each for each in scores), name
    assert dict(scores["share of ranks of rows kept (RK)"].controls) == {"random order": 1 / 40}
    assert any("classifier" in name for name in scores)
    heat = [score for score in scores.values() if score.across]
    assert len(heat) == 24 * 4
    assert all(score.scope == "owner" for score in scores.values())


def test_rows_without_names_are_compared_by_columns_only():
    data = Matrix.from_rows(made_up().values)
    scores = scores_of(released("svd", data, rank=2), data)
    assert "relative difference of the numbers (VD)" not in scores
    assert "mean change of correlations of columns" in scores


def test_a_rotation_is_compared_by_angles_and_distances_only():
    data = made_up()
    scores = scores_of(released("additive-noise", data, beta=0.0, rotation="random"), data)
    assert scores["share of angles between rows kept, within 0.5°"].value == 1
    assert scores["median relative change of distances between rows"].value < 1e-6
    assert "relative difference of the numbers (VD)" not in scores
    assert not any("tested on the original" in name for name in scores)


def test_counts_within_ranges_equal_counting():
    rng = np.random.default_rng(3)
    before, after = rng.integers(0, 40, (300, 2)).astype(float), rng.integers(0, 40, (250, 2)).astype(float)
    drawn = np.random.default_rng(4)
    first, _ = measure_ranges(before, {"": after, "original": before}, ("a", "b"), np.random.default_rng(4))
    low, width = before[:, 0].min(), np.ptp(before[:, 0]) / 8
    errors = []
    for start in drawn.uniform(low, low + 7 * width, 200):
        counts = [((data[:, 0] >= start) & (data[:, 0] <= start + width)).sum() for data in (before, after)]
        errors.append(abs(int(counts[0]) - int(counts[1])) / 300)
    assert first.value == pytest.approx(np.mean(errors))
    assert dict(first.controls) == {"original": 0.0}

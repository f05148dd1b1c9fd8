"""Attacks on matrices recover what they are said to recover, fail where they must, and chance does not do as well."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hedgerow import METHODS, Domain, FlatLaplace, Matrix, PureDP, Sets, find_method
from hedgerow.errors import ParameterError
from hedgerow.evaluate import attack
from hedgerow.kinds.matrices.attackers.angle_neighbours import guess_neighbours
from hedgerow.kinds.matrices.attackers.known_rows import fit_rotation, solve_inner_products, undo_rotation
from hedgerow.kinds.matrices.attackers.label_leakage import guess_by_position, guess_commonest
from hedgerow.kinds.matrices.attackers.lattice_reduction import nearest_points, reduce_lattice
from hedgerow.kinds.matrices.attackers.reconstructions import RECONSTRUCTIONS
from hedgerow.kinds.matrices.attackers.spectral_filtering import (
    choose_rank,
    estimate_noise,
    filter_noise,
    noise_edge,
    shrink_noise,
    thesis_edge,
)
from hedgerow.kinds.matrices.attackers.svd_reconstruction import guess_steps, learn_equations, solve_on_grid
from hedgerow.kinds.matrices.attackers.wavelet_inversion import add_threshold, block_means, invert, recover_order
from hedgerow.kinds.matrices.attacks import judge
from hedgerow.privacy.distortion import Distortion

BUPA = np.array([2385.46, 687.56, 318.46, 263.62, 112.80, 57.23, 8.88])
WINE = np.array(
    [10886.69, 493.80, 57.45, 30.46, 18.55, 14.70, 11.33, 5.56, 4.49, 4.15, 3.06, 2.60, 1.98, 1.21],
)


def rng(seed=1):
    return np.random.default_rng(seed)


def low_rank(rows, columns, rank, seed=1):
    draw = rng(seed)
    return draw.normal(size=(rows, rank)) @ draw.normal(size=(rank, columns)) * 3


# ---- spectral filtering


@pytest.mark.parametrize(("shape", "thesis", "edge"), [((345, 7), 18.76, 21.22), ((178, 14), 13.86, 17.08)])
def test_the_edge_is_above_the_noise_and_the_rule_of_the_thesis_below(shape, thesis, edge):
    assert thesis_edge(*shape) == pytest.approx(thesis, abs=0.01)
    assert noise_edge(*shape, 1.0) == pytest.approx(edge, abs=0.01)
    norms = [np.linalg.norm(rng(seed).normal(size=shape), 2) for seed in range(50)]
    assert thesis < np.mean(norms) < edge


@pytest.mark.parametrize(("singular", "rows", "gap"), [(BUPA, 345, 6), (WINE, 178, 3)])
def test_the_rules_for_the_rank_on_the_data_of_the_thesis(singular, rows, gap):
    noisy = np.sqrt(singular**2 + rows)  # in quadrature, with noise of deviation 1
    edge = thesis_edge(rows, len(singular))
    assert choose_rank(noisy, edge, "gap") == gap
    assert choose_rank(noisy, edge, "thesis_min") == 1  # as printed: always the first
    with pytest.raises(ParameterError, match="one of edge, gap, thesis_min"):
        choose_rank(noisy, edge, "other")
    assert choose_rank(np.array([3.0, 2.0]), 10.0) == choose_rank(np.array([3.0, 2.0]), 10.0, "gap") == 0


def test_singular_values_grow_in_quadrature_and_not_by_sums():
    data = low_rank(400, 8, 3)
    noise = rng(2).normal(size=data.shape)
    before, after = (np.linalg.svd(values, compute_uv=False)[:3] for values in (data, data + noise))
    assert after == pytest.approx(np.sqrt(before**2 + 400), rel=0.02)
    assert np.all(before + np.linalg.norm(noise, 2) - after > 5)


def test_filtering_leaves_the_expected_share_of_noise():
    rows, columns, rank = 2000, 50, 5
    data = low_rank(rows, columns, rank)
    noise = rng(2).normal(size=data.shape)
    for beta in (1.0, None):
        filtered = filter_noise(data + noise, beta=beta)
        assert filtered.rank == rank
        share = np.sum((filtered.values - data) ** 2) / np.sum(noise**2)
        assert share == pytest.approx(rank * (rows + columns - rank) / (rows * columns), rel=0.03)


def test_the_size_of_the_noise_is_estimated_on_both_sides():
    for shape in ((1000, 20), (20, 1000), (60, 60)):
        singular = np.linalg.svd(rng(3).normal(0, 2, shape), compute_uv=False)
        assert estimate_noise(singular, *shape) == pytest.approx(2, rel=0.05)


def test_pure_noise_has_no_signal():
    filtered = filter_noise(rng(4).normal(size=(300, 6)), beta=1.1)
    assert filtered.rank == 0
    assert np.ptp(filtered.values, axis=0).max() == 0


def test_shrinkage_gains_where_all_directions_have_signal():
    data = rng(5).normal(0, 1, (3000, 6))
    noisy = data + rng(6).normal(size=data.shape)
    errors = [np.linalg.norm(guess - data) for guess in (noisy, filter_noise(noisy, beta=1).values)]
    assert np.linalg.norm(shrink_noise(noisy, beta=1) - data) < 0.8 * min(errors)


# ---- known rows and angles


def test_a_rotation_is_found_by_as_many_rows_as_there_are_directions():
    data = low_rank(100, 6, 4)
    turn = np.linalg.qr(rng(2).normal(size=(6, 6)))[0]
    back = undo_rotation(data[:4], data[:4] @ turn, data @ turn)
    assert np.abs(back - data).max() < 1e-10
    moved = undo_rotation(data[:6], data[:6] @ turn + 5, data @ turn + 5, moved=True)
    assert np.abs(moved - data).max() < 1e-9
    assert np.abs(undo_rotation(data[:3], data[:3] @ turn, data @ turn) - data).max() > 0.1
    with pytest.raises(ParameterError, match="each known row"):
        fit_rotation(data[:2], data[:3])


def test_inner_products_are_exact_without_noise_and_useless_with_it():
    data = rng().normal(20, 1, (60, 5))
    turn = np.linalg.qr(rng(2).normal(size=(5, 5)))[0]
    exact = data @ turn
    assert np.abs(solve_inner_products(data[:5], exact[:5], exact) - data).max() < 1e-6
    noisy = exact + rng(3).normal(size=data.shape)
    errors = [
        np.median(np.linalg.norm(guess - data, axis=1) / np.linalg.norm(data, axis=1))
        for guess in (solve_inner_products(data[:5], noisy[:5], noisy), undo_rotation(data[:5], noisy[:5], noisy))
    ]
    assert errors[0] > 10 * errors[1]


def test_a_neighbour_is_scaled_and_a_row_of_zeros_has_none():
    scores = np.array([[1.0, 0.1], [3.0, 0.3], [0.0, 2.0], [0.0, 0.0]])
    row = np.array([2.0, 4.0])
    assert guess_neighbours(scores, 0, row, nearest=1).guesses[0] == pytest.approx(3 * row)
    assert guess_neighbours(scores, 0, row, nearest=1, scaled=False).guesses[0] == pytest.approx(row)
    assert len(guess_neighbours(scores, 0, row, nearest=9).rows) == 2
    assert len(guess_neighbours(scores, 3, row).rows) == 0


# ---- low rank


def truncated(values, rank, digits=11):
    left, singular, right = np.linalg.svd(values, full_matrices=False)
    return ((left[:, :rank] * singular[:rank]) @ right[:rank]).round(digits)


@pytest.mark.parametrize("rank", [2, 4, 7])
def test_whole_numbers_are_recovered_exactly_from_a_low_rank(rank):
    data = rng().integers(1, 11, (80, 8)).astype(float)
    release = truncated(data, rank)
    solved = solve_on_grid(release, learn_equations(release), np.ones(8))
    assert np.array_equal(solved.values[solved.sure], data[solved.sure])
    assert solved.sure.mean() > 0.95


def test_few_digits_protect_what_many_digits_give_away():
    data = rng().integers(1, 11, (80, 8)).astype(float)
    release = truncated(data, 4, digits=1)
    equations = learn_equations(release)
    assert equations is None or not solve_on_grid(release, equations, np.ones(8)).sure.any()


def test_decimals_are_guessed_and_equations_learned_from_known_rows():
    data = rng().integers(0, 500, (90, 5)) / np.array([1, 10, 10, 100, 1])
    assert guess_steps(data).tolist() == [1, 0.1, 0.1, 0.01, 1]
    assert guess_steps(rng().normal(size=(9, 2))) is None
    low = truncated(data, 3)
    moved = (data.mean(0) + (low - low.mean(0)) * data.std(0) / low.std(0)).round(10)
    assert learn_equations(moved, data[:5], moved[:5]) is None  # too few known rows
    equations = learn_equations(moved, data[:20], moved[:20])
    solved = solve_on_grid(moved, equations, guess_steps(data[:20]), np.abs(data - moved)[:20].std(0))
    assert np.mean(np.abs(solved.values - data) < 1e-9) > 0.9
    assert learn_equations(data) is None  # full rank: there is nothing to solve


def test_a_reduced_basis_spans_the_same_lattice():
    equations = rng().normal(size=(6, 2))
    lattice = reduce_lattice(equations, 1e7, np.full(6, 10.0))
    assert abs(round(np.linalg.det(lattice.basis.astype(float)))) == 1
    hidden = rng(2).integers(0, 10, (30, 6))
    points, off = nearest_points(lattice, hidden @ equations, np.full((30, 6), 4.5))
    assert np.array_equal(points, hidden)
    assert off.max() < 5


# ---- wavelets


@pytest.mark.parametrize("wavelet", ["haar", "db2", "sym4"])
def test_a_threshold_is_added_back_exactly_where_no_coefficient_vanished(wavelet):
    values = rng().normal(0, 100, (24, 16))
    released = add_threshold(values, -1e-6, wavelet=wavelet, level=2)
    back = invert(released, np.arange(3), values[:3], wavelets=("haar", wavelet), level=2, deltas=[1e-6, 1.0])
    assert back.delta == 1e-6
    assert np.abs(back.values - values).max() < 1e-6
    assert np.abs(released - values).max() > 1e-7


def test_the_example_of_the_specification_is_inverted():
    data = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 17.0]])
    method = find_method("wavelet")(order="names", level=2)
    release = method.publish(Matrix.from_rows(data, ids=range(1, 5)), Distortion(), seed=1).data.values
    assert release[0] == pytest.approx([3.183104, 3.183104, 4.435302, 4.435302], abs=1e-6)
    back = add_threshold(release, 1.745604, level=2)
    assert np.linalg.norm(back - data) < 0.7 * np.linalg.norm(release - data)
    assert block_means(release, 2) == pytest.approx(block_means(data, 2))


def test_a_secret_order_is_recovered_where_details_vanished():
    blocks = np.repeat(rng().normal(0, 9, (16, 8)), 2, axis=0)
    blocks[::2, :2] += 1.0
    order = rng(2).permutation(32)
    recovered = order[recover_order(blocks[order])]
    pairs = {tuple(sorted(pair)) for pair in recovered.reshape(-1, 2).tolist()}
    assert pairs == {(2 * number, 2 * number + 1) for number in range(16)}


# ---- labels, success, and all together


def test_labels_leak_from_an_order_by_label_and_not_from_a_random_one():
    labels = np.repeat(["a", "b", "c"], 40)
    known = np.arange(0, 120, 10)
    assert guess_by_position(labels, known) > 0.9
    assert guess_by_position(rng().permutation(labels), known) < 0.6
    assert guess_commonest(labels, known) < 0.4


def test_cells_of_zero_are_recovered_in_units_of_their_column():
    truth = np.array([[0.0, 100], [0, 200], [0, 300]])
    guess = truth + np.array([[0.04, 0.9], [0.06, 3], [0, 20]])
    success = judge(guess, truth, np.array([1.0, 100.0]))
    assert (success.within_1, success.within_5) == (pytest.approx(2 / 6), pytest.approx(4 / 6))
    assert success.within_tolerance == pytest.approx(5 / 6)


def attacked(method, data, known=None, **parameters):
    release = find_method(method)(**parameters).publish(data, Distortion(), seed=1)
    return {score.name: score for score in attack(release, data, seed=1, known=known)}


def whole_numbers(rows=120, **named):
    values = rng(5).integers(0, 9, (rows, 6)) + np.arange(rows)[:, None] % 7
    return Matrix.from_rows(values.astype(float), **named)


def test_a_low_rank_release_is_broken_and_a_release_of_others_is_not():
    data = whole_numbers(ids=range(1, 121), labels=["ab"[row % 2] for row in range(120)])
    scores = attacked("svd", data, rank=3)
    score = scores["attack, SVD reconstruction: cells within 1 %"]
    assert score.value > 0.95
    assert max(dict(score.controls).values()) < 0.5
    assert scores["attack, all: attacks that err at most half as much as a guess and as the release"].value >= 1
    assert "attack, labels by the order of rows: labels guessed" in scores
    assert all(score.scope == "owner" for score in scores.values())


def test_rows_without_names_are_judged_by_the_rows_they_are_like():
    scores = attacked("svd", whole_numbers(), rank=3)
    assert scores["attack, SVD reconstruction: cells within 1 %"].value > 0.9
    with pytest.raises(ParameterError, match="rows=numbered"):
        attacked("additive-noise", whole_numbers(), rotation="random")


def test_noise_rotation_and_wavelet_are_attacked_in_their_own_ways():
    data = Matrix.from_rows(low_rank(150, 6, 2) + 20, ids=range(1, 151))
    noisy = attacked("additive-noise", data, beta=2.0)
    error = noisy["attack, spectral filtering: median relative error of a row"]
    assert error.value < 0.75 * dict(error.controls)["release as it is"]
    turned = attacked("additive-noise", data, beta=0.1, rotation="random", known=8)
    error = turned["attack, Procrustes, known rows: median relative error of a row"]
    assert error.value < 0.1 * dict(error.controls)["guess of column means"]
    assert "attack, spectral filtering: cells within 5 %" not in turned
    smooth = attacked("wavelet", data, order="names", level=1, p=0.2)
    assert smooth["attack, wavelet inversion: cells within 5 %"].value > 0
    averages = "attack, wavelet averages: blocks of 2 rows and columns whose mean is published exactly"
    assert smooth[averages].value == 1
    assert dict(smooth[averages].controls)["rows of others (control)"] < 0.1


@pytest.mark.parametrize("partition", ["columns", "rows", "columns:2", "rows:40"])
def test_a_wavelet_of_several_blocks_is_inverted_block_by_block(partition):
    data = Matrix.from_rows(rng(3).normal(50, 9, (96, 8)).round(1), ids=range(1, 97))
    scores = attacked("wavelet", data, order="names", level=1, p=0.1, wavelet="haar,db2", partition=partition)
    error = scores["attack, wavelet inversion: median relative error of a row"]
    assert error.value < 0.5 * dict(error.controls)["release as it is"]


def test_a_number_of_known_rows_that_cannot_be_is_refused():
    for known in (0, 120):
        with pytest.raises(ParameterError, match="between 1 and 119"):
            attacked("svd", whole_numbers(ids=range(120)), rank=3, known=known)


def test_a_kind_without_attacks_is_refused():
    data = Sets.from_records([["tea"]] * 9, domain=Domain.declare(item=["tea"]))
    release = FlatLaplace().publish(data, PureDP(epsilon=1, unit="record"))
    with pytest.raises(ParameterError, match="no attacks on sets"):
        attack(release, data)


def test_methods_say_which_attacks_undo_them():
    said = {name: find_method(name).undone_by for name in METHODS if "matrices" in find_method(name).kinds}
    assert {attack for names in said.values() for attack in names} <= set(RECONSTRUCTIONS)
    assert all(names for name, names in said.items() if Distortion in find_method(name).keeps)


def test_of_an_unknown_method_those_attacks_are_tried_that_need_no_help():
    data = whole_numbers(ids=range(120))
    release = find_method("svd")(rank=3).publish(data, Distortion(), seed=1)
    elsewhere = replace(release, recipe=replace(release.recipe, method="from elsewhere"))
    tried = {score.name.partition(":")[0] for score in attack(elsewhere, data, seed=1)}
    assert {"attack, spectral filtering", "attack, SVD reconstruction"} <= tried
    assert "attack, wavelet inversion" not in tried

"""private-wavelet: the Haar basis, the least-squares estimate, its variance, and what is published."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import VECTORS

from hedgerow import Domain, PureDP
from hedgerow.audit import Recorder
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import DomainError, ParameterError, UndeclaredDomain
from hedgerow.frontiers.sharded import ShardedEngine
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.private_wavelet import publisher
from hedgerow.kinds.matrices.methods.private_wavelet.draw import choose_bins
from hedgerow.kinds.matrices.methods.private_wavelet.model import (
    UNLIMITED,
    Grid,
    choose_grids,
    combine,
    query_weights,
    round_counts,
    round_from_the_top,
    variance_ratio,
)
from hedgerow.kinds.matrices.methods.private_wavelet.publisher import PrivateWavelet
from hedgerow.numerics.haar import orthonormal, pad, transform, undo
from hedgerow.privacy import ExactAnswers, Laplace, Ledger
from hedgerow.privacy.questions import NoisyAnswers
from hedgerow.publisher import publish_with
from hedgerow.testing import changed

CHOSEN = (query_weights((256,), 0.125), choose_grids((256,), 0.125), (256,))
ROW, CELL = PureDP(epsilon=1, unit="row"), PureDP(epsilon=1, unit="cell")
EXACT_CELL = PureDP(epsilon=10**6, unit="cell")


def matrix(rows, *bounds, **named):
    axes = {f"c{number}": NumberAxis.between(*bound) for number, bound in enumerate(bounds)}
    return Matrix.from_rows(np.array(rows, float).reshape(-1, len(axes)), domain=Domain.declare(**axes), **named)


# ---- the Haar basis


def test_the_transform_of_the_printed_figure():
    vector = json.loads((VECTORS / "private-wavelet.json").read_text())["haar"]
    assert orthonormal(np.array(vector["values"])) == pytest.approx(vector["coefficients"], abs=1e-6)


@given(bits=st.lists(st.integers(0, 3), min_size=1, max_size=3), seed=st.integers(0, 99))
def test_a_transform_can_be_undone(bits, seed):
    values = np.random.default_rng(seed).integers(-9, 10, [1 << bit for bit in bits])
    assert np.array_equal(undo(transform(values)), values)


# ---- the least-squares estimate

SIZES = st.lists(st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4, 8])), max_size=3, unique=True)


@given(sizes=SIZES, weights=st.lists(st.integers(1, 9), min_size=4, max_size=4), seed=st.integers(0, 99))
def test_the_combination_is_the_least_squares_estimate(sizes, weights, seed):
    """Against a solver that knows nothing of wavelets, on a grid of four times eight cells."""
    grids = tuple(Grid(size, weight) for size, weight in zip({(1, 1), *sizes}, weights, strict=False))
    draw = np.random.default_rng(seed)
    answers = [draw.normal(size=(4 // grid.sizes[0], 8 // grid.sizes[1])) for grid in grids]
    blocks = [reduce(np.kron, [np.kron(np.eye(n // b), np.ones(b)) for n, b in zip((4, 8), grid.sizes, strict=True)])
              for grid in grids]  # fmt: skip
    design = np.vstack([grid.weight * rows for grid, rows in zip(grids, blocks, strict=True)])
    seen = np.concatenate([grid.weight * answer.ravel() for grid, answer in zip(grids, answers, strict=True)])
    expected = np.linalg.lstsq(design, seen, rcond=None)[0]
    assert combine(grids, answers, (4, 8)).ravel() == pytest.approx(expected, abs=1e-9)


def eighth_errors(length, range_share, runs):
    """Squared errors of sums over ranges of an eighth of an axis, by noise of the ledger at epsilon 1/10."""
    grids = choose_grids((length,), range_share)
    total = sum(grid.weight for grid in grids)
    ledger = Ledger(Fraction(1, 10), NoisyAnswers(seed=6))
    answers = []
    for grid in grids:
        zeros = np.zeros(runs * (length // grid.sizes[0]), np.int64)
        noisy = ledger.ask(zeros, Laplace(l1=1), spend=ledger.budget * grid.weight / total, label="sums")
        answers.append(noisy.reshape(runs, -1))
    errors = []
    for run in range(runs):
        running = np.cumsum(combine(grids, [answer[run] for answer in answers], (length,)))
        errors.append(np.mean((running[length // 8 :] - running[: -(length // 8)]) ** 2))
    return np.array(errors)


def test_the_variance_is_as_computed_and_below_that_of_noise_on_every_cell():
    """The claim times 0.9 or 1.1 is rejected; 4.9 standard deviations are a false alarm in a million."""
    errors, ratio = eighth_errors(256, 0.125, 2000), variance_ratio(*CHOSEN)
    deviation = errors.std() / np.sqrt(len(errors))
    distances = [abs(errors.mean() - factor * ratio * 6400) / deviation for factor in (1, 0.9, 1.1)]
    assert distances[0] < 4.9 < min(distances[1:])
    assert ratio < 0.74
    assert errors.mean() < 0.8 * eighth_errors(256, 0.0, 500).mean()


@pytest.mark.parametrize(("lengths", "ratio"), [((128,), 0.97), ((256,), 0.74), ((1024,), 0.40), ((4096,), 0.19)])
def test_sums_over_an_eighth_of_an_axis_are_better_than_noise_on_every_cell(lengths, ratio):
    """From 128 cells on; below that, noise on every cell is what is used."""
    assert variance_ratio(query_weights(lengths, 0.125), choose_grids(lengths, 0.125), lengths) <= ratio
    assert choose_grids((64,), 0.125) == (Grid((1,), 1),)
    assert choose_grids((512,), 0.0) == (Grid((1,), 1),)


@settings(max_examples=20)
@given(bits=st.lists(st.integers(0, 4), min_size=1, max_size=3), share=st.sampled_from([0.0, 0.125, 0.5, 1.0]))
def test_no_choice_is_worse_than_noise_on_every_cell(bits, share):
    lengths = tuple(1 << bit for bit in bits)
    grids = choose_grids(lengths, share)
    assert grids[0].sizes == (1,) * len(lengths)
    assert variance_ratio(query_weights(lengths, share), grids, lengths) <= 1 + 1e-3  # shares are rounded


def test_padding_is_not_asked_for():
    recorder = Recorder(ExactAnswers())
    publish_with(PrivateWavelet(), matrix([[3]], (0, 199, 1)), ROW, recorder)
    asked = [len(question.exact) for question, _ in recorder.transcript[:-1]]
    assert asked == [-(-200 // grid.sizes[0]) for grid in choose_grids((200,), 0.125)]
    assert asked[0] == 200


def test_axes_of_equal_length_are_treated_alike():
    grids = choose_grids((128, 128), 0.125)
    assert {(grid.sizes[::-1], grid.weight) for grid in grids} == {(grid.sizes, grid.weight) for grid in grids}
    assert len(grids) > 1


# ---- whole numbers within bounds


@given(bits=st.lists(st.integers(0, 3), min_size=1, max_size=3), seed=st.integers(0, 99), top=st.integers(0, 9))
def test_whole_numbers_are_within_bounds_and_keep_the_total(bits, seed, top):
    draw, shape = np.random.default_rng(seed), [1 << bit for bit in bits]
    estimates, most = draw.normal(2, 6, shape), draw.integers(0, top + 1, shape)
    numbers = round_from_the_top(estimates, most)
    assert np.all((numbers >= 0) & (numbers <= most))
    assert numbers.sum() == np.clip(np.rint(estimates.sum()), 0, most.sum())
    exact = np.minimum(draw.integers(0, 9, shape), most)
    assert np.array_equal(round_from_the_top(exact.astype(float), most), exact)


def test_sums_along_axes_stay_as_accurate_as_they_are():
    """Noise in every cell, none along the axes: whole counts do not mix them up."""
    draw = np.random.default_rng(8)
    exact = np.outer(draw.poisson(6, 32), draw.poisson(2, 32)).astype(float)
    noise = draw.laplace(0, 5, (32, 32))
    noise = noise - noise.mean(0) - noise.mean(1, keepdims=True) + noise.mean()
    most = np.full((32, 32), UNLIMITED)
    errors = {}
    for rounded in (round_counts, round_from_the_top):
        counts = rounded(exact + noise, most)
        assert counts.min() >= 0
        errors[rounded] = np.abs(counts.sum(0) - exact.sum(0)).mean()
    assert errors[round_counts] < 4
    assert errors[round_from_the_top] > 15
    assert np.array_equal(round_counts(exact, most), exact)


def test_moving_cells_into_bounds_one_by_one_would_be_worse():
    draw = np.random.default_rng(5)
    estimates = draw.laplace(0, 2, 1024)
    numbers = round_from_the_top(estimates, np.full(1024, UNLIMITED))
    assert abs(numbers.sum()) < 300 < np.clip(np.rint(estimates), 0, None).sum()


def test_what_noise_hides_is_not_published_as_if_it_was_known():
    """Numbers of a column are nearly the mean of their block, where single ones would be at the bounds."""
    numbers = np.clip(np.rint(np.random.default_rng(4).normal(50, 10, 512)), 0, 100)
    data = matrix(numbers[:, None], (0, 100, 1))
    released = [PrivateWavelet().publish(data, CELL, seed=seed).data.values[:, 0] for seed in range(5)]
    assert np.mean([values.std() for values in released]) < 30
    with changed(publisher, "share_within_bounds", "kept[0] = 1.0", "kept[:] = 1.0"):
        plain = [PrivateWavelet().publish(data, CELL, seed=seed).data.values[:, 0] for seed in range(5)]
    assert np.mean([values.std() for values in plain]) > 40


# ---- what is published


@pytest.mark.parametrize("promise", [ROW, EXACT_CELL])
def test_without_noise_the_matrix_comes_back(promise):
    rows = np.random.default_rng(2).integers(0, [5, 40], (77, 2)) * [1, 0.5]
    data = matrix(rows, (0, 4, 1), (0, 19.5, 0.5))
    released = publish_with(PrivateWavelet(), data, promise, ExactAnswers()).data
    first, second = released.values.tolist(), rows.tolist()
    assert (first == second) == (promise is EXACT_CELL)
    assert sorted(first) == sorted(second)
    assert released.numbered == (promise is EXACT_CELL)


def test_rows_are_at_random_points_of_their_bins():
    data = matrix([[7]] * 3000, (0, 9, 1))
    released = publish_with(PrivateWavelet(bins=4), data, ROW, ExactAnswers()).data
    points, counts = np.unique(released.values, return_counts=True)
    assert points.tolist() == [6, 7, 8]  # three steps per bin
    assert counts.min() > 850
    last = publish_with(PrivateWavelet(bins=4), matrix([[9]] * 20, (0, 9, 1)), ROW, ExactAnswers()).data
    assert set(last.values.ravel().tolist()) == {9}  # the last bin has one step


def test_the_order_of_rows_is_that_of_their_numbers_or_of_the_input():
    rows = [[3], [1], [2], [0]]
    named = matrix(rows, (0, 4, 1), ids=["d", "a", "c", "b"])
    released = publish_with(PrivateWavelet(), named, EXACT_CELL, ExactAnswers()).data
    assert released.values.tolist() == rows
    assert released.ids.tolist() == [1, 2, 3, 4]
    numbered = released.shuffled(np.random.default_rng(1))
    assert publish_with(PrivateWavelet(), numbered, EXACT_CELL, ExactAnswers()).data.values.tolist() == rows
    assert publish_with(PrivateWavelet(), numbered, ROW, ExactAnswers()).data.ids is None


def test_the_statement_says_how_much_noise_ranges_have():
    row = PrivateWavelet().publish(matrix([[3]], (0, 1023, 1)), ROW, seed=1)
    assert row.evidence.notes == (("standard deviation of the noise of a count over range_share of one column", 10),)
    cell = PrivateWavelet().publish(matrix([[3]] * 1024, (0, 10, 1)), CELL, seed=1)
    ((label, value),) = cell.evidence.notes
    assert label.endswith("in thousandths of high - low")
    assert value == 79  # 10.0 per 128 rows
    single = PrivateWavelet(range_share=0).publish(matrix([[3]], (0, 1023, 1)), ROW, seed=1)
    assert single.evidence.notes[0][1] == 2


def test_the_statement_for_cells_says_what_is_public():
    release = PrivateWavelet().publish(matrix([[3], [1]], (0, 4, 1)), CELL, seed=1)
    assert "Everything but the content of one cell" in release.statement()
    assert "Everything but" not in PrivateWavelet().publish(matrix([[3]], (0, 4, 1)), ROW, seed=1).statement()


def test_ranges_of_published_rows_are_accurate():
    """1,024 bins: the error of sums over an eighth is that of some ten rows, of 100,000."""
    draw = np.random.default_rng(3)
    rows = np.clip(np.rint(draw.normal(400, 120, 100_000)), 0, 1023)
    data = matrix(rows[:, None], (0, 1023, 1))
    errors = {}
    for share in (0.125, 0.0):
        squares = []
        for seed in range(12):
            released = PrivateWavelet(range_share=share).publish(data, ROW, seed=seed).data
            running = np.cumsum(released.count_bins([1]) - data.count_bins([1]))
            squares.append(np.mean((running[128:] - running[:-128]) ** 2))
        errors[share] = np.sqrt(np.mean(squares))
    assert errors[0.125] < 12
    assert errors[0.125] < 0.85 * errors[0.0]


# ---- the operations of the kind that it counts with


@given(
    low=st.integers(-1000, 1000),
    step=st.sampled_from(["1", "0.1", "0.25", "1/3", "0.001", "7"]),
    codes=st.lists(st.integers(0, 500), min_size=1, max_size=20),
    shards=st.integers(1, 3),
)
def test_numbers_on_a_lattice_are_counted_where_they_are(low, step, codes, shards):
    bounds = (low, low + 500 * Fraction(step), step)
    codes = np.array(codes)[:, None]
    data = matrix(np.zeros(len(codes)), bounds).on_lattice(codes).on(ShardedEngine(shards))
    assert np.array_equal(data.lattice(), codes)
    assert np.array_equal(data.count_bins([1]), np.bincount(codes[:, 0], minlength=501))
    assert np.array_equal(data.bounded("cell").column_in_order(0), codes[:, 0])


def test_rows_without_numbers_have_no_order():
    with pytest.raises(DomainError, match="rows have no order; number them"):
        matrix([[1]], (0, 4, 1)).column_in_order(0)
    assert matrix([[1e308]], (0, 4, "1/7")).lattice().tolist() == [[28]]


# ---- refusals


def test_too_many_columns_or_cells_are_refused_with_what_to_do():
    nine = matrix(np.zeros((2, 9)), *[(0, 1, 1)] * 9)
    with pytest.raises(ParameterError, match="at most 8 columns are counted; the domain declares 9; declare those"):
        PrivateWavelet().publish(nine, ROW)
    assert PrivateWavelet().publish(nine, CELL, seed=1).data.values.shape == (2, 9)
    with pytest.raises(ParameterError, match=r"3000 bins per column are 16,777,216 cells.* give fewer bins"):
        PrivateWavelet(bins=3000).publish(matrix([[0, 0]], (0, 5000, 1), (0, 5000, 1)), ROW)
    with pytest.raises(ParameterError, match=r"column 'c0' has .* steps, too many .* declare a larger step"):
        PrivateWavelet().publish(matrix([[0]] * 3, (0, 2**52, 1)), CELL)


def test_more_rows_than_fit_in_memory_are_refused():
    with pytest.raises(ParameterError, match=r"noise alone may produce about \S+ numbers, .* take a larger epsilon"):
        PrivateWavelet().publish(matrix([[0]], (0, 1, 1)), PureDP(epsilon="1e-9", unit="row"))
    with pytest.raises(ParameterError, match=r"about \S+ rows would be published, .* give a larger epsilon"):
        choose_bins([NumberAxis.between(0, 1, 1)], 0).draw(np.array([1 << 40, 0]), np.random.default_rng(1))


def test_columns_need_declared_bounds():
    data = Matrix.from_rows([[1.0]], domain=Domain.declare(a=NumberAxis()))
    with pytest.raises(UndeclaredDomain, match="column 'a' has no declared bounds"):
        PrivateWavelet().publish(data, ROW)


def test_axes_are_padded_to_powers_of_two():
    assert [pad(length) for length in (1, 2, 3, 4, 5, 1000)] == [1, 2, 4, 4, 8, 1024]

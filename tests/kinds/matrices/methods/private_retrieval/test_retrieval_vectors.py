"""private-retrieval: every worked example of the thesis, corrected, and what it prints that is false."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import pywt
from project import VECTORS
from scipy import stats

from hedgerow.kinds.matrices.answers import error_bound, local_variance, naive_variance
from hedgerow.kinds.matrices.retrieval.wire import multiply, sparsify, truncation_bound
from hedgerow.numerics.haar import orthonormal, undo

VECTOR = json.loads((VECTORS / "private-retrieval.json").read_text())
SMOKERS = VECTOR["smokers"]
X, Y, NOISY_X, NOISY_Y = (np.array(SMOKERS[name], float) for name in ("x", "y", "noisy x", "noisy y"))


def printed(value, digits):
    """Equal up to the printed digits."""
    return pytest.approx(value, abs=0.5000001 * 10**-digits)


# ---- 5.1 and 5.2: the smokers of six areas


def test_products_of_the_printed_vectors():
    assert SMOKERS["x.y"] == X @ Y
    assert printed(SMOKERS["noisy x.y"], 2) == NOISY_X @ Y
    assert printed(SMOKERS["x.noisy y"], 2) == X @ NOISY_Y
    assert printed(SMOKERS["noisy x.noisy y"], 5) == NOISY_X @ NOISY_Y
    assert NOISY_X[:4] @ NOISY_Y[:4] == printed(SMOKERS["first four entries of noisy y"], 5)
    assert NOISY_X[[1, 3, 4]] @ NOISY_Y[[1, 3, 4]] == printed(SMOKERS["entries 2, 4, 5 of noisy y"], 5)
    assert pytest.approx(SMOKERS["x noise"], abs=1e-9) == NOISY_X - X
    assert pytest.approx(SMOKERS["y noise"], abs=1e-9) == NOISY_Y - Y


def test_predicted_errors():
    assert math.sqrt(naive_variance(X, Y, 2.0, 2.0)) == printed(SMOKERS["naive deviation"], 2)
    assert math.sqrt(local_variance(Y, 2.0)) == printed(SMOKERS["local deviation"], 3)
    assert naive_variance(X, Y, 2.0, 2.0) == VECTOR["variances"]["epsilon 1 and 1"]
    assert naive_variance(X, Y, 8.0, 0.5) == VECTOR["variances"]["epsilon 0.5 and 2"]


def continuous_products(draw, runs, data_scale=1.0, query_scale=1.0):
    """Products of vectors with continuous Laplace noise, as the thesis has it."""
    return ((X + draw.laplace(0, data_scale, (runs, 6))) * (Y + draw.laplace(0, query_scale, (runs, 6)))).sum(1)


@pytest.mark.parametrize(("scales", "name"), [((1, 1), "epsilon 1 and 1"), ((2, 0.5), "epsilon 0.5 and 2")])
def test_simulated_variances(scales, name):
    """200,000 products; the standard error of the variance is below 0.6 %, so that 4 % are seven of them."""
    products = continuous_products(np.random.default_rng(5), 200_000, *scales)
    formula = VECTOR["variances"][name]
    assert products.var() == pytest.approx(formula, rel=0.04)
    for wrong in (0.9, 1.1):
        assert products.var() != pytest.approx(wrong * formula, rel=0.04)
    assert products.mean() == pytest.approx(484, abs=6 * math.sqrt(formula / 200_000))


def test_the_expected_absolute_error_is_not_zero():
    """Printed as 0; unbiased is something else."""
    errors = np.abs(continuous_products(np.random.default_rng(6), 200_000) - 484)
    assert errors.mean() == pytest.approx(VECTOR["variances"]["mean absolute error at epsilon 1"], rel=0.02)


def test_the_second_moment_of_laplace_noise_is_positive():
    """5.6: printed with a minus."""
    assert stats.laplace(scale=1 / 0.3).moment(2) == pytest.approx(2 / 0.3**2)


# ---- 5.3: the Haar transform


def haar_matrix(length):
    """The matrix row by row, from the corrected formula: no code is shared with the transform."""
    n = length.bit_length() - 1
    rows = [np.full(length, 1 / math.sqrt(length))]
    for k in range(2, length + 1):
        p = (k - 1).bit_length() - 1
        q, half = k - 2**p, 2 ** (n - p - 1)
        row = np.zeros(length)
        row[(q - 1) * 2 * half : (q - 1) * 2 * half + half] = 2 ** ((p - n) / 2)
        row[(q - 1) * 2 * half + half : q * 2 * half] = -(2 ** ((p - n) / 2))
        rows.append(row)
    return np.array(rows)


def test_the_figure_of_the_transform():
    case = VECTOR["haar"]
    values = np.array(case["values"], float)
    coefficients = orthonormal(values)
    assert coefficients == pytest.approx(case["coefficients"], abs=5.1e-7)
    assert haar_matrix(8) @ values == pytest.approx(case["coefficients"], abs=5.1e-7)
    assert np.abs(coefficients - case["printed"]).max() > 3  # the second one lacks its factor
    sizes = np.array([8, 8, 4, 4, 2, 2, 2, 2])
    assert undo(coefficients * np.sqrt(sizes)) == pytest.approx(values)


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16])
def test_the_matrix_is_orthonormal_and_keeps_products(length):
    matrix = haar_matrix(length)
    if length == 4:
        assert matrix == pytest.approx(np.array(VECTOR["haar"]["matrix of four"]))
    assert matrix @ matrix.T == pytest.approx(np.eye(length))
    draw = np.random.default_rng(length)
    first, second = draw.normal(size=(2, length))
    assert orthonormal(first) == pytest.approx(matrix @ first)
    assert orthonormal(first) @ orthonormal(second) == pytest.approx(first @ second)


def test_two_bases_do_not_give_a_diagonal_matrix():
    """Printed as diagonal; between Haar and db2 of 16 numbers most entries are not 0, some of them large."""
    other = np.array([np.concatenate(pywt.wavedec(row, "db2", "periodization", level=2)) for row in np.eye(16)]).T
    assert other @ other.T == pytest.approx(np.eye(16))
    mixed = haar_matrix(16) @ other.T
    assert mixed @ mixed.T == pytest.approx(np.eye(16))
    assert (np.abs(mixed) > 1e-9).mean() == pytest.approx(0.61, abs=0.005)
    off = mixed - np.diag(np.diag(mixed))
    assert np.abs(off).max() == pytest.approx(0.575, abs=0.0005)


# ---- 5.4: few coefficients


def test_the_sparse_query_of_the_smokers():
    case = VECTOR["sparse"]
    left, right = orthonormal(NOISY_X), orthonormal(NOISY_Y)
    assert left == pytest.approx(case["coefficients of noisy x"], abs=5.1e-5)
    assert right == pytest.approx(case["coefficients of noisy y"], abs=5.1e-5)
    assert left @ right == printed(SMOKERS["noisy x.noisy y"], 5)
    assert np.abs(right).mean() == printed(case["mean"], 4)
    query = sparsify(NOISY_Y)
    assert (query.places + 1).tolist() == case["kept"]
    assert multiply(left, query) == printed(case["product"], 4)
    assert abs(multiply(left, query) - NOISY_X @ NOISY_Y) == printed(case["error"], 3)
    assert truncation_bound(left, query) == printed(case["bound"], 3)


def test_the_signed_mean_drops_nothing():
    """Printed as the threshold; it is near 0 and may be negative."""
    right = orthonormal(NOISY_Y)
    assert right.mean() == printed(VECTOR["sparse"]["signed mean"], 4)
    assert (np.abs(right) >= right.mean()).sum() >= np.count_nonzero(right) == 7
    draw = np.random.default_rng(1)
    kept = []
    for _ in range(50):
        query = np.zeros(1024)
        query[:20] = 1
        coefficients = orthonormal(query + draw.laplace(size=1024))
        kept.append((np.abs(coefficients) >= coefficients.mean()).mean())
    assert np.mean(kept) > 0.98
    # the mean absolute coefficient drops three fifths
    assert len(sparsify(query + draw.laplace(size=1024)).places) / 1024 == pytest.approx(0.40, abs=0.05)


def test_a_sample_that_grows_with_the_largest_number_is_too_small():
    """Printed: n linear in M. Half of the numbers are 0 and half 100; the mean is wanted to 1, with certainty 0.95."""
    largest, sigma, miss = 100, 1.0, 0.05
    linear = math.ceil(largest * (2 + sigma) / sigma**2 * math.log(2 / miss))
    hoeffding = math.ceil(largest**2 * math.log(2 / miss) / (2 * sigma**2))
    assert (linear, hoeffding) == (1107, 18445)
    for number, coverage in ((linear, 0.50), (hoeffding, 0.993)):
        hits = stats.binom(number, 0.5)
        low, high = number * (50 - sigma) / 100, number * (50 + sigma) / 100
        assert hits.cdf(math.floor(high)) - hits.cdf(math.ceil(low) - 1) == pytest.approx(coverage, abs=0.01)


# ---- 5.5: bounds as printed


def draws(draw, runs, length, low=50.0, high=200.0, ones=0.3):
    """Vectors of the random tests, with continuous noise at epsilon 1: x, y, noisy x, noisy y."""
    x = draw.uniform(low, high, (runs, length))
    y = (draw.random((runs, length)) < ones).astype(float)
    y[~y.any(1), 0] = 1  # a query asks for something
    return x, y, x + draw.laplace(size=x.shape), y + draw.laplace(size=y.shape)


def rows_dot(first, second):
    return (first * second).sum(-1)


def norms(rows):
    return np.linalg.norm(rows, axis=-1)


def test_the_printed_upper_bound_of_a_norm_fails_on_two_numbers():
    noisy_x, noisy_y = np.array([1.0, 1.0]), np.array([1.0, -1.0])
    assert abs(noisy_x @ noisy_y) == 0
    assert np.abs(noisy_y).min() * np.linalg.norm(noisy_x) == pytest.approx(1.414, abs=1e-3)


@pytest.mark.parametrize(("length", "rate", "give"), [(6, 0.09, 0.015), (64, 0.004, 0.004)])
def test_how_often_the_printed_upper_bound_of_a_norm_fails(length, rate, give):
    x, _, noisy_x, noisy_y = draws(np.random.default_rng(2), 20_000, length)
    product, noise = np.abs(rows_dot(noisy_x, noisy_y)), norms(noisy_x - x)
    upper = product / np.abs(noisy_y).min(1) + noise
    assert (norms(x) > upper).mean() == pytest.approx(rate, abs=give)
    # the lower one is true
    assert not np.any(product / norms(noisy_y) - noise > norms(x) * (1 + 1e-12))


def relative_bound(x, y, noisy_x, noisy_y):
    """Theorem 9.2.3 as printed, at epsilon 1."""
    noise = math.sqrt(2 * x.shape[-1])
    largest = np.abs(y).max(-1)
    upper = np.abs(rows_dot(noisy_x, noisy_y)) / np.abs(noisy_y).min(-1) + noise
    return norms(noisy_y - y) / largest + noise * norms(noisy_y) / (largest * upper)


def test_how_often_the_printed_bound_of_the_relative_error_fails():
    x, y, noisy_x, noisy_y = draws(np.random.default_rng(3), 20_000, 6)
    exact = rows_dot(x, y)
    errors = np.abs(exact - rows_dot(noisy_x, noisy_y)) / np.abs(exact)
    assert (errors > relative_bound(x, y, noisy_x, noisy_y)).mean() == pytest.approx(0.198, abs=0.02)


def test_the_printed_bound_of_the_relative_error_always_fails_on_this():
    draw = np.random.default_rng(4)
    x, y = np.full(1000, 100.0), np.zeros(1000)
    x[0], y[0] = 0.01, 1
    noisy_x, noisy_y = x + draw.laplace(size=(200, 1000)), y + draw.laplace(size=(200, 1000))
    errors = np.abs(x @ y - rows_dot(noisy_x, noisy_y)) / (x @ y)
    assert (errors > relative_bound(x, y, noisy_x, noisy_y)).mean() > 0.99


def test_the_bound_that_always_holds():
    for length in (1, 6, 64):
        x, y, noisy_x, noisy_y = draws(np.random.default_rng(length), 10_000, length)
        errors = np.abs(rows_dot(noisy_x, noisy_y) - rows_dot(x, y))
        bounds = [error_bound(*vectors) for vectors in zip(x, y, noisy_x, noisy_y, strict=True)]
        assert np.all(errors <= np.array(bounds) * (1 + 1e-12))


@pytest.mark.parametrize(("length", "mean", "deviation"), [(6, 0.928, 0.40), (100, 0.993, 0.11), (1000, 1.0, 0.036)])
def test_the_norm_of_noise_is_near_its_root_mean_square_only(length, mean, deviation):
    """Printed as if it were equal."""
    ratios = norms(np.random.default_rng(7).laplace(size=(10_000, length))) / math.sqrt(2 * length)
    assert ratios.mean() == pytest.approx(mean, abs=0.015)
    assert ratios.std() == pytest.approx(deviation, abs=0.015)

"""svd: the best approximation of a rank, its vector, planted bugs, and the tables of the thesis."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.linalg
from matrix_data import read_uci, relative_difference
from project import VECTORS

from hedgerow import SVD, Distortion, Matrix
from hedgerow.errors import NotSatisfied, ParameterError
from hedgerow.kinds.matrices.cases import from_vector, to_vector
from hedgerow.kinds.matrices.methods import distorted_rows, svd
from hedgerow.kinds.matrices.methods.distorted_rows import ColumnStatistics, restore
from hedgerow.testing import changed


def best(values, rank):
    """The best approximation, by the decomposition of scipy."""
    vectors, singular, right = scipy.linalg.svd(values, full_matrices=False)
    return (vectors[:, :rank] * singular[:rank]) @ right[:rank]


def low_rank(shape, condition, seed=1):
    draw = np.random.default_rng(seed)
    least = min(shape)
    left, right = (np.linalg.qr(draw.normal(size=(size, least)))[0] for size in shape)
    return (left * np.geomspace(1, 1 / condition, least)) @ right.T


def check_vector():
    case = json.loads((VECTORS / "svd.json").read_text())["rank one"]
    release = SVD(**case["parameters"]).publish(from_vector(case), Distortion(), seed=1)
    assert np.allclose(to_vector(release.data), case["published"], atol=1e-11)


def check_best_approximation():
    for shape in [(40, 6), (5, 9)]:
        values = low_rank(shape, 100)
        for rank in (1, 3, 5):
            own = values.copy()
            svd.truncate(own, rank)
            assert np.allclose(own, best(values, rank), atol=1e-13)


def test_the_vector():
    check_vector()


def test_it_is_the_best_approximation_of_its_rank():
    check_best_approximation()


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e12])
@pytest.mark.parametrize("rank", [1, 4, 9])
def test_it_is_as_exact_as_scipy_also_for_small_singular_values(condition, rank):
    """Where squares of small singular values would be lost, blocks of rows are factorised instead."""
    values = low_rank((300, 10), condition)
    own = values.copy()
    svd.truncate(own, rank)
    assert np.abs(own - best(values, rank)).max() < 1e-14
    assert np.allclose(
        svd.decompose(values).singular, np.linalg.svd(values)[1], rtol=1e-6 if condition < 1e12 else 1e-3
    )


def test_blocks_of_rows_do_not_matter(monkeypatch):
    values = low_rank((500, 4), 1e8)
    one, other = values.copy(), values.copy()
    svd.truncate(one, 2)
    monkeypatch.setattr(distorted_rows, "BLOCK", 7)
    monkeypatch.setattr(distorted_rows, "_PRODUCT", 1)
    svd.truncate(other, 2)
    assert np.allclose(one, other, atol=1e-15)


def test_means_and_deviations_are_kept_on_request():
    data = Matrix.from_rows(np.random.default_rng(2).normal(3, 2, (50, 4)) @ np.diag([1, 10, 100, 0.1]))
    released = SVD(rank=2, normalise=True).publish(data, Distortion()).data.values
    assert np.allclose(released.mean(0), data.values.mean(0), rtol=1e-10)
    assert np.allclose(released.std(0), data.values.std(0), rtol=1e-10)


@pytest.mark.parametrize(
    ("values", "rank", "message"),
    [
        ([[1, 2], [2, 4]], 1, "would be published as they are"),
        ([[1, 2], [2, 5]], 2, "would be published as they are"),
        ([[0, 0], [0, 0]], 1, "would be published as they are"),
    ],
)
def test_a_release_that_is_the_data_is_refused(values, rank, message):
    with pytest.raises(NotSatisfied, match=message):
        SVD(rank=rank).publish(Matrix.from_rows(values), Distortion())


def test_ranks_that_do_not_exist_are_refused():
    with pytest.raises(ParameterError, match=r"SVD\.rank must be between 1 and .*, 2; got 3"):
        SVD(rank=3).publish(Matrix.from_rows([[1, 2], [3, 5]]), Distortion())
    with pytest.raises(ParameterError, match=r"SVD\.rank must be at least 0"):
        SVD(rank=-1)


@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("truncate", "kept = vectors[:, :rank]", "kept = vectors[:, -rank:]", check_vector),
        ("truncate", "kept @ kept.T if whole", "kept.T @ kept if whole", check_best_approximation),
        ("decompose", "gram += block.T @ block", "gram = block.T @ block", check_best_approximation),
    ],
    ids=["smallest directions", "wrong side", "last block only"],
)
def test_planted_bugs_are_caught(name, old, new, check, monkeypatch):
    monkeypatch.setattr(distorted_rows, "BLOCK", 8)
    monkeypatch.setattr(distorted_rows, "_PRODUCT", 1)
    check()
    with changed(svd, name, old, new), pytest.raises((AssertionError, ValueError)):
        check()


def test_restoring_a_constant_column():
    wanted = ColumnStatistics.of(np.array([[1.0, 5.0], [3.0, 5.0]]))
    values = np.array([[0.0, 4.0], [9.0, 6.0]])
    restore(values, wanted)
    assert values.tolist() == [[1, 5], [3, 5]]
    with pytest.raises(NotSatisfied, match="made a column constant"):
        restore(np.array([[2.0, 4.0], [2.0, 6.0]]), wanted)
    assert distorted_rows.ColumnStatistics.of(np.full((3, 1), 0.1)).deviation.tolist() == [0]


@pytest.mark.slow
def test_the_tables_of_the_thesis():
    cells, wdbc = read_uci("wbc"), read_uci("wdbc")
    for values, rank, printed in ((cells, 5, 0.2080), (wdbc, 15, 0.000035)):
        own = values.copy()
        svd.truncate(own, rank)
        assert relative_difference(values, own) == pytest.approx(printed, abs=0.5 * 10 ** (-4 if printed > 0.1 else -6))
    plain = [0.196, 0.1909, 0.1527, 0.1442, 0.132, 0.1254, 0.1075, 0.0767]
    kept = [0.1915, 0.1926, 0.1563, 0.143, 0.1389, 0.1226, 0.1076, 0.0764]
    for rank in range(1, 9):
        own = cells.copy()
        svd.truncate(own, rank)
        assert round(relative_difference(cells, own, spectral=True), 4) == plain[rank - 1]
        restore(own, ColumnStatistics.of(cells))
        assert round(relative_difference(cells, own, spectral=True), 4) == kept[rank - 1]


def test_twelve_digits_are_published():
    """What comes after them depends on the processor, and tells which numbers a result was computed from."""
    draw = np.random.default_rng(1)
    published = SVD(rank=2).publish(Matrix.from_rows(draw.normal(300, 50, (30, 4))), Distortion()).data.values
    assert np.array_equal(published, published.round(9))
    assert not np.array_equal(published, published.round(8))


def test_standard_deviations_are_those_of_a_sample():
    assert ColumnStatistics.of(np.array([[1.0], [2.0], [6.0]])).deviation == pytest.approx(np.sqrt(7))

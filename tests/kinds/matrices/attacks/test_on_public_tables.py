"""Attacks and measures on the tables of the thesis: the figures of the specification."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_data import read_uci

from hedgerow import Distortion, Matrix, find_method
from hedgerow.kinds.matrices.attackers.svd_reconstruction import learn_equations, solve_on_grid
from hedgerow.kinds.matrices.attackers.wavelet_inversion import add_threshold, invert
from hedgerow.kinds.matrices.row_measures import compare_ranks, value_difference

pytestmark = pytest.mark.slow

#: the universal thresholds
THRESHOLDS = {"wbc": 3.100484, "wdbc": 0.582527}


def released(values, method, **parameters):
    data = Matrix.from_rows(values, ids=range(1, len(values) + 1))
    return find_method(method)(**parameters).publish(data, Distortion(), seed=1).data.values


@pytest.mark.parametrize(
    ("name", "method", "parameters", "printed"),
    [
        ("wbc", "svd", {"rank": 5}, (0.2080, 239.4, 0.006358, 1.556, 0.4444)),
        ("wdbc", "svd", {"rank": 15}, (0.000035, 121.3, 0.3454, 0, 1)),
        ("wbc", "wavelet", {"order": "names"}, (0.2557, 237.53, 0.004769, 1.333, 0.5556)),
        ("wdbc", "wavelet", {"order": "names"}, (0.000843, 165.1, 0.1088, 4.8, 0.4)),
    ],
)
def test_the_measures_of_the_tables(name, method, parameters, printed):
    values = read_uci(name)
    after = released(values, method, **parameters)
    ranks = compare_ranks(values, after, argsort=True)
    measured = (value_difference(values, after)[0], *ranks)
    assert measured == pytest.approx(printed, rel=5e-3, abs=5e-7)
    assert compare_ranks(values, after).rk == pytest.approx(ranks.rk)  # the same in both readings


@pytest.mark.parametrize(
    ("name", "p", "restored", "distance"),
    [("wbc", 0.5, 0.08, 0.139), ("wbc", 0.1, 0.63, None), ("wdbc", 0.5, 0.32, None)],
)
def test_a_wavelet_is_inverted(name, p, restored, distance):
    values = read_uci(name)
    after = released(values, "wavelet", order="names", p=p)
    back = add_threshold(after, p * THRESHOLDS[name])
    assert np.mean(np.abs(back - values) < 1e-6) == pytest.approx(restored, abs=0.005)
    if distance:
        assert value_difference(values, back)[0] == pytest.approx(distance, abs=0.0005)
    known = np.arange(0, len(values), 40)
    assert invert(after, known, values[known]).delta == pytest.approx(p * THRESHOLDS[name], rel=0.05)


@pytest.mark.parametrize("rank", [2, 5, 8])
def test_a_low_rank_of_whole_numbers_hides_nothing(rank):
    values = read_uci("wbc")
    after = released(values, "svd", rank=rank)
    solved = solve_on_grid(after, learn_equations(after), np.ones(9))
    assert solved.sure.mean() > 0.99
    assert np.array_equal(solved.values[solved.sure], values[solved.sure])

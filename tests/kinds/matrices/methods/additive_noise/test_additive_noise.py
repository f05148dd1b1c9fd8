"""additive-noise: what a rotation keeps, how noise is distributed, planted bugs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from project import VECTORS
from scipy import stats

from hedgerow import AdditiveNoise, Distortion, Matrix
from hedgerow.errors import NotSatisfied, ParameterError
from hedgerow.kinds.matrices.methods import additive_noise
from hedgerow.testing import changed

FALSE_ALARM = 1e-6


def coins(seed=1):
    return np.random.default_rng(seed)


def angle(first, second):
    return np.arccos(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def check_rotation():
    """All distances and angles are kept, and signs are as likely as not."""
    values = coins().normal(size=(30, 5))
    turned = additive_noise.perturb(values.copy(), additive_noise.draw_rotation(5, coins(2)), 0.0, coins(3))
    assert np.allclose(values @ values.T, turned @ turned.T, atol=1e-12)
    corner = np.array([additive_noise.draw_rotation(3, coins(seed))[0, 0] for seed in range(400)])
    assert stats.kstest(corner, "uniform", (-1, 2)).pvalue > FALSE_ALARM  # a coordinate of a point on the sphere


def check_noise(beta=2.0, claim=1.0):
    """What is added is normal and independent, of the deviation that was asked for, also after a rotation."""
    values = coins().normal(size=(20_000, 3))
    rotation = additive_noise.draw_rotation(3, coins(2))
    for added in (
        additive_noise.perturb(values.copy(), None, beta, coins(3)) - values,
        additive_noise.perturb(values.copy(), rotation, beta, coins(4)) - values @ rotation,
        additive_noise.perturb(np.zeros_like(values), None, beta, coins(5)) @ rotation,
    ):
        for column in added.T:
            assert stats.kstest(column / (claim * beta), "norm").pvalue > FALSE_ALARM
        assert np.allclose(np.corrcoef(added.T), np.eye(3), atol=0.05)


def test_a_rotation_keeps_angles_of_rows_and_not_of_their_parts():
    case = json.loads((VECTORS / "additive-noise.json").read_text())["a rotation"]
    values, rotation = np.array(case["rows"], float), np.array(case["rotation"])
    turned = additive_noise.perturb(values.copy(), rotation, case["beta"], coins())
    assert np.allclose(turned, case["published"], atol=1e-12)
    assert angle(*turned) == pytest.approx(angle(*values))
    assert (angle(*values[:, :2]), angle(*turned[:, :2])) == (pytest.approx(0), pytest.approx(np.pi))


def test_rotations_are_uniform_and_keep_distances():
    check_rotation()


def test_noise_is_normal_and_independent():
    check_noise()


@pytest.mark.parametrize("claim", [0.9, 1.1])
def test_another_deviation_would_be_noticed(claim):
    with pytest.raises(AssertionError):
        check_noise(claim=claim)


def test_columns_have_their_own_deviations():
    values = coins().normal(0, [1, 10, 100], (4_000, 3))
    data = Matrix.from_rows(values, ids=range(4_000))
    order = np.argsort([f"{len(str(n))}{n}" for n in range(4_000)])
    for method, wanted in (
        (AdditiveNoise(betas="1,0,3"), [1, 0, 3]),
        (AdditiveNoise(beta=0.5, scale="deviations"), [0.5, 5, 50]),
    ):
        added = method.publish(data, Distortion(), seed=1).data.values - values[order]
        assert np.allclose(added.std(0), wanted, rtol=0.1, atol=1e-6)
    turned = AdditiveNoise(beta=0.5, scale="deviations", rotation="random").publish(data, Distortion(), seed=1).data
    assert turned.columns == ("r1", "r2", "r3")


def test_fewer_dimensions_are_a_projection():
    data = Matrix.from_rows(coins().normal(size=(9, 4)))
    release = AdditiveNoise(beta=0, rotation="random", dimensions=2).publish(data, Distortion(), seed=1)
    assert release.data.values.shape == (9, 2)
    assert (release.data.values**2).sum() < (data.values**2).sum()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": -1}, "AdditiveNoise.beta must be at least 0"),
        ({"beta": float("nan")}, "AdditiveNoise.beta must be finite"),
        ({"betas": "1"}, "AdditiveNoise.betas must be 2 numbers"),
        ({"betas": "1,-2"}, "AdditiveNoise.betas must be 2 numbers"),
        ({"betas": "1,x"}, "AdditiveNoise.betas must be 2 numbers"),
        ({"dimensions": 1}, "AdditiveNoise.dimensions must be at most 2, with rotation=random; got 1"),
        ({"dimensions": 3, "rotation": "random"}, "AdditiveNoise.dimensions must be at most 2"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        AdditiveNoise(**parameters).publish(Matrix.from_rows([[1, 2], [3, 5]]), Distortion())


def test_bad_rotations():
    values = np.zeros((2, 2))
    with pytest.raises(ParameterError, match="must be orthonormal"):
        additive_noise.perturb(values, np.array([[1, 0.1], [0, 1]]), 1.0, coins())
    with pytest.raises(ParameterError, match="needs 2 rows and at most as many columns"):
        additive_noise.perturb(values, np.eye(3), 1.0, coins())
    with pytest.raises(ParameterError, match="beta must be a number of at least 0"):
        additive_noise.perturb(values, None, np.array([1.0, np.nan]), coins())
    with pytest.raises(NotSatisfied, match="would be published as they are"):
        AdditiveNoise(beta=0).publish(Matrix.from_rows([[1, 2], [3, 5]]), Distortion())


@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("draw_rotation", "* np.sign(np.diag(triangle))", "", check_rotation),
        ("perturb", "noise *= beta", "noise *= np.sqrt(beta)", check_noise),
        ("perturb", "coins.standard_normal(turned.shape)", "coins.standard_normal(turned.shape[1]) + 0 * turned", check_noise),
        ("perturb", "block @ rotation", "block @ rotation @ rotation", check_noise),
    ],
    ids=["signs of QR", "variance for deviation", "one draw per column", "turned twice"],
)  # fmt: skip
def test_planted_bugs_are_caught(name, old, new, check):
    with changed(additive_noise, name, old, new), pytest.raises(AssertionError):
        check()

"""The posterior of cells: what it recovers, what it may not, and where it stands against shrinkage."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_data import read_uci

from hedgerow import AdditiveNoise, Distortion, Domain, Matrix, NumberAxis
from hedgerow.evaluate import attack
from hedgerow.kinds.matrices.attackers import cell_posteriors
from hedgerow.kinds.matrices.attackers.cell_posteriors import estimate_cells
from hedgerow.kinds.matrices.attackers.knowledge import Bounds, Knowledge, guess_bounds
from hedgerow.kinds.matrices.attackers.spectral_filtering import shrink_noise
from hedgerow.kinds.matrices.attacks import attack_arrays

POSTERIOR = "attack, posterior of cells: cells within 1 %"
ROUNDED = "attack, rounding to known decimals: cells within 1 %"


def rng(seed=1):
    return np.random.default_rng(seed)


def scores_of_patients(rows=400, columns=6, seed=1):
    """Scores from 1 to 10, as WBC has them: most people have 1 everywhere, the others are mixed."""
    draw = rng(seed)
    ill = draw.random((rows, 1)) < 0.35
    return np.where(ill, draw.integers(3, 11, (rows, columns)), 1 + (draw.random((rows, columns)) < 0.15))


def share(guess, truth):
    return float((np.abs(guess - truth) < 1e-9).mean())


@pytest.mark.parametrize(("beta", "least"), [(1.0, 0.68), (2.0, 0.55)])
def test_noise_does_not_hide_whole_numbers(beta, least):
    truth = scores_of_patients().astype(float)
    noisy = truth + rng(2).normal(0, beta, truth.shape)
    guess = estimate_cells(noisy, np.full(6, beta), np.ones(6), bounds=Bounds(np.ones(6), np.full(6, 10.0)))
    before = share(np.rint(shrink_noise(noisy, beta=beta)), truth)
    assert share(guess, truth) > max(least, 1.3 * before)
    assert guess.min() >= 1
    assert guess.max() <= 10


def test_normal_numbers_without_steps_are_shrunk_as_well_as_can_be():
    """Where the best linear estimate is the best one, the posterior is not worse by more than chance."""
    truth = rng(3).normal(0, 1, (800, 2)) @ rng(4).normal(0, 1, (2, 5))
    noisy = truth + rng(5).normal(0, 0.7, truth.shape)
    errors = [
        np.linalg.norm(guess - truth)
        for guess in (estimate_cells(noisy, np.full(5, 0.7), None), shrink_noise(noisy, beta=0.7), noisy)
    ]
    assert errors[0] < 1.06 * errors[1] < 0.8 * errors[2]


def test_columns_without_noise_or_without_any_difference_stay_as_they_are():
    truth = scores_of_patients().astype(float)
    truth[:, 5] = 4
    noise = np.array([1.0, 0, 1, 1, 1, 1])
    noisy = truth + rng(2).normal(size=truth.shape) * noise
    noisy[:, 5] = 4.2
    guess = estimate_cells(noisy, noise, np.ones(6))
    assert np.array_equal(guess[:, 1], truth[:, 1])
    assert np.all(guess[:, 5] == 4)
    few = noisy[:4]
    assert np.array_equal(estimate_cells(few, noise, None), few)  # fewer rows than columns tell no law


def test_bounds_are_those_that_are_attained():
    known = np.array([[0, 5.0], [0, 7], [0, 9], [3, 9], [8, 9]])
    low, high = guess_bounds(known)
    assert low.tolist() == [0, -np.inf]
    assert high.tolist() == [np.inf, 9]


def published(truth, **parameters):
    domain = Domain.declare(**{f"c{number}": NumberAxis.between(1, 10, 1) for number in range(1, 7)})
    data = Matrix.from_rows(truth, domain=domain, ids=range(1, len(truth) + 1))
    return data, AdditiveNoise(**parameters).publish(data, Distortion(), seed=1)


def test_the_command_weighs_noise_beside_its_controls_and_declared_bounds_count():
    truth = scores_of_patients()
    data, release = published(truth, beta=2)
    scores = {score.name: score for score in attack(release, data, seed=1)}
    value, controls = scores[POSTERIOR].value, dict(scores[POSTERIOR].controls)
    assert value > 1.3 * scores[ROUNDED].value
    assert value > controls["rows of others (control)"] + 0.1
    assert controls["guess of column means"] < 0.05
    undeclared = Matrix.from_rows(truth, columns=data.columns, ids=range(1, len(truth) + 1))
    assert {score.name: score.value for score in attack(release, undeclared, seed=1)}[POSTERIOR] <= value


def test_a_noisy_rotation_is_fitted_again_to_its_cells():
    data, release = published(scores_of_patients(), beta=1, rotation="random")
    scores = {score.name: score.value for score in attack(release, data, seed=1)}
    assert scores["attack, Procrustes and posterior of cells: cells within 1 %"] > 0.55
    assert scores["attack, Procrustes and shrinkage of noise: cells within 1 %"] < 0.1


def test_of_a_large_release_a_sample_is_weighed_and_judged(monkeypatch):
    monkeypatch.setattr(cell_posteriors, "_MOST_WEIGHED", 150)
    truth = scores_of_patients().astype(float)
    noisy = truth + rng(2).normal(size=truth.shape)
    knows = Knowledge.draw(
        noisy, np.arange(400), truth, undone_by=AdditiveNoise.undone_by, parameters={"beta": 1.0}, rng=rng(), known=12
    )
    outcome = attack_arrays(knows, rng())["posterior of cells"]
    assert outcome.attack.within_1 > 1.3 * outcome.baselines["rows of others (control)"].within_1
    guess = cell_posteriors.WEIGHED["posterior of cells"](knows, {"shrinkage of noise": noisy})
    assert int((~np.isnan(guess)).all(1).sum()) == 150


@pytest.mark.slow
@pytest.mark.parametrize(("beta", "before"), [(1.0, 0.641), (2.0, 0.558)])
def test_wbc_falls_further_than_to_the_attack_that_was_shown(beta, before):
    """What somebody else's script recovered within 1 % is the least that the command recovers."""
    data = Matrix.from_rows(read_uci("wbc"), ids=range(1, 700))
    bounds = Domain.declare(**{name: NumberAxis.between(1, 10, 1) for name in data.columns})
    release = AdditiveNoise(beta=beta).publish(data, Distortion(), seed=1)
    scores = {
        score.name: score.value
        for score in attack(release, Matrix.from_rows(data.values, domain=bounds, ids=range(1, 700)), seed=1)
    }
    assert scores[POSTERIOR] > before

"""Rotations fall to whoever has a sample of other people; only the sample and the release are used."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_data import read_uci

from hedgerow import AdditiveNoise, Distortion, Matrix
from hedgerow.evaluate import attack
from hedgerow.kinds.matrices.attackers.knowledge import Knowledge
from hedgerow.kinds.matrices.attackers.known_sample import (
    align_axes,
    find_axes,
    match_clouds,
    name_columns,
    reconstruct_by_sample,
    split_people,
)
from hedgerow.kinds.matrices.attacks import judge

MEANS = "guess of column means"


def rng(seed=1):
    return np.random.default_rng(seed)


def people(rows, seed=1):
    """Skewed columns of different sizes that depend on each other."""
    draw = rng(seed)
    common = draw.exponential(1.0, (rows, 1))
    return common * [40.0, 9, 2, 0.5] + draw.exponential([20.0, 6, 3, 1], (rows, 4))


def turned(values, seed=2):
    turn = np.linalg.qr(rng(seed).normal(size=(values.shape[1],) * 2))[0]
    return values @ turn, turn


def error(guess, truth):
    return judge(guess, truth, truth.std(0)).median_error


def test_axes_and_then_closest_points_find_a_rotation():
    rows = people(600)
    sample, truth = rows[:300], rows[300:]
    released, _ = turned(truth)
    axes = align_axes(sample, released)
    rotation = match_clouds(sample, released, axes)
    means = error(np.broadcast_to(sample.mean(0), truth.shape), truth)
    assert error(released @ axes.T, truth) < 0.4 * means
    assert error(released @ rotation.T, truth) < error(released @ axes.T, truth)
    assert np.abs(rotation @ rotation.T - np.eye(4)).max() < 1e-9


def test_signs_are_told_by_skewness_where_means_are_zero():
    rows = people(4000)
    rows -= rows.mean(0)
    released, turn = turned(rows[2000:])
    assert np.abs(align_axes(rows[:2000], released) - turn).max() < 0.2


def test_a_round_cloud_tells_nothing():
    """Normal numbers, alike in all directions, are the same cloud in every rotation: the attack has to fail."""
    rows = rng(3).normal(size=(600, 4))
    sample, truth = rows[:300], rows[300:]
    released, _ = turned(truth)
    rotation = match_clouds(sample, released, align_axes(sample, released))
    assert error(released @ rotation.T, truth) > 0.5


def test_whole_numbers_give_a_rotation_away():
    values = np.column_stack((rng(1).integers(0, 9, 80), rng(2).poisson(30, 80), rng(3).integers(1, 400, 80) / 10))
    released, turn = turned(values)
    axes = find_axes(released.round(9), np.array([1, 1, 0.1]))
    seen = np.abs(axes @ turn.T)
    assert np.sort(seen, axis=1)[:, -1] == pytest.approx(np.ones(3), abs=1e-6)
    assert find_axes(released + rng(4).normal(0, 0.3, released.shape), np.array([1, 1, 0.1])) is None
    assert find_axes(released[:3], np.ones(3)) is None


def test_columns_of_the_lattice_are_named_by_values_and_by_correlations():
    """Two columns have the same law, and only one of them depends on a third."""
    draw = rng(5)
    base = draw.integers(0, 12, (600, 3))
    rows = np.column_stack((base[:, 0], base[:, 1], (base[:, 1] + base[:, 2]) // 2, 3 * base[:, 2])).astype(float)
    names, signs = name_columns(rows[:300][:, [1, 3, 0, 2]] * [1, -1, -1, 1], rows[300:])
    assert names.tolist() == [1, 3, 0, 2]
    assert signs.tolist() == [1, -1, -1, 1]


def knowledge(released, truth, **parameters):
    return Knowledge.draw(
        released,
        np.arange(len(truth)),
        truth,
        undone_by=AdditiveNoise.undone_by,
        parameters={"rotation": "random", **parameters},
        same_columns=False,
        rng=rng(),
    )


def test_the_attacker_has_no_row_of_the_release_and_nothing_of_the_others_but_their_rows():
    truth = people(200).round(1)
    released, _ = turned(truth)
    sample = split_people(knowledge(released, truth, beta=0.0), rng())
    theirs = {row.tobytes() for row in sample.sample}
    assert len(sample.sample) == 100
    assert not theirs & {row.tobytes() for row in truth[sample.rows]}
    assert np.array_equal(sample.released, released[sample.rows])
    # other originals of the same people change nothing: the judge alone reads them
    other = truth.copy()
    other[sample.rows] = 0
    again = split_people(knowledge(released, other, beta=0.0), rng())
    for one, two in zip(reconstruct_by_sample(sample).values(), reconstruct_by_sample(again).values(), strict=True):
        assert np.array_equal(one, two)


def test_too_few_rows_too_many_columns_and_projections_are_left_alone():
    truth = people(40)
    released, _ = turned(truth)
    assert split_people(knowledge(released[:20], truth[:20], beta=0.0), rng()) is None
    assert split_people(knowledge(released[:, :3], truth, beta=0.0), rng()) is None
    wide = rng().normal(size=(900, 41))
    assert split_people(knowledge(wide, wide, beta=0.0), rng()) is None


def attacked(values, **parameters):
    data = Matrix.from_rows(values, ids=range(1, len(values) + 1))
    release = AdditiveNoise(rotation="random", **parameters).publish(data, Distortion(), seed=1)
    return {score.name.removeprefix("attack, "): score for score in attack(release, data, seed=1)}


def test_the_command_turns_a_rotation_back_without_a_known_row():
    scores = attacked(people(300).round(1), beta=0)
    lattice = scores["lattice of a rotation, sample of others: cells within 1 %"]
    assert lattice.value > 0.99
    assert dict(lattice.controls)["rows of others (control)"] < 0.2
    near = scores["closest points, sample of others: median relative error of a row"]
    assert near.value < 0.5 * dict(near.controls)[MEANS]
    noisy = attacked(people(300).round(1), beta=1.0)
    assert not any("lattice" in name for name in noisy)
    assert "closest points and posterior of cells, sample of others: cells within 5 %" in noisy


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("beta", [0, 1])
def test_constant_repeated_and_empty_columns_are_no_harm(beta):
    numbers = rng(6).integers(0, 9, (80, 2)).astype(float)
    for column in (np.full((80, 1), 7.0), np.zeros((80, 1)), 2 * numbers[:, :1]):
        assert attacked(np.hstack((numbers, column)), beta=beta)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("wine", 0.016), ("wdbc", 0.06)])
def test_public_tables_fall_to_a_sample_of_others(name, most):
    """What somebody else's script left of a row is the most that the command leaves."""
    error = attacked(read_uci(name), beta=0)["closest points, sample of others: median relative error of a row"]
    assert error.value < most
    assert error.value < 0.2 * dict(error.controls)[MEANS]

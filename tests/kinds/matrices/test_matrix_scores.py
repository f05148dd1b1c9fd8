"""Scores of matrices: row by row where rows can be paired, else how far the release is at least."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from hedgerow import SVD, AdditiveNoise, Distortion, Matrix
from hedgerow.errors import ParameterError
from hedgerow.evaluate import evaluate
from hedgerow.kinds.matrices.row_measures import pair_rows

ROWS = np.array([[1.0, 9, 4], [5, 2, 6], [3, 7, 8], [2, 8, 1]])
VD = "relative difference of the numbers (VD)"
LEAST = "least relative difference of the numbers, whichever rows belong together"


def test_rows_are_paired_by_their_names():
    first = Matrix.from_rows(ROWS, ids=list("abcd"))
    second = Matrix.from_rows(ROWS[::-1] + 1, ids=list("dcba"))
    paired = pair_rows(first, second)
    assert np.allclose(paired.released - paired.original, 1)
    assert len(pair_rows(first, second.take(np.array([0, 2]))).original) == 2
    for other in (
        first.without_attributes(),
        Matrix.from_rows(ROWS, ids=list("aacd")),
        Matrix.from_rows(ROWS, ids=range(4)),
    ):
        assert pair_rows(first, other) is None


def test_differences_row_by_row():
    data = Matrix.from_rows(ROWS, ids=list("abcd"))
    release = SVD(rank=1).publish(data, Distortion())
    scores = {score.name: score for score in evaluate(release, data)}
    wanted = np.linalg.norm(release.data.values - ROWS) / np.linalg.norm(ROWS)
    assert scores[VD].value == pytest.approx(wanted)
    assert dict(scores[VD].controls)["column means"] > 0
    assert all(score.scope == "owner" for score in scores.values())


def test_nothing_is_said_about_angles_in_a_projection():
    data = Matrix.from_rows(ROWS, ids="abcd")
    named = {}
    for dimensions in (0, 2):
        turned = AdditiveNoise(rotation="random", dimensions=dimensions).publish(data, Distortion(), seed=1)
        named[dimensions] = " ".join(score.name for score in evaluate(turned, data))
    assert "angles" in named[0]
    assert "angles" not in named[2]
    assert "distances" in named[2]


def test_without_names_the_least_difference_is_given():
    data = Matrix.from_rows(ROWS)
    release = AdditiveNoise(beta=3).publish(data, Distortion(), seed=1)
    [least] = [score.value for score in evaluate(release, data) if score.name == LEAST]
    every = [np.linalg.norm(release.data.values[list(order)] - ROWS) for order in permutations(range(4))]
    assert 0 < least <= min(every) / np.linalg.norm(ROWS) + 1e-12
    turned = AdditiveNoise(rotation="random", dimensions=2).publish(data, Distortion(), seed=1)
    assert [score.name for score in evaluate(turned, data)] == ["ratio of released to original rows"]


def test_data_that_is_read_in_another_way_is_refused():
    release = SVD(rank=1).publish(Matrix.from_rows(ROWS), Distortion())
    with pytest.raises(ParameterError, match="not those of the release"):
        evaluate(release, Matrix.from_rows(np.hstack((ROWS, ROWS[:, :1]))))

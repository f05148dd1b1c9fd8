"""Sums over random entries: measured for releases of private-retrieval, beside controls, debiased if they are bits."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import Domain, NumberAxis, PrivateRetrieval, PrivateWavelet, PureDP
from hedgerow.evaluate import evaluate
from hedgerow.kinds.matrices import measures as matrices
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.measures import SUMS
from hedgerow.kinds.matrices.retrieval.vectors import unbiased
from hedgerow.testing import changed

DRAW = np.random.default_rng(3)
VISITS = DRAW.poisson(150, 600)
BITS = DRAW.random(600) < 0.4


def numbered(values, high):
    data = Matrix.from_rows(values[:, None].astype(float), domain=Domain.declare(a=NumberAxis.between(0, high, 1)))
    return data.bounded("cell")


def sums(method, data, unit, epsilon=1):
    release = method.publish(data, PureDP(epsilon=epsilon, unit=unit), seed=2)
    return [score for score in evaluate(release, data, seed=1) if score.name.startswith(SUMS)]


def test_the_error_of_sums_stands_beside_controls():
    (score,) = sums(PrivateRetrieval(), numbered(VISITS, 1000), "count")
    assert score.name.endswith("(20 of 600): a")
    controls = dict(score.controls)
    # twenty noises of variance 1.84, against sums of about 3,000: a mean absolute error of 4.8
    assert score.value == pytest.approx(4.8 / 3000, rel=0.2)
    assert controls["answer 0"] == 1
    assert score.value < 0.2 * controls["column means"] < controls["answer 0"]


def test_bits_are_debiased_before_they_are_summed():
    data, method = numbered(BITS, 1), PrivateRetrieval(mode="randomised-response")
    (score,) = sums(method, data, "cell", epsilon=3)
    with changed(matrices, "_measure_sums", 'compared.number("flipped", 0)', "None"):
        (biased,) = sums(method, data, "cell", epsilon=3)
    assert score.value < 1.2 * biased.value  # at this epsilon hardly a difference
    far = Matrix.from_rows(np.ones((600, 1)), domain=data.domain)
    promise = PureDP(epsilon=1, unit="cell")
    noisy = method.publish(far, promise, seed=5).data
    assert noisy.values.mean() == pytest.approx(0.731, abs=0.08)
    assert unbiased(noisy.values, noisy, promise).mean() == pytest.approx(1, abs=0.19)


def test_other_methods_and_vectors_of_zeros_have_no_such_score():
    assert sums(PrivateWavelet(), numbered(VISITS, 1000), "cell") == []
    assert sums(PrivateRetrieval(), numbered(np.zeros(50), 9), "count") == []
    (short,) = sums(PrivateRetrieval(), numbered(np.array([5]), 9), "count")
    assert "(1 of 1)" in short.name

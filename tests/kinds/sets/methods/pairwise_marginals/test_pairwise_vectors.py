"""Pairwise marginals against its vectors: every formula on small numbers, noise off."""

from __future__ import annotations

import json

import numpy as np
import pytest
from project import VECTORS

from hedgerow.kinds.sets.methods.pairwise_marginals.items_model import (
    SizeHistogram,
    adjust_total,
    choose_item_bound,
    estimate_weights,
    fit_independent_items,
    posterior_means,
    size_bins,
    upper_edges,
    weigh_by_pairs,
    weigh_by_size,
)
from hedgerow.numerics.projections import isotonic_regression, project_to_simplex
from hedgerow.testing import sets_of

VECTOR = json.loads((VECTORS / "pairwise-marginals.json").read_text())
DATA = sets_of(VECTOR["records"], 4)


def floats(values):
    return np.array(values, float)


def test_edges():
    assert upper_edges(4).tolist() == [1, 2, 3, 4]
    for longest, edges in VECTOR["edges beyond 20"].items():
        assert upper_edges(int(longest)).tolist() == [*range(1, 21), *edges]


def test_exact_vectors():
    assert DATA.count_sizes(size_bins(upper_edges(4))).tolist() == VECTOR["sizes"]
    for most, weights in VECTOR["item weights"].items():
        assert DATA.weigh_items(weigh_by_size(int(most), 4)).tolist() == weights
    for most, weights in VECTOR["pair weights"].items():
        assert DATA.weigh_pairs(np.arange(4), weigh_by_pairs(int(most), 4)).tolist() == weights
    head = DATA.weigh_pairs(np.array([1, 0, 3]), weigh_by_pairs(1, 3))
    assert head.tolist() == VECTOR["pair weights of head 1 0 3"]


def test_item_bounds():
    vector = VECTOR["item bounds"]
    for spend, bound in vector["chosen"].items():
        assert choose_item_bound(floats(vector["by size"]), float(spend), 10) == bound


def test_projections():
    for values, total, projected in VECTOR["projections"]:
        assert project_to_simplex(floats([values]), floats([total]))[0] == pytest.approx(projected)
    vector = VECTOR["non-increasing fit"]
    fit = -isotonic_regression(-floats([vector["values"]]), floats([vector["weights"]]))[0]
    assert fit == pytest.approx(vector["fit"])


@pytest.mark.parametrize("case", VECTOR["size histograms"])
def test_size_histograms(case):
    sizes = SizeHistogram.estimate(np.array(case["noisy"]), upper_edges(case["longest"]), case["spend"])
    assert sizes.records == case["records"]
    assert sizes.bins == pytest.approx(case["bins"], abs=1e-4)
    assert sizes.by_size.sum() == pytest.approx(case["records"])


def test_one_total():
    vector = VECTOR["one total"]
    for total, most, adjusted in vector["cases"]:
        means = adjust_total(floats(vector["means"]), floats(vector["variances"]), total, most)
        assert means == pytest.approx(adjusted, abs=1e-4)


@pytest.mark.parametrize("case", VECTOR["independent given size"])
def test_independent_given_size(case):
    odds, expected = fit_independent_items(
        floats(case["targets"]), np.arange(1.0, 5), floats(case["records"]), floats(case["weights"])
    )
    assert odds == pytest.approx(case["odds"], abs=1e-4)
    assert expected == pytest.approx(case["expected"], abs=1e-3)
    assert expected.sum() == pytest.approx(floats(case["records"]) @ np.arange(1, 5))


@pytest.mark.parametrize("name", VECTOR["posterior means"])
def test_posterior_means(name):
    case = VECTOR["posterior means"][name]
    answers, rates = floats(case["answers"]), floats(case["rates"])
    if "means" in case:
        assert posterior_means(answers, rates)[0] == pytest.approx(case["means"], abs=1e-4)
    means, variances = estimate_weights(answers, rates)
    if "shrunk" in case:
        assert means == pytest.approx(case["shrunk"], abs=1e-4)
    if "variance of the fifth" in case:
        assert variances[4] == pytest.approx(case["variance of the fifth"], abs=1e-4)

"""gaussian-weights: the law of its factors, the floor, digits that tell nothing, planted bugs."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from project import VECTORS
from scipy import stats

from hedgerow import Distortion, Domain, GaussianWeights, Graph
from hedgerow.errors import ParameterError
from hedgerow.kinds.graphs.methods import gaussian_weights
from hedgerow.testing import changed, mutant

FALSE_ALARM = 1e-6
VECTOR = json.loads((VECTORS / "gaussian-weights.json").read_text())


def ring(size, *, directed=False, weights=None):
    """A ring: as many edges as vertices."""
    ends = np.arange(size)
    weights = 1 + ends % 90 if weights is None else weights
    domain = Domain.declare(vertex=range(size))
    made = np.asarray(weights, float)
    return Graph.from_columns(source=ends, target=(ends + 1) % size, domain=domain, weights=made, directed=directed)


def moves(method, data, seed=1):
    """How far weights were moved, as shares of them."""
    released = method.publish(data, Distortion(), seed=seed).data
    assert (released.first.tolist(), released.second.tolist()) == (data.first.tolist(), data.second.tolist())
    return 1 - released.weights / data.weights


def check_law(method=GaussianWeights, claim=1.0):
    """Factors are normal, of the deviation that is stated; separate draws per edge, and per end."""
    for directed, calibrated, owner, deviation in (
        (True, False, "both", 0.2),
        (True, True, "both", 0.2),
        (False, False, "both", 0.2 / math.sqrt(2)),
        (False, True, "both", 0.2),
        (False, False, "one", 0.2),
        (False, True, "one", 0.2 * math.sqrt(2)),
    ):
        data = ring(20_000, directed=directed)
        moved = moves(method(sigma=0.2, calibrated=calibrated, owner=owner, floor=1e-3), data)
        kept = moved[moved < 0.5]  # the floor is far from here
        law = stats.truncnorm(-np.inf, 0.5 / (claim * deviation), scale=claim * deviation)
        assert stats.kstest(kept, law.cdf).pvalue > FALSE_ALARM
        assert abs(np.corrcoef(moved[:-1], moved[1:])[0, 1]) < 5 / math.sqrt(len(moved))


def check_floor(method=GaussianWeights):
    """Every draw is truncated by itself; its law is a truncated normal one, and that of two their mean's."""
    law = stats.truncnorm(-np.inf, 0.95 / 0.5, scale=0.5)
    said = r"sigma is 0\.5; above 0\.25 weights and paths say little"
    with pytest.warns(UserWarning, match=said):
        one = moves(method(sigma=0.5), ring(50_000, directed=True))
    with pytest.warns(UserWarning, match=said):
        both = moves(method(sigma=0.5), ring(50_000))
    assert stats.kstest(one, law.cdf).pvalue > FALSE_ALARM
    assert np.mean(one > 0.9) > 0.005  # the floor is reached
    assert max(one.max(), both.max()) <= 0.95
    kurtosis = stats.kurtosis(both)
    error = math.sqrt((kurtosis + 2) / len(both))  # of a variance, as a share of it
    assert both.var() == pytest.approx(law.var() / 2, rel=5 * error)
    assert both.mean() == pytest.approx(law.mean(), abs=5 * math.sqrt(law.var() / 2 / len(both)))


def check_given_draws():
    """With the draws of the vector, what is published was computed by hand."""
    case = VECTOR["given draws"]
    attempts = [np.array(case["normals"]), np.array([[9, 9], [9, 9], *case["repeated"]])]
    for ends, name in ((1, "directed"), (2, "averaged")):
        factors, repeated = gaussian_weights.draw_factors(
            lambda rows, attempt, ends=ends: attempts[attempt][rows, :ends], 3, case["sigma"], case["floor"]
        )
        assert np.allclose(gaussian_weights.multiply(np.array(case["weights"], float), factors), case[name])
        assert repeated == ends - 1


def check_digits():
    """Whatever is published of a weight of 2 may as well come from a weight of 3: no last bit tells them apart."""
    data = ring(4_000, weights=np.full(4_000, 2.0))
    published = GaussianWeights(sigma=0.15).publish(data, Distortion(), seed=1).data.weights
    published = published[(published > 1.5) & (published < 2)]
    factor = published / 3  # between .5 and 1, where the factors are all multiples of 2**-53
    tried = (factor, np.nextafter(factor, 0), np.nextafter(factor, 1), (published - 5e-7) / 3)
    found = [gaussian_weights.multiply(np.full(len(factor), 3.0), each) == published for each in tried]
    assert np.any(found, axis=0).all()


def test_factors_are_normal_with_the_deviation_that_is_stated():
    check_law()


@pytest.mark.parametrize("claim", [0.9, 1.1])
def test_another_deviation_would_be_noticed(claim):
    with pytest.raises(AssertionError):
        check_law(claim=claim)


def test_each_draw_is_truncated_by_itself():
    check_floor()


def test_given_draws():
    check_given_draws()


def test_last_bits_tell_nothing():
    check_digits()


def test_published_weights_have_seven_digits_of_the_product():
    data = ring(500, weights=10.0 ** np.linspace(-14, 20, 500))
    release = GaussianWeights().publish(data, Distortion(), seed=1)
    assert (
        max(len(f"{float(weight)!r}".split("e")[0].replace(".", "").strip("0")) for weight in release.data.weights) <= 7
    )
    exact = GaussianWeights().publish(ring(500, weights=np.ones(500)), Distortion(), seed=1).data.weights * data.weights
    assert np.allclose(release.data.weights, exact, rtol=3e-6)


def test_the_same_edges_in_another_order_are_published_alike():
    data = ring(30)
    order = np.random.default_rng(4).permutation(30)
    other = Graph.from_columns(
        source=data.second[order], target=data.first[order], domain=data.domain, weights=data.weights[order]
    )
    first, second = (GaussianWeights().publish(each, Distortion(), seed=5).data for each in (data, other))
    assert first.to_bytes() == second.to_bytes()


def test_the_statement_says_what_is_known():
    release = GaussianWeights(floor=0.9).publish(ring(200), Distortion(), seed=1)
    (note,) = release.evidence.notes
    assert note[0] == "draws below the floor, which were repeated"
    assert 20 < note[1] < 140  # of 400 draws, a sixth; and some of them again
    statement = release.statement()
    assert "a 95 % interval" in statement
    assert "to be published once, or with a key" in statement


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0}, "GaussianWeights.sigma must be greater than 0"),
        ({"sigma": float("inf")}, "GaussianWeights.sigma must be finite"),
        ({"floor": 0}, "GaussianWeights.floor must be greater than 0"),
        ({"floor": 1}, "GaussianWeights.floor must be less than 1"),
        ({"owner": "none"}, "GaussianWeights.owner must be one of both, one"),
        ({"network": "roads"}, "a network that grows is published with its key: give it with --key FILE, or omit"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        GaussianWeights(**parameters).publish(ring(4), Distortion())


@pytest.mark.parametrize("weight", [1e300, 5e-324])
def test_weights_at_the_limits_of_numbers_are_refused(weight):
    with pytest.raises(ParameterError, match="a weight is too large or too small to be multiplied"):
        GaussianWeights().publish(ring(3, weights=[1, weight, 2]), Distortion())


def test_weights_are_needed():
    bare = Graph.from_edges([(0, 1)], domain=Domain.declare(vertex=range(2)))
    with pytest.raises(ParameterError, match="gaussian-weights needs weights, and the data has none"):
        GaussianWeights().publish(bare, Distortion())
    with pytest.raises(ParameterError, match="gaussian-weights cannot use paths"):
        GaussianWeights().publish(ring(4).keeping([(0, 2)]), Distortion())


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("self.sigma * math.sqrt(2)", "self.sigma", check_law),
        ("1 if data.directed or self.owner", "1 if self.owner", check_law),
        ("self.deviation(directed=data.directed)", "self.deviation(directed=data.directed) / 2", check_law),
        ("self.deviation(directed=data.directed), self.floor", "self.deviation(directed=False), self.floor", check_law),
        ("len(data), self.deviation", "len(data), 0.9 * self.deviation", check_floor),
    ],
    ids=["not calibrated", "two draws with directions", "sigma halved", "directions forgotten", "less noise"],
)
def test_planted_bugs_of_the_method_are_caught(old, new, check):
    with pytest.raises(AssertionError):
        check(mutant(GaussianWeights, old, new))


@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("draw_factors", "    while low.any():", "    while False:", check_floor),
        ("draw_factors", "return drawn.mean(axis=1), repeated", "return drawn[:, 0], repeated", check_law),
        ("draw_factors", "return drawn.mean(axis=1), repeated", "return drawn.max(axis=1), repeated", check_floor),
        ("draw_factors", "drawn[rows] = np.where(low[rows], ", "drawn[rows] = np.where(low[rows] | True, ", check_given_draws),
        ("draw_factors", "(rows, attempt), drawn[rows])", "(rows, attempt), floor)", check_given_draws),
        ("multiply", "return round_to_digits(moved, up=True)", "return moved", check_digits),
    ],
    ids=["no truncation", "no mean of ends", "the larger end", "both ends again", "clipped at the floor", "all bits"],
)  # fmt: skip
def test_planted_bugs_of_the_draw_are_caught(name, old, new, check):
    with changed(gaussian_weights, name, old, new), pytest.raises((AssertionError, ParameterError)):
        check()

"""private-retrieval keeps its promise in both units and modes: replay, exact small cases, planted bugs, leakage."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hedgerow import Domain, NumberAxis, PureDP
from hedgerow.errors import GuaranteeError
from hedgerow.frontiers.sharded import ShardedEngine
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.private_retrieval import PrivateRetrieval
from hedgerow.kinds.matrices.retrieval.noise_laws import ResponseNoise
from hedgerow.kinds.matrices.retrieval.vectors import vectors_of
from hedgerow.testing import check_publisher, check_replay, conformance, mutant, output_distribution, worst_loss

RESPONSE = PrivateRetrieval(mode="randomised-response")
ROUNDING = 1e-9


def vector(values, low=0, high=1, step=1):
    axis = NumberAxis.between(low, high, step)
    return Matrix.from_rows(np.array(values, float).reshape(-1, 1), domain=Domain.declare(a=axis))


BITS = {
    "no bit": lambda: vector([]),
    "one bit": lambda: vector([1]),
    "all zero": lambda: vector([0] * 9),
    "all one": lambda: vector([1] * 7),
    "one keyword": lambda: vector([0] * 30 + [1]),
    "two columns": lambda: Matrix.from_rows(
        [[0, 5], [1, 5], [0, -3]], domain=Domain.declare(a=NumberAxis.between(0, 1, 1), b=NumberAxis.between(-3, 5, 8))
    ),
}


@pytest.fixture
def bits_only(monkeypatch):
    """The edge cases are bits, since randomised response refuses everything else."""
    monkeypatch.setattr(conformance, "build_edge_cases", lambda *_: {name: build() for name, build in BITS.items()})


# ---- the replay law; laplace on all edge cases of matrices is checked with all other methods


@pytest.mark.usefixtures("bits_only")
@pytest.mark.parametrize("method", [RESPONSE, PrivateRetrieval()], ids=lambda method: method.mode)
@pytest.mark.parametrize("unit", ["count", "cell"])
def test_bits_conform_in_both_modes_and_units(method, unit):
    result = check_publisher(method, PureDP(epsilon=1, unit=unit))
    assert result.moved >= result.replays / 2
    assert result.replays >= 20


@settings(max_examples=40)
@given(
    values=st.lists(st.integers(-20, 60), min_size=1, max_size=9),
    low=st.integers(-20, 0),
    span=st.integers(1, 60),
    unit=st.sampled_from(["count", "cell"]),
    index=st.integers(0, 99),
    seed=st.integers(0, 999),
)
def test_the_replay_law_holds_for_any_bounds(values, low, span, unit, index, seed):
    data = vector([low + value % (span + 1) for value in values], low, low + span)
    neighbour = data.neighbour(index % data.count_neighbours(unit), unit=unit)
    result = check_replay(PrivateRetrieval(), data, neighbour, PureDP(epsilon="0.7", unit=unit), seed)
    assert result.moved
    moved = abs(int((data.lattice() - neighbour.lattice()).sum()))
    assert result.loss == Fraction(7, 10) * moved / (1 if unit == "count" else span)


def test_what_a_change_costs():
    """A cell from bound to bound, and a count by one step, cost all of epsilon; m of them cost m times that."""
    query, promise = vector([0, 1, 0, 1]), PureDP(epsilon=1, unit="cell")
    for other, cost in ((vector([0, 1, 0, 0]), 1), (vector([1, 0, 0, 1]), 2), (vector([1, 0, 1, 0]), 4)):
        within = Fraction(cost)
        assert check_replay(PrivateRetrieval(), query, other, promise, 3, within=within).loss == cost
        assert check_replay(RESPONSE, query, other, promise, 3, within=within).loss <= cost
    signed = vector([-1, 1, 0], -1)
    assert check_replay(PrivateRetrieval(), signed, vector([1, 1, 0], -1), promise, 3).loss == 1
    counts = PureDP(epsilon=1, unit="count")
    assert check_replay(PrivateRetrieval(), vector([5, 7], 0, 9), vector([5, 8], 0, 9), counts, 3).loss == 1


# ---- exact small cases


def worst(method, data, unit):
    """The worst log-ratio between a data set and all its neighbours, of all that can be published."""
    promise = PureDP(epsilon=1, unit=unit)
    here = output_distribution(method, data, promise, low=-2, high=4)
    assert math.isclose(sum(here.values()), 1, rel_tol=1e-9)
    others = {neighbour.to_bytes(): neighbour for neighbour in data.neighbours(unit)}.values()
    return max(worst_loss(here, output_distribution(method, other, promise, low=-2, high=4)) for other in others)


@pytest.mark.parametrize(
    ("method", "data", "unit"),
    [
        (PrivateRetrieval(), vector([0, 1]), "cell"),
        (PrivateRetrieval(), vector([0, 2], 0, 2), "cell"),
        (PrivateRetrieval(), vector([1, 2], 0, 9), "count"),
        (RESPONSE, vector([0, 1, 1]), "cell"),
    ],
    ids=["bits", "three numbers", "counts", "randomised response"],
)
def test_the_whole_law_of_a_short_vector(method, data, unit):
    """Every answer is enumerated: exactly epsilon is lost, and no more."""
    assert worst(method, data, unit) == pytest.approx(1, abs=ROUNDING)


def test_the_whole_law_shows_too_little_noise():
    broken = mutant(PrivateRetrieval, "Laplace(l1=steps)", "Laplace(l1=1)")
    assert worst(broken(), vector([0, 2], 0, 2), "cell") == pytest.approx(2, abs=ROUNDING)


# ---- planted bugs

MUTANTS = {
    "any change of a cell at the price of one step": ("cell", "Laplace(l1=steps)", "Laplace(l1=1)"),
    "half of the range": ("cell", "Laplace(l1=steps)", "Laplace(l1=Fraction(steps, 2))"),
    "half a step": ("count", "Laplace(l1=1)", "Laplace(l1=Fraction(1, 2))"),
    "exact numbers": ("count", "on_lattice(noisy,", "on_lattice(data.lattice(),"),
    "moved into what the data shows": (
        "cell",
        "on_lattice(noisy,",
        "on_lattice(np.minimum(noisy, data.lattice().max(initial=0)),",
    ),
    "noise only where there is something": ("count", "on_lattice(noisy,", "on_lattice(noisy * (data.lattice() > 0),"),
    "fresh noise for a second answer": (
        "count",
        "noisy[:, number] = part.ask(",
        'noisy[:, number] = ledger.ask(exact, mechanism, spend=ledger.budget, label="again") + part.ask(',
    ),
    "in the order of the numbers": (
        "cell",
        "np.sort(data.ids)",
        "data.ids[np.argsort(data.values[:, 0], kind='stable')]",
    ),
    "as many columns as there are ones": ("count", "len(data.columns) if", "int(data.lattice().sum() % 2) if"),
}


@pytest.mark.parametrize("bug", MUTANTS)
def test_mutants_of_private_retrieval_are_caught(bug):
    unit, old, new = MUTANTS[bug]
    broken = mutant(PrivateRetrieval, old, new, Fraction=Fraction)
    with pytest.raises(GuaranteeError):
        check_publisher(broken(), PureDP(epsilon=1, unit=unit))


@pytest.mark.usefixtures("bits_only")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return Flip()", "return Laplace(l1=Fraction(1, 2))"),
        ("on_lattice(noisy,", "on_lattice(noisy | data.lattice(),"),
    ],
    ids=["another mechanism", "ones are never flipped"],
)
def test_mutants_of_randomised_response_are_caught(old, new):
    broken = mutant(PrivateRetrieval, old, new, Fraction=Fraction)
    with pytest.raises(GuaranteeError):
        check_publisher(broken(mode="randomised-response"), PureDP(epsilon=1, unit="cell"))


# ---- what the noise is


def published(method, values, epsilon, unit, seed, **bounds):
    release = method.publish(vector(values, **bounds), PureDP(epsilon=epsilon, unit=unit), seed=seed)
    return vectors_of(release)["a"]


@pytest.mark.parametrize(
    ("method", "unit", "epsilon", "high"),
    [
        (PrivateRetrieval(), "count", 1, 9),
        (PrivateRetrieval(), "cell", 1, 1),
        (PrivateRetrieval(), "cell", "0.5", 3),
        (RESPONSE, "cell", 1, 1),
    ],
    ids=["counts", "bits", "four numbers", "randomised response"],
)
def test_noise_is_unbiased_and_has_the_stated_variance(method, unit, epsilon, high):
    """100,000 coordinates: the standard error of a variance is below 0.75 %, so that 5 % are more than six of them."""
    values = np.arange(100_000) % (high + 1)
    noisy = published(method, values, epsilon, unit, 11, high=high)
    errors = noisy.values - values
    assert abs(errors.mean()) < 5 * math.sqrt(noisy.noise.variance / len(errors))  # false alarm 6e-7
    assert errors.var() == pytest.approx(noisy.noise.variance, rel=0.05)
    for wrong in (0.9, 1.1):
        assert errors.var() != pytest.approx(wrong * noisy.noise.variance, rel=0.05)
    assert noisy.values.min() < 0 < high < noisy.values.max()  # beyond the bounds


@pytest.mark.parametrize("shards", [1, 3])
def test_vectors_are_asked_in_order_wherever_rows_are(shards):
    """On shards, and in any order of numbered rows, the same vector is published."""
    data = vector(np.arange(40) % 7, 0, 9).bounded("count")
    promise = PureDP(epsilon=1, unit="count")
    there = PrivateRetrieval().publish(data.on(ShardedEngine(shards)), promise, seed=3)
    shuffled = PrivateRetrieval().publish(data.shuffled(np.random.default_rng(1)), promise, seed=3)
    here = PrivateRetrieval().publish(data, promise, seed=3)
    assert here.data.to_bytes() == there.data.to_bytes() == shuffled.data.to_bytes()
    assert here.data.numbered


# ---- what a message tells about a keyword


def area_under_curve(scores, keywords):
    """The chance that a keyword has the higher score than another coordinate."""
    ones = int(keywords.sum())
    ranks = stats.rankdata(scores)[keywords > 0].sum()
    return (ranks - ones * (ones + 1) / 2) / (ones * (len(scores) - ones))


def laplace_area(epsilon):
    """That chance for discrete Laplace noise, by formula: the difference of two noises is above -1, or -1 at a tie."""
    alpha = math.exp(-epsilon)
    pmf = (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(-200, 201))
    difference = np.convolve(pmf, pmf)  # from -400 on
    return difference[400:].sum() + difference[399] / 2


@pytest.mark.parametrize("epsilon", [1, 3])
def test_what_a_message_tells_about_a_keyword(epsilon):
    """Guessing keywords stays within what the promise allows: at most q = e^eps / (1 + e^eps) of pairs are right.

    With 20,000 keywords among 40,000 the standard error of the area is below 0.003; the false alarm is below 1e-6.
    """
    keywords = np.arange(40_000) % 2
    limit = math.exp(epsilon) / (1 + math.exp(epsilon))
    laplace = area_under_curve(published(PrivateRetrieval(), keywords, epsilon, "cell", 5).values, keywords)
    response = area_under_curve(published(RESPONSE, keywords, epsilon, "cell", 5).values, keywords)
    # both reach the limit: a noisy bit is as likely a keyword at 1 as at any number above it
    assert laplace_area(epsilon) == pytest.approx(limit)
    assert laplace == pytest.approx(limit, abs=0.015)
    assert response == pytest.approx(limit, abs=0.015)
    exact = area_under_curve(keywords.astype(float), keywords)
    assert exact == 1 > limit + 0.015


def test_fresh_noise_for_the_same_query_averages_out():
    """Why a query is published once: the mean of 200 releases at epsilon 1, which cost 200, shows every keyword.

    A noise of 200 draws has a deviation of 0.1, so that a bit is taken for the other with probability 1e-6.
    """
    keywords = (np.arange(300) % 15 == 0).astype(float)
    axes = {f"c{number}": NumberAxis.between(0, 1, 1) for number in range(200)}
    again = Matrix.from_rows(np.repeat(keywords[:, None], 200, 1), domain=Domain.declare(**axes))
    released = PrivateRetrieval().publish(again, PureDP(epsilon=1, unit="cell"), seed=1).data.values
    assert np.array_equal(released.mean(1) > 0.5, keywords > 0)
    assert not np.array_equal(released[:, 0] > 0.5, keywords > 0)


def test_a_noisy_bit_has_a_randomised_response_in_it():
    """Whether a bit with discrete Laplace noise is above 0 is randomised response at the same epsilon: half the noise.

    100,000 bits: the standard error of a share is 0.0014; six of them have a false alarm of 2e-9.
    """
    bits = np.arange(100_000) % 2
    noisy = published(PrivateRetrieval(), bits, 1, "cell", 8)
    kept = ((noisy.values >= 1) == bits).mean()
    assert kept == pytest.approx(math.e / (1 + math.e), abs=0.0084)
    assert ResponseNoise(1.0).variance == pytest.approx(noisy.noise.variance / 2)

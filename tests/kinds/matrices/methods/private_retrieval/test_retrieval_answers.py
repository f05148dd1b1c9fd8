"""What receivers compute from releases of private-retrieval: estimates, their error, messages; planted bugs."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from hedgerow import SVD, Distortion, Domain, NumberAxis, PureDP
from hedgerow.errors import ParameterError, ReadError
from hedgerow.kinds.matrices import answers
from hedgerow.kinds.matrices.answers import MODES, answer, centred_variance, local_variance, naive_variance
from hedgerow.kinds.matrices.data import Matrix
from hedgerow.kinds.matrices.methods.private_retrieval import PrivateRetrieval
from hedgerow.kinds.matrices.retrieval import vectors
from hedgerow.kinds.matrices.retrieval.noise_laws import LaplaceNoise, ResponseNoise, laplace_variance
from hedgerow.kinds.matrices.retrieval.vectors import NoisyVector, vectors_of
from hedgerow.kinds.matrices.retrieval.wire import (
    SparseQuery,
    decode_bits,
    decode_sparse,
    decode_steps,
    encode_bits,
    encode_sparse,
    encode_steps,
)
from hedgerow.numerics.laplace_sums import discrete_half_width
from hedgerow.release import Recipe
from hedgerow.testing import changed

LENGTH, KEYWORDS, RUNS = 64, 5, 1_000
DRAW = np.random.default_rng(9)
X = DRAW.poisson(150, LENGTH).astype(float)
Y = np.zeros(LENGTH)
Y[DRAW.choice(LENGTH, KEYWORDS, replace=False)] = 1


def release(values, unit, *, high, epsilon=1, columns=1, mode="laplace", seed=1, low=0):
    """Many copies of a vector are columns of one release: each has its own noise."""
    axes = {f"c{number}": NumberAxis.between(low, high, 1) for number in range(columns)}
    data = Matrix.from_rows(np.repeat(values[:, None], columns, 1), domain=Domain.declare(**axes))
    return PrivateRetrieval(mode=mode).publish(data, PureDP(epsilon=epsilon, unit=unit), seed=seed)


@pytest.fixture(scope="module")
def noisy():
    """Noisy data, and noisy queries of both modes, `RUNS` of each."""
    made = {
        "x": release(X, "count", high=1000, columns=RUNS, seed=3),
        "laplace": release(Y, "cell", high=1, columns=RUNS, seed=4),
        "response": release(Y, "cell", high=1, columns=RUNS, mode="randomised-response", seed=5),
    }
    return {name: list(vectors_of(each).values()) for name, each in made.items()}


def variance_of(mode, query):
    """By the exact law, with the variance of discrete noise."""
    data, asked = laplace_variance(1.0), query.noise.variance
    if mode == "local":
        return local_variance(Y, data)
    return (centred_variance if mode == "centred" else naive_variance)(X, Y, data, asked)


CASES = [
    ("local", "laplace"),
    ("naive", "laplace"),
    ("centred", "laplace"),
    ("naive", "response"),
    ("centred", "response"),
]


@pytest.mark.parametrize(("mode", "query"), CASES)
def test_answers_are_unbiased_with_the_variance_of_the_law(mode, query, noisy):
    """1,000 runs: the standard error of a variance is below 5 %, of a mean 1 / 32 deviations; false alarm 1e-4."""
    pairs = zip(noisy["x"], noisy[query], strict=True)
    given_answers = [answer(mode, x, y, Y) for x, y in pairs]
    errors = np.array([each.estimate for each in given_answers]) - X @ Y
    law = variance_of(mode, noisy[query][0])
    assert abs(errors.mean()) < 4.5 * math.sqrt(law / RUNS)
    assert errors.var() == pytest.approx(law, rel=0.2)
    for wrong in (0.7, 1.4):
        assert errors.var() != pytest.approx(wrong * law, rel=0.2)
    # what whoever asks is told, from public numbers and the query
    assert np.mean([each.standard_error**2 for each in given_answers]) == pytest.approx(law, rel=0.05)
    assert np.mean(np.abs(errors) <= [each.half_width for each in given_answers]) >= 0.94
    assert np.mean([each.half_width for each in given_answers]) < 4 * math.sqrt(law)


def test_without_the_query_its_bounds_are_used(noisy):
    known = [answer("naive", x, y, Y) for x, y in zip(noisy["x"][:200], noisy["laplace"][:200], strict=True)]
    unknown = [answer("naive", x, y) for x, y in zip(noisy["x"][:200], noisy["laplace"][:200], strict=True)]
    for first, second in zip(known, unknown, strict=True):
        assert (first.estimate, first.sent) == (second.estimate, second.sent)
        assert first.half_width < second.half_width < 1.05 * first.half_width
        assert second.standard_error == pytest.approx(first.standard_error, rel=0.01)


def test_a_centred_answer_of_who_holds_the_vector_is_completed_by_who_asks(noisy):
    """The exact query is not where the vector is; its sum is added elsewhere."""
    for x, y in zip(noisy["x"][:20], noisy["response"][:20], strict=True):
        part, whole = answer("centred", x, y), answer("centred", x, y, Y)
        assert part.to_add == pytest.approx(x.values.mean())
        assert part.estimate + part.to_add * Y.sum() == pytest.approx(whole.estimate)
        assert whole.to_add == 0
        assert whole.half_width < part.half_width < 1.5 * whole.half_width


def test_sparse_answers_keep_within_their_bound(noisy):
    for factor in (0.0, 1.0, 2.0, 50.0):
        for x, y in zip(noisy["x"][:50], noisy["laplace"][:50], strict=True):
            naive, sparse = answer("naive", x, y), answer("sparse", x, y, threshold=factor)
            assert abs(sparse.estimate - naive.estimate) <= sparse.dropped + 1e-9 * abs(
                naive.estimate
            )  # rounding is in it
            assert sparse.half_width == pytest.approx(naive.half_width + sparse.dropped)
    assert (sparse.kept, sparse.estimate, sparse.sent) == (0, 0.0, 8)  # nothing is that large
    everything = answer("sparse", x, y, threshold=0)
    assert everything.estimate == pytest.approx(naive.estimate, rel=1e-5)


def test_the_rounding_of_what_is_sent_is_in_the_half_width():
    """Without noise, and with nothing dropped, only the 4-byte numbers of the message differ."""
    steps = np.arange(1024) * 977 % 1009
    x = NoisyVector(steps * 1e3, LaplaceNoise(1e6), 1e6, steps)
    query = NoisyVector((steps % 3).astype(float), LaplaceNoise(1e6), 2.0, steps % 3)
    sparse = answer("sparse", x, query, query.values, threshold=0)
    assert 0 < abs(sparse.estimate - x.values @ query.values) <= sparse.half_width < 1e-6 * sparse.estimate


def test_a_threshold_from_the_exact_query_is_caught(noisy):
    """What is sent depends on the noisy query only: another exact query changes no bit of it."""

    def messages():
        x, y = noisy["x"][0], noisy["laplace"][0]
        return {
            (each.sent, each.kept, each.estimate) for each in (answer("sparse", x, y, exact) for exact in (Y, 9 * Y))
        }

    assert len(messages()) == 1
    with changed(
        answers, "answer_sparsely", "sparsify(query.values, factor)", "sparsify(query.values, factor * exact.max())"
    ):
        assert len(messages()) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [("/ 2)", ")"), ("epsilon / 2", "epsilon / 4"), ("0.5 + (bits - 0.5)", "bits")],
    ids=["q", "half", "no"],
)
def test_wrong_debiasing_is_caught(old, new):
    """20,000 bits: the mean of debiased bits has a standard error of 0.007; the bias of these is above 0.1."""
    bits = np.arange(20_000) % 4 == 0

    def bias():
        made = release(bits.astype(float), "cell", high=1, mode="randomised-response", seed=6)
        return abs(next(iter(vectors_of(made).values())).values.mean() - bits.mean())

    assert bias() < 0.04
    with changed(vectors, "debias", old, new):
        assert bias() > 0.04


def test_signed_queries_have_twice_the_noise():
    """Numbers from -1 to 1 change by 2 at most: the noise of the query has scale 2 / epsilon."""
    signs = np.where(np.arange(20_000) % 2, 1.0, -1.0)
    made = next(iter(vectors_of(release(signs, "cell", high=1, low=-1, seed=7)).values()))
    assert made.noise == LaplaceNoise(0.5, 1.0)
    assert (made.values - signs).var() == pytest.approx(laplace_variance(0.5), rel=0.15)  # false alarm 1e-9
    assert made.largest == 1


# ---- tails


def law_of_sum(number, scale):
    """P(S_N >= a) of continuous Laplace noise, by the finite sum of `dp_accuracy` 3.1."""
    j = np.arange(number)
    logs = special.gammaln(number + j) - special.gammaln(j + 1) - special.gammaln(number) - (number + j) * math.log(2)
    return lambda a: float(np.exp(logs) @ special.gammaincc(number - j, a / scale))


@pytest.mark.parametrize("number", [1, 3, 20])
def test_half_widths_of_keywords_are_exact(number):
    """Towards small rates, discrete noise has the tail of continuous noise."""
    width = LaplaceNoise(0.001).half_width(np.r_[np.zeros(5), np.ones(number)], 0.05)
    assert 2 * law_of_sum(number, 1000)(width) == pytest.approx(0.05, abs=2e-4)
    if number == 3:
        assert width / 1000 == pytest.approx(4.969, abs=2e-3)  # the smokers of three areas
    # and for larger ones its own: the smallest whole number that is exceeded so rarely
    draws = stats.dlaplace(1.0).rvs((200_000, number), random_state=1).sum(1)
    width = LaplaceNoise(1.0).half_width(np.ones(number), 0.05)
    assert np.mean(np.abs(draws) > width) < 0.053 < np.mean(np.abs(draws) > width - 1) + 0.02


@given(weights=st.lists(st.floats(-30, 30).map(lambda x: round(x, 3)), min_size=1, max_size=12), seed=st.integers(0, 9))
def test_half_widths_of_any_weights_hold(weights, seed):
    """5,000 sums each; the bound misses less than 5 %, and more than 6.5 % has a false alarm of 1e-6."""
    weights = np.array(weights)
    draw = np.random.default_rng(seed)
    noise = draw.geometric(1 - math.exp(-0.5), (5_000, len(weights))) - draw.geometric(
        1 - math.exp(-0.5), (5_000, len(weights))
    )
    width = LaplaceNoise(0.5).half_width(weights, 0.05)
    assert np.mean(np.abs(noise @ weights) > width + 1e-9) < 0.065
    assert width <= 5 * math.sqrt(laplace_variance(0.5) * float(weights @ weights)) + 1e-9
    bits = draw.random((5_000, len(weights))) < 1 / (1 + math.e)
    errors = np.where(bits, 1 / math.tanh(0.5) / 2 + 0.5, 0.5 - 1 / math.tanh(0.5) / 2)
    assert np.mean(np.abs(errors @ weights) > ResponseNoise(1.0).half_width(weights, 0.05)) < 0.065


@pytest.mark.parametrize(
    ("axis", "unit", "mode", "step", "rate", "largest"),
    [
        (NumberAxis.between(-50, "49.5", "0.5"), "count", "laplace", 0.5, 2, 50),
        (NumberAxis.between(-1, "0.5", "0.25"), "cell", "laplace", 0.25, 2 / 6, 1),
        (NumberAxis.between(2, 5, 3), "cell", "randomised-response", 3, 2, 5),
    ],
)
def test_steps_and_bounds_are_in_the_law_of_the_noise(axis, unit, mode, step, rate, largest):
    """The variance by its formula; 4.9 standard deviations, 1 in a million, of which 17 % is the most."""
    numbers = np.full((4_000, 1), float(axis.low))
    data = Matrix.from_rows(numbers, domain=Domain.declare(number=axis))
    release = PrivateRetrieval(mode=mode).publish(data, PureDP(epsilon=2, unit=unit), seed=4)
    vector = vectors_of(release)["number"]
    kept = math.exp(-rate)
    variance = step**2 * kept / (1 - kept) ** 2 * (1 if mode == "randomised-response" else 2)
    assert vector.noise.variance == pytest.approx(variance)
    assert vector.values.var() == pytest.approx(variance, rel=0.17)
    assert vector.largest == largest
    span = step * (1 + kept) / (1 - kept)
    ones = np.ones(7)
    hoeffding = span * math.sqrt(7 * math.log(2 / 0.05) / 2)
    exact = step * discrete_half_width(7, 1 / rate, 0.05)
    expected = hoeffding if mode == "randomised-response" else exact
    assert vector.noise.half_width(ones, 0.05) == pytest.approx(expected)


def test_both_errors_together_are_beyond_the_half_width_in_five_of_a_hundred_cases():
    """The chances of both parts add up to 5 %; the largest number of a query that is not known is -1."""
    x = NoisyVector(np.array([3.0, 4.5, 9.0]), LaplaceNoise(1.0, 0.5), 9.0, np.array([6, 9, 18]))
    query = NoisyVector(np.array([0.5, 0.25, -2.0]), LaplaceNoise(0.5, 0.25), 1.0, np.array([6, 5, -4]))
    for exact, asked in ((None, np.ones(3)), (np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.5, 0.0]))):
        expected = query.noise.half_width(x.values, 0.04) + x.noise.half_width(asked, 0.01)
        assert answer("naive", x, query, exact).half_width == pytest.approx(expected)


def test_noise_that_is_none_or_enormous():
    assert LaplaceNoise(1e6).half_width(np.ones(3), 0.05) == 0
    assert LaplaceNoise(1.0).half_width(np.zeros(3), 0.05) == 0
    wide = LaplaceNoise(1e-9).half_width(np.ones(100), 0.05)  # the bound, since the exact law has too many steps
    assert 1.9e10 < wide / math.sqrt(2) < 4e10
    assert laplace_variance(1e6) < 1e-300


# ---- messages


@given(st.lists(st.integers(-(2**62), 2**62), max_size=40))
def test_steps_come_back(numbers):
    assert decode_steps(encode_steps(np.array(numbers, np.int64))).tolist() == numbers


@given(st.lists(st.integers(0, 1), max_size=40))
def test_bits_come_back(bits):
    assert decode_bits(encode_bits(np.array(bits, np.int64)), len(bits)).tolist() == bits


@given(st.sets(st.integers(0, 2**32 - 1), max_size=30), st.integers(0, 99))
def test_sparse_queries_come_back(places, seed):
    values = np.random.default_rng(seed).normal(size=len(places))
    query = SparseQuery(2**32, np.array(sorted(places), np.int64), values, 1.0)
    message = encode_sparse(query)
    back = decode_sparse(message)
    assert (back.length, back.places.tolist()) == (2**32, sorted(places))
    assert back.values == pytest.approx(values, rel=1e-6)
    assert len(message) <= 8 + 9 * len(places)


@given(st.binary(max_size=60))
def test_damaged_messages_are_refused_or_read(message):
    for decode in (decode_steps, decode_sparse, lambda content: decode_bits(content, 12)):
        with suppress(ReadError):
            assert decode(message) is not None


def test_messages_that_no_one_sent():
    good = encode_sparse(SparseQuery(8, np.array([1, 3]), np.array([1.0, 2.0]), 0.0))
    for bad in (b"", good[:-1], good + b"\0", good.replace(b"\x02", b"\x00", 2), good[:8] + b"\x01\x07" + good[10:]):
        with pytest.raises(ReadError, match="damaged"):
            decode_sparse(bad)
    with pytest.raises(ParameterError, match="at most 2"):
        encode_sparse(SparseQuery(2**33, np.array([0]), np.array([1.0]), 0.0))


# ---- refusals


def plain(length=4):
    return NoisyVector(np.ones(length), LaplaceNoise(1.0), 1.0, np.ones(length, np.int64))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nave", plain(), plain()), "there is no mode 'nave'; choose from local, centred, naive, sparse"),
        (("local", plain(), None), "mode local needs the exact query"),
        (("naive", plain(), None), "mode naive needs a release of the query"),
        (("naive", plain(), plain(5)), "the noisy query has 5 numbers, and the vector 4; give both the same length"),
        (("local", plain(), None, np.ones(3)), "the exact query has 3 numbers, and the vector 4"),
    ],
)
def test_what_cannot_be_answered(arguments, message):
    with pytest.raises(ParameterError, match=message):
        answer(*arguments)
    with pytest.raises(ParameterError, match="the threshold must be a number of at least 0; got -1"):
        answer("sparse", plain(), plain(), threshold=-1)


def test_only_releases_of_this_method_are_vectors():
    made = release(X, "count", high=1000)
    other = SVD(rank=1).publish(Matrix.from_rows([[1.0, 2], [3, 5], [4, 4.5]]), Distortion())
    with pytest.raises(ParameterError, match="needs a release of private-retrieval; this one was made by svd"):
        vectors_of(other)
    claimed = replace(other, recipe=Recipe("private-retrieval", (("mode", "laplace"),)))
    with pytest.raises(ParameterError, match="needs a release of private-retrieval"):
        vectors_of(claimed)
    bits = replace(made, recipe=Recipe("private-retrieval", (("mode", "randomised-response"),)))
    with pytest.raises(ParameterError, match="it has numbers other than its two bounds"):
        vectors_of(bits)
    far = replace(made, outputs={"": replace(made.data, values=made.data.values * 1e300)})
    with pytest.raises(ParameterError, match="a number is beyond all noise"):
        vectors_of(far)
    renumbered = replace(made, outputs={"": replace(made.data, ids=None)})
    with pytest.raises(ParameterError, match="its rows are not numbered"):
        vectors_of(renumbered)


def test_an_empty_vector_is_answered():
    empty = next(iter(vectors_of(release(np.zeros(0), "count", high=9)).values()))
    for mode in MODES:
        assert answer(mode, empty, empty, np.zeros(0)).estimate == 0


def test_randomised_response_needs_bits():
    with pytest.raises(ParameterError, match="mode randomised-response publishes bits, and column 'c0' has 4 possible"):
        release(np.ones(3), "cell", high=3, mode="randomised-response")

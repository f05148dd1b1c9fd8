"""Sample sizes and half-widths of stream-mean: the figures of the spec, their inversion, and the bounds behind them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hedgerow import PureDP, Stream, StreamMean
from hedgerow.errors import ParameterError
from hedgerow.kinds.streams.methods.stream_mean.model import (
    debiasing_factor,
    flipped_half_widths,
    flipped_size,
    laplace_half_widths,
    smallest_size,
)

EPSILONS = (0.1, 0.5, 1, 2)


def thesis_size(half_width, confidence):
    """Theorem 8.4.1: for the sampling error alone."""
    return math.floor((2 + half_width) / half_width**2 * math.log(2 / (1 - confidence)))


def hoeffding_size(half_width, confidence):
    """For the sampling error alone."""
    return math.ceil(math.log(2 / (1 - confidence)) / (2 * half_width**2))


def literal_width(size, factor, noises, epsilon, confidence):
    """The bound of the module by a fine grid instead of a root."""
    share = np.concatenate((np.logspace(-9, -0.01, 20_001), 1 - np.logspace(-9, -1.7, 4001)))
    u = epsilon * share
    bound = math.log(2 / (1 - confidence)) + size * factor * u**2 / 8 - noises * np.log1p(-(share**2))
    return float(min(1, (bound / (size * u)).min()))


@pytest.mark.parametrize(
    ("half_width", "confidence", "thesis", "ours"),
    [(0.1, 0.95, 775, 185), (0.05, 0.95, 3025, 738), (0.01, 0.95, 74147, 18445), (0.1, 0.99, 1113, 265),
     (0.2, 0.9, 165, 38)],
)  # fmt: skip
def test_sampling_alone_needs_four_times_less_than_the_thesis_says(half_width, confidence, thesis, ours):
    """The table of 3.1. Without noise, all sizes are those of Hoeffding's inequality."""
    assert thesis_size(half_width, confidence) in (thesis, thesis - 1)
    assert hoeffding_size(half_width, confidence) == ours
    assert flipped_size(half_width, 60.0, confidence) == ours
    assert smallest_size(half_width, 1e6, confidence, noise_per_value=True) == ours
    assert smallest_size(half_width, 1e6, confidence, noise_per_value=False) == ours


def test_the_figures_with_noise():
    """Sections 3.1, 3.4 and 5.2, for a half-width of 0.1 with probability 0.95."""
    assert [flipped_size(0.1, epsilon, 0.95) for epsilon in EPSILONS] == [73901, 3075, 864, 318]
    per_value = [smallest_size(0.1, epsilon, 0.95, noise_per_value=True) for epsilon in EPSILONS]
    assert per_value == [147742, 6089, 1662, 555]
    per_sum = [smallest_size(0.1, epsilon, 0.95, noise_per_value=False) for epsilon in EPSILONS]
    assert per_sum == [653, 220, 193, 187]


@pytest.mark.parametrize(
    ("epsilon", "kept", "factor", "variance"),
    [(1, 0.731059, 2.163953, 0.920674), (0.5, 0.622459, 4.082988, 3.917698), (2, 0.880797, 1.313035, 0.181015)],
)
def test_randomised_response(epsilon, kept, factor, variance):
    """Section 5.2; the factor is that of debiasing, and the variance what it adds."""
    chance = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert chance == pytest.approx(kept, abs=1e-6)
    assert debiasing_factor(epsilon) == pytest.approx(factor, abs=1e-6)
    assert debiasing_factor(epsilon) == pytest.approx(1 / (2 * chance - 1))
    assert debiasing_factor(epsilon) ** 2 * chance * (1 - chance) == pytest.approx(variance, abs=1e-6)


@given(
    size=st.integers(1, 10**7),
    more=st.floats(0, 1e4),
    epsilon=st.floats(1e-2, 50),
    confidence=st.floats(0.01, 1 - 1e-6),
    per_value=st.booleans(),
)
def test_half_widths_are_the_smallest_of_their_bounds(size, more, epsilon, confidence, per_value):
    time = size + int(more * size)
    factor = 1 - (size - 1) / time if time > size else 0
    computed = laplace_half_widths(np.array([size]), np.array([time]), epsilon, confidence, noise_per_value=per_value)[
        0
    ]
    assert computed == pytest.approx(
        literal_width(size, factor, size if per_value else 1, epsilon, confidence), rel=1e-3
    )


@given(width=st.floats(0.01, 0.9), epsilon=st.floats(0.05, 20), confidence=st.floats(0.5, 0.9999), per=st.booleans())
def test_a_sample_size_is_the_smallest_that_suffices(width, epsilon, confidence, per):
    size = smallest_size(width, epsilon, confidence, noise_per_value=per)
    sizes = np.array([max(1, size - 1), size])
    widths = laplace_half_widths(sizes, None, epsilon, confidence, noise_per_value=per)
    assert widths[1] <= width
    assert size == 1 or width < widths[0]
    flipped = flipped_size(width, epsilon, confidence)
    assert flipped_half_widths(np.array([flipped]), epsilon, confidence)[0] <= width * (1 + 1e-12)


def test_half_widths_before_the_sample_is_full():
    """Randomised response: k sqrt(ln(2 / lambda) / (2 t)); noise in sums: nothing but the noise of the sum."""
    times = np.array([1, 10, 500, 864])
    expected = np.minimum(2.163953 * np.sqrt(math.log(40) / (2 * times)), 1)
    assert flipped_half_widths(times, 1.0, 0.95) == pytest.approx(expected, abs=1e-6)
    widths = laplace_half_widths(times, times, 1.0, 0.95, noise_per_value=False)
    exact = -math.log(0.05) / times  # of continuous noise; Chernoff's bound is looser
    assert np.all(widths >= np.minimum(exact, 1))
    assert np.all(widths[2:] < 2 * exact[2:])
    assert np.all(widths[2:] < literal_width(500, 1, 1, 1.0, 0.95))


def test_half_widths_grow_to_that_of_any_number_of_events():
    """Once the sample is full, the more events there are, the more of them are missing from it."""
    times = np.array([193, 194, 300, 1000, 10**5, 10**12])
    widths = laplace_half_widths(np.full(6, 193), times, 1.0, 0.95, noise_per_value=False)
    assert np.all(np.diff(widths) > 0)
    assert widths[-1] == pytest.approx(0.1, abs=5e-4)
    assert widths[0] < 0.04


@pytest.mark.parametrize("rate", [0.01, 0.3, 1.0, 3.0])
def test_discrete_noise_has_a_smaller_moment_generating_function(rate):
    share = np.linspace(0.001, 0.999, 999)
    discrete = (np.cosh(rate) - 1) / (np.cosh(rate) - np.cosh(share * rate))
    assert np.all(discrete <= (1 + 1e-12) / (1 - share**2))
    values = np.arange(-4000, 4001)
    summed = [np.tanh(rate / 2) * np.exp(rate * (x * values - np.abs(values))).sum() for x in (0.1, 0.5)]
    assert summed == pytest.approx([np.interp(x, share, discrete) for x in (0.1, 0.5)], rel=1e-3)


@pytest.mark.parametrize("events", [2, 7, 40])
def test_the_bound_of_sampling_without_replacement(events):
    """Serfling's bound on the moment generating function, against the exact one of bits, the most extreme values."""
    for size in range(1, events + 1):
        for ones in range(events + 1):
            law = stats.hypergeom(events, ones, size)
            counts = np.arange(size + 1)
            for u in (0.1, 0.5, 2, 5):
                exact = (law.pmf(counts) * np.exp(u * (counts - size * ones / events))).sum()
                assert exact <= math.exp(size * (1 - (size - 1) / events) * u**2 / 8) * (1 + 1e-9)


# ---- the bounds of the thesis (5.7, 5.8)


@pytest.mark.parametrize(
    ("epsilon", "quantile", "printed"),
    [(0.01, 690.78, 2.3), (0.1, 69.08, 4.7), (0.2, 34.54, 5.3), (0.5, 13.82, 6.3), (1, 6.91, 6.9), (10, 0.69, 9.2)],
)
def test_the_printed_quantiles_of_exponential_noise_are_wrong(epsilon, quantile, printed):
    """Table 8.1 has ln(1000 epsilon); it is ln(1000) / epsilon."""
    noise = stats.expon(scale=1 / epsilon)
    assert noise.ppf(0.999) == pytest.approx(quantile, abs=0.01)
    assert math.log(1000 * epsilon) == pytest.approx(printed, abs=0.1)
    assert (noise.cdf(printed) > 0.998) == (epsilon >= 1)


def test_how_much_exponential_noise_is_below_ten():
    chances = [stats.expon(scale=1 / epsilon).cdf(10) for epsilon in (0.01, 0.1, 0.2, 0.5, 1)]
    assert chances == pytest.approx([0.095, 0.632, 0.865, 0.993, 1], abs=5e-4)


def test_the_two_sided_chernoff_bound_holds():
    for size in (5, 20, 100, 775):
        for chance in (0.05, 0.3, 0.5, 0.9):
            mean, law = size * chance, stats.binom(size, chance)
            for tau in np.linspace(0.05, 1, 20):
                beyond = law.sf(math.ceil((1 + tau) * mean - 1e-9) - 1) + law.cdf(math.floor((1 - tau) * mean + 1e-9))
                assert beyond <= 2 * math.exp(-(tau**2) * mean / (2 + tau))


@pytest.mark.parametrize("mechanism", ["randomised-response", "laplace-bits", "central"])
def test_a_sample_that_no_machine_can_hold_is_refused(mechanism):
    """Its size does not fit into a number of the machine, either."""
    method = StreamMean(mechanism=mechanism, half_width=1e-300, horizon=10**9)
    with pytest.raises(ParameterError, match=r"a sample of .* events is needed, .*; give a larger half_width"):
        method.publish(Stream.from_values(iter([0, 1])), PureDP(epsilon=1, unit="event"), seed=1)

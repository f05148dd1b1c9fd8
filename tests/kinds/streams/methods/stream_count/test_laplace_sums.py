"""Sums of Laplace variables: the printed figures, simulation, and half-widths of discrete noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hedgerow.errors import ParameterError
from hedgerow.numerics.laplace_sums import discrete_half_width, tail, two_sided_quantile, upper_quantile

CHANCES = (0.2, 0.1, 0.05, 0.01), (0.1, 0.05, 0.01)
QUANTILES = {
    1: ((1.6094, 2.3026, 2.9957, 4.6052), (1.6094, 2.3026, 3.9120)),
    2: ((2.3973, 3.2718, 4.1130, 5.9902), (2.3973, 3.2718, 5.1918)),
    3: ((2.9935, 4.0104, 4.9686, 7.0598), (2.9935, 4.0104, 6.1769)),
    6: ((4.3265, 5.6780, 6.9132, 9.5155), (4.3265, 5.6780, 8.4300)),
    10: ((5.6401, 7.3369, 8.8612, 12.0025), (5.6401, 7.3369, 10.7026)),
    100: ((18.0933, 23.2535, 27.7474, 36.5920), (18.0933, 23.2535, 32.9984)),
    1000: ((57.3030, 73.5574, 87.6615, 115.2469), (57.3030, 73.5574, 104.0688)),
}
TAILS = [(1, 1, 0.183940), (2, 2, 0.135335), (5, 3, 0.159669), (20, 8, 0.101063), (200, 30, 0.066717)]


@pytest.mark.parametrize(("number", "at", "chance"), [*TAILS, (10**4, 2 * math.sqrt(2e4), 0.0227515)])
def test_tails_as_printed(number, at, chance):
    assert tail(number, at) == pytest.approx(chance, abs=6e-7)
    assert tail(number, -at) == pytest.approx(1 - chance, abs=6e-7)


@pytest.mark.parametrize("number", QUANTILES)
def test_quantiles_as_printed(number):
    two_sided, one_sided = QUANTILES[number]
    assert [two_sided_quantile(number, chance) for chance in CHANCES[0]] == pytest.approx(two_sided, abs=6e-5)
    assert [upper_quantile(number, chance) for chance in CHANCES[1]] == pytest.approx(one_sided, abs=6e-5)


@pytest.mark.parametrize(("factor", "accepted"), [(1.0, True), (0.95, False), (1.05, False)])
def test_tails_are_those_of_simulated_sums(factor, accepted):
    """400,000 sums of 7: a false alarm in a million (4.9 standard deviations)."""
    sums = np.random.default_rng(3).laplace(size=(400_000, 7)).sum(axis=1)
    chance = tail(7, 4.0 * factor)
    deviation = math.sqrt(chance * (1 - chance) / len(sums))
    assert (abs((sums >= 4.0).mean() - chance) < 4.9 * deviation) == accepted


@pytest.mark.parametrize("scale", [0.05, 0.3, 0.9, 1.0, 2.5, 17.0])
@pytest.mark.parametrize("chance", [0.5, 0.05, 0.001])
def test_half_widths_hold_for_discrete_noise_and_are_close(scale, chance):
    """By the exact law of sums of up to eight: never missed more often, and at most one step wider than needed."""
    decay = math.exp(-1 / scale)
    steps = np.arange(-int(60 * scale) - 5, int(60 * scale) + 6)
    one = (1 - decay) / (1 + decay) * decay ** np.abs(steps)
    law = np.ones(1)
    for number in range(1, 9):
        law = np.convolve(law, one)
        middle = len(law) // 2

        def missed(width, law=law, middle=middle):
            return 1 - law[middle - width : middle + width + 1].sum() if width >= 0 else 1.0

        width = discrete_half_width(number, scale, chance)
        assert missed(width) <= chance + 1e-9
        assert missed(width - 2) > chance


def test_the_continuous_quantile_would_not_hold_for_discrete_noise():
    """Just below a whole number it is missed by the whole number as well: why half-widths are rounded."""
    decay = math.exp(-1)
    assert 2 * decay / (1 + decay) > 1.4 * 2 * tail(1, 0.99)


def test_chances_and_numbers_out_of_range_are_refused():
    with pytest.raises(ParameterError, match=r"one-sided quantile must be above 0 and at most 1/2; got 0\.6"):
        upper_quantile(3, 0.6)
    with pytest.raises(ParameterError, match="two-sided quantile must be between 0 and 1; got 1"):
        two_sided_quantile(3, 1)
    with pytest.raises(ParameterError, match="at least 1 variable; got 0"):
        tail(0, 1.0)

"""The law of one published leaf on two items, in closed form, for counts 0 to 29."""

from __future__ import annotations

import itertools
import math

import pytest
from printed import TwoStageDiffPart
from test_diffpart import RAW, published_law

from hedgerow.kinds.sets.methods.diffpart.publisher import DiffPart

COUNTS = range(30)
HIGH = 60


def point(z, rate):
    return math.tanh(rate / 2) * math.exp(-rate * abs(z))


def tail(t, rate):
    """P(Z >= t), without cancellation."""
    far = math.exp(-rate * max(t, 1 - t)) / (1 + math.exp(-rate))
    return far if t >= 1 else 1 - far


def leaf_law(count, *, test, leaf):
    """P(not published), P(v) for v up to HIGH, P(more): a test (rate, cutoff), then a count."""
    passed = 1.0 if test is None else tail(test[1] - count, test[0])
    rate, cutoff = leaf
    published = [passed * point(v - count, rate) for v in range(cutoff, HIGH)]
    more = passed * tail(HIGH - count, rate)
    failed = 0.0 if test is None else tail(1 - test[1] + count, test[0])  # P(Z < t - count)
    below = failed + passed * tail(1 - cutoff + count, rate)
    return [below, *published, more]


def worst(**stages):
    laws = [leaf_law(count, **stages) for count in COUNTS]
    return max(
        abs(math.log(p / q)) for first, second in itertools.pairwise(laws) for p, q in zip(first, second, strict=True)
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("c1", "c2"), [(1.0, 1.2), (2.0, 1.0), (2.75, 6.75), (0.0, 0.0)])
def test_both_modes_keep_the_promise_and_the_mix_loses_half_as_much_again(epsilon, c1, c2):
    """One split: alpha = epsilon / 2; merged leaves have epsilon, two-stage ones epsilon / 2."""
    half = epsilon / 2
    cutoff = lambda c, rate: max(1, math.ceil(math.sqrt(2) * c / rate))  # noqa: E731 - a formula
    test = (half, cutoff(c2, half))
    merged = worst(test=None, leaf=(epsilon, cutoff(c1, epsilon)))
    staged = worst(test=test, leaf=(half, cutoff(c1, half)))
    mixed = worst(test=test, leaf=(epsilon, cutoff(c1, epsilon)))
    assert merged == pytest.approx(epsilon, rel=1e-9)
    assert staged <= epsilon * (1 + 1e-9)
    assert mixed == pytest.approx(1.5 * epsilon, rel=1e-6)


def test_the_laws_add_up():
    for count in COUNTS:
        assert math.fsum(leaf_law(count, test=(0.5, 4), leaf=(0.5, 3))) == pytest.approx(1)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_the_shipped_code_has_this_law(count):
    """Epsilon 1: cutoffs 2 for merged leaves, and 4 and 3 in two stages."""
    merged = published_law(DiffPart(fanout=2, c1=1.0, tau_split=0.0, **RAW), count, high=5)
    below, *values = leaf_law(count, test=None, leaf=(1.0, 2))
    assert merged[None] == pytest.approx(below, abs=1e-6)
    for value, chance in zip(range(2, 5), values, strict=False):
        assert merged[value] == pytest.approx(chance, abs=1e-6)
    method = TwoStageDiffPart(fanout=2, c1=1.0, c2=1.2, tau_split=0.0, **RAW)
    staged = leaf_law(count, test=(0.5, 4), leaf=(0.5, 3))
    assert published_law(method, count, high=3)[None] == pytest.approx(staged[0], abs=1e-6)

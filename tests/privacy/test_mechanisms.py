"""The price a mechanism states is a bound on the exact log-ratio, in both directions, and is reached."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import ParameterError
from hedgerow.privacy import Choose, Flip, Laplace, Ledger, NoisyAnswers

SHARES = st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(5, 2)])
TOUCHES = st.integers(1, 4)
counts = st.lists(st.integers(-5, 5), min_size=3, max_size=3).map(np.array)


def laplace_log(exact, answer, rate):
    return sum(-rate * abs(int(a) - int(e)) for a, e in zip(answer, exact, strict=True))


@given(exact=counts, other=counts, answer=counts, share=SHARES, l1=st.integers(1, 3), touches=TOUCHES)
def test_the_price_of_laplace(exact, other, answer, share, l1, touches):
    mechanism = Laplace(l1=l1).over(touches)
    rate = float(share) / (l1 * touches)
    ratio = laplace_log(exact, answer, rate) - laplace_log(other, answer, rate)
    price = mechanism.loss(exact, other, answer, share)
    assert abs(ratio) <= price + 1e-9
    assert price == share * int(np.abs(exact - other).sum()) / (l1 * touches)


def choose_log(scores, answer, factor):
    total = math.log(sum(math.exp(factor * int(score)) for score in scores))
    return factor * int(scores[answer]) - total


@given(
    exact=counts,
    other=counts,
    answer=st.integers(0, 2),
    share=SHARES,
    sensitivity=st.integers(1, 3),
    touches=TOUCHES,
)
def test_the_price_of_choose(exact, other, answer, share, sensitivity, touches):
    mechanism = Choose(sensitivity=sensitivity).over(touches)
    factor = float(share) / (2 * sensitivity * touches)
    ratio = choose_log(exact, answer, factor) - choose_log(other, answer, factor)
    price = mechanism.loss(exact[None], other[None], np.array([answer]), share)
    assert ratio <= price + 1e-9
    moved = int(np.abs(exact - other).max())
    assert price <= share * moved / (sensitivity * touches)


def test_the_price_of_choose_is_nearly_reached():
    """One score falls, all others rise, and there are many of them: the worst case of the bound."""
    exact, other = np.array([[1] + [0] * 4_000]), np.array([[0] + [1] * 4_000])
    price = Choose(sensitivity=1).loss(exact, other, np.array([0]), Fraction(1))
    ratio = choose_log(exact[0], 0, 0.5) - choose_log(other[0], 0, 0.5)
    assert price == 1
    assert 0.99 < ratio < 1


bits = st.lists(st.integers(0, 1), min_size=4, max_size=4).map(np.array)


@given(exact=bits, other=bits, answer=bits, share=SHARES, touches=TOUCHES)
def test_the_price_of_flip_is_exact(exact, other, answer, share, touches):
    odds = float(share) / touches
    kept, turned = -math.log1p(math.exp(-odds)), -math.log1p(math.exp(odds))
    log = lambda held: sum(kept if a == e else turned for a, e in zip(answer, held, strict=True))  # noqa: E731
    price = Flip().over(touches).loss(exact, other, answer, share)
    assert float(price) == pytest.approx(log(exact) - log(other), abs=1e-9)


def test_the_price_of_flip_is_what_is_drawn():
    """The odds of a kept bit, measured: e to the price of one that differs."""
    from hedgerow.privacy.samplers import bits as source

    exact = np.ones(400_000, np.int64)
    kept = Flip().over(2).draw(exact, Fraction(2), source(seed=5)).mean()
    price = Flip().over(2).loss(exact[:1], 1 - exact[:1], exact[:1], Fraction(2))
    assert price == 1
    assert math.log(kept / (1 - kept)) == pytest.approx(1, abs=0.02)  # six standard errors: 0.021


def test_noise_beyond_int64_is_refused_with_what_to_do():
    with pytest.raises(ParameterError, match=r"the scale of this noise is beyond 2\*\*50; give a larger epsilon"):
        Ledger(Fraction(1, 2**60), NoisyAnswers(1)).ask(
            np.zeros(1, np.int64), Laplace(l1=1), spend=Fraction(1, 2**60), label="size"
        )

"""The plan of variable-order-markov: what is asked, by the tokens of an average item in noise scales."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.kinds.sequences.methods.variable_order_markov.plan_model import LengthHistogram, make_plan


def planned(number, length, symbols=100, order=4, cells=4_000_000):
    """One token per sequence and a budget of 1: the tokens of an average item are `number / symbols`."""
    by_length = np.zeros(length + 1)
    by_length[length] = number
    lengths = LengthHistogram(by_length)
    return make_plan(lengths, symbols, Fraction(1), tokens=1, order=order, cells=cells)


@pytest.mark.parametrize(
    ("strength", "length", "with_items", "deep", "balanced"),
    [
        (9, 5, True, False, False),
        (9, 10, True, False, True),
        (10, 5, True, False, True),
        (99, 5, True, False, True),
        (100, 5, False, False, True),
        (349, 5, False, False, True),
        (350, 5, False, True, True),
    ],
)
def test_modes(strength, length, with_items, deep, balanced):
    plan = planned(100 * strength, length)
    assert (plan.with_items, plan.deep, plan.balanced) == (with_items, deep, balanced)


def test_modes_by_settings():
    assert planned(100 * 350, 5, cells=9_999).with_items
    assert not planned(100 * 350, 5, order=1).deep
    assert planned(100, 5, cells=1_050).rows == 10

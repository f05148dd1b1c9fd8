"""Where nothing depends on what comes before it, variable-order-markov publishes single items and lengths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hedgerow import PureDP
from hedgerow.kinds.sequences.methods.variable_order_markov import model
from hedgerow.kinds.sequences.methods.variable_order_markov.model import pool_rows, show_dependence
from hedgerow.kinds.sequences.methods.variable_order_markov.publisher import VariableOrderMarkov
from hedgerow.testing import changed
from laws import sequences_over

PROMISE = PureDP(epsilon=1, unit="sequence")
ITEMS = 60


def lists(depend):
    """Items by Zipf's law; if they depend on each other, every other one is that before it plus 1."""
    draw = np.random.default_rng(4)
    part = 1 / np.arange(1, ITEMS + 1)
    table = draw.choice(ITEMS, (3_000, 12), p=part / part.sum())
    if depend:
        table[:, 1::2] = (table[:, ::2] + 1) % ITEMS
    return table.tolist()


def distance(data, release):
    """The total variation distance of bigrams to those of a product of single items."""
    once = np.bincount(data.items, minlength=ITEMS) / len(data.items)
    pairs = np.zeros((ITEMS, ITEMS))
    for path, count in release.distinct_records():
        for pair in itertools.pairwise(path):
            pairs[pair] += count
    return np.abs(pairs / pairs.sum() - np.outer(once, once)).sum() / 2


@pytest.fixture
def decisions(monkeypatch):
    """What was decided, run after run."""
    taken = []

    def recorded(*rows):
        taken.append(show_dependence(*rows))
        return taken[-1]

    monkeypatch.setattr(model, "show_dependence", recorded)
    return taken


@pytest.mark.parametrize("depend", [False, True])
def test_it_is_seen_whether_items_depend_on_each_other(depend, decisions):
    data = sequences_over(lists(depend), ITEMS)
    for seed in range(3):
        VariableOrderMarkov().publish(data, PROMISE, seed=seed)
    assert decisions == [depend] * 3


def test_independent_items_are_published_as_such(monkeypatch):
    """Noisy rows would be farther away."""
    data = sequences_over(lists(depend=False), ITEMS)
    alone = distance(data, VariableOrderMarkov().publish(data, PROMISE, seed=1).data)
    monkeypatch.setattr(model, "_CLEAR", -np.inf)
    assert 1.2 * alone < distance(data, VariableOrderMarkov().publish(data, PROMISE, seed=1).data)


@pytest.mark.parametrize(("factor", "seen"), [(0.95, False), (1.1, True)])
def test_a_little_more_than_noise_is_seen(factor, seen):
    """Ten thousand cells: the threshold is 2 % of their sum, and so is the deviation of the sum."""
    noise = np.random.default_rng(2).laplace(0, factor * 2**-0.5, (100, 100))
    assert show_dependence(noise, np.zeros((100, 100)), np.ones(100)) == seen


def test_no_rows_show_nothing():
    assert not show_dependence(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))


def test_pooled_rows_have_the_claimed_variance():
    draw = np.random.default_rng(3)
    part, totals, variance = (
        np.array([0.5, 0.3, 0.1, 0.1]),
        np.array([9_000.0, 2_000, 100]),
        np.array([100.0, 100, 400]),
    )
    drawn = []
    for _ in range(4_000):
        noise = draw.normal(0, np.sqrt(variance)[:, None], (3, 4))
        pooled, spread = pool_rows(totals[:, None] * part + noise, totals, variance, 10_000.0)
        drawn.append(pooled)
    assert np.mean(drawn, axis=0) == pytest.approx(part[:3] / 0.9 * 10_000, rel=1e-3)
    # scaling to the number takes a part of the noise away, less for rare items
    assert 0.7 * spread < np.var(drawn, axis=0)[2] < 1.05 * spread
    assert pool_rows(np.tile([0.2, 0.2, 0.6], (2, 1)), np.ones(2), np.ones(2), 5.0) is None


def test_pooling_equal_weights_is_noticed():
    """The weight of a row is its total; with equal weights, rows of rare items would bring in their noise."""
    data = sequences_over(lists(depend=False), ITEMS)
    exact = np.bincount(data.items, minlength=ITEMS) / len(data.items)

    def error():
        errors = []
        for seed in range(4):
            items = VariableOrderMarkov().publish(data, PROMISE, seed=seed).data
            weight = np.repeat(items.weights, np.diff(items.starts))
            released = np.bincount(items.items, weight, ITEMS)
            errors.append(np.abs(released / released.sum() - exact).sum())
        return np.mean(errors)

    honest = error()
    old, new = "(totals[:, None] * rows[:, :-1]).sum(axis=0)", "rows[:, :-1].sum(axis=0) * totals.max()"
    with changed(model, "pool_rows", old, new):
        assert error() > 1.1 * honest

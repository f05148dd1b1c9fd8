"""variable-order-markov as a black box: what releases alone show of one sequence."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from hedgerow import PureDP
from hedgerow.kinds.sequences.methods.variable_order_markov import publisher
from hedgerow.kinds.sequences.methods.variable_order_markov.publisher import Tokens, VariableOrderMarkov
from hedgerow.privacy import Laplace
from hedgerow.testing import changed
from laws import sequences_over

SEQUENCE = PureDP(epsilon=1, unit="sequence")


def log_ratio(runs):
    """How much likelier it is that two sequences or more are published if there is one, and not none."""
    method = VariableOrderMarkov(longest=1, tokens=1)
    shares = []
    for records in ([[0]], []):
        data = sequences_over(records, 1)
        shares.append(np.mean([len(method.publish(data, SEQUENCE, seed=seed).data) > 1 for seed in range(runs)]))
    return math.log(shares[0] / max(1 / runs, shares[1]))


def test_one_sequence_hardly_changes_how_many_are_published():
    """The ratio of the shipped class is exp(0.1), with a standard error of 0.15 in 120 runs.

    With a twentieth of the noise it is exp(2), which 100 runs show.
    """
    assert abs(log_ratio(120)) < 0.8
    names = {"Laplace": Laplace, "Fraction": Fraction}
    with changed(publisher, "ask_lengths", "Laplace(l1=1)", "Laplace(l1=Fraction(1, 20))", **names):
        assert log_ratio(100) > 1.2


def released_ones(method, records, runs, first):
    """The share of the second item, in each of several releases."""
    data = sequences_over(records, 2)
    seen = []
    for seed in range(first, first + runs):
        items = method.publish(data, PureDP(epsilon=1, unit="sequence"), seed=seed).data.items
        seen.append(np.mean(items))
    return np.array(seen)


def observed_loss(method, runs):
    """A lower bound of the loss, with 99.99 % confidence: an event is chosen on half of all runs, and tested."""
    neighbours = [[0, 0], [1, 1, 1, 1]], [[0, 0]]
    seen = [released_ones(method, records, runs, 10_000 * number) for number, records in enumerate(neighbours)]
    half = runs // 2
    cuts = np.quantile(np.concatenate(seen), np.linspace(0.02, 0.98, 25))
    chosen = max(cuts, key=lambda cut: np.mean(seen[0][:half] > cut) / max(1 / half, np.mean(seen[1][:half] > cut)))
    counts = [int(np.sum(part[half:] > chosen)) for part in seen]
    low = stats.binomtest(counts[0], half).proportion_ci(0.9999, "exact").low
    high = stats.binomtest(counts[1], half).proportion_ci(0.9999, "exact").high
    return math.log(max(low, 1e-12) / high)


@pytest.mark.slow
def test_releases_alone_show_no_more_than_was_promised():
    """And they show it if every token counts a hundredfold."""
    honest = VariableOrderMarkov(tokens=4, longest=4)
    assert observed_loss(honest, 1_500) <= 1
    with changed(Tokens, "count", "rows * symbols).astype(np.int64)", "rows * symbols).astype(np.int64) * 100"):
        assert observed_loss(honest, 600) > 1

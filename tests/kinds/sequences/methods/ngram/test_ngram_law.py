"""ngram and the exploration it shares: the whole law on tiny universes, and planted bugs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow import PureDP
from hedgerow.errors import GuaranteeError
from hedgerow.kinds.sequences.methods.ngram.publisher import Exploration, NGram
from hedgerow.kinds.sequences.methods.ngram_markov.publisher import NGramMarkov
from hedgerow.privacy import Laplace
from hedgerow.testing import changed, check_publisher
from laws import sequences_over, worst

SEQUENCE = PureDP(epsilon=1, unit="sequence")
ROUNDING = 1e-9
NAMES = {"np": np, "Fraction": Fraction, "Laplace": Laplace}
METHODS = pytest.mark.parametrize("method", [NGram, NGramMarkov])


@pytest.fixture
def low(monkeypatch):
    """A threshold low enough that everything can happen in a small window."""
    monkeypatch.setattr(Exploration, "_cutoff", lambda _, share, size: np.full(len(share), 2 + 0 * size))


@METHODS
@pytest.mark.usefixtures("low")
@pytest.mark.parametrize(
    ("records", "budget"),
    [([[0]], "uniform"), ([[0, 0]], "adaptive"), ([[0], [0, 0]], "adaptive"), ([[0, 0]], "uniform")],
)
def test_all_that_is_published_loses_what_is_promised_and_no_more(method, records, budget):
    """The grams and the sequences written from them, over one item."""
    loss = worst(method(l_max=2, n_max=2, budget=budget), sequences_over(records, 1))
    assert loss <= 1 + ROUNDING
    assert loss >= 0.4


@METHODS
@pytest.mark.usefixtures("low")
def test_two_items(method):
    assert 0.4 <= worst(method(l_max=1, n_max=1), sequences_over([[0], [1]], 2)) <= 1 + ROUNDING


@METHODS
@pytest.mark.usefixtures("low")
def test_half_the_noise_is_seen_by_the_same_check(method):
    old, new = "exact, Laplace(l1=1), under", "exact, Laplace(l1=Fraction(1, 2)), under"
    with changed(Exploration, "_single_items", old, new):
        assert worst(method(l_max=1, n_max=1), sequences_over([[0]], 1)) > 1.5


# ---- planted bugs


def caught(step, old, new, message, **parameters):
    with changed(Exploration, step, old, new, **NAMES):
        with pytest.raises(GuaranteeError, match=message):
            check_publisher(NGram(**parameters), SEQUENCE)


def test_more_positions_than_tokens_are_caught():
    """Sequences are not cut to the declared number of items."""
    caught("explore", "data.positions(self.l_max)", "data.positions(99)", "loses .* between neighbours", l_max=4)


def test_the_end_as_a_gram_of_its_own_is_caught():
    """Every sequence then has one token more than was declared (E3)."""
    old = "exact[counted.codes] = counted.counts"
    new = f"{old}; exact[0] += len(counted.frontier.rows.lists.ends)"
    caught("_single_items", old, new, "loses .* between neighbours", l_max=4, n_max=1)


def test_half_the_noise_of_what_is_not_tested_is_caught():
    old, new = (
        "exact[every].ravel(),\n        Laplace(l1=1),",
        "exact[every].ravel(),\n        Laplace(l1=Fraction(1, 2)),",
    )
    caught("_followers", old, new, "loses .* between neighbours", leaf_threshold=False)


@pytest.mark.parametrize(
    "given",
    [{"leaf_threshold": False, "fill": "backoff"}, {"budget": "uniform", "fill": "nothing"}],
    ids=str,
)
def test_every_way_to_run_keeps_the_promise(given):
    """Every value of every parameter once; conformance runs the defaults."""
    check_publisher(NGram(**given), SEQUENCE)


def test_contexts_chosen_by_exact_counts_are_caught():
    old = "label = np.flatnonzero(noisy >= cutoff)"
    caught(
        "_single_items",
        old,
        "label = np.flatnonzero((noisy >= cutoff) & (exact >= 3))",
        "asked .*of a neighbour",
    )


def test_spending_what_is_left_twice_is_caught():
    caught("explore", "paths.left(live.nodes) / height", "paths.left(live.nodes) * 9 / height", "would spend")

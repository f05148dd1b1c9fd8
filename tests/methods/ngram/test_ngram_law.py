"""ngram: the whole law on tiny universes, and planted bugs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from laws import sequences_over, worst

from hedgerow import PureDP
from hedgerow.errors import GuaranteeError
from hedgerow.privacy import Laplace
from hedgerow.publishers.sequences.ngram import NGram
from hedgerow.testing import check_publisher, mutant

SEQUENCE = PureDP(epsilon=1, unit="sequence")
ROUNDING = 1e-9
NAMES = {"np": np, "Fraction": Fraction, "Laplace": Laplace}


class Low(NGram):
    """A threshold low enough that everything can happen in a small window."""

    def _cutoff(self, share, size):
        del size
        return np.full(len(share), 2)


@pytest.mark.parametrize("budget", ["adaptive", "uniform"])
@pytest.mark.parametrize("records", [[[0]], [[0, 0]], [[0], [0, 0]]])
def test_all_that_is_published_loses_what_is_promised_and_no_more(records, budget):
    """The grams and the sequences written from them, over one item."""
    method = Low(l_max=2, n_max=2, budget=budget)
    loss = worst(method, sequences_over(records, 1))
    assert loss <= 1 + ROUNDING
    assert loss >= 0.4


def test_two_items():
    assert 0.4 <= worst(Low(l_max=1, n_max=1), sequences_over([[0], [1]], 2)) <= 1 + ROUNDING


def test_half_the_noise_is_seen_by_the_same_check():
    narrow = mutant(NGram, "exact, Laplace(l1=1), under", "exact, Laplace(l1=Fraction(1, 2)), under", **NAMES)
    narrow._cutoff = Low._cutoff
    assert worst(narrow(l_max=1, n_max=1), sequences_over([[0]], 1)) > 1.5


# ---- planted bugs


def caught(old, new, message, **parameters):
    broken = mutant(NGram, old, new, **NAMES)(**parameters)
    with pytest.raises(GuaranteeError, match=message):
        check_publisher(broken, SEQUENCE)


def test_more_positions_than_tokens_are_caught():
    """Sequences are not cut to the declared number of items."""
    caught("data.positions(self.l_max)", "data.positions(99)", "loses .* between neighbours", l_max=4)


def test_the_end_as_a_gram_of_its_own_is_caught():
    """Every sequence then has one token more than was declared (E3)."""
    old = "exact[counted.codes] = counted.counts"
    new = f"{old}; exact[0] += len(counted.frontier.rows.lists.ends)"
    caught(old, new, "loses .* between neighbours", l_max=4, n_max=1)


def test_half_the_noise_of_what_is_not_tested_is_caught():
    old = "exact[every].ravel(),\n            Laplace(l1=1),"
    new = "exact[every].ravel(),\n            Laplace(l1=Fraction(1, 2)),"
    caught(old, new, "loses .* between neighbours", leaf_threshold=False)


@pytest.mark.parametrize(
    "given",
    [{"leaf_threshold": False}, {"budget": "uniform"}, {"fill": "paper"}, {"generator": "join"}],
    ids=str,
)
def test_every_way_to_run_keeps_the_promise(given):
    check_publisher(NGram(**given), SEQUENCE)


def test_contexts_chosen_by_exact_counts_are_caught():
    old = "label = np.flatnonzero(noisy >= cutoff)"
    caught(
        old,
        "label = np.flatnonzero((noisy >= cutoff) & (exact >= 3))",
        "asked differently of a neighbour",
    )


def test_the_number_of_sequences_taken_from_the_data_is_caught():
    old = "sequences = Sequences.from_columns(row=row, item=item, counts=counts, domain=domain)"
    new = "sequences = Sequences.from_columns(row=row[row < len(data)], item=item[row < len(data)], counts=counts, domain=domain)"
    caught(old, new, "publishes something else of a neighbour", generator="markov")


def test_spending_what_is_left_twice_is_caught():
    caught("paths.left(live.nodes) / height", "paths.left(live.nodes) * 9 / height", "would spend")

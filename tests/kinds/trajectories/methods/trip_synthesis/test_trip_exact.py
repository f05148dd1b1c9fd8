"""All that trip synthesis can publish of a tiny universe, with its exact probability."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from trip_cases import TRIP, trips_of

from hedgerow import TripSynthesis
from hedgerow.privacy import Ledger
from hedgerow.testing import output_distribution, worst_loss

#: with two places and one time, these say how many records there are and where; all others are not asked here
ASKED = ("lengths", "origin-destination pairs")
ROUNDING = 1e-9


@pytest.fixture
def few_questions(monkeypatch, l1):
    """Two questions of five cells; the others are answered with 0, whatever the data is."""
    ask = Ledger.ask

    def some(self, exact, mechanism, *, spend, label):
        if label not in ASKED:
            return np.zeros(len(exact), np.int64)
        return ask(self, exact, replace(mechanism, l1=mechanism.l1 * l1), spend=spend, label=label)

    monkeypatch.setattr(Ledger, "ask", some)


def worst(records) -> tuple[float, float]:
    """The largest loss between neighbours, and the share of the questions that are asked."""
    data = trips_of(records, places=2, times=1)
    method = TripSynthesis(l_max=1)
    here = output_distribution(method, data, TRIP, low=0, high=2)
    assert math.isclose(sum(here.values()), 1, rel_tol=1e-9)
    assert len(here) > 2
    others = [output_distribution(method, other, TRIP, low=0, high=2) for other in data.neighbours("trajectory")]
    share = Fraction(3, 100) + Fraction(97, 100) * Fraction(15, 69)
    return max(worst_loss(here, other) for other in others), float(share)


@pytest.mark.slow
@pytest.mark.usefixtures("few_questions")
@pytest.mark.parametrize("l1", [1])
@pytest.mark.parametrize("records", [["A0"], ["A0", "B0"]], ids=str)
def test_all_that_is_published_loses_no_more_than_its_share(records):
    loss, share = worst(records)
    assert 0.03 - ROUNDING <= loss <= share + ROUNDING


@pytest.mark.slow
@pytest.mark.usefixtures("few_questions")
@pytest.mark.parametrize("l1", [Fraction(1, 40)])
def test_too_little_noise_is_seen_by_the_same_check():
    loss, share = worst(["A0"])
    assert loss > share + ROUNDING

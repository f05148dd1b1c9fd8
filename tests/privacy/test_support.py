"""What a release rests on: counts above their noise, and releases that are refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import PureDP, Sets, find_method
from hedgerow.data import Domain
from hedgerow.privacy import Choose, ExactAnswers, Laplace, Ledger, NoisyAnswers
from hedgerow.privacy.evidence import Support, share_above


def support_of(ledger):
    return {each.label: each.share for each in ledger.evidence().support}


def ledger_of(answers=None, budget=1):
    return Ledger(Fraction(budget), answers or ExactAnswers())


def test_counts_above_their_noise_are_weighed_by_what_they_count():
    """Scale 1 and three cells: noise alone stays below ln 60 = 4.09."""
    ledger = ledger_of()
    ledger.ask(np.array([16, 4, 0]), Laplace(l1=1), spend=Fraction(1), label="cells")
    assert support_of(ledger) == {"cells": 0.8}


def test_the_limit_grows_with_the_scale_of_the_noise_and_with_the_number_of_cells():
    for l1, cells, share in ((1, 3, 1.0), (2, 3, 0.0), (1, 10, 0.0)):
        ledger = ledger_of()
        exact = np.zeros(cells, np.int64)
        exact[0] = 5  # ln 60 = 4.09, 2 ln 60 = 8.2, ln 200 = 5.3
        ledger.ask(exact, Laplace(l1=l1), spend=Fraction(1), label="cells")
        assert support_of(ledger) == {"cells": share}


def test_candidates_below_a_threshold_count_as_cells():
    for candidates, share in ((10, 1.0), (10**30, 0.0)):
        ledger = ledger_of(budget=2)
        ledger.survivors(
            np.array([3]),
            np.array([60]),
            Laplace(l1=1),
            candidates=candidates,
            cutoff=59 if candidates > 10 else 5,
            spend=Fraction(1),
            label="many",
        )
        assert support_of(ledger) == {"many": share}


def test_answers_along_a_path_are_replaced_by_those_below_them():
    """100 are counted at a node, and below it 60 and 2: the last answers are what is published."""
    ledger = ledger_of(budget=2)
    forest = ledger.paths(spend=Fraction(2), label="tree")
    nodes, _ = forest.ask(np.array([100]), Laplace(l1=1), under=forest.root, spend=Fraction(1), label="tree")
    assert support_of(ledger) == {"tree": 1.0}
    under = np.repeat(nodes, 2)
    forest.ask(np.array([60, 2]), Laplace(l1=1), under=under, spend=Fraction(1), label="tree")
    assert support_of(ledger) == {"tree": round(60 / 62, 2)}


def test_a_choice_below_a_count_leaves_it_what_it_is():
    ledger = ledger_of(budget=3)
    forest = ledger.paths(spend=Fraction(3), label="tree")
    nodes, _ = forest.ask(np.array([100, 2]), Laplace(l1=1), under=forest.root.repeat(2), spend=Fraction(1), label="t")
    chosen, _ = forest.ask(np.array([[0, 1]]), Choose(sensitivity=1), under=nodes[:1], spend=Fraction(1), label="split")
    assert support_of(ledger) == {"tree": round(100 / 102, 2)}
    forest.ask(np.array([3, 3]), Laplace(l1=1), under=chosen.repeat(2), spend=Fraction(1), label="t")
    assert support_of(ledger) == {"tree": 0.0}


def test_noise_alone_is_above_itself_in_one_run_of_twenty_at_most():
    """400 runs over 200 empty cells: more than 36 false alarms have a probability below 1e-3 if the rate is 1 in 20."""
    alarms = 0
    for seed in range(400):
        ledger = ledger_of(NoisyAnswers(seed))
        ledger.ask(np.zeros(200, np.int64), Laplace(l1=3), spend=Fraction(1), label="nothing")
        alarms += support_of(ledger)["nothing"] > 0
    assert 2 <= alarms <= 36  # at half the limit there would be hundreds; at twice the limit, none


def test_a_total_smaller_than_its_parts_is_not_more_than_all():
    assert share_above(-5.0, 3.0) == 1.0
    assert share_above(10.0, 0.0) == 0.0


def sets_of(number, items=12):
    rows = np.arange(number)
    return Sets.from_columns(row=rows, item=rows % items, domain=Domain.declare(item=range(items)))


def test_a_release_says_what_it_rests_on():
    many = find_method("noisy-singletons")().publish(sets_of(9_000), PureDP(epsilon=1, unit="record"), seed=1)
    assert many.evidence.support == (Support("item counts", 1.0),)
    assert many.describe_use() == "Above their noise: item counts 100 %."
    assert not many.is_empty()
    few = find_method("noisy-singletons")().publish(sets_of(36), PureDP(epsilon="0.1", unit="record"), seed=1)
    assert few.describe_use() == "The release is empty: the promise leaves nothing to publish."
    assert few.is_noise()
    filled = replace(few, outputs=many.outputs)
    assert filled.describe_use() == "The release rests on noise: hardly any answer is above it."


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_received_share_out_of_range_is_refused(share):
    from hedgerow.release import _read_support

    with pytest.raises(ValueError, match="between 0 and 1"):
        _read_support(share)

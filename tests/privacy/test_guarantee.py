"""Promises are read as written, have no defaults, and methods refuse those they do not keep."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from toys import MinimumSupport, NoisySize, PassOn, TokenTree

from hedgerow import All, Domain, FlatLaplace, PureDP, Score, find_method
from hedgerow.errors import (
    BudgetExceeded,
    NotSatisfied,
    ParameterError,
    UnknownMethod,
    UnsupportedGuarantee,
)
from hedgerow.privacy import ExactAnswers, Laplace, Ledger
from hedgerow.privacy.numbers import read_number, show
from hedgerow.testing import sets_of


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("1/3", Fraction(1, 3)),
        (2, Fraction(2)),
        ("60%", Fraction(3, 5)),
        ("1e-3", Fraction(1, 1000)),
        (1e-5, Fraction(1, 100_000)),
    ],
)
def test_numbers_of_a_promise_are_read_as_written(written, exact):
    assert PureDP(epsilon=written, unit="record").epsilon == exact


@pytest.mark.parametrize("bad", ["1e-20", "1e80", 10**10])
def test_epsilon_is_no_absurd_number(bad):
    with pytest.raises(ParameterError, match="epsilon must be between 1e-9 and 1e9"):
        PureDP(epsilon=bad, unit="record")


@pytest.mark.parametrize("bad", [0, -1, "-0.5", "0%"])
def test_epsilon_is_positive(bad):
    with pytest.raises(ParameterError, match="epsilon must be greater than 0"):
        PureDP(epsilon=bad, unit="record")


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "inf", "nan", "much", "", "1/0", True, None, [1]])
def test_epsilon_is_a_finite_number(bad):
    with pytest.raises(ParameterError, match="epsilon must be a"):
        PureDP(epsilon=bad, unit="record")


def test_nothing_that_protects_has_a_default():
    with pytest.raises(TypeError, match="epsilon"):
        PureDP(unit="record")
    with pytest.raises(TypeError, match="unit"):
        PureDP(epsilon=1)
    with pytest.raises(TypeError, match="guarantee"):
        FlatLaplace().publish(sets_of([[0]], 2))


def test_fractions_are_shown_as_people_write_them():
    assert [show(value) for value in (Fraction(1, 10), Fraction(1, 3), Fraction(2))] == [
        "0.1",
        "1/3",
        "2",
    ]
    assert read_number("c", "60%") == Fraction(3, 5)


@pytest.mark.parametrize(
    ("method", "guarantee", "message"),
    [
        (
            FlatLaplace(),
            MinimumSupport(2),
            "flat-laplace does not keep MinimumSupport; it keeps PureDP",
        ),
        (
            PassOn(),
            PureDP(epsilon=1, unit="record"),
            "does not keep PureDP; it keeps MinimumSupport",
        ),
        (FlatLaplace(), PureDP(epsilon=1, unit="edge"), "protects record, person; got unit 'edge'"),
        (
            FlatLaplace(),
            All(PureDP(epsilon=1, unit="record"), MinimumSupport(2)),
            "does not keep MinimumSupport",
        ),
    ],
)
def test_a_promise_that_is_not_kept_is_refused(method, guarantee, message):
    with pytest.raises(UnsupportedGuarantee, match=message):
        method.publish(sets_of([[0]], 2), guarantee)


def test_a_method_refuses_another_kind():
    class ForOdd(PassOn):
        kinds = ("odd",)

    with pytest.raises(ParameterError, match="toy-pass-on publishes odd; got sets"):
        ForOdd().publish(sets_of([[0]], 1), MinimumSupport(2))
    with pytest.raises(ParameterError, match="publishes a data set such as Sets; got list"):
        FlatLaplace().publish([["tea"]], PureDP(epsilon=1, unit="record"))
    with pytest.raises(ParameterError, match="state a guarantee such as PureDP"):
        FlatLaplace().publish(sets_of([[0]], 1), 1)
    with pytest.raises(ParameterError, match="seed must be a whole number of at least 0; got 'x'"):
        FlatLaplace().publish(sets_of([[0]], 1), PureDP(epsilon=1, unit="record"), seed="x")


def test_all_is_verified_part_by_part():
    data = sets_of([[0]] * 5, 2)
    both = All(PureDP(epsilon=50, unit="record"), MinimumSupport(3))
    release = NoisySize().publish(data, both, seed=1)
    assert release.verdict.satisfied
    assert "MinimumSupport: checked on the published data" in release.statement()
    assert release.guarantee.to_plain() == {
        "name": "All",
        "parts": [
            {"name": "PureDP", "epsilon": "50", "unit": "record"},
            {"name": "MinimumSupport", "k": "3"},
        ],
    }
    with pytest.raises(NotSatisfied, match="MinimumSupport: rare itemsets"):
        NoisySize().publish(data, All(PureDP(epsilon=50, unit="record"), MinimumSupport(99)))
    assert All(MinimumSupport(2)).units == ()
    with pytest.raises(ParameterError, match="at least one guarantee"):
        All()
    with pytest.raises(ParameterError, match="All takes guarantees"):
        All(1)
    with pytest.raises(ParameterError, match="at most one differentially private"):
        All(All(PureDP(epsilon=1, unit="record")), PureDP(epsilon=2, unit="record"))
    with pytest.raises(ParameterError, match="at most one differentially private"):
        All(PureDP(epsilon=1, unit="record"), PureDP(epsilon=2, unit="person"))


def test_a_criterion_has_nothing_to_spend():
    import numpy as np

    ledger = MinimumSupport(2).open(sets_of([[0]], 2), ExactAnswers())
    assert isinstance(ledger, Ledger)
    ledger.coins()
    with pytest.raises(BudgetExceeded, match="0 of 0 is left"):
        ledger.ask(np.array([1]), Laplace(l1=1), spend=Fraction(1, 99), label="count")


def test_data_that_keeps_a_criterion_comes_back_unchanged():
    data = sets_of([[0]] * 3 + [[0, 1]] * 2, 2)
    release = PassOn().publish(data, MinimumSupport(2))
    assert release.data.itemsets() == data.itemsets()
    assert release.publishable


def test_parameters_are_checked_where_they_are_stated():
    with pytest.raises(ParameterError, match=r"FlatLaplace.threshold must be at least 0; got -1"):
        FlatLaplace(threshold=-1)
    with pytest.raises(ParameterError, match=r"FlatLaplace.threshold must be a number; got 'high'"):
        FlatLaplace(threshold="high")
    with pytest.raises(ParameterError, match=r"FlatLaplace.threshold must be a number; got True"):
        FlatLaplace(threshold=True)
    with pytest.raises(ParameterError, match=r"FlatLaplace.threshold must be finite; got nan"):
        FlatLaplace(threshold=float("nan"))
    with pytest.raises(ParameterError, match=r"TokenTree.cutoff must be a whole number; got 1.5"):
        TokenTree(cutoff=1.5)
    assert FlatLaplace(threshold=1).threshold == 1


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(
        UnknownMethod,
        match=r"no method 'flat'; there are: additive-noise, .*, flat-laplace, .*, wavelet$",
    ):
        find_method("flat")


def test_a_score_is_within_its_interval():
    with pytest.raises(ParameterError, match=r"error: 3 is not within \[0, 1\]"):
        Score(name="error", value=3, low=0, high=1, better="lower", scope="owner")
    beside = Score(
        name="size",
        value=3,
        low=3,
        high=3,
        better="neither",
        scope="public",
        controls=(("empty", 0),),
    )
    assert str(beside) == "size 3; empty: 0"


def test_several_outputs_are_taken_by_name():
    class Two(PassOn):
        name = "toy-two"

        def run(self, data, ledger):
            """Return the same data twice."""
            return {"left": data, "right": data}

    release = Two().publish(sets_of([[0]] * 2, 2), MinimumSupport(2))
    assert list(release.outputs) == ["left", "right"]
    with pytest.raises(ParameterError, match="take one of outputs: left, right"):
        _ = release.data
    assert release.domain == Domain.declare(item=range(2), records_per_person=2)

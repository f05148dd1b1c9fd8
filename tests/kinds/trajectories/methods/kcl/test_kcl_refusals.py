"""(K,C)_L-privacy: what is refused, and what is warned of."""

from __future__ import annotations

from fractions import Fraction

import pytest
from kcl_cases import trajectories

from hedgerow import Sets
from hedgerow.data import Domain
from hedgerow.errors import DomainError, ParameterError, UnsupportedGuarantee
from hedgerow.evaluate import evaluate
from hedgerow.kinds.trajectories.criterion import KCL, count_violations
from hedgerow.kinds.trajectories.data import Trajectories
from hedgerow.kinds.trajectories.methods import kcl
from hedgerow.kinds.trajectories.methods.kcl import LocalSuppression
from hedgerow.kinds.trajectories.methods.kcl_reinsertion import SuppressionWithReinsertion

METHODS = [LocalSuppression, SuppressionWithReinsertion]


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"k": 0, "l": 1}, "k must be a whole number of at least 1; got 0"),
        ({"k": True, "l": 1}, "k must be a whole number of at least 1; got True"),
        ({"k": 10**18, "l": 1}, r"k must be below 10\^18; no data has that many records"),
        ({"k": 10**5000, "l": 1}, r"k must be below 10\^18"),
        ({"k": "9" * 5000, "l": 1}, r"k must be below 10\^18"),
        ({"k": 2, "l": str(2**63)}, r"l must be below 10\^18"),
        ({"k": 2, "l": 1.5}, "l must be a whole number of at least 1; got 1.5"),
        ({"k": 2, "l": 1, "c": "120%", "sensitive": ["d=x"]}, "between 0 and 1; got 120%"),
        ({"k": 2, "l": 1, "c": "nan", "sensitive": ["d=x"]}, "c must be a finite number; got nan"),
        ({"k": 2, "l": 1, "c": 1, "sensitive": ["HIV"]}, "given as COLUMN=VALUE; got 'HIV'"),
        ({"k": 2, "l": 1, "c": 1, "sensitive": ["=HIV"]}, "given as COLUMN=VALUE; got '=HIV'"),
        ({"k": 2, "l": 1, "c": 1, "sensitive": [("d", 0.5)]}, "given as COLUMN=VALUE"),
        ({"k": 2, "l": 1, "c": 1, "sensitive": [("d", "x", "y")]}, "given as COLUMN=VALUE"),
        ({"k": 2, "l": 1, "c": "60%"}, "c and sensitive belong together"),
        ({"k": 2, "l": 1, "sensitive": ["d=x"]}, "c and sensitive belong together"),
    ],
)
def test_bad_promises(given_, message):
    with pytest.raises(ParameterError, match=message):
        KCL(**given_)


def test_the_check_refuses_other_kinds():
    with pytest.raises(UnsupportedGuarantee, match="KCL is about trajectories; got sets"):
        KCL(k=2, l=1).violations({"": Sets.from_records([["a"]])})


def test_numbers_of_a_promise_are_read_as_written():
    ill = {"sensitive": ["d=x"]}
    assert KCL(k="30", c="60%", l="3", **ill).c == KCL(k=30, c=0.6, l=3, **ill).c == Fraction(3, 5)


@pytest.mark.parametrize("method", METHODS)
def test_frequent_sequences_need_a_number_that_makes_them_frequent(method):
    with pytest.raises(ParameterError, match=f"{method.__name__}.k_prime must be at least 1 for metric mfs"):
        method(metric="mfs")
    assert method().workload == {}
    assert method(metric="mfs", k_prime=7).workload == {"frequent": 7}


def test_persons_need_a_declared_number_of_records_and_known_owners():
    data = Trajectories.from_records([[("a", 1)], [("a", 2)]], persons=["x", "x"])
    with pytest.raises(DomainError, match="unit 'person' needs a declared maximum of records per person"):
        LocalSuppression().publish(data, KCL(k=1, l=1))
    ownerless = Trajectories.from_records([[("a", 1)], [("a", 2)]])
    with pytest.raises(DomainError, match="unit 'person' needs the owner of each record"):
        LocalSuppression().publish(ownerless, KCL(k=1, l=1, unit="person"))
    with pytest.raises(UnsupportedGuarantee, match="KCL counts each trajectory or each person; got unit 'row'"):
        KCL(k=1, l=1, unit="row")


def test_a_record_at_two_places_is_refused():
    with pytest.raises(DomainError, match="at two places at one time"):
        Trajectories.from_records([[("a", 1), ("b", 1)]])


def test_an_unknown_sensitive_column_is_refused():
    with pytest.raises(DomainError, match="no sensitive column 'ward'"):
        LocalSuppression().publish(
            Trajectories.from_records([[("a", 1)]]), KCL(k=1, l=1, c="50%", sensitive=["ward=3"])
        )


@pytest.mark.parametrize("k", [9, 10**18 - 1])
@pytest.mark.parametrize("method", [LocalSuppression(), LocalSuppression(mode="global"), SuppressionWithReinsertion()])
def test_more_than_there_are_records_suppresses_everything_and_says_so(k, method):
    data = trajectories([{0, 1}, {0}], [[True, False]])
    promise = KCL(k=k, l=10**18 - 1, c="50%", sensitive=["diagnosis=x"])
    with pytest.warns(UserWarning, match=f"k = {k} is more than there are records"):
        release = method.publish(data, promise)
    with pytest.warns(UserWarning, match="is more than there are records"):
        scores = {score.name: score.value for score in evaluate(release, data, seed=1)}
    assert [visits for visits, _ in release.data.records()] == [(), ()]
    assert scores["share of visits suppressed"] == 1
    assert count_violations(data, promise) == {1: (2, 1), 2: (1, 1)}


def test_a_sensitive_value_that_does_not_occur_or_is_everywhere_is_warned_of():
    data = trajectories([{0}, {0}], [[True, True]])
    with pytest.warns(UserWarning, match="no record has the sensitive value"):
        LocalSuppression().publish(data, KCL(k=1, l=1, c="50%", sensitive=["diagnosis=z"]))
    with pytest.warns(UserWarning, match="more frequent than c in all of the data"):
        LocalSuppression().publish(data, KCL(k=1, c="50%", l=1, sensitive=["diagnosis=x"]))


def test_lists_that_take_hours_are_warned_of(monkeypatch):
    monkeypatch.setattr(kcl, "_LONG", 1)
    data = trajectories([{0}, {1}, {2}], [])
    with pytest.warns(UserWarning, match="one operation at a time takes hours; see kcl-reinsertion"):
        LocalSuppression().publish(data, KCL(k=2, l=1))
    LocalSuppression(mode="global").publish(data, KCL(k=2, l=1))


WARDS = Domain.declare(place=["a"], time=[1], diagnosis=["flu", "HIV"])


@pytest.mark.parametrize("written", ["HIVV", "hiv", "HIV "])
def test_a_sensitive_value_outside_a_declared_domain_is_refused(written):
    """It is misspelt: the right one would be published without any promise about it."""
    data = Trajectories.from_records(
        [[("a", 1)]] * 4, sensitive={"diagnosis": ["HIV", "HIV", "flu", "HIV"]}, domain=WARDS
    )
    promise = KCL(k=2, l=1, c="50%", sensitive=[("diagnosis", written)])
    message = f"the domain has no value '{written}' of the sensitive column 'diagnosis'; check how"
    with pytest.raises(DomainError, match=message):
        LocalSuppression().publish(data, promise)
    with pytest.raises(DomainError, match=message):
        promise.verify({"": data})


def test_a_declared_value_that_nobody_has_is_only_warned_of():
    data = Trajectories.from_records([[("a", 1)]] * 2, sensitive={"diagnosis": ["flu", None]}, domain=WARDS)
    with pytest.warns(UserWarning, match="no record has the sensitive value .* of 'diagnosis'"):
        LocalSuppression().publish(data, KCL(k=2, l=1, c="50%", sensitive=["diagnosis=HIV"]))

"""Domains and sets: what is held, what is refused, and that no message shows a cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Domain, Sequences, Sets
from hedgerow.data import Source
from hedgerow.errors import DomainError, ParameterError, UndeclaredDomain, UnsupportedGuarantee
from hedgerow.testing import build_edge_cases, strategies

DOMAIN = Domain.declare(item=["bread", "milk", "tea"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "at least one value"),
        (["a", "a"], "distinct"),
        (["a", 1], "all text or all whole numbers"),
        (["a", ""], "an empty text"),
        ([True, False], "all text or all whole numbers"),
        ([0.5], "all text or all whole numbers"),
        ([None], "all text or all whole numbers"),
    ],
)
def test_a_malformed_axis_is_refused(values, message):
    with pytest.raises(DomainError, match=message):
        Domain.declare(item=values)


@pytest.mark.parametrize("most", [0, -1, 1.5, True])
def test_records_per_person_is_a_positive_whole_number(most):
    with pytest.raises(DomainError, match="records_per_person must be a whole number"):
        Domain.declare(item=["a"], records_per_person=most)


def test_an_unknown_axis_is_refused():
    with pytest.raises(DomainError, match="no axis 'symbol'; it has item"):
        DOMAIN.size("symbol")


def test_a_domain_read_off_the_data_is_private():
    seen = Sets.from_records([["tea"], ["milk"]])
    assert seen.domain.source is Source.INFERRED
    with pytest.raises(UndeclaredDomain, match=r"Domain\.declare"):
        seen.domain.require_public()
    said = Sets.from_records([["tea"], ["milk"]], assert_public_domain=True)
    assert said.domain.source is Source.ASSERTED
    said.domain.require_public()
    with pytest.raises(DomainError, match="no records to take the items from"):
        Sets.from_records([])


def test_repeats_within_a_record_collapse():
    data = Sets.from_records([["tea", "tea", "milk"]], domain=DOMAIN)
    assert data.itemsets() == [(("milk", "tea"), 1)]


def test_an_unknown_item_is_refused_without_being_shown():
    with pytest.raises(DomainError, match="record 2 holds an item that is not in the domain") as caught:
        Sets.from_records([["tea"], ["heroin"]], domain=DOMAIN)
    assert "heroin" not in str(caught.value)
    data = Sets.from_records([["tea"], ["heroin", "milk"]], domain=DOMAIN, on_unknown="drop")
    assert data.itemsets() == [(("milk",), 1), (("tea",), 1)]


def test_an_empty_record_is_refused_or_dropped():
    with pytest.raises(DomainError, match="record 2 has no items; remove it or pass on_empty='drop'"):
        Sets.from_records([["tea"], []], domain=DOMAIN)
    data = Sets.from_records([["tea"], ["x"]], domain=DOMAIN, on_unknown="drop", on_empty="drop")
    assert len(data) == 1


@pytest.mark.parametrize("name", ["on_unknown", "on_empty"])
def test_choices_are_named(name):
    with pytest.raises(ParameterError, match=f"{name} must be 'error' or 'drop'; got 'maybe'"):
        Sets.from_records([], domain=DOMAIN, **{name: "maybe"})


def test_owners_are_one_a_record():
    with pytest.raises(ParameterError, match="got 1 for 2"):
        Sets.from_records([["tea"], ["tea"]], domain=DOMAIN, persons=["ann"])

    with pytest.raises(ParameterError, match="persons must be texts or whole numbers, one for every"):
        Sets.from_records([["tea"], ["tea"]], domain=DOMAIN, persons=["ann", None])
    with pytest.raises(ParameterError, match="persons must be texts or whole numbers, one for every"):
        Sets.from_records([["tea"]], domain=DOMAIN, persons=[float("nan")])


def test_values_may_come_from_numpy():
    domain = Domain.declare(item=np.arange(3), records_per_person=np.int64(1))
    data = Sets.from_records(np.array([[0, 1], [1, 2]]), domain=domain, persons=np.array([5, 5]))
    assert data.bounded("person").itemsets() == [((0, 1), 1)]
    assert Domain.declare(item=np.array(["a", "b"])).values("item") == ("a", "b")


@pytest.mark.parametrize("record", ["bread", None, 7])
def test_a_record_is_a_collection(record):
    with pytest.raises(ParameterError, match="record 2 must be a collection of items; got"):
        Sets.from_records([["tea"], record], domain=DOMAIN)
    with pytest.raises(DomainError, match="collection of values; got one text"):
        Domain.declare(item="bread")


def test_what_is_printed_is_public():
    data = Sets.from_records([["tea"], ["milk"]], domain=DOMAIN)
    assert repr(data) == "<Sets: 3 values of item, declared>"
    assert "array" not in repr(data.symbol_lists()) + repr(data.partitions())


@pytest.mark.parametrize(
    ("row", "item", "persons", "message"),
    [
        ([0.0], [0], None, "'row' must be an array of whole numbers"),
        ([0], [0.5], None, "'item' must be an array of whole numbers"),
        ([0], [0], ["x"], "'persons' must be an array of whole numbers"),
        ([0, 1], [0], None, "equally long; got 2 and 1"),
        ([-1], [0], None, "must not be negative"),
        ([1], [0], [4], "one owner for every record number"),
    ],
)
def test_columns_are_checked(row, item, persons, message):
    owners = None if persons is None else np.array(persons)
    with pytest.raises(ParameterError, match=message):
        Sets.from_columns(row=np.array(row), item=np.array(item), domain=DOMAIN, persons=owners)


def test_counts_are_positive():
    for count in (0, -4):
        with pytest.raises(ParameterError, match="whole numbers of at least 1"):
            Sets.from_masks(np.array([1]), np.array([count]), DOMAIN)


def test_codes_outside_the_domain_are_refused():
    for code in (-1, 3):
        with pytest.raises(DomainError, match="outside the domain"):
            Sets.from_columns(row=np.array([0]), item=np.array([code]), domain=DOMAIN)


def test_units_need_what_they_say():
    data = Sets.from_records([["tea"]], domain=DOMAIN)
    with pytest.raises(UnsupportedGuarantee, match="no unit 'edge'; choose from record, person"):
        data.records_per("edge")
    with pytest.raises(DomainError, match="declared maximum of records per person"):
        data.bounded("person")
    bounded = Sets.from_records([["tea"]], domain=DOMAIN.with_records_per_person(2))
    for act in (bounded.bounded, bounded.count_units, lambda unit: bounded.without(0, unit=unit)):
        with pytest.raises(DomainError, match="pass persons="):
            act("person")


def test_masks_end_at_62_items():
    wide = Domain.declare(item=range(63))
    data = Sets.from_records([[62]], domain=wide)
    with pytest.raises(DomainError, match="a mask holds 62 items; the domain has 63"):
        data.histogram()
    narrow = Sets.from_records([[61], [0]], domain=Domain.declare(item=range(62)))
    assert narrow.histogram()[0].tolist() == [1, 2**61]


def test_a_person_keeps_the_first_records_whatever_they_hold():
    domain = Domain.declare(item=["a", "b", "c"], records_per_person=2)
    data = Sets.from_records(map(list, ["a", "b", "abc", "c", "a"]), domain=domain, persons=list("xxxyx"))
    assert data.bounded("person").records() == [("a",), ("b",), ("c",)]
    assert len(data.bounded("record")) == 5


@given(data=strategies.of_kind("sets", least=0))
def test_masks_and_records_tell_the_same(data):
    masks, counts = data.histogram()
    again = Sets.from_masks(masks, counts, data.domain)
    assert again.itemsets() == data.itemsets()
    assert len(again) == len(data) == len(data.records())


def test_columns_cannot_be_changed_from_outside():
    row, item = np.array([0, 0, 1]), np.array([2, 1, 0])
    for kind in (Sets, Sequences):
        data = kind.from_columns(row=row, item=item, domain=DOMAIN)
        before = data.to_bytes()
        item[0] = 0
        assert data.to_bytes() == before
        item[0] = 2
        for column in data.arrays():
            with pytest.raises(ValueError, match="read-only"):
                column[0] = 9


@given(data=strategies.of_kind("sets"))
def test_a_neighbour_misses_one_unit(data):
    bounded = data.bounded("person")
    for unit, most in (("record", 1), ("person", 2)):
        for neighbour in bounded.neighbours(unit):
            assert 1 <= len(bounded) - len(neighbour) <= most


@given(data=strategies.of_kind("sets"), seed=st.integers(0, 99))
def test_canonical_forgets_order_and_owners(data, seed):
    other = data.shuffled(np.random.default_rng(seed))
    assert other.canonical().to_bytes() == data.canonical().to_bytes()
    assert data.canonical().persons is None


def test_bounding_commutes_with_removing_a_person():
    """The rule looks at one person at a time: this is what makes the unit a unit."""
    for data in build_edge_cases("sets").values():
        for index in range(data.count_units("person")):
            first = data.without(index, unit="person").bounded("person")
            second = data.bounded("person").without(index, unit="person")
            assert first.canonical().to_bytes() == second.canonical().to_bytes()


def test_an_unknown_way_to_cut_is_refused():
    with pytest.raises(ParameterError, match="cut by 'first item'; got 'size'"):
        next(Sets.from_records([["tea"]], domain=DOMAIN).partition("size"))

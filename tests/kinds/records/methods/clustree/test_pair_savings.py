"""Savings of pairs beside an oracle that tries every matching in exact fractions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tree_cases import as_vertex, forest_of, merge_in_order, record_sets, savings_of
from tree_oracle import Oracle, Vertex, show

from hedgerow.data.axis import Axis
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.methods.clustree.clustering import HistogramBound
from hedgerow.kinds.records.methods.clustree.representative import LabelLosses, Representative

CAPS = st.sampled_from([None, 1, 2])


def chain(data, oracle, mapping):
    """Merge all records one after another, by the oracle and by arrays, while their roots allow it."""
    forest = forest_of(data)
    ours, theirs = Representative.of_record(forest, 0), Vertex.of(data.trees()[0])
    for record in range(1, len(data)):
        pairs = savings_of(ours, most=oracle.most, mapping=mapping)
        weight = len(ours.members)
        cost, merged = oracle.merge(theirs, Vertex.of(data.trees()[record]), weight, 1)
        yield pairs, record, cost, merged
        if merged is None:
            return
        ours = pairs.merged(record)
        theirs = as_vertex(data, ours)  # of several best matchings each leads to others


@settings(max_examples=150, deadline=None)
@given(data=record_sets(most=4), most=CAPS)
def test_assignment_finds_the_best_of_all_matchings(data, most):
    oracle = Oracle.of(data.schema, data.domain, most=most)
    for pairs, record, cost, merged in chain(data, oracle, "assignment"):
        assert pairs.joinable()[record] == (merged is not None)
        size = pairs.weight * pairs.representative.sizes[0][0] + pairs.forest.types[0].size[record]
        saving = pairs.of_records(np.array([record]))[0]
        assert size - (pairs.weight + 1) * saving == pytest.approx(float(cost), abs=1e-9)
        if merged is not None:
            made = pairs.merged(record)
            assert oracle.kept(as_vertex(data, made)) == oracle.kept(merged)


@settings(max_examples=150, deadline=None)
@given(data=record_sets(most=4, leaves=(1, 2, 3, 5)), most=CAPS)
def test_greedy_matching_is_that_of_the_oracle(data, most):
    oracle = Oracle.of(data.schema, data.domain, most=most, mapping="greedy")
    for pairs, record, _, merged in chain(data, oracle, "greedy"):
        if merged is not None:
            assert show(as_vertex(data, pairs.merged(record))) == show(merged)


@settings(max_examples=100, deadline=None)
@given(data=record_sets(least=3, most=6, width=4), most=CAPS)
def test_assignment_saves_at_least_as_much_as_greedy_and_is_symmetric(data, most):
    forest = forest_of(data)
    everyone = np.arange(len(data))
    table = np.array(
        [savings_of(Representative.of_record(forest, one), most=most).of_records(everyone) for one in everyone]
    )
    greedy = np.array(
        [
            savings_of(Representative.of_record(forest, one), most=most, mapping="greedy").of_records(everyone)
            for one in everyone
        ]
    )
    assert table == pytest.approx(table.T)
    assert (greedy <= table + 1e-9).all()
    assert (greedy >= 0).all()


@settings(max_examples=100, deadline=None)
@given(data=record_sets(least=3, most=6, width=4), most=CAPS, mapping=st.sampled_from(["assignment", "greedy"]))
def test_no_pair_saves_more_than_the_histogram_bound(data, most, mapping):
    forest = forest_of(data)
    bound = HistogramBound(forest)
    one = Representative.of_record(forest, 0)
    for record in range(1, len(data)):
        pairs = savings_of(one, most=most, mapping=mapping)
        assert (pairs.of_records(np.arange(len(data))) <= bound.savings(one)[0] + 1e-9).all()
        if not pairs.joinable()[record]:
            return
        one = pairs.merged(record)


@settings(max_examples=100, deadline=None)
@given(data=record_sets(least=2, most=5))
def test_merged_positions_have_distinct_values_of_all_members(data):
    forest = forest_of(data)
    one = Representative.of_record(forest, 0)
    for record in range(1, len(data)):
        pairs = savings_of(one)
        assume(pairs.joinable()[record])
        cost = one.cost
        one = pairs.merged(record)
        assert one.cost >= cost - 1e-9
        for number, positions in enumerate(one.types):
            assert positions.vertices.shape[1] == record + 1
            for buckets in one.buckets(number):
                assert (buckets < 0).all() or len(set(buckets.tolist())) == record + 1


@settings(max_examples=100, deadline=None)
@given(data=record_sets(least=2, most=2, width=4))
def test_ignoring_sensitive_values_never_costs_more(data):
    forest = forest_of(data)
    one = Representative.of_record(forest, 0)
    assert (
        savings_of(one, most=None).of_records(np.arange(2)) >= savings_of(one).of_records(np.arange(2)) - 1e-9
    ).all()


@settings(max_examples=100, deadline=None)
@given(data=record_sets(least=2, most=2))
def test_members_keep_their_vertices_in_the_order_in_which_they_joined(data):
    forest = forest_of(data)
    for order in ([0, 1], [1, 0]):
        assume(savings_of(Representative.of_record(forest, order[0])).joinable()[order[1]])
        for number, positions in enumerate(merge_in_order(forest, order).types):
            records = data.records_of(number)[positions.vertices]
            assert (records == np.array(order)).all()


@pytest.mark.parametrize("values", [20, 2000])
def test_what_is_kept_of_labels_of_short_and_long_hierarchies(values):
    """Only of short ones all pairs are in a table."""
    tree = Hierarchy.from_axis(Axis(tuple(range(values)), tuple((f"tens {value // 10}",) for value in range(values))))
    labels, others = np.array([0, 11, values, len(tree) - 1]), np.array([3, 0, 3, 19, values + 1])
    groups = 1 - 9 / (values - 1)  # what is kept by a group of ten
    assert LabelLosses(tree).kept(labels, others) == pytest.approx(
        np.array([[groups, 1, groups, 0, 0], [0, 0, 0, groups, groups], [groups] * 3 + [0, 0], [0] * 5])
    )

"""First fit beside its oracle, and what every grouping must be, on random records, rules and forms."""

import numpy as np
import pytest
from anatomy_cases import check_grouping, plain_rules, positions_of, rules_for
from anatomy_oracle import Anatomy as Oracle
from anatomy_oracle import best_overlap, lift, vertices_of
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_cases import record_sets

from hedgerow.kinds.records.methods.anatomy.grouping import ShapeBound
from hedgerow.kinds.records.methods.anatomy.publisher import GroupPlan, group_records, make_first_fit, without_labels
from hedgerow.kinds.records.methods.anatomy.rule_limits import RuleLimits
from hedgerow.kinds.records.methods.anatomy_matching import make_assignment
from hedgerow.kinds.records.methods.clustree.representative import Representative

FORMS = st.sampled_from(["trees", "vertices"])


def group(data, make, l, rules=(), **plan):  # noqa: E741
    plan = GroupPlan(**{"partitions": 1, **plan})
    limits = RuleLimits.of(rules, data.schema, data.domain, form=plan.form, l=l)
    return group_records(data, make(limits), l=l, plan=plan)


def sets_of_positions(groups):
    """Groups as sets of their positions, each with the vertices there."""
    return {frozenset(frozenset((one.kind, one.row) for one in vertices) for vertices in each) for each in groups}


def check_first_fit(case, form, l, cost, leftovers):  # noqa: E741
    data, rules, parts = case
    plain = plain_rules(rules, data)
    oracle = Oracle(data, l, plain, form, parts, relative=cost == "relative", attach=leftovers == "attach")
    expected = [[position.members for position in one.all()] for one in oracle.groups()]
    ours = group(data, make_first_fit, l, rules, form=form, partitions=parts, cost=cost, leftovers=leftovers)
    assert sets_of_positions(each.values() for each in positions_of(data, ours).values()) == sets_of_positions(expected)
    check_grouping(data, ours, l, rules, form, 2 * l - 1 if leftovers == "attach" else l)


@st.composite
def ruled_records(draw, most=7):
    data = draw(record_sets(least=2, most=most, width=3))
    return data, draw(rules_for(data)), draw(st.sampled_from([1, 1, 2]))


SETTINGS = {
    "form": FORMS,
    "l": st.sampled_from([2, 2, 3]),
    "cost": st.sampled_from(["vertices", "relative"]),
    "leftovers": st.sampled_from(["attach", "suppress"]),
}


@settings(max_examples=40, deadline=None)
@given(case=ruled_records(), **SETTINGS)
def test_first_fit_builds_the_groups_of_the_oracle(case, form, l, cost, leftovers):  # noqa: E741
    check_first_fit(case, form, l, cost, leftovers)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(case=ruled_records(most=10), **SETTINGS)
def test_first_fit_builds_the_groups_of_the_oracle_on_more_records(case, form, l, cost, leftovers):  # noqa: E741
    check_first_fit(case, form, l, cost, leftovers)


@settings(max_examples=30, deadline=None)
@given(case=ruled_records(), **SETTINGS)
def test_groups_by_assignments_keep_everything(case, form, l, cost, leftovers):  # noqa: E741
    data, rules, parts = case
    ours = group(data, make_assignment, l, rules, form=form, partitions=parts, cost=cost, leftovers=leftovers)
    check_grouping(data, ours, l, rules, form, 2 * l - 1 if leftovers == "attach" else l)


@settings(max_examples=30, deadline=None)
@given(data=record_sets(least=2, most=6, width=3))
def test_assignments_match_as_many_vertices_as_can_be(data):
    forest = without_labels(data)
    roots = vertices_of(data)
    limits = RuleLimits.of((), data.schema, data.domain, form="trees", l=2)
    seed = Representative.of_record(forest, 0)
    joiner = make_assignment(limits)(seed, 2)
    expected = [best_overlap(lift(roots[0]), other) for other in roots[1:]]
    assert joiner.overlaps(np.arange(1, len(data))).tolist() == expected
    bound = ShapeBound(forest)
    most = bound.overlaps(bound.profile(seed), bound.records)[1:]
    assert (most >= expected).all()
    fitted = make_first_fit(limits)(seed, 2).overlaps(np.arange(1, len(data)))
    assert (fitted <= expected).all()


@pytest.mark.parametrize("make", [make_first_fit, make_assignment])
@settings(max_examples=30, deadline=None)
@given(data=record_sets(least=2, most=8, width=2), l=st.sampled_from([2, 3]))
def test_both_forms_have_the_same_groups_without_rules(make, data, l):  # noqa: E741
    first, second = (group(data, make, l, form=form) for form in ("trees", "vertices"))
    assert first.record.tolist() == second.record.tolist()
    assert [each.tolist() for each in first.position] == [each.tolist() for each in second.position]

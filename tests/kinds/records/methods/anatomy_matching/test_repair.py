"""Repair of rules: what is suppressed, in which order, and that every rule holds afterwards."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.data import Domain
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.methods.anatomy.grouping import GroupSearch, count_positions
from hedgerow.kinds.records.methods.anatomy.publisher import without_labels
from hedgerow.kinds.records.methods.anatomy.rule_limits import RuleLimits
from hedgerow.kinds.records.methods.anatomy_matching import make_assignment, repair
from hedgerow.kinds.records.methods.clustree.representative import Representative
from hedgerow.kinds.records.rules import Rule
from hedgerow.kinds.records.schema import RecordSchema, VertexType

BOOK = VertexType("book", "course", ("q",))
SCHEMA = RecordSchema((VertexType("r", None, ("q",)), VertexType("course", "r", ("q",), "s"), BOOK))
DOMAIN = Domain.declare(**{"r.q": [1], "course.q": [1], "book.q": [1], "course.s": list("ABCDEFxy")})


def group_of(*rows):
    """A group of records whose vertices are matched in their order; a digit says how many books a course has."""
    trees = []
    for row in rows:
        courses = [("course", [1], letter, [("book", [1], None, [])] * books) for letter, books in row]
        trees.append(("r", [1], None, courses))
    data = Records.from_trees(trees, SCHEMA, DOMAIN)
    forest = without_labels(data)
    alone = [Representative.of_record(forest, record) for record in range(len(data))]
    types = [
        own._replace(vertices=np.hstack([one.types[number].vertices for one in alone]))
        for number, own in enumerate(alone[0].types)
    ]
    return Representative(forest, tuple(types))


def limits_of(form, l, *rules):  # noqa: E741
    ruled = [Rule("course.s", tuple(values), m, Fraction(p)) for values, m, p in rules]
    return RuleLimits.of(ruled, SCHEMA, DOMAIN, form=form, l=l)


def letters(group):
    names = DOMAIN.values("course.s")
    return ["".join(names[code] for code in position) for position in group.buckets(1).tolist()]


def plain(*texts):
    return [[(letter, 0) for letter in text] for text in texts]


def test_a_position_that_serves_two_rules_goes_first():
    """Each of x and y may be at one position: where both are, one suppression serves both rules."""
    group = group_of(*plain("xxA", "AyB", "CDy"))
    repaired = repair(group, limits_of("vertices", 3, ("x", 1, "1/3"), ("y", 1, "1/3")))
    assert letters(group) == ["xAC", "xyD", "ABy"]
    assert letters(repaired) == ["xAC", "ABy"]


def test_what_takes_fewer_vertices_with_it_goes_first():
    group = group_of([("x", 2), ("x", 0), ("x", 2)], [("A", 2), ("B", 0), ("C", 2)])
    repaired = repair(group, limits_of("vertices", 2, ("x", 1, "1/2")))
    assert letters(repaired) == ["xC"]  # of the two that are equal the first goes
    assert count_positions(repaired) == 1 + 1 + 2


def test_the_heaviest_records_stay_heavy():
    """Of three records one may have two x: the one with three of them stays as it is."""
    group = group_of(*plain("xxxA", "ABCx", "BxxC"))
    repaired = repair(group, limits_of("trees", 3, ("x", 2, "1/3")))
    assert len(letters(repaired)) == 3
    assert sum(position[0] == "x" for position in letters(repaired)) >= 2


def test_nothing_is_suppressed_if_rules_hold():
    group = group_of(*plain("xA", "Bx"))
    assert repair(group, limits_of("vertices", 2, ("x", 2, "1/4"))) is group
    assert repair(group, limits_of("trees", 2)) is group


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.permutations("ABCDEFxy"), min_size=2, max_size=3),
    rules=st.lists(
        st.tuples(
            st.sampled_from(["x", "A", "xy", "ABC", ""]), st.integers(1, 3), st.sampled_from(["1/4", "1/3", "1/2"])
        ),
        min_size=1,
        max_size=3,
    ),
    form=st.sampled_from(["trees", "vertices"]),
)
def test_all_rules_hold_after_repair_and_each_step_was_needed(texts, rules, form):
    group = group_of(*plain(*texts))
    limits = limits_of(form, len(texts), *rules)
    repaired = repair(group, limits)
    assert not count_positions(repaired) or not limits.broken(repaired)
    kept = letters(repaired)
    every = letters(group)
    assert set(kept) <= set(every)
    assert limits.broken(group) == (len(kept) < len(every))


@pytest.mark.parametrize("form", ["trees", "vertices"])
def test_a_group_that_rules_leave_nothing_of_is_no_group(form):
    schema = RecordSchema((VertexType("r", None, ("q",), "s"),))
    domain = Domain.declare(**{"r.q": [1], "r.s": ["A", "B"]})
    data = Records.from_trees([("r", [1], "A", []), ("r", [1], "B", [])], schema, domain)
    limits = RuleLimits.of([Rule("r.s", ("A",), 1, Fraction(1, 3))], schema, domain, form=form, l=2)
    search = GroupSearch(without_labels(data), 2, make_assignment(limits))
    assert search.create(0, np.ones(2, np.bool_)) is None

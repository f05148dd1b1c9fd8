"""The figures of the thesis: joining by first fit, what rules allow, and Algorithm 8 read literally."""

import json
from fractions import Fraction

import numpy as np
import pytest
from anatomy_oracle import FirstFit as PlainFit
from anatomy_oracle import Ruled, lift, most_positions, tail, vertices_of
from project import VECTORS

from hedgerow import find_method
from hedgerow.data import Axis, Domain
from hedgerow.data.domain import Source
from hedgerow.kinds.records.criterion import LDiversity
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.methods.anatomy.publisher import GroupPlan, group_records, make_first_fit, without_labels
from hedgerow.kinds.records.methods.anatomy.rule_limits import RuleLimits, find_tail
from hedgerow.kinds.records.methods.anatomy_matching import make_assignment, repair
from hedgerow.kinds.records.methods.clustree.representative import Representative
from hedgerow.kinds.records.rules import Rule
from hedgerow.kinds.records.schema import RecordSchema, VertexType

VECTOR = json.loads((VECTORS / "anatomy.json").read_text())
FORMS = ("trees", "vertices")


def records(vector, *trees):
    types = [
        VertexType(one["name"], one.get("parent"), tuple(one["quasi"]), one["sensitive"]) for one in vector["types"]
    ]
    domain = Domain(tuple((name, Axis(tuple(values))) for name, values in vector["axes"].items()), Source.DECLARED)
    return Records.from_trees(trees, RecordSchema(tuple(types)), domain)


@pytest.mark.parametrize("case", VECTOR["cases"], ids=lambda case: f"{case['seed']}, {case['form']}")
def test_bob_joins_the_group_of_alice(case):
    data = records(VECTOR, VECTOR[case["seed"]], VECTOR[case["joins"]])
    rules = [Rule("visit.diagnosis", (value,), m, Fraction(p)) for value, m, p in case["rules"]]
    limits = RuleLimits.of(rules, data.schema, data.domain, form=case["form"], l=2)
    joiner = make_first_fit(limits)(Representative.of_record(without_labels(data), 0), 2)
    merged = joiner.merged(1)
    values = data.domain.values("visit.diagnosis")
    groups = [[values[code] for code in position] for position in merged.buckets(1).tolist()]
    assert groups == case["groups"]
    assert [data.domain.values("patient.blood")[code] for code in merged.buckets(0)[0]] == ["AB-", "0+"]
    assert joiner.overlaps(np.array([1])).tolist() == [1 + len(groups)]
    assert not limits.broken(merged)


@pytest.mark.parametrize("case", VECTOR["literal"], ids=lambda case: f"{case['seed']}, {case['form']}")
def test_algorithm_8_read_literally_takes_whole_groups_down(case):
    """Only for the record: vertices that no partner was sought for yet count for rules, so that a seed breaks them."""
    data = records(VECTOR, VECTOR[case["seed"]], VECTOR[case["joins"]])
    rules = [Ruled(1, frozenset([value]), m, Fraction(p)) for value, m, p in case["rules"]]
    seed, other = vertices_of(data)
    merged = PlainFit(rules, case["form"], 2, literal=True).join(lift(seed), other, 2)
    groups = None if merged is None else [[one.value for one in position.members] for position in merged.children]
    assert groups == case["groups"]


def test_at_how_many_positions_a_value_may_be():
    """By the states of the method, and by a plain sum over numbers of events."""
    caps = VECTOR["caps"]
    schema = RecordSchema((VertexType("visit", None, ("year",), "illness"),))
    domain = Domain.declare(**{"visit.year": [1], "visit.illness": ["a", "b"]})
    for l, row in enumerate(caps["most"], start=2):  # noqa: E741
        for p, numbers in zip(map(Fraction, caps["p"]), row, strict=True):
            assert [most_positions(l, m, p) for m in (1, 2, 3, 4)] == numbers
            rules = [Rule("visit.illness", ("a",), m, p) for m in (1, 2, 3, 4)]
            links = RuleLimits.of(rules, schema, domain, form="vertices", l=l).types[0].links
            assert [count_positions(links, rule) for rule in range(4)] == numbers


def count_positions(links, rule):
    """How many positions with one counted vertex a rule allows."""
    number, state = 0, links.start[rule : rule + 1, None]
    while True:
        state = links.after(state, np.ones((1, 1), np.int64))
        if not links.allowed[state].all():
            return number
        number += 1


@pytest.mark.parametrize(
    ("l", "m", "p", "most"),
    [(2, 1, "1/2", 1), (3, 2, "0.33", 3), (3, 2, "1/3", 3), (4, 2, "1/4", 3), (3, 3, "3/4", 10), (2, 3, "3/4", 6)],
)
def test_named_caps(l, m, p, most):  # noqa: E741
    chances = [Fraction(1, l)] * most
    assert find_tail(chances, m) == tail(chances, m) <= Fraction(p) < find_tail([*chances, Fraction(1, l)], m)


def test_two_values_of_a_set_at_one_position_count_twice():
    assert find_tail([Fraction(2, 3)] * 2, 2) == Fraction(4, 9) > find_tail([Fraction(1, 3)] * 2, 2) == Fraction(1, 9)


def test_a_share_is_not_rounded():
    for p, heavy in (("0.33", 0), ("1/3", 1)):
        schema = RecordSchema((VertexType("visit", None, ("year",), "illness"),))
        domain = Domain.declare(**{"visit.year": [1], "visit.illness": ["a", "b"]})
        rules = [Rule("visit.illness", ("a",), 1, Fraction(p))]
        limits = RuleLimits.of(rules, schema, domain, form="trees", l=3)
        assert limits.types[0].heavy.tolist() == [heavy]
        assert limits.for_size(4).types[0].heavy.tolist() == [1]


# Neither form of (p, m)-privacy implies the other.

SPELLS = RecordSchema((VertexType("r", None, ("q",)), VertexType("c", "r", ("q",), "s")))
LETTERS = Domain.declare(**{"r.q": [1], "c.q": [1], "c.s": ["s", "t", "u", "v", "A", "B", "C"]})


def spells(*rows):
    trees = [("r", [1], None, [("c", [1], letter, []) for letter in row]) for row in rows]
    return Records.from_trees(trees, SPELLS, LETTERS)


def whole_group(data):
    """All records, siblings matched in their order."""
    forest = without_labels(data)
    joined = [Representative.of_record(forest, record) for record in range(len(data))]
    types = [
        one._replace(vertices=np.hstack([each.types[number].vertices for each in joined]))
        for number, one in enumerate(joined[0].types)
    ]
    return Representative(forest, tuple(types))


@pytest.mark.parametrize(
    ("rows", "rule", "broken"),
    [
        (("ss", "tu"), (1, "1/2"), [False, True]),
        (("st", "us"), (2, "1/10"), [False, True]),
        (("ss", "tu"), (2, "1/4"), [True, False]),
    ],
)
def test_neither_form_implies_the_other(rows, rule, broken):
    data = spells(*rows)
    rules = [Rule("c.s", ("s",), rule[0], Fraction(rule[1]))]
    made = [RuleLimits.of(rules, data.schema, data.domain, form=form, l=2) for form in FORMS]
    assert [limits.broken(whole_group(data)) for limits in made] == broken
    for limits in made:
        assert not limits.broken(repair(whole_group(data), limits))


def test_types_without_a_sensitive_value_are_matched():
    """Two students with a year, which has no sensitive value, and a course: nothing is suppressed."""
    year, course = VertexType("year", "s", ("name",)), VertexType("c", "year", ("id",), "grade")
    schema = RecordSchema((VertexType("s", None, ("id",)), year, course))
    domain = Domain.declare(**{"s.id": [1, 2], "year.name": ["F"], "c.id": [1], "c.grade": ["A", "B"]})
    trees = [("s", [n], None, [("year", ["F"], None, [("c", [1], grade, [])])]) for n, grade in ((1, "A"), (2, "B"))]
    data = Records.from_trees(trees, schema, domain)
    for make in (make_first_fit, make_assignment):
        limits = RuleLimits.of((), schema, domain, form="vertices", l=2)
        grouping = group_records(data, make(limits), l=2)
        assert [each.tolist() for each in (grouping.record, *grouping.position)] == [[0, 0]] * 4


@pytest.mark.parametrize("make", [make_first_fit, make_assignment])
def test_a_seed_that_breaks_a_rule_alone_takes_nobody_down(make):
    """Nobody may have two A, and one record has three of them: one A at most is left, and the group stays."""
    data = spells("AAA", "BCt", "CBu")
    limits = RuleLimits.of([Rule("c.s", ("A",), 2, Fraction(1, 4))], SPELLS, LETTERS, form="trees", l=3)
    grouping = group_records(data, make(limits), l=3, plan=GroupPlan(form="trees"))
    assert grouping.record.tolist() == [0, 0, 0]
    kept = data.tables[1].sensitive[grouping.position[1] >= 0]
    letters = [LETTERS.values("c.s")[code] for code in kept]
    assert letters.count("A") == 1
    assert len(letters) == 3


@pytest.mark.parametrize("name", ["anatomy", "anatomy-matching"])
def test_a_table_is_a_record_of_one_level(name):
    vector = json.loads((VECTORS / "anatomy-matching.json").read_text())
    data = records(vector, *vector["trees"])
    release = find_method(name)(leftovers="suppress").publish(data, LDiversity(l=2), seed=3)
    quasi = release.outputs["quasi"].trees()
    assert sorted(tree[1][:3] for tree in quasi) == sorted([str(one) for one in tree[1]] for tree in vector["trees"])
    groups = {tree[1][0]: [value[2] for value in tree[3]] for tree in release.outputs["sensitive"].trees()}
    assert sorted(value for values in groups.values() for value in values) == sorted(vector["axes"]["patient.disease"])
    own = {tuple(map(str, tree[1])): tree[2] for tree in vector["trees"]}
    assert all(own[tuple(tree[1][:3])] in groups[tree[1][3]] for tree in quasi)
    assert sorted(len(values) for values in groups.values()) == [2, 2, 2]
    assert {value[1][-1] for tree in release.outputs["sensitive"].trees() for value in tree[3]} == {"1"}

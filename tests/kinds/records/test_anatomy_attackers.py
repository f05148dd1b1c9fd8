"""A brute-force attacker over all worlds that fit a release agrees with the auditor, in both directions."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from fractions import Fraction

import pytest
from anatomy_attackers import (
    GRADES,
    ILLNESSES,
    beliefs,
    count_worlds,
    draw_group,
    draw_rule,
    groups_of,
    is_kept,
    patient,
    records,
    release,
    visit,
    worlds,
)

from hedgerow import PM, All, LDiversity, find_method
from hedgerow.errors import NotSatisfied
from hedgerow.kinds.records.anatomy import FORMS
from hedgerow.kinds.records.rules import most_positions

METHODS = ("anatomy", "anatomy-matching")


def agree(seed):
    """Publish random groups, and compare what the auditor says with what the attacker finds."""
    draw = random.Random(seed)
    sizes = [draw.choice((2, 3, 4)) for _ in range(draw.choice((1, 2)))]
    few = draw.random() < 0.4
    groups = [draw_group(draw, size, few=few) for size in sizes]
    form, l = FORMS[seed % 2], draw.choice((2, 2, 3))  # noqa: E741 - the letter of the paper
    outputs = release(groups, form, seed)
    rules = [draw_rule(draw) for _ in range(draw.choice((1, 2)))]
    audited = LDiversity(l=l).verify(outputs).satisfied, PM(rules=rules).verify(outputs).satisfied
    assert audited == is_kept(outputs, l, rules), (seed, form, l, rules)
    return audited


@pytest.mark.parametrize("count", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_the_auditor_accepts_what_the_attacker_cannot_break_and_nothing_else(count):
    found = [agree(seed) for seed in range(count)]
    for kept in ((True, True), (True, False), (False, True), (False, False)):
        assert found.count(kept) >= count // 30


def require_truth(outputs, trees):
    """Each published record is one that there was, without some vertices; so are the values of all groups together.

    Years of birth tell which: they are drawn so that each occurs once.
    """
    originals = {str(tree[1][0]): tree for tree in trees}
    assert len(originals) == len(trees)
    values = defaultdict(list)
    for tree in outputs["quasi"].trees():
        original, group = originals.pop(tree[1][0]), tree[1][1]
        years = Counter(str(each[1][0]) for each in original[3])
        assert Counter(each[1][0] for each in tree[3]) <= years
        values[group].append(Counter([original[2], *(each[2] for each in original[3])]))
    for group in groups_of(outputs):
        listed = group.trees or [{(spot, n): v for spot, vs in group.values.items() for n, v in enumerate(vs)}]
        published = Counter(value for each in listed for value in each.values())
        assert any(published <= sum(those, Counter()) for those in values.values())


def attack_method(name, seed):
    """Publish a random database by a method, and attack it; None if nothing could be published."""
    draw = random.Random(seed)
    form, l = FORMS[seed % 2], draw.choice((2, 3))  # noqa: E741 - the letter of the paper
    trees = []
    for born in draw.sample(range(1990, 2000), draw.randrange(l, 9)):
        visits = [
            visit(draw.choice((2001, 2002)), draw.choice((*ILLNESSES, None)), *["ibu"] * draw.randrange(2))
            for _ in range(draw.randrange(4))
        ]
        trees.append(patient(born, draw.choice((*GRADES, None)), *visits))
    rules = [draw_rule(draw) for _ in range(draw.randrange(3))]
    promises = [LDiversity(l=l), *([PM(rules=rules)] if rules else [])]
    settings = {"form": form} | ({"relinking": "declared"} if form == "trees" else {})
    try:
        made = find_method(name)(**settings).publish(records(trees), All(*promises), seed=seed)
    except NotSatisfied:
        return None
    require_truth(made.outputs, trees)
    for group in groups_of(made.outputs):
        most, by_rule = beliefs(group, rules)
        assert most <= Fraction(1, l)
        assert all(belief <= Fraction(rule["p"]) for belief, rule in zip(by_rule, rules, strict=True))
    return len(made.outputs["quasi"])


@pytest.mark.parametrize("count", [30, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore:rule", "ignore:at most", "ignore:fewer than")
def test_no_belief_exceeds_what_a_method_promises(name, count):
    published = [attack_method(name, seed) for seed in range(count)]
    assert sum(1 for records_ in published if records_) >= count // 2


# ---- examples by hand


#: Fig. 3.3 and 3.4 of the thesis, without what is suppressed there
ALICE = patient(1990, "1", visit(2001, "AIDS"), visit(2002, "Flu"), visit(2003, "Cold"))
BOB = patient(1991, "3", visit(2001, "Gout"), visit(2002, "Gout"), visit(2003, "Worms"))


@pytest.mark.parametrize(
    ("question", "trees", "vertices"),
    [
        (lambda has: has.count("AIDS") >= 1, 1, 1),
        (lambda has: has.count("Gout") >= 2, 1, Fraction(1, 2)),
        (lambda has: "AIDS" in has and "Cold" in has, 1, Fraction(1, 2)),
        (lambda has: "AIDS" in has or "Gout" in has, 2, 2),
        (lambda has: "1" in has and "Cold" in has, 1, Fraction(1, 2)),
    ],
)
def test_the_worlds_of_the_thesis(question, trees, vertices):
    """The expected number of records, over all worlds; of one person, with labels that are known, half as many."""
    for form, expected in (("trees", trees), ("vertices", vertices)):
        [group] = groups_of(release([[ALICE, BOB]], form))
        answers = [sum(question(list(who.values())) for who in world) for world in worlds(group)]
        assert Fraction(sum(answers), len(answers)) == expected
        alone = [question(list(world[0].values())) for world in worlds(group)]
        assert 2 * Fraction(sum(alone), len(alone)) == expected


def test_the_number_of_worlds():
    two = [
        [
            patient(1990, "1", visit(2001, "AIDS"), visit(2001, "Flu")),
            patient(1991, "3", visit(2001, "Flu"), visit(2002, "Cold")),
        ]
    ]
    three = [
        [
            patient(born, grade, visit(2001, ill))
            for born, grade, ill in zip((1990, 1991, 1992), "135", ILLNESSES, strict=False)
        ]
    ]
    for groups, form, number, right in (
        (two, "vertices", 8, 1),
        (three, "vertices", 36, 4),
        (two, "trees", 2, 1),
        (three, "trees", 6, 2),
    ):
        [group] = groups_of(release(groups, form))
        assert count_worlds(group) == len(list(worlds(group))) == number
        truth = next(iter(worlds(group)))[0]
        assert sum(world[0] == truth for world in worlds(group)) == right  # 1/8, 1/9, 1/2 and 1/3 of them


def test_a_rule_on_a_set_is_not_kept_by_the_cap_for_one_value():
    """Two positions of three records, each with two values of the set: the cap says 1/9, and the truth is 4/9."""
    members = [
        patient(1990, None, visit(2001, "AIDS"), visit(2002, "Flu")),
        patient(1991, None, visit(2001, "Flu"), visit(2002, "AIDS")),
        patient(1992, None, visit(2001, "Cold"), visit(2002, "Cold")),
    ]
    outputs = release([members], "vertices")
    rule = {"attribute": "visit.illness", "values": ["AIDS", "Flu"], "m": 2}
    assert most_positions(3, 2, Fraction(1, 9)) == 2
    [group] = groups_of(outputs)
    assert beliefs(group, [rule])[1] == [Fraction(4, 9)]
    assert PM(rules=[{**rule, "p": "4/9"}]).verify(outputs).satisfied
    assert not PM(rules=[{**rule, "p": "1/3"}]).verify(outputs).satisfied


# ---- neither form implies the other


TWICE = [
    [
        patient(1990, None, visit(2001, "AIDS"), visit(2002, "AIDS")),
        patient(1991, None, visit(2001, "Flu"), visit(2002, "Cold")),
    ]
]
ONCE = [
    [
        patient(1990, None, visit(2001, "AIDS"), visit(2002, "Flu")),
        patient(1991, None, visit(2001, "Cold"), visit(2002, "AIDS")),
    ]
]


@pytest.mark.parametrize(
    ("groups", "m", "p", "trees", "vertices"),
    [(TWICE, 1, "1/2", True, False), (ONCE, 2, "1/10", True, False), (TWICE, 2, "1/4", False, True)],
)
def test_what_holds_tree_by_tree_need_not_hold_vertex_by_vertex_nor_the_other_way_round(groups, m, p, trees, vertices):
    rule = PM(rules=[{"attribute": "visit.illness", "value": "AIDS", "m": m, "p": p}])
    assert rule.verify(release(groups, "trees")).satisfied == trees
    assert rule.verify(release(groups, "vertices")).satisfied == vertices


def test_many_configurations_hold_tree_by_tree_and_not_vertex_by_vertex():
    """The thesis says that there are none."""
    valid = broken = 0
    for l, m, p in itertools.product((2, 3, 4), (1, 2, 3), map(Fraction, ("1/4", "1/3", "1/2", "3/4"))):  # noqa: E741
        for counts in itertools.product(range(6), repeat=l):
            if Fraction(sum(count >= m for count in counts), l) <= p:
                valid += 1
                broken += sum(counts) > most_positions(l, m, p)
    assert (valid, broken) == (6_628, 2_509)

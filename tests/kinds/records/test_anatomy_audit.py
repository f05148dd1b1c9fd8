"""The auditor of anatomised records: what it refuses, by planted violations of published parts, and its own mutants."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from anatomy_attackers import ILLNESSES, SCHEMA, draw_group, patient, records, release, visit

from hedgerow import PM, KAnonymity, LDiversity
from hedgerow.errors import DomainError
from hedgerow.kinds.records import anatomy_audit, criterion, rule_promise
from hedgerow.kinds.records.anatomy import FORMS
from hedgerow.kinds.records.data import Records
from hedgerow.testing import changed

RULE = {"attribute": "visit.illness", "value": "AIDS", "m": 1, "p": "3/4"}


def parts(form, seed=0):
    """Two groups that keep both promises: of three and of two records, with drugs below some visits."""
    three = [
        patient(1990 + n, "124"[n], visit(2001, ILLNESSES[n], "ibu", "pen"), visit(2002, ILLNESSES[n - 2]))
        for n in range(3)
    ]
    two = [patient(1995 + n, "14"[n], visit(2003, ILLNESSES[n + 1]), visit(2003, None, "ibu")) for n in range(2)]
    return release([three, two], form, seed)


def again(part, trees):
    """The part with other trees."""
    return Records.from_trees(trees, part.schema, part.domain)


def found(outputs, promise=None):
    """What is violated, in words."""
    return {what for what, number in (promise or LDiversity(l=2)).violations(outputs).items() if number}


def test_what_keeps_both_promises_is_accepted():
    for form in FORMS:
        assert not found(parts(form))
        assert not found(parts(form), PM(rules=[RULE]))
        assert found(parts(form), LDiversity(l=3)) == {
            "groups of fewer than 3 records",
            *(
                f"positions of {name!r} with a sensitive value that is too frequent"
                for name in ("patient.grade", "visit.illness")
            ),
        }


def test_no_records_break_no_promise():
    for form in FORMS:
        outputs = {name: part.only(np.zeros(len(part), np.bool_)) for name, part in parts(form).items()}
        assert not found(outputs)
        assert not found(outputs, PM(rules=[RULE]))


# ---- planted violations: of one part, as trees


def on(name, change, form=None):
    """A plant in one part, in one form or in both."""
    return [(each, name, change) for each in ([form] if form else FORMS)]


def edit(trees, pick, change):
    """Change the first vertex that is picked."""
    done = []

    def walk(tree):
        if not done and pick(tree):
            done.append(tree)
            return change(tree)
        return (*tree[:3], [walk(child) for child in tree[3]])

    changed_trees = [walk(tree) for tree in trees]
    assert done
    return changed_trees


def is_type(name):
    return lambda tree: tree[0] == name


def other_number(column):
    """Give the first visit another number: of its position, or of its records."""
    return lambda trees: edit(
        trees,
        lambda tree: tree[0] == "visit" and tree[1][column] != "1",
        lambda tree: (tree[0], [*tree[1][:column], "1", *tree[1][len(tree[1]) + column + 1 :]], tree[2], tree[3]),
    )


def re_parented(trees):
    """A drug below another visit of the same record: in level order nothing changes."""

    def move(tree):
        first, second = sorted(tree[3], key=lambda each: -len(each[3]))
        return (*tree[:3], [(*first[:3], first[3][1:]), (*second[:3], [*second[3], first[3][0]])])

    return edit(trees, lambda tree: any(len(child[3]) == 2 for child in tree[3]), move)


def positions_swapped(trees):
    """Two visits of one record exchange their positions; one of them has drugs."""

    def swap(tree):
        (a, labels, value, below), (b, others, other, rest) = tree[3]
        return (
            *tree[:3],
            [(a, [*labels[:-1], others[-1]], value, below), (b, [*others[:-1], labels[-1]], other, rest)],
        )

    return edit(trees, lambda tree: len(tree[3]) == 2 and any(child[3] for child in tree[3]), swap)


def in_another_record(trees):
    """A visit moves to another record of its group, to the same position."""
    whole = [tree for tree in trees if len(tree[3]) == 2]
    first, second = [tree for tree in whole if tree[1][-2] == whole[0][1][-2]][:2]
    moved = [(*first[:3], first[3][1:]), (*second[:3], [*second[3], first[3][0]])]
    return [tree for tree in trees if tree is not first and tree is not second] + moved


def other_group(trees):
    """The first record says that it is of the other group."""
    name, labels, value, children = trees[0]
    place = 0 if len(labels) < 3 else 1
    other = "1" if labels[place] == "2" else "2"
    return [(name, [*labels[:place], other, *labels[place + 1 :]], value, children), *trees[1:]]


def same_value(trees):
    """Where two values of a position differ, the second one becomes the first, in each form."""
    seen = {}

    def walk(tree, group):
        name, labels, value, children = tree
        if name == "visit" and value is not None:
            value = seen.setdefault((group, labels[0]), value)
        return (name, labels, value, [walk(child, group) for child in children])

    return [walk(tree, tree[1][0]) for tree in trees]


def count_two(trees):
    return edit(trees, is_type("visit"), lambda tree: (tree[0], [tree[1][0], "2"], *tree[2:]))


def listed_again(trees):
    """A value twice in the list of its position, once for another one: the sum is right."""
    trees = [tree for tree in trees if tree[3]]
    kept = [(name, labels, value, list(below)) for name, labels, value, below in trees]
    for _, _, _, below in kept:
        visits = [number for number, child in enumerate(below) if child[0] == "visit"]
        below[visits[1]] = below[visits[0]]
        return kept
    return kept


def no_value(trees):
    return edit(trees, lambda tree: tree[0] == "visit" and tree[2] is not None, lambda tree: (*tree[:2], None, tree[3]))


LACKS = "positions that a record of the group lacks, or has twice"
MOVED = "positions whose vertices have parents at different positions"
FREQUENT = "positions of 'visit.illness' with a sensitive value that is too frequent"
OTHERS = "types whose groups or shapes are not those of the labels"
GROUPS = "groups that are not those of the labels, or are listed twice"
SUM = "positions with more or fewer sensitive values than records"
SOME = "positions where only some sensitive values are given"
PLANTS = {
    "a record is missing": (on("quasi", lambda trees: trees[1:]), {OTHERS, GROUPS, SUM}),
    "a tree of values is missing": (on("sensitive", lambda trees: trees[1:], "trees"), {OTHERS}),
    "a group of values is missing": (on("sensitive", lambda trees: trees[1:], "vertices"), {GROUPS}),
    "a group of values is listed twice": (
        on("sensitive", lambda trees: [*trees, (*trees[0][:3], [])], "vertices"),
        {GROUPS},
    ),
    "a record of another group": (on("quasi", other_group), {LACKS}),
    "a tree of values of another group": (on("sensitive", other_group, "trees"), {LACKS}),
    "a group with the number of another": (on("sensitive", other_group, "vertices"), {GROUPS}),
    "a position is used twice": (on("quasi", other_number(-1)), {LACKS}),
    "a vertex is in another record": (on("quasi", in_another_record), {LACKS}),
    "a value is in another record": (on("sensitive", in_another_record, "trees"), {LACKS}),
    "a vertex is below another parent": (on("quasi", re_parented), {MOVED}),
    "a value is below another parent": (on("sensitive", re_parented, "trees"), {MOVED}),
    "positions are swapped": (on("quasi", positions_swapped), {MOVED}),
    "positions of values are swapped": (on("sensitive", positions_swapped, "trees"), {MOVED}),
    "a vertex is missing": (on("quasi", lambda t: edit(t, is_type("patient"), lambda v: (*v[:3], v[3][1:]))), {LACKS}),
    "a value is everywhere": (on("sensitive", same_value, "trees"), {FREQUENT}),
    "a count is changed": (on("sensitive", count_two, "vertices"), {SUM}),
    "a value is listed twice": (
        on("sensitive", listed_again, "vertices"),
        {"sensitive values that are listed twice at a position"},
    ),
    "a position has one value less": (
        on("sensitive", lambda t: edit(t, is_type("group"), lambda v: (*v[:3], v[3][1:])), "vertices"),
        {SUM},
    ),
    "a value is not given": (on("sensitive", no_value, "trees"), {SOME}),
    "a listed value is not given": (
        on("sensitive", no_value, "vertices"),
        {"vertices without the number of a group, of a position, or of records"},
    ),
}
CASES = [(name, *place, words) for name, (places, words) in PLANTS.items() for place in places]


def planted(form, part, change):
    """The parts with a planted violation."""
    outputs = parts(form)
    return {**outputs, part: again(outputs[part], change(outputs[part].trees()))}


@pytest.mark.parametrize(("name", "form", "part", "change", "words"), CASES, ids=[f"{c[0]}, {c[1]}" for c in CASES])
def test_each_of_these_is_refused_by_both_promises(name, form, part, change, words):
    del name
    outputs = planted(form, part, change)
    seen = found(outputs)
    assert seen
    assert seen <= words
    if words != {FREQUENT}:
        assert found(outputs, PM(rules=[RULE])) == seen


def test_what_is_not_the_number_of_a_group_is_refused():
    for form in FORMS:
        outputs = parts(form)
        hidden = edit(outputs["quasi"].trees(), is_type("visit"), lambda tree: (tree[0], [tree[1][0], "*"], *tree[2:]))
        assert "vertices without the number" in str(found({**outputs, "quasi": again(outputs["quasi"], hidden)}))
        axis = outputs["quasi"].domain.axis("patient.group")
        spelled = outputs["quasi"].domain.with_axes({"patient.group": replace(axis, values=("1", "02"))})
        assert "vertices without the number" in str(
            found({**outputs, "quasi": replace(outputs["quasi"], domain=spelled)})
        )


def test_parts_of_two_releases_do_not_match():
    """Other groups have other shapes, or sizes; those of equal shapes are told apart by the hashes of the files."""
    others = [draw_group(random.Random(seed), size, few=False) for seed, size in ((4, 3), (5, 2))]
    for form in FORMS:
        other = release(others, form)
        assert found({**parts(form), "quasi": other["quasi"]})
        assert found({**parts(form), "sensitive": other["sensitive"]})
    assert found({"quasi": parts("trees")["quasi"], "sensitive": parts("vertices")["quasi"]})
    assert found({"quasi": parts("trees")["sensitive"], "sensitive": parts("trees")["quasi"]})


NO_PARTS = {"data sets that are not labels and sensitive values of one release"}


def test_a_value_beside_its_label_is_refused():
    """Schemas that publish the link, or labels beside the values."""
    outputs = parts("trees")
    data = records([patient(1990, "1"), patient(1991, "4")])
    assert found({**outputs, "quasi": data}) == NO_PARTS
    assert found({**outputs, "sensitive": data}) == NO_PARTS
    assert found({"quasi": data, "sensitive": data}, PM(rules=[RULE])) == NO_PARTS
    root, *others = outputs["quasi"].schema.types
    labels = replace(root, quasi=("grade", *root.quasi[1:]))
    quasi = replace(outputs["quasi"], schema=replace(SCHEMA, types=(labels, *others)))
    assert found({**outputs, "quasi": quasi}) == NO_PARTS


def test_tables_that_are_no_trees_are_refused():
    outputs = parts("trees")
    for name, part in outputs.items():
        table = part.tables[1].with_parent(np.zeros(len(part.tables[1]), np.int64) - 1)
        with pytest.raises(DomainError, match="type 'visit' has no parent"):
            found({**outputs, name: replace(part, tables=(part.tables[0], table, part.tables[2]))})


def test_other_promises_refuse_parts():
    assert found(parts("trees"), KAnonymity(k=2)) == {
        "parts of an anatomised release, whose exact labels tell records apart"
    }
    alone = {"": parts("trees")["quasi"]}
    assert found(alone, PM(rules=[RULE])) == {"data sets that are not the two parts of an anatomised release"}
    assert found({**parts("trees"), "more": parts("trees")["quasi"]})


# ---- literal definitions


def is_isomorphic_as_printed(trees):
    """Definition 5: level by level the types agree, whatever the parents are."""

    def levels(level):
        while level:
            yield Counter(tree[0] for tree in level)
            level = [child for tree in level for child in tree[3]]

    return len({tuple(tuple(sorted(level.items())) for level in levels([tree])) for tree in trees}) == 1


@pytest.mark.parametrize("form", FORMS)
def test_trees_whose_leaves_have_other_parents_are_no_group(form):
    """As the definition is printed they are; then their shapes would tell whose values are whose."""
    members = [
        patient(1990, "1", visit(2001, "AIDS", "ibu", "ibu"), visit(2001, "Flu")),
        patient(1991, "4", visit(2001, "Flu", "ibu"), visit(2001, "Cold", "ibu")),
    ]
    assert is_isomorphic_as_printed(members)
    assert found(release([members], form)) == {MOVED}


@pytest.mark.parametrize("form", FORMS)
def test_any_pairs_of_people_with_different_illnesses_are_groups(form):
    """Table 3.1 of the thesis: six people, whose labels stay as they are, and six values, each counted once."""
    members = [patient(1990 + n, grade) for n, grade in enumerate("141524")]
    outputs = release([members[:2], members[2:4], members[4:]], form)
    assert not found(outputs)
    assert sorted(tree[1][0] for tree in outputs["quasi"].trees()) == [str(1990 + n) for n in range(6)]
    values = outputs["sensitive"].trees()
    if form == "vertices":
        values = [child for group in values for child in group[3]]
        assert all(child[1][1] == "1" for child in values)
    assert sorted(tree[2] for tree in values) == sorted("141524")


# ---- planted bugs


def missed(names=frozenset(PLANTS)):
    """Those of these plants that the auditor, as it is now, accepts."""
    accepted = {name for name, *case, _ in CASES if name in names and not found(planted(*case))}
    many = release([[patient(1990 + n, "1124"[n]) for n in range(4)]], "vertices")
    return accepted | {f"two of four, l = {least}" for least in (3, 4) if not found(many, LDiversity(l=least))}


def test_no_plant_is_missed():
    assert not missed()


@pytest.mark.parametrize(
    ("name", "old", "new", "plants"),
    [
        ("_count_shape_faults", "moved += len", "moved += 0 * len", {"positions are swapped"}),
        ("_count_shape_faults", "missing += int(uneven.sum())", "missing += 0", {"a vertex is in another record"}),
        ("_count_shape_faults", "[again]] = True", "[again]] = False", {"a value is in another record"}),
        ("_read_values", "not np.array_equal(own, other)", "False", {"a tree of values is missing"}),
        ("_read_values", "sum(map(_count_mixed, named.values()))", "0", {"a value is not given"}),
        ("_read_listed", "np.sort(group)", "np.unique(group)", {"a group of values is listed twice"}),
        ("_count_list_faults", "totals != parts", "totals > parts", {"a position has one value less"}),
        (
            "count_frequent",
            "totals > parts.size_at(spots) // l",
            "totals * l > 9 * parts.size_at(spots)",
            {"a value is everywhere"},
        ),
        ("count_frequent", "parts.size_at(spots) // l", "-(-parts.size_at(spots) // l)", {"two of four, l = 3"}),
        ("count_frequent", "bucket_numbers(axis)[code]", "code", set()),
    ],
)
def test_a_planted_bug_misses_what_the_auditor_refuses(monkeypatch, name, old, new, plants):
    with changed(anatomy_audit, name, old, new):
        monkeypatch.setattr(criterion, "count_frequent", anatomy_audit.count_frequent)
        if plants:
            assert plants <= missed(plants)
        else:  # values of one bucket count as one
            grades = release([[patient(1990, "2"), patient(1991, "3")]], "trees")
            assert not found(grades)
    if not plants:
        monkeypatch.setattr(criterion, "count_frequent", anatomy_audit.count_frequent)
        assert found(grades)


#: releases that break a rule, each for one reason
BROKEN = {
    "at least m": ("vertices", 2, "1/5", "value", "AIDS", [("AIDS", "Flu"), ("Flu", "AIDS")]),
    "the share p": ("trees", 1, "1/3", "value", "AIDS", [("AIDS", "Flu"), ("Flu", "Cold")]),
    "sets": ("vertices", 2, "1/3", "values", ["AIDS", "Flu"], [("AIDS", "Flu"), ("Flu", "AIDS"), ("Cold", "Cold")]),
    "each value of all": ("vertices", 2, "1/5", "all", True, [("AIDS", "Flu"), ("Flu", "AIDS")]),
    "all trees": ("trees", 2, "1/3", "values", ["AIDS", "Flu"], [("AIDS", "Flu"), ("Flu", "AIDS"), ("Cold", "Cold")]),
}


def holds(name):
    form, m, p, key, named, members = BROKEN[name]
    outputs = release([[patient(1990, None, *(visit(2001, ill) for ill in ills)) for ills in members]], form)
    return not found(outputs, PM(rules=[{"attribute": "visit.illness", key: named, "m": m, "p": p}]))


@pytest.mark.parametrize("name", BROKEN)
def test_each_of_these_breaks_its_rule(name):
    assert not holds(name)


@pytest.mark.parametrize(
    ("name", "old", "new", "plants"),
    [
        ("exceeds", "[: rule.m]", "[: rule.m + 1]", {"at least m", "sets"}),
        ("exceeds", "> rule.p.numerator * whole", "> 3 * rule.p.numerator * whole", {"sets"}),
        ("_break_lists", "if end - start < rule.m:", "if end - start <= rule.m:", {"at least m", "each value of all"}),
        ("_break_by_trees", "times >= rule.m", "times > rule.m", {"all trees"}),
        ("_break_by_trees", "rule.p.numerator * size", "2 * rule.p.numerator * size", {"the share p", "all trees"}),
        ("classes_of", "text in rule.values or each in rule.values", "text in rule.values[:1]", {"sets"}),
        ("classes_of", "if not rule.values:", "if rule.values == 0:", {"each value of all"}),
    ],
)
def test_a_planted_bug_misses_a_broken_rule(name, old, new, plants):
    with changed(anatomy_audit, name, old, new):
        assert plants <= {broken for broken in BROKEN if holds(broken)}


def test_a_rule_about_what_is_not_published_does_not_hold():
    """It may be misspelt; a value that is not published is none that anybody can be sure of."""
    promise = PM(rules=[{**RULE, "attribute": "visit.disease"}])
    assert found(parts("trees"), promise) == {"rules about an attribute that is not published"}
    assert not found(parts("trees"), PM(rules=[{**RULE, "value": "Measles"}]))
    assert rule_promise.PM(rules=[RULE]).count_cases(parts("vertices")) > 20

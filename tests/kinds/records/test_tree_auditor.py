"""The auditor of nested records: planted violations, other orders, hostile tables, its own planted bugs, its words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import run
from tree_audit_cases import (
    changed_at,
    diverse_release,
    draw_from,
    fill,
    forest,
    form,
    shuffled,
    vertices,
    with_tables,
)

from hedgerow import All, PureDP
from hedgerow.errors import DomainError, ParameterError, UnsupportedGuarantee
from hedgerow.kinds.records import criterion, equivalence_classes
from hedgerow.kinds.records.criterion import KAnonymity, LDiversity
from hedgerow.kinds.records.equivalence_classes import find_equivalence_classes
from hedgerow.privacy.parsing import build, from_options, from_plain
from hedgerow.promises import PROMISES, interpret_options
from hedgerow.testing import changed, sets_of

SEEDS = st.integers(0, 2**32)


def accepts(trees, promise):
    return promise.verify({"": forest(*trees)}).satisfied


# ---- planted violations


def without_one(trees, draw, at):
    """Delete a record."""
    del draw
    return trees[:at] + trees[at + 1 :]


def other_label(trees, draw, at):
    """Publish one label as it was before generalisation."""
    path, _ = draw.choice(list(vertices(trees[at])))
    changed_tree = changed_at(trees[at], path, lambda v: (v[0], ["before"], v[2], v[3]))
    return [*trees[:at], changed_tree, *trees[at + 1 :]]


def more_vertices(trees, draw, at):
    """Add a leaf."""
    path, _ = draw.choice([(path, v) for path, v in vertices(trees[at]) if v[0] != "b"])
    leaf = {"r": ("c", ["x"], 500, []), "c": ("b", ["x"], 500, [])}
    changed_tree = changed_at(trees[at], path, lambda v: (v[0], v[1], v[2], [*v[3], leaf[v[0]]]))
    return [*trees[:at], changed_tree, *trees[at + 1 :]]


@given(seed=SEEDS, l=st.integers(2, 4), plant=st.sampled_from([without_one, other_label, more_vertices]))
def test_a_record_that_no_longer_looks_like_the_others_is_noticed(seed, l, plant):  # noqa: E741 - letter of the paper
    draw = draw_from(seed)
    trees = diverse_release(draw, l)
    assert accepts(trees, All(KAnonymity(k=l), LDiversity(l=l)))
    planted = plant(trees, draw, draw.randrange(len(trees)))
    assert not accepts(planted, KAnonymity(k=l))
    assert not accepts(planted, LDiversity(l=l))


def lone(tree):
    """The paths of the vertices that no other vertex of the tree looks like, nor of their ancestors."""

    def below(vertex, path):
        yield path
        forms = [form(child) for child in vertex[3]]
        for place, child in enumerate(vertex[3]):
            if forms.count(forms[place]) == 1:
                yield from below(child, (*path, place))

    return list(below(tree, ()))


@given(seed=SEEDS, l=st.integers(2, 4))
def test_a_value_of_another_record_at_the_same_position_is_noticed(seed, l):  # noqa: E741 - the letter of the paper
    draw = draw_from(seed)
    trees = diverse_release(draw, l)
    at = draw.randrange(len(trees))
    path = draw.choice(lone(trees[at]))
    twin = trees[at // l * l + (at + 1) % l]  # classes are adjacent
    value = dict(vertices(twin))[path][2]
    planted = changed_at(trees[at], path, lambda v: (v[0], v[1], value, v[3]))
    release = [*trees[:at], planted, *trees[at + 1 :]]
    assert accepts(release, KAnonymity(k=l))
    counts = LDiversity(l=l).violations({"": forest(*release)})
    assert {what: number for what, number in counts.items() if number} == {
        f"positions of type {'rcb'[len(path)]!r} with a sensitive value that is too frequent": 1
    }


@given(seed=SEEDS, l=st.integers(2, 3))
def test_order_changes_nothing(seed, l):  # noqa: E741 - the letter of the paper
    draw = draw_from(seed)
    trees = diverse_release(draw, l, groups=2)
    shape = trees[0]
    trees += [fill(shape, iter(lambda: draw.randrange(4), None)) for _ in range(draw.randrange(4))]
    promise = LDiversity(l=l)
    first, second = (promise.violations({"": forest(*some)}) for some in (trees, shuffled(trees, draw)))
    assert first == second


def test_vertices_with_many_children_are_compared_whole():
    """Some rounds, not one per child; and the last of the children counts."""
    children = [("c", ["x"], None, [])] * 20_000
    for last, alike in {"x": True, "y": False}.items():
        trees = [("r", ["x"], None, [*children, ("c", [label], None, [])]) for label in ("x", last)]
        assert accepts(trees, KAnonymity(k=2)) == alike


# ---- tables that are no trees


def test_tables_that_are_no_trees_are_refused():
    data = forest(*[("r", ["x"], "1", [("c", ["x"], "secret", [])])] * 3)
    for number, parent in {0: [0, 0, 1], 1: [-1, 0, 1]}.items():
        broken = with_tables(data, number, parent=np.array(parent))
        with pytest.raises(DomainError, match="has no parent in the data, or two roots are of one record") as error:
            KAnonymity(k=2).verify({"": broken})
        assert "secret" not in str(error.value)
    with pytest.raises(DomainError, match="type 'c'"):
        LDiversity(l=2).verify({"": with_tables(data, 1, parent=np.array([0, 1, 3]))})


@pytest.mark.parametrize("column", [{"labels": [[-1]] * 3}, {"labels": [[2]] * 3}, {"sensitive": [1] * 3}])
def test_codes_outside_the_domain_are_refused(column):
    """All three records look alike, whatever is written for such a code."""
    data = forest(*[("r", ["x"], "1", [])] * 3)
    broken = with_tables(data, 0, **{name: np.array(codes) for name, codes in column.items()})
    with pytest.raises(DomainError, match="type 'r' has a label or a sensitive value outside its domain"):
        KAnonymity(k=2).verify({"": broken})


def test_no_records_break_no_promise():
    data = forest(("r", ["x"], "1", [("c", ["x"], "2", [])]))
    empty = data.only(np.zeros(1, np.bool_))
    assert All(KAnonymity(k=2), LDiversity(l=2)).verify({"": empty}).satisfied
    assert find_equivalence_classes(empty).sizes.tolist() == []


# ---- planted bugs of the auditor


def one(*below, label="x", value=None):
    return ("r", [label], value, list(below))


def leaf(label="x", value=None):
    return ("c", [label], value, [])


def pair(*values):
    return ("c", ["x"], None, [("b", ["x"], value, []) for value in values])


#: releases that break LDiversity(2), each for one reason
BROKEN = {
    "another label": [one(label="x"), one(label="y")],
    "another shape": [one(leaf()), one(leaf(), leaf())],
    "another child": [one(leaf("x"), leaf("y")), one(leaf("x"), leaf("x"))],
    "one of three children": [one(leaf("x"), leaf("x"), leaf("z")), one(leaf("x"), leaf("y"), leaf("z"))],
    # level by level the types agree, which is all that one printed definition of alike trees asks for
    "leaves below other parents": [one(pair(1, 2), pair()), one(pair(3), pair(4))],
    "a value that is not given": [one(leaf(value=1)), one(leaf())],
    "equal values": [one(value=1), one(value=1)],
    "values pooled by label path": [one(pair(1), pair(2, 3)), one(pair(1), pair(4, 5))],
    "three of six": [one(leaf(value=v), leaf(value=w)) for v, w in ((1, 2), (1, 3), (1, 4))],
    "all of one record": [one(leaf(value=1), leaf(value=1)), one(leaf(value=1), leaf(value=2))],
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_of_these_is_refused(name):
    assert not accepts(BROKEN[name], LDiversity(l=2))


@pytest.mark.parametrize(
    ("owner", "name", "old", "new", "missed"),
    [
        (equivalence_classes, "_code_subtrees", "*table.labels.T, ", "", {"another label"}),
        (equivalence_classes, "_code_subtrees", ", *lists[number]]", "]", {"another shape", "another child"}),
        (equivalence_classes, "_code_subtrees", "given, *", "*", {"a value that is not given"}),
        (equivalence_classes, "_code_multisets", "_number([lengths, whole])", "lengths", {"another child"}),
        (
            equivalence_classes,
            "_code_multisets",
            "np.where(first[1:], 0, codes[1:] + 1)",
            "0 * codes[1:]",
            {"another child"},
        ),
        (equivalence_classes, "_code_multisets", "while place.any():", "if place.any():", {"one of three children"}),
        (
            equivalence_classes,
            "find_equivalence_classes",
            "positions[above].vertex[table.parent]",
            "classes[above][table.parent]",
            {"values pooled by label path"},
        ),
        (LDiversity, "_count", "alike.sizes[owner] // self.l", "-(-alike.sizes[owner] // self.l)", {"three of six"}),
        (LDiversity, "_count", "counts = _count_rare(alike, self.l)", "counts = {}", {"another label"}),
        (LDiversity, "_count", "times > positions", "times > 9 * positions", {"equal values", "all of one record"}),
    ],
)
def test_a_planted_bug_misses_what_the_auditor_refuses(monkeypatch, owner, name, old, new, missed):
    with changed(owner, name, old, new):
        monkeypatch.setattr(criterion, "find_equivalence_classes", equivalence_classes.find_equivalence_classes)
        assert missed <= {broken for broken, trees in BROKEN.items() if accepts(trees, LDiversity(l=2))}


# ---- the promise itself


def test_the_promises_state_themselves():
    assert KAnonymity(k=5).sentence() == (
        "Every published record has the shape and the labels of at least 4 other published records: whatever anyone "
        "knows of the shape and the labels of a person's record, and of no sensitive value, fits at least 5 published "
        "records, or none (k-anonymity of trees with k = 5)."
    )
    assert LDiversity(l=2).sentence() == (
        "Every published record has the shape and the labels of at least 1 other published record, and at each "
        "position of such records no sensitive value makes up more than 1 in 2 of the values (vertices that shape and "
        "labels do not tell apart are at one position): anyone who knows any of the shape and the labels of a person's "
        "record, and no sensitive value, and to whom all records that fit are equally likely, is at most 1/2 sure of a "
        "sensitive value at a position (l-diversity of trees with l = 2)."
    )
    domain = forest(("r", ["x"], "1", [])).domain
    diversity = " ".join(LDiversity(l=2).limits(domain))
    for hazard in (
        "one value may tell",
        "somewhere",
        "minimality",
        "mean much the same",
        "Another release",
        "likelier",
    ):
        assert hazard in diversity
    assert KAnonymity(k=2).limits(domain)[0].startswith("Sensitive values: all records that fit")
    assert KAnonymity(k=3).figures() == [("k", "3")]


def test_the_promises_come_back_from_plain_data():
    for promise in (KAnonymity(k=5), LDiversity(l="3"), All(KAnonymity(k=5), LDiversity(l=3))):
        plain = json.loads(json.dumps(promise.to_plain()))
        assert from_plain(plain) == promise
        assert eval(repr(promise)) == promise  # noqa: S307 - our own words
    assert build(["KAnonymity", "LDiversity"], {"k": "4", "l": "2"}) == All(LDiversity(l=2), KAnonymity(k=4))


@pytest.mark.parametrize(
    ("given", "kind", "meant"),
    [
        ("k", "records", [("KAnonymity",)]),
        ("l", "records", [("LDiversity",)]),
        ("k l", "records", [("KAnonymity", "LDiversity")]),
        ("k l", "trajectories", [("KCL",)]),
        ("k l", None, [("KCL",), ("KAnonymity", "LDiversity")]),
        ("epsilon unit k", "graphs", [("CorrelatedDP",)]),
        ("epsilon unit k", "records", [("PureDP", "KAnonymity")]),
        ("epsilon unit", "records", [("PureDP",)]),
        ("k l c sensitive", "records", []),
    ],
)
def test_the_kind_says_what_shared_options_mean(given, kind, meant):
    assert interpret_options(given.split(), list(PROMISES), kind=kind) == meant


def test_options_are_read_for_a_kind():
    typed = {"k": "3", "l": "2"}
    assert from_options(typed, kind="records") == All(KAnonymity(k=3), LDiversity(l=2))
    assert from_options(typed, kind="trajectories").name == "KCL"
    assert from_options({"l": "2"}, kind="sets") == LDiversity(l=2)  # the data refuses it
    either = "--k --l may be KCL, or KAnonymity with LDiversity; say which by --promise NAME, or give --kind"
    with pytest.raises(UnsupportedGuarantee, match=either):
        from_options(typed)


def test_a_folder_says_its_kind(tmp_path):
    """Options that two kinds share mean a promise about the kind in the folder; a file needs --kind anyway."""
    (tmp_path / "t.csv").write_text("unit,time,place\n" + "".join(f"{unit},1,a\n" for unit in range(4)))
    assert run("publish t.csv --kind trajectories --method kcl --k 2 --l 1 --out R", tmp_path).code == 0
    assert run("verify R --k 2 --l 1", tmp_path).code == 0
    assert run("verify R --k 3 --l 1", tmp_path).code == 3
    (tmp_path / "R" / "release.json").write_text("{}")
    ran = run("verify R --k 2 --l 1", tmp_path)
    assert (ran.code, "say which by --promise" in ran.err) == (3, True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KAnonymity(k=1), "k must be at least 2, since 1 promises nothing: every record looks like itself"),
        (lambda: LDiversity(l="1"), "l must be at least 2, since 1 promises nothing: all values may be equal; got 1"),
        (lambda: LDiversity(l=0), "l must be a whole number of at least 1; got '0'"),
        (lambda: LDiversity(l="two"), "l must be a whole number of at least 1; got 'two'"),
        (lambda: KAnonymity(k=True), "k must be a whole number"),
        (lambda: KAnonymity(k=10**16), "k must be at most 1,000,000,000,000,000: no data has that many records"),
        (lambda: KAnonymity(k=10**99), "got more than 18 digits"),
        (lambda: KAnonymity(k=2).verify({"": sets_of([[0]], 1)}), "KAnonymity is a promise about records; got sets"),
    ],
)
def test_what_cannot_be_promised_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_two_data_sets_are_not_checked_together_so_they_are_refused():
    data = forest(*diverse_release(draw_from(1), 2))
    counts = LDiversity(l=2).violations({"first": data, "second": data})
    assert counts["further data sets, which could be combined with the first"] == 1
    assert LDiversity(l=2).count_cases({"": data}) == 3 * sum(len(table) for table in data.tables)


def test_all_checks_both_and_names_them():
    data = forest(*[("r", ["x"], "1", [])] * 2)
    verdict = All(KAnonymity(k=2), LDiversity(l=2)).verify({"": data})
    assert verdict.failures == "1 x LDiversity: positions of type 'r' with a sensitive value that is too frequent"
    assert All(PureDP(epsilon=1, unit="record"), KAnonymity(k=2)).budget == 1

"""Attacks on nested records as scores: who can be traced, beside what values by chance disclose."""

from __future__ import annotations

import numpy as np
import pytest
from record_cases import course, draw_records, records, student, teacher, two_anonymous, two_diverse, two_students

from hedgerow.kinds.records.measures import keep_roots
from hedgerow.kinds.records.tree_attacks import measure_attacks, shuffle_values, trace_records


def trace(original, released, most=1000):
    return trace_records(original, released, np.random.default_rng(1), most=most)


def attack(original, released):
    releases = {
        "": released,
        "roots only": keep_roots(original),
        "everything suppressed": original.only(_none(original)),
    }
    return {score.name: score for score in measure_attacks(original, releases, np.random.default_rng(1))}


def _none(data):
    return np.zeros(len(data), np.bool_)


@pytest.mark.parametrize("seed", range(6))
def test_no_record_is_traced_to_another_one(seed):
    rng = np.random.default_rng(seed)
    original = draw_records(rng, 40)
    order = rng.permutation(40)
    kept = [rng.random(len(table)) < 0.9 for table in original.tables]
    pruned = original.prune([np.ones(40, bool), *kept[1:]])
    trees = pruned.trees()
    released = records(*(_hidden(trees[number]) for number in order))
    origins = trace(original, released)
    assert origins.traced.sum() == len(origins.origin) > 5
    assert origins.origin.tolist() == order[origins.traced].tolist()


def _hidden(tree):
    name, labels, sensitive, children = tree
    return (name, ["*"] * len(labels), sensitive, [_hidden(child) for child in children])


def test_a_class_is_traced_as_a_whole_or_not_at_all():
    original = records(
        student(1990, 275), student(1991, 275), student(1992, 325), student(1980, 325, course("CS201", "A"))
    )
    released = records(student("199*", 275), student("199*", 325), student("198*", 325, course("CS2**", "A")))
    assert trace(original, released).traced.tolist() == [False, False, True]
    assert trace(original, released).origin.tolist() == [3]
    assert not trace(original, released, most=0).traced.any()
    assert trace(original, original.only(_none(original))).origin.tolist() == []


def test_as_many_vertices_are_needed_as_are_published():
    original = records(student(1990, 275, course("CS201", "A")), student(1990, 275, *[course("CS201", "A")] * 2))
    released = records(student(1990, 275, *[course("CS2**", "A")] * 2))
    assert trace(original, released).origin.tolist() == [1]


def test_homogeneity_of_the_records_of_the_thesis():
    anonymous, diverse = (attack(two_students(), released) for released in (two_anonymous(), two_diverse()))
    name = "homogeneity attack, share of records with such a value"
    assert anonymous[name].value == 1  # both have A- in CS404, and 8 of Levi
    assert diverse[name].value == 0
    assert dict(diverse[name].controls)["original as it is"] == 1
    assert "everything suppressed" not in dict(diverse[name].controls)


def test_some_vertex_disclosure_beside_the_most_frequent_value():
    original = records(
        *(student(1990, gpa, course("CS201", "A"), course("CS201", "B")) for gpa in (275, 325)), student(1991, 275)
    )
    scores = attack(original, original.only(np.array([True, True, False])))
    worst = scores["some-vertex disclosure, worst confidence"]
    assert worst.value == 1
    assert dict(worst.controls)["most frequent value of the original"] == pytest.approx(2 / 3)


def test_vertices_that_are_missing_disclose_equal_values():
    """Both have CS404 with A-, which is missing below published roots: the guess is right, and the prior is lower."""
    others = [student(1980, 275, course("CS404", grade)) for grade in ("A", "B", "C", "B+")]
    original = records(*two_students().trees(), *others)
    scores = attack(original, two_diverse())
    right = scores["missing-vertex inference, share of guesses that are right"]
    assert scores["missing-vertex inference, guesses"].value == 2  # CS404, and Levi below CS201
    assert right.value == 1
    # one of 15 pairs have equal grades in CS404; the only pair that has Levi has equal scores
    assert dict(right.controls) == {"prior": pytest.approx((1 / 15 + 1) / 2)}


def test_an_empty_release_and_records_that_cannot_be_traced_have_no_such_scores():
    original = records(student(1990, 275), student(1991, 275))
    assert attack(original, original.only(_none(original))) == {}
    assert not any("missing" in name for name in attack(original, records(*[student("199*", 275)] * 2)))


def test_shuffled_values_are_the_same_values():
    data = draw_records(np.random.default_rng(5), 50)
    bare = records(
        *[student(1990, None)] * 20,
        *[student(1990, 275)] * 20,
        student(1990, 325, course("CS201", None, teacher("Levi", 1))),
    )
    for one in (data, bare):
        other = shuffle_values(one, np.random.default_rng(1))
        for before, after in zip(one.tables, other.tables, strict=True):
            assert np.array_equal(np.sort(before.sensitive), np.sort(after.sensitive))
            assert np.array_equal(before.sensitive < 0, after.sensitive < 0)
            assert np.array_equal(before.labels, after.labels)
    assert not np.array_equal(
        data.tables[1].sensitive, shuffle_values(data, np.random.default_rng(1)).tables[1].sensitive
    )

"""Attacks on nested records: what they find in small releases, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_audit_cases import classes, draw_from, draw_tree, fill, forest, orbits, vertices

from hedgerow.data import Axis, Domain, Source
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.schema import RecordSchema, VertexType
from hedgerow.kinds.records.tree_attacks import (
    attack_homogeneity,
    attack_known_value,
    attack_missing_vertices,
    attack_some_vertex,
)

SEEDS = st.integers(0, 2**32)


def student(gpa, *grades, major="CS"):
    return ("r", [major], gpa, [("c", ["CS"], grade, []) for grade in grades])


def random_trees(seed):
    draw = draw_from(seed)
    trees = []
    for _ in range(draw.randrange(1, 4)):
        shape = draw_tree(draw)
        trees += [fill(shape, iter(lambda: draw.choice("abc"), 1)) for _ in range(draw.randrange(1, 5))]
    return trees


# ---- homogeneity


def test_equal_values_are_read_from_a_class():
    trees = [
        student("1", "A", "A"),
        student("2", "A", "A"),
        student("1", "A", major="MA"),
        student("2", "B", major="MA"),
    ]
    assert attack_homogeneity(forest(*trees)) == (1 / 2, 2 / 4, 1 / 4)
    assert attack_homogeneity(forest(*trees).only(np.zeros(4, np.bool_))) == (0, 0, 0)


@given(SEEDS)
def test_homogeneity_is_that_of_the_definitions(seed):
    trees = random_trees(seed)
    flat = [{vertex[2] for vertex in orbit} for members in classes(trees) for orbit in orbits(members)]
    caught = [m for m in classes(trees) if any(len({vertex[2] for vertex in orbit}) == 1 for orbit in orbits(m))]
    measured = attack_homogeneity(forest(*trees))
    assert measured.positions == sum(len(values) == 1 for values in flat) / len(flat)
    assert measured.classes == len(caught) / len(classes(trees))
    assert measured.records == sum(map(len, caught)) / len(trees)


# ---- one known value


def test_distinct_values_single_out_every_record():
    """What l-diversity requires is what this attacker wants; equal values protect."""
    assert attack_known_value(forest(student("1", "A"), student("2", "B"))) == (1, 1, 1)
    assert attack_known_value(forest(student("1", "A", "C"), student("1", "A", "C"))) == (0, 0, 0)
    some = forest(student("1", "A"), student("1", "B"), student("1", "B"))
    assert attack_known_value(some) == (1 / 6, 1 / 3, 1)
    assert attack_known_value(some.only(np.zeros(3, np.bool_))) == (0, 0, 0)


@given(SEEDS)
def test_known_values_are_compared_within_a_position(seed):
    trees = random_trees(seed)
    known = caught = more = 0
    for members in classes(trees):
        for orbit in orbits(members):
            owners = {}
            for vertex in orbit:
                owner = next(n for n, tree in enumerate(members) if any(v is vertex for _, v in vertices(tree)))
                owners.setdefault(vertex[2], set()).add(owner)
            known += sum(map(len, owners.values()))
            for [owner] in (who for who in owners.values() if len(who) == 1):
                caught += 1
                more += sum(v[2] is not None for _, v in vertices(members[owner])) - 1
    measured = attack_known_value(forest(*trees))
    assert measured.values == pytest.approx(caught / known)
    assert measured.read == pytest.approx(more / caught if caught else 0)


# ---- some vertex


def test_a_value_that_all_records_have_somewhere_is_certain():
    """TV-10 is 2-diverse, and both have an A-."""
    trees = [student("1", "A", "A-"), student("2", "A-", "B+")]
    assert attack_some_vertex(forest(*trees)) == (1, 1, 1)
    assert attack_some_vertex(forest(*trees), times=2) == (0, 0, 0)
    assert attack_some_vertex(forest(student("1", "A", "A"), student("2", "A", "A")), times=2) == (1, 1, 1)
    assert attack_some_vertex(forest(student("1", "A"), student("2", "B"))) == (1 / 2, 0, 0)


@given(SEEDS)
def test_some_vertex_is_what_counting_records_gives(seed):
    trees = random_trees(seed)
    shares = []
    for members in classes(trees):
        having = [{(vertex[0], vertex[2]) for _, vertex in vertices(tree)} for tree in members]
        shares.append([sum(value in each for each in having) / len(members) for value in set().union(*having)])
    certain = [sum(share == 1 for share in each) for each in shares]
    measured = attack_some_vertex(forest(*trees))
    assert measured.worst == max(map(max, shares))
    assert measured.certain == sum(number > 0 for number in certain) / len(shares)
    assert measured.values == pytest.approx(sum(certain) / len(shares))


# ---- missing vertices


COURSES = {"CS201": ("CS2",), "CS305": ("CS3",), "CS306": ("CS3",), "CS404": ("CS4",)}
PEOPLE = {"Levi": (), "Savas": ()}
SCHEMA = RecordSchema(
    (
        VertexType("student", None, ("born",), "gpa"),
        VertexType("course", "student", ("id",), "grade"),
        VertexType("evaluation", "course", ("of",), "score"),
    )
)
AXES = {
    "student.born": Axis((1994, 1995), (("199x",), ("199x",))),
    "student.gpa": Axis(tuple("123456")),
    "course.id": Axis(tuple(COURSES), tuple(COURSES.values())),
    "course.grade": Axis(tuple("ABCD")),
    "evaluation.of": Axis(tuple(PEOPLE), tuple(PEOPLE.values())),
    "evaluation.score": Axis(tuple(range(10))),
}
DOMAIN = Domain(tuple(AXES.items()), Source.DECLARED)


def records(*trees):
    return Records.from_trees(trees, SCHEMA, DOMAIN)


def course(label, grade, **scores):
    return ("course", [label], grade, [("evaluation", [who], score, []) for who, score in scores.items()])


ORIGINAL = [
    ("student", [1994], "1", [course("CS201", "A", Levi=8), course("CS306", "B"), course("CS404", "A", Savas=6)]),
    ("student", [1995], "2", [course("CS201", "B", Levi=8), course("CS305", "C"), course("CS404", "A", Savas=7)]),
    ("student", [1994], "3", [course("CS404", "B"), course("CS201", "A", Levi=3)]),
]
PUBLISHED = [
    ("student", ["199x"], "2", [course("CS201", "B"), course("CS3", "C")]),
    ("student", ["199x"], "1", [course("CS201", "A"), course("CS3", "B")]),
]


def test_what_nobody_shows_is_guessed_to_be_equal():
    """CS404 and the evaluation of Levi are missing in both records; the one of Savas went with its course.

    Of three people with CS404 one pair of three has equal grades, and so for the scores of Levi.
    """
    attacked = attack_missing_vertices(records(*ORIGINAL), records(*PUBLISHED), np.array([1, 0]))
    assert attacked == (2, 1, pytest.approx(1 / 3))


def test_a_label_that_may_stand_for_a_vertex_hides_that_it_is_missing():
    wide = [(*student[:3], [*student[3], course("*", "D")]) for student in PUBLISHED]
    attacked = attack_missing_vertices(records(*ORIGINAL), records(*wide), np.array([1, 0]))
    # CS404 may be the wide one, so its evaluations are missing now: of different values, and nobody else has one
    assert attacked == (2, 1 / 2, pytest.approx(1 / 6))


def test_a_vertex_that_somebody_does_not_have_says_nothing():
    lacking = (*ORIGINAL[1][:3], ORIGINAL[1][3][:2])
    attacked = attack_missing_vertices(records(ORIGINAL[0], lacking), records(*PUBLISHED), np.array([1, 0]))
    assert attacked.guesses == 1
    twice = (*ORIGINAL[1][:3], [*ORIGINAL[1][3], course("CS404", "A")])
    attacked = attack_missing_vertices(records(ORIGINAL[0], twice), records(*PUBLISHED), np.array([1, 0]))
    assert attacked.guesses == 1


def test_a_wrong_guess_counts():
    other = (*ORIGINAL[1][:3], [*ORIGINAL[1][3][:2], course("CS404", "D")])
    attacked = attack_missing_vertices(records(ORIGINAL[0], other), records(*PUBLISHED), np.array([1, 0]))
    assert (attacked.guesses, attacked.confidence, attacked.prior) == (2, 1 / 2, 1 / 2)


def test_a_release_of_everything_or_nothing_has_nothing_missing():
    data = records(*ORIGINAL)
    assert attack_missing_vertices(data, data, np.arange(3)) == (0, 0, 0)
    empty = data.only(np.zeros(3, np.bool_))
    assert attack_missing_vertices(data, empty, np.zeros(0, np.int64)) == (0, 0, 0)
    assert attack_missing_vertices(empty, empty, np.zeros(0, np.int64)) == (0, 0, 0)

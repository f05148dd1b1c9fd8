"""k-anonymity and l-diversity of nested records: the vectors of the specification, and the definitions word by word."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from tree_audit_cases import (
    breaks_limit,
    classes,
    count_by_definition,
    diverse_release,
    draw_from,
    draw_tree,
    fill,
    forest,
    has_diverse_mappings,
    orbits,
    shuffled,
    vertices,
)

from hedgerow.kinds.records.criterion import KAnonymity, LDiversity
from hedgerow.kinds.records.equivalence_classes import find_equivalence_classes

SEEDS = st.integers(0, 2**32)


def audit(trees, promise, **more):
    """The violations, those that there are."""
    counts = promise.verify({"": forest(*trees, **more)}).violations
    return {what: number for what, number in counts.items() if number}


def is_diverse(trees, l, **more):  # noqa: E741 - the letter of the paper
    return audit(trees, LDiversity(l=l), **more) == {}


# ---- vectors


def course(label, grade, *below):
    return ("course", [label], grade, list(below))


def student(born, gpa, *courses):
    return ("student", ["CS", born], gpa, list(courses))


def test_tables_that_are_generalised_one_by_one_are_not_anonymous():
    """TV-3: each table alone is 2-diverse, the trees differ."""
    first = student("199*", "3.25", course("CS2**", "A"), course("CS2**", "A-"))
    second = student("199*", "2.67", course("CS4**", "B"), course("CS4**", "B+"))
    rare = "records that look like fewer than 1 other published record"
    assert audit([first, second], KAnonymity(k=2)) == {rare: 2}
    assert audit([first, second], LDiversity(l=2)) == {rare: 2}


def test_the_number_of_courses_tells_a_record_apart():
    """TV-4: flat, no grade is more frequent than 1/4 and no GPA than 2/4; as trees, the second record is unique."""
    trees = [
        student("199*", "2.17", course("CS3**", "C+")),
        student("199*", "3.78", course("CS3**", "A"), course("CS3**", "A-")),
        student("199*", "2.96", course("CS3**", "B")),
    ]
    assert audit(trees, KAnonymity(k=2)) == {"records that look like fewer than 1 other published record": 1}
    assert is_diverse([trees[0], trees[2]], 2)


def evaluated(who, score):
    return ("instructor" if not who.startswith("TA") else "assistant", [who], score, [])


def figure(*, diverse):
    """TV-9: two records after (b) losing one evaluation, and (c) also what has equal sensitive values."""
    first = [course("CS3**", "B", evaluated("DB Prof.", "9"), evaluated("TA", "7"))]
    second = [course("CS3**", "C", evaluated("DB Prof.", "5"), evaluated("TA", "4"))]
    levi = [] if diverse else [evaluated("Levi", "8")]
    first.append(course("CS201", "A", *levi))
    second.append(course("CS201", "B+", *levi))
    if not diverse:
        first.append(course("CS404", "A-", evaluated("Savas", "6")))
        second.append(course("CS404", "A-", evaluated("Savas", "7")))
    return [student("199*", "3.0-3.5", *first), student("199*", "2.5-3.0", *second)]


def test_anonymous_is_not_diverse():
    assert audit(figure(diverse=False), KAnonymity(k=2)) == {}
    assert audit(figure(diverse=False), LDiversity(l=2)) == {
        "positions of type 'course' with a sensitive value that is too frequent": 1,
        "positions of type 'instructor' with a sensitive value that is too frequent": 1,
    }
    assert audit(figure(diverse=True), LDiversity(l=2)) == {}
    assert audit(figure(diverse=True), LDiversity(l=3)) == {
        "records that look like fewer than 2 other published records": 2
    }


def test_siblings_that_look_alike_are_one_position():
    """TV-10: a grade that both records have is 2 of 4."""
    trees = [
        student("199*", "1", course("CS", "A"), course("CS", "A-")),
        student("199*", "2", course("CS", "A-"), course("CS", "B+")),
    ]
    assert is_diverse(trees, 2)
    assert has_diverse_mappings(trees, 2)


def test_vertices_below_unequal_siblings_are_not_one_position():
    """TV-16: by label path the value is 2 of 6; the lone leaf below the first sibling has it in both records."""

    def leaves(values):
        return [("b", ["x"], value, []) for value in values]

    trees = [
        ("r", ["x"], "1", [("c", ["x"], "2", leaves("v")), ("c", ["x"], "3", leaves("wy"))]),
        ("r", ["x"], "9", [("c", ["x"], "8", leaves("v")), ("c", ["x"], "7", leaves("zu"))]),
    ]
    assert audit(trees, KAnonymity(k=2)) == {}
    assert audit(trees, LDiversity(l=2)) == {"positions of type 'b' with a sensitive value that is too frequent": 1}


def test_the_limit_is_rounded_down():
    """Three records with two alike leaves each: 3 of 6 is half, and no mapping is diverse."""
    three, two = "a b", "c d"
    trees = [
        ("r", ["x"], str(n), [("c", ["x"], value, []) for value in values.split()])
        for n, values in enumerate([three, three.replace("b", "c"), two.replace("c", "a")])
    ]
    assert not has_diverse_mappings(trees, 2)
    assert not is_diverse(trees, 2)


def test_values_of_one_group_are_equal():
    """TV-15: 2.17 and 2.40 are in one bucket."""
    groups = {"2.17": "2.0-2.5", "2.40": "2.0-2.5", "2.96": "2.5-3.0"}
    for other, diverse in {"2.96": True, "2.40": False}.items():
        trees = [student("199*", gpa, course("CS301", grade)) for gpa, grade in (("2.17", "C+"), (other, "B"))]
        buckets = {"student": {gpa: groups[gpa] for gpa in ("2.17", other)}}
        assert is_diverse(trees, 2, buckets=buckets) == diverse
        assert is_diverse(trees, 2)


def test_a_missing_value_is_not_another_value():
    """Who knows that there is a value would know it: a vertex without one looks different."""
    given, missing = student("199*", "1", course("CS", "A")), student("199*", "2", course("CS", None))
    assert audit([given, missing], KAnonymity(k=2)) == {"records that look like fewer than 1 other published record": 2}
    assert is_diverse([missing, student("199*", "3", course("CS", None))], 2)
    both = [student("199*", str(n), course("CS", None), course("CS", "A")) for n in range(2)]
    assert audit(both, LDiversity(l=2)) == {"positions of type 'course' with a sensitive value that is too frequent": 1}


# ---- the definitions


def random_forest(seed, *, values, least=1):
    """Trees of few forms, with few sensitive values, some missing."""
    draw = draw_from(seed)
    trees = []
    for _ in range(draw.randrange(1, 4)):
        shape = draw_tree(draw)
        trees += [fill(shape, iter(lambda: draw.choice(values), 1)) for _ in range(draw.randrange(least, 5))]
    return shuffled(trees, draw)


@given(seed=SEEDS, l=st.integers(2, 4), missing=st.booleans())
@settings(max_examples=300)
def test_the_auditor_counts_what_the_definitions_count(seed, l, missing):  # noqa: E741 - the letter of the paper
    trees = random_forest(seed, values=["a", "b", "c", "d", "e", *([None] if missing else [])])
    data = forest(*trees)
    counts = LDiversity(l=l).violations({"": data})
    expected = count_by_definition(trees, l)
    names = {kind.name: f"positions of type {kind.name!r} with" for kind in data.schema.types}
    assert {
        name: number for name, what in names.items() for key, number in counts.items() if what in key and number
    } == {name: number for name, number in expected.items() if name != "records"}
    few = sum(number for what, number in counts.items() if what.startswith("records that look"))
    assert few == expected["records"]
    assert sum(KAnonymity(k=l).violations({"": data}).values()) == expected["records"]
    alike = find_equivalence_classes(data)
    assert sorted(alike.sizes.tolist()) == sorted(map(len, classes(trees)))
    positions = [(len(orbit) // len(members), orbit[0][0]) for members in classes(trees) for orbit in orbits(members)]
    names = [kind.name for kind in data.schema.types]
    assert sorted(positions) == sorted(
        (times, name) for name, each in zip(names, alike.positions, strict=True) for times in each.times.tolist()
    )


@given(
    st.integers(2, 5),
    st.integers(2, 3),
    st.lists(st.integers(1, 3), min_size=1, max_size=2),
    st.integers(2, 4),
    SEEDS,
)
@settings(max_examples=400)
def test_for_siblings_without_values_below_the_limit_is_the_definition(members, l, alike, values, seed):  # noqa: E741
    """The count is within the limit just if there are mappings that are diverse vertex by vertex."""
    draw = draw_from(seed)
    trees = [
        ("r", ["x"], None, [("c", [str(n)], draw.randrange(values), []) for n, r in enumerate(alike) for _ in range(r)])
        for _ in range(members)
    ]
    assert is_diverse(trees, l) == (members >= l and has_diverse_mappings(trees, l))


def test_the_definition_is_met_on_both_sides_of_the_limit():
    """The law above is not empty: of all triples of pairs of values, some are diverse and some are not."""
    pairs = list(itertools.combinations_with_replacement("abc", 2))
    outcomes = {True: 0, False: 0}
    for triple in itertools.combinations_with_replacement(pairs, 3):
        trees = [("r", ["x"], None, [("c", ["x"], value, []) for value in pair]) for pair in triple]
        diverse = is_diverse(trees, 2)
        assert diverse == has_diverse_mappings(trees, 2)
        outcomes[diverse] += 1
    assert outcomes == {True: 5, False: 51}


@given(seed=SEEDS, l=st.integers(2, 3))
@settings(max_examples=200)
def test_mappings_imply_the_limit(seed, l):  # noqa: E741 - the letter of the paper
    """For all trees; the converse needs siblings without values below them."""
    trees = random_forest(seed, values="abcdefgh", least=2)
    for members in classes(trees):
        small = max(len(orbit) // len(members) for orbit in orbits(members)) < 6
        if small and len(members) >= l and has_diverse_mappings(members, l):
            assert not any(breaks_limit(orbit, len(members), l) for orbit in orbits(members))
            assert is_diverse(members, l)


def test_the_limit_does_not_imply_mappings_where_alike_vertices_have_children():
    """Courses are within the limit, and so are their books; but no mapping of courses is diverse for both.

    Only who knows a grade could use it: of the books of a course each value is one in two.
    """

    def record(gpa, *pairs):
        return student("199*", gpa, *(course("CS", grade, ("book", ["t"], price, [])) for grade, price in pairs))

    trees = [record("1", ("A", "x"), ("B", "y")), record("2", ("B", "x"), ("A", "y"))]
    assert is_diverse(trees, 2)
    assert not has_diverse_mappings(trees, 2)


@given(seed=SEEDS, l=st.integers(2, 3))
def test_whatever_is_known_of_labels_and_shape_fits_diverse_values(seed, l):  # noqa: E741 - the letter of the paper
    """The sentence is true: a random statement about labels, children and ancestors fits no value too often."""
    draw = draw_from(seed)
    trees = diverse_release(draw, l)
    label, children, above, size = draw.choice("xy"), draw.randrange(3), draw.choice("xy"), draw.randrange(6)
    for kind in "rcb":
        fitting = [
            vertex[2]
            for tree in trees
            for path, vertex in vertices(tree)
            if vertex[0] == kind
            and (vertex[1] == [label] or len(vertex[3]) == children)
            and (tree[1] == [above] or len(list(vertices(tree))) > size)
            and len(path) == "rcb".index(kind)
        ]
        assert all(l * fitting.count(value) <= len(fitting) for value in fitting)
    assert is_diverse(trees, l)

"""Queries on nested records: estimates by hand, families of queries, and classes and levels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from record_cases import DOMAIN, SCHEMA, course, draw_records, records, student, teacher, two_diverse, two_students

from hedgerow.data import Domain
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.measures import keep_roots
from hedgerow.kinds.records.queries import Condition, Workload, find_accuracies, measure_queries
from hedgerow.kinds.records.query_sources import find_label_chances
from hedgerow.kinds.records.schema import RecordSchema, VertexType
from hedgerow.kinds.records.shape_measures import (
    bin_counts,
    count_levels,
    measure_classes,
    measure_levels,
    measure_shapes,
)

STUDENT, COURSE, TEACHER = 0, 1, 2


def label(data, number, column, name):
    return data.hierarchies(number)[column].names.index(name)


def ask(data, *conditions):
    """The estimate of a query; conditions are (type, label, sensitive values)."""
    made = [
        Condition(
            number,
            -1 if name is None else len(SCHEMA.types[number].quasi) - 1,
            -1 if name is None else label(data, number, len(SCHEMA.types[number].quasi) - 1, name),
            tuple(DOMAIN.axis(SCHEMA.types[number].sensitive_axis).codes[value] for value in values),
        )
        for number, name, values in conditions
    ]
    return Workload.of(data).estimate(data, tuple(made))


def test_estimates_by_hand():
    data = records(
        student("199*", 275, course("CS3**", "A"), course("CS3**", "B")),
        student(1995, 325, course("CS305", "A", teacher("DB Prof.", 3)), course("*", "A")),
    )
    assert ask(data, (STUDENT, "1995", ())) == pytest.approx(1 / 10 + 1)
    assert ask(data, (STUDENT, "199*", ())) == 2
    assert ask(data, (STUDENT, "198*", ())) == 0
    # two labels that stand for three courses each; one that is the course itself
    assert ask(data, (COURSE, "CS305", ())) == pytest.approx(1 - (2 / 3) ** 2 + 1)
    assert ask(data, (COURSE, "CS3**", ())) == 2
    # the root stands for seven courses, two of them in the group
    assert ask(data, (COURSE, "CS2**", ())) == pytest.approx(2 / 7)
    assert ask(data, (COURSE, "CS306", ("A",))) == pytest.approx(1 / 3 + 1 / 7)
    assert ask(data, (COURSE, None, ("A", "A-"))) == 2
    assert ask(data, (TEACHER, "Nergiz", ()), (COURSE, "CS305", ())) == pytest.approx(1 / 3)
    assert ask(data, (TEACHER, "Nergiz", ()), (COURSE, "CS306", ())) == 0
    # a vertex between the two ends has no condition of its own
    assert ask(data, (TEACHER, "Nergiz", (3,)), (STUDENT, "1995", (325,))) == pytest.approx(1 / 3)


def by_definition(tree, conditions):
    """Whether a tree with values for labels has a path: conditions by type, each a predicate."""
    kind, labels, sensitive, children = tree
    if kind in conditions and not conditions[kind](labels, sensitive):
        return False
    below = [name for name in conditions if name != kind]
    if not below:
        return True
    rest = {name: conditions[name] for name in below}
    return any(by_definition(child, rest) for child in children)


@pytest.mark.parametrize("seed", range(5))
def test_counts_of_the_original_are_exact(seed):
    data = draw_records(np.random.default_rng(seed), 60)
    grades = {"A", "A-"}
    for name, group in itertools.product(("CS3**", "CS404"), ("Prof", "Levi")):
        wanted = {n for n in DOMAIN.values("course.id") if n == name or n[:3] == name[:3] == "CS3"}
        people = {"Levi"} if group == "Levi" else {"Saygin", "Nergiz", "Z", "Levi", "Savas"}
        conditions = {
            "course": lambda labels, grade, wanted=wanted: labels[0] in wanted and grade in grades,
            "teacher": lambda labels, _, people=people: labels[0] in people,
        }
        truth = sum(by_definition(tree, conditions) for tree in data.trees())
        assert ask(data, (TEACHER, group, ()), (COURSE, name, ("A", "A-"))) == pytest.approx(truth)


def test_chances_of_labels_sum_to_one_over_the_values_of_any_label():
    tree = two_students().hierarchies(COURSE)[0]
    chances = np.array([find_label_chances(tree, np.arange(tree.leaves) == value) for value in range(tree.leaves)])
    assert chances.sum(axis=0) == pytest.approx(np.ones(len(tree)))
    assert find_label_chances(tree, np.ones(tree.leaves, bool)).tolist() == [1.0] * len(tree)


def test_accuracies_of_the_worked_example():
    accuracies = find_accuracies(np.array([10.0, 20, 5]), np.array([8.0, 25, 5]))
    assert accuracies.tolist() == pytest.approx([0.8, 0.75, 1])
    assert find_accuracies(np.array([1.0]), np.array([4.0])).tolist() == [-2]


def test_families_are_measured_beside_controls():
    original = draw_records(np.random.default_rng(2), 200)
    released = original.only(np.arange(200) < 150)
    releases = {"": released, "roots only": keep_roots(original)}
    scores = {score.name: score for score in measure_queries(original, releases, np.random.default_rng(1), queries=60)}
    families = [score.at for score in scores.values() if score.chart]
    assert families == [
        "a label",
        "a sensitive value",
        "both at one vertex",
        "two vertices of a path",
    ]
    for name, score in scores.items():
        assert score.better == "higher"
        assert 0.6 < score.value < 0.9, name  # a quarter of the records is missing
    path = scores["mean accuracy of queries, two vertices of a path"]
    assert dict(path.controls)["roots only"] == 0


def test_the_mean_takes_negative_accuracies_as_zero():
    schema = RecordSchema((VertexType("person", None, ("town",)),))
    domain = Domain.declare(**{"person.town": ["Bonn", "Ulm"]})
    original = Records.from_trees(
        [("person", ["Ulm" if n % 10 else "Bonn"], None, []) for n in range(50)], schema, domain
    )
    scores = measure_queries(original, {"": keep_roots(original)}, np.random.default_rng(1), queries=200)
    mean, median, raw, family = (score.value for score in scores)
    # 25 of each town are expected: 5 of Bonn are estimated with accuracy -3, and 45 of Ulm with 5/9
    assert median == pytest.approx(5 / 9)
    assert mean == family
    share = mean / (5 / 9)
    assert 0.8 < share < 0.98
    assert raw == pytest.approx(share * 5 / 9 - 3 * (1 - share))


def test_queries_that_few_records_satisfy_are_not_asked(monkeypatch):
    original = records(*[student(1990, 275)] * 995, *[student(1991, 325)] * 5)
    estimates = []
    estimate = Workload.estimate

    def watched(self, data, query):
        estimates.append((data is original, query, estimate(self, data, query)))
        return estimates[-1][2]

    monkeypatch.setattr(Workload, "estimate", watched)
    released = original.only(np.ones(1000, bool))
    measure_queries(original, {"": released}, np.random.default_rng(4), queries=200)
    asked = [count for own, _, count in estimates if not own]
    assert any(own and count == 5 for own, _, count in estimates)
    assert min(asked) == 995


def test_a_schema_without_sensitive_values_or_children_has_fewer_families():
    schema = RecordSchema((VertexType("person", None, ("town",)),))
    domain = Domain.declare(**{"person.town": ["Bonn", "Ulm"]})
    data = Records.from_trees([("person", ["Bonn"], None, [])] * 3, schema, domain)
    scores = measure_queries(data, {"": data}, np.random.default_rng(1), queries=5)
    assert [score.at for score in scores if score.chart] == ["a label"]
    hidden = keep_roots(data)
    assert measure_queries(hidden, {"": hidden}, np.random.default_rng(1), queries=5) == []


def test_levels_shapes_and_classes_before_and_after():
    original, released = two_students(), two_diverse()
    assert count_levels(released, COURSE, 0) == {"value": 2, "depth 2": 2, "depth 1": 0, "hidden (*)": 0}
    levels = {(score.at, score.across): score for score in measure_levels(original, released)}
    shares = {level: round(score.value * 6) for (at, level), score in levels.items() if at == "course.id"}
    assert shares == {"value": 2, "depth 2": 2, "depth 1": 0, "hidden (*)": 0, "suppressed": 2}
    assert dict(levels["course.id", "value"].controls) == {"original": 1}
    shapes = {
        score.name: (score.value, dict(score.controls)["original"]) for score in measure_shapes(original, released)
    }
    assert shapes["vertices per record, type course"] == (2, 3)
    chart = "children of type teacher per course, share of vertices"
    assert shapes[f"{chart}: 0"] == (0.5, 0)
    assert shapes[f"{chart}: 1"] == (0.5, 1)
    releases = {"": released, "roots only": keep_roots(original)}
    classes = {score.name: score for score in measure_classes(original, releases)}
    smallest = classes["smallest class, records"]
    assert (smallest.value, dict(smallest.controls)) == (2, {"original": 1, "roots only": 2})
    assert classes["size of the class of a record, share of records: 2"].value == 1


def test_bins_hold_every_number_once():
    values = np.arange(0, 1030)
    binned = bin_counts(values)
    assert sum(count for _, [count] in binned) == 1030
    assert dict(binned)["513-1024"] == [512]
    assert dict(binned)["1025-2048"] == [5]
    assert [name for name, _ in binned[:5]] == ["0", "1", "2", "3-4", "5-8"]
    assert bin_counts(np.zeros(0, np.int64)) == [("0", [0])]

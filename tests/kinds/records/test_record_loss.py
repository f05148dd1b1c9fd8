"""What generalisation and suppression take from nested records: worked examples, and laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from record_cases import (
    DOMAIN,
    SCHEMA,
    course,
    draw_records,
    records,
    student,
    two_anonymous,
    two_diverse,
    two_students,
)

from hedgerow.data import Axis, Domain
from hedgerow.errors import ParameterError
from hedgerow.kinds.records.criterion import LDiversity
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.loss import add_losses, find_label_losses, kullback_leibler, measure_divergence
from hedgerow.kinds.records.measures import controls, describe, keep_roots, measure
from hedgerow.kinds.records.recoding import recode_records
from hedgerow.kinds.records.schema import RecordSchema, VertexType
from hedgerow.measures.comparison import Comparison


def compare(original, released):
    compared = Comparison(original, released, LDiversity(l=2), {})
    return {score.name: score for score in measure(compared, controls(compared), np.random.default_rng(1), queries=20)}


def total(original, released):
    return add_losses(find_label_losses(original, released).values())


def test_the_loss_of_the_two_records_of_the_thesis():
    original = two_students()
    assert original.sizes().tolist() == [10, 9]
    diverse, anonymous = (total(original, released) for released in (two_diverse(), two_anonymous()))
    assert diverse.total == pytest.approx(991 / 1995)
    assert diverse.suppressed == 7
    assert diverse.generalised == pytest.approx(2 * (1 / 10 + 1 / 3 + 2 / 7 + 1 / 2))
    assert anonymous.total == pytest.approx(361 / 1995)


def test_the_loss_is_split_by_attribute_by_type_and_by_part():
    scores = compare(two_students(), two_diverse())
    expected = {
        "loss of labels (LM)": 991 / 1995,
        "loss of labels (LM): suppression": 7 / 19,
        "loss of labels (LM) of student.born": 1 / 10,
        "loss of labels (LM) of student.major": 0,
        "loss of labels (LM) of type student": 1 / 20,
        "loss of labels (LM) of course.id": (2 / 3 + 2) / 6,
        "loss of labels (LM) of course.id: generalisation": (2 / 3) / 6,
        "loss of labels (LM) of course.id: suppression": 2 / 6,
        "loss of labels (LM) of assistant.name": (1 + 1) / 3,
        "share of vertices suppressed, type teacher": 4 / 6,
        "share of records suppressed": 0,
    }
    for name, value in expected.items():
        assert scores[name].value == pytest.approx(value), name
        assert scores[name].scope == "owner"


def test_two_alike_records_lose_a_thirtieth():
    original = records(student(1993, 275, course("CS305", "C")), student(1994, 325, course("CS305", "B")))
    released = records(student("199*", 275, course("CS305", "C")), student("199*", 325, course("CS305", "B")))
    assert total(original, released).total == pytest.approx(1 / 30)


def test_controls_are_roots_and_nothing():
    original = draw_records(np.random.default_rng(3), 40)
    made = controls(Comparison(original, original, LDiversity(l=2), {}))
    roots, nothing = made["roots only"], made["everything suppressed"]
    assert len(nothing) == 0
    assert [tree[1] for tree in roots.trees()] == [["*", "*"]] * 40
    assert [tree[2] for tree in roots.trees()] == [tree[2] for tree in original.trees()]
    lost = total(original, roots)
    assert lost.total == 1
    assert lost.generalised == 80
    assert lost.suppressed == lost.labels - 80
    assert total(original, nothing) == (lost.labels, 0, lost.labels)


def test_a_hierarchy_of_one_value_loses_nothing_by_hiding_it():
    schema = RecordSchema((VertexType("person", None, ("land", "town")),))
    domain = Domain.declare(**{"person.land": ["DE"], "person.town": ["Bonn", "Ulm"]})
    data = Records.from_trees([("person", ["DE", "Bonn"], None, [])] * 2, schema, domain)
    assert total(data, keep_roots(data)).total == 0.5


@pytest.mark.parametrize("seed", range(8))
def test_records_that_are_compared_with_themselves_lose_nothing(seed):
    rng = np.random.default_rng(seed)
    data = draw_records(rng, 30)
    shuffled = data.shuffled(rng)
    for name, score in compare(data, shuffled).items():
        if name.startswith(("loss", "share of vertices", "share of records", "Kullback", "mean Kullback")):
            assert score.value == 0, name
        if "accuracy" in name:
            assert score.value == pytest.approx(1), name


@pytest.mark.parametrize("seed", range(8))
def test_the_loss_of_any_pruned_and_generalised_release_is_a_share_and_grows(seed):
    rng = np.random.default_rng(seed)
    data = draw_records(rng, 30)
    pruned = data.prune([rng.random(len(table)) < 0.8 for table in data.tables])
    hidden = keep_roots(pruned)
    losses = [total(data, released).total for released in (data, pruned, hidden, data.only(np.zeros(30, bool)))]
    assert losses == sorted(losses)
    assert losses[0] == 0
    assert losses[-1] == 1
    scores = compare(data, pruned)
    lost = 1 - sum(map(len, pruned.tables[1:2])) / len(data.tables[1])
    assert scores["share of vertices suppressed, type course"].value == pytest.approx(lost)


def test_divergence_of_the_worked_example_and_of_buckets():
    assert kullback_leibler(np.array([25, 15, 60]), np.array([20, 25, 55])) == pytest.approx(0.031369, abs=5e-7)
    original = records(student(1990, 275), student(1990, 290), student(1990, 325), student(1990, 325))
    kept = records(student(1990, 275), student(1990, 325))
    # 275 and 290 are of one bucket, so that half of the records are in each before and after
    assert {score.name: score.value for score in measure_divergence(original, {"": kept})} == {
        "Kullback-Leibler divergence of student.gpa": 0
    }
    kept = records(student(1990, 325))
    assert measure_divergence(original, {"": kept})[0].value == pytest.approx(np.log(2))
    assert measure_divergence(original, {"": original.only(np.zeros(4, bool))}) == []


def test_a_release_of_other_data_is_refused():
    small, large = records(student(1990, 275)), records(student(1990, 275), student(1990, 325))
    with pytest.raises(ParameterError, match="more vertices of type 'student' than the original"):
        compare(small, large)
    with pytest.raises(ParameterError, match="sensitive values that are not in the original"):
        compare(small, records(student(1990, 325)))
    other = replace(small, schema=RecordSchema((*SCHEMA.types[:3], replace(SCHEMA.types[3], sensitive=None))))
    with pytest.raises(ParameterError, match="different schemas"):
        compare(small, other)


def test_a_release_with_values_in_another_order_is_recoded_by_name():
    domain = replace(
        DOMAIN,
        axes=tuple((name, Axis(axis.values[::-1], axis.paths[::-1])) for name, axis in DOMAIN.axes),
    )
    released = Records.from_trees(two_diverse().trees(), SCHEMA, domain)
    assert recode_records(released, two_students()).trees() == two_diverse().trees()
    assert compare(two_students(), released)["loss of labels (LM)"].value == pytest.approx(991 / 1995)
    axes = tuple((n, Axis(a.values[:-1], a.paths[:-1]) if n == "course.grade" else a) for n, a in DOMAIN.axes)
    narrow = Records.from_trees([student(1990, 275, course("CS201", "A"))], SCHEMA, replace(DOMAIN, axes=axes))
    with pytest.raises(ParameterError, match="that the domain of the original does not have"):
        recode_records(two_students(), narrow)


def test_an_empty_release_has_scores_without_attacks():
    original = draw_records(np.random.default_rng(1), 20)
    scores = compare(original, original.only(np.zeros(20, bool)))
    assert scores["share of records suppressed"].value == 1
    assert scores["mean accuracy of queries"].value == 0
    assert not any("attack" in name or "Kullback" in name for name in scores)
    nothing = original.only(np.zeros(20, bool))
    assert compare(nothing, nothing)["loss of labels (LM)"].value == 0


def test_a_description_counts_vertices_children_and_groups():
    facts = describe(two_diverse())
    assert (facts["records"], facts["vertices"], facts["labels"]) == (2, 10, 12)
    assert facts["course per student"]["mean"] == 2
    assert facts["labels of course.id that are groups"] == 2
    assert "labels of student.major that are groups" not in facts
    assert facts["records that look like no other"] == 0
    assert describe(two_students())["records that look like no other"] == 2

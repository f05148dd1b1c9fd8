"""The charts of nested records: what they draw, with and without a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from record_cases import course, draw_records, records, student, two_diverse, two_students

from hedgerow.charts import score_charts
from hedgerow.kind_registry import KINDS, Kind
from hedgerow.kinds.records.charts import charts
from hedgerow.kinds.records.criterion import LDiversity
from hedgerow.kinds.records.measures import controls, measure
from hedgerow.measures.comparison import Comparison


def titled(drawn):
    return {chart["title"]: chart["spec"] for chart in drawn}


def compared(original, released, monkeypatch):
    monkeypatch.setitem(KINDS, "records", Kind("records", "Records", "trees"))
    comparison = Comparison(original, released, LDiversity(l=2), {})
    scores = measure(comparison, controls(comparison), np.random.default_rng(1), queries=10)
    return titled(score_charts(scores, kind="records"))


def test_without_a_comparison_the_release_is_drawn_by_shape_level_and_class():
    drawn = titled(charts(two_diverse(), compared=False))
    rows = {title: spec["data"]["values"] for title, spec in drawn.items()}
    assert list(rows) == [
        "Vertices per record in the release",
        "Children of type teacher per course in the release",
        "Children of type assistant per course in the release",
        "Labels by level of generalisation: depth in the hierarchy",
        "Records by size of their class in the release",
    ]
    assert rows["Vertices per record in the release"][1] == {"type": "course", "vertices per record": 2}
    levels = {(row["name"], row["part"]): row["value"] for row in rows[list(rows)[3]]}
    assert levels["course.id", "value"] == levels["course.id", "depth 2"] == 0.5
    assert not any(part == "suppressed" for _, part in levels)
    assert rows[list(rows)[4]] == [{"records of the class": "2", "records": 2}]


def test_nothing_is_drawn_twice_and_nothing_of_an_empty_release():
    data = two_diverse()
    assert charts(data, compared=True) == []
    assert charts(data.only(np.zeros(2, bool)), compared=False) == []


def test_scores_are_drawn_beside_controls_before_and_after(monkeypatch):
    drawn = compared(two_students(), two_diverse(), monkeypatch)
    losses = drawn["Loss of labels (LM) by attribute (lower is better)"]["data"]["values"]
    assert {row["series"] for row in losses} == {"this release", "roots only", "everything suppressed"}
    values = {(row["at"], row["series"]): row["value"] for row in losses}
    assert values["student.born", "this release"] == pytest.approx(0.1)
    assert values["student.born", "roots only"] == 1
    parts = drawn["Loss of labels by generalisation and by suppression (lower is better)"]["data"]["values"]
    ours = {row["part"]: row["value"] for row in parts if row["name"] == "course.id"}
    assert ours == {"generalisation": pytest.approx(1 / 9), "suppression": pytest.approx(1 / 3)}
    levels = drawn["Labels by level of generalisation: depth in the hierarchy"]
    shown = levels["encoding"]["color"]["scale"]
    assert shown["domain"] == ["value", "depth 2", "depth 1", "suppressed"]
    assert (shown["range"][0], shown["range"][-1]) == ("#2a9d5c", "#d1495b")
    by_name = {}
    for row in levels["data"]["values"]:
        by_name[row["name"]] = by_name.get(row["name"], 0) + row["value"]
    assert list(by_name.values()) == pytest.approx([1] * 5)
    shapes = drawn["Vertices per published record, by type"]["data"]["values"]
    assert {(row["at"], row["series"]): row["value"] for row in shapes}["course", "original"] == 3


def test_an_empty_release_and_a_random_one_are_drawn(monkeypatch):
    data = draw_records(np.random.default_rng(1), 30)
    assert compared(data, data, monkeypatch)
    assert compared(data, data.only(np.zeros(30, bool)), monkeypatch)


def test_numbers_of_children_are_drawn_in_their_order():
    data = records(*(student(1990, 275, *[course("CS201", "A")] * number) for number in (2, 9, 10)))
    spec = titled(charts(data, compared=False))["Children of type course per student in the release"]
    assert [row["children of type course"] for row in spec["data"]["values"]] == [str(n) for n in range(2, 11)]
    assert spec["encoding"]["x"]["sort"] is None  # else 10 would be before 2

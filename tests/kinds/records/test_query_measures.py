"""Accuracy of queries on anatomised releases beside others, and the ten families on the synthetic students."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from project import ROOT
from query_oracle import grouping_of
from record_cases import draw_records

from hedgerow import Sets, query
from hedgerow.data import Source
from hedgerow.errors import ParameterError
from hedgerow.kinds.records.anatomy import FORMS, Grouping, publish_groups
from hedgerow.kinds.records.cases import EDGE_CASES, records_of
from hedgerow.kinds.records.data import VertexTable
from hedgerow.kinds.records.measures import keep_roots
from hedgerow.kinds.records.queries import measure_queries
from hedgerow.kinds.records.recoding import recode_parts

sys.path.insert(0, str(ROOT / "benchmarks"))
from query_families import FAMILIES, SETTINGS, draw_queries, measure_families
from recon import Recon, recon


def doubled(data, coins):
    """Each record twice, with labels of one and sensitive values of both: groups of two of equal shape."""
    trees = [tree for tree in data.trees() for _ in range(2)]
    again = type(data).from_trees(trees, data.schema, data.domain)
    orders = [coins.permutation(len(table)) for table in again.tables]
    tables = [
        VertexTable(table.parent, table.labels[order], table.sensitive[order])
        for table, order in zip(again.tables, orders, strict=True)
    ]
    return type(data)(again.domain, again.schema, tuple(tables))


def test_anatomised_releases_are_measured_beside_others():
    coins = np.random.default_rng(3)
    original = doubled(draw_records(coins, 100), coins)
    groups = grouping_of(original, [2] * 100)
    releases = {
        "": publish_groups(original, groups, "trees", coins),
        "vertices": publish_groups(original, groups, "vertices", coins),
        "roots only": keep_roots(original),
        "original": original,
    }
    scores = {score.name: score for score in measure_queries(original, releases, coins, queries=40)}
    by_labels = scores["mean accuracy of queries, a label"]
    assert by_labels.value == 1
    assert dict(by_labels.controls)["vertices"] == 1
    both = scores["mean accuracy of queries, both at one vertex"]
    assert 0.5 < both.value < 1
    assert both.value == pytest.approx(dict(both.controls)["vertices"], abs=0.03)
    every = scores["mean accuracy of queries"]
    assert dict(every.controls)["original"] == 1
    assert dict(every.controls)["roots only"] < every.value


def test_parts_take_the_codes_of_the_original():
    coins = np.random.default_rng(4)
    data = EDGE_CASES["alike but for sensitive values"]()
    inferred = type(data)(data.domain.with_source(Source.INFERRED), data.schema, data.tables)
    first = np.where(np.arange(4) < 2, 0, -1)
    grouping = Grouping(first, (first, first, np.zeros(0, np.int64)))
    for form in FORMS:
        parts = publish_groups(inferred, grouping, form, coins)
        narrow = parts["sensitive"].domain.axis("course.grade")
        assert len(narrow) < len(data.domain.axis("course.grade"))
        recoded = recode_parts(parts, data)
        for name in parts:
            assert recoded[name].trees() == parts[name].trees()
        assert recoded["sensitive"].domain.axis("course.grade") == data.domain.axis("course.grade")
        other = recon(Recon(records=1))
        with pytest.raises(ParameterError, match="different schemas"):
            recode_parts(parts, other)


def test_data_sets_and_releases_are_asked_alike():
    data = records_of([("student", ["CS", 1990], "2.1", [("course", ["CS201"], "A", [])] * 2)] * 3)
    assert query(data).estimate == 3
    assert query(data, ["course.grade = A"], count="course").estimate == 6
    with pytest.raises(ParameterError, match="where is a list of conditions"):
        query(data, "course.grade = A")
    with pytest.raises(ParameterError, match="sets cannot be queried by conditions yet; kinds that can: records"):
        query(Sets.from_records([["milk"]]), ["item = milk"])


def test_families_of_queries_on_few_students():
    data = recon(Recon(records=60))
    drawn = draw_queries(data, 5, seed=1)
    assert list(drawn) == list(FAMILIES)
    assert all(len(asked) == 5 and min(count for _, count in asked) >= 1 for asked in drawn.values())
    assert [len(pattern.nodes) for pattern, _ in drawn["F10 course, grade and title"]] == [3] * 5
    found = measure_families(data, {"itself": data, "roots": keep_roots(data)}, queries=5)
    assert set(found["itself"].values()) == {1.0}
    assert found["roots"]["F2 average"] == 1
    assert found["roots"]["F4 course"] == 0
    assert [setting[0] for setting in SETTINGS] == [2, 3, 4]

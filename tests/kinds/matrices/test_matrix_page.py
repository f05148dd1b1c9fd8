"""The charts of a matrix: heat maps before and after, attack bars, columns."""

from __future__ import annotations

import numpy as np

from hedgerow import Matrix, find_method
from hedgerow.charts import score_charts
from hedgerow.evaluate import attack, evaluate
from hedgerow.kinds.matrices.charts import charts
from hedgerow.privacy.distortion import Distortion
from hedgerow.report import report


def titled(drawn):
    return {chart["title"]: chart["spec"] for chart in drawn}


def released(rows=60):
    values = np.random.default_rng(2).integers(0, 20, (rows, 5)).astype(float)
    data = Matrix.from_rows(values, ids=range(1, rows + 1), columns=["age", "dose", "visits", "<em>", "score"])
    return data, find_method("svd")(rank=2).publish(data, Distortion(), seed=1)


def test_a_release_alone_is_drawn_by_its_own_numbers():
    _, release = released()
    drawn = titled(charts(release.data, compared=False))
    assert list(drawn) == [
        "Singular values of the release",
        "Numbers of the release, in standard deviations from the mean of their column",
    ]
    singular = [row["singular value"] for row in drawn["Singular values of the release"]["data"]["values"]]
    assert len(singular) == 5
    assert max(singular[2:]) < 1e-6 * singular[0]
    assert len(charts(release.data, compared=True)) == 1


def test_an_owner_sees_numbers_before_and_after_columns_and_attacks():
    data, release = released()
    scores = [*evaluate(release, data, seed=1), *attack(release, data, seed=1)]
    drawn = titled(score_charts(scores, kind="matrices"))
    assert list(drawn) == [
        "Numbers in standard deviations from the original mean: original",
        "Numbers in standard deviations from the original mean: this release",
        "Means of columns, in standard deviations from the original mean",
        "Standard deviations of columns, relative to the original",
        "Error of counts of rows within an eighth of a column, in parts of all rows (lower is better)",
        "Cells that attacks recover within 1 % (lower is better)",
        "Cells that attacks recover within 5 % (lower is better)",
    ]
    before, after = (spec["data"]["values"] for spec in list(drawn.values())[:2])
    assert len(before) == len(after) == 24 * 5
    assert before != after
    bars = drawn["Cells that attacks recover within 5 % (lower is better)"]["data"]["values"]
    assert {row["series"] for row in bars} == {
        "this release",
        "guess of column means",
        "release as it is",
        "rows of others (control)",
    }
    solved = {row["series"]: row["value"] for row in bars if row["at"] == "SVD reconstruction"}
    assert solved["this release"] > 0.9


def test_the_page_says_for_whom_it_is_and_escapes_names():
    data, release = released()
    public = report([("1. R", release)])
    assert "<em>" not in public
    assert "for the owner only" not in public.lower().split("<script")[0]
    owner = report([("1. R", release)], [attack(release, data, seed=1)])
    assert "attack, SVD reconstruction: cells within 1 %" in owner
    assert "for the owner only" in owner.lower()


def test_a_release_of_few_rows_is_drawn():
    data = Matrix.from_rows([[1.0, 2], [3, 9], [4, 4]])
    assert len(charts(data, compared=False)) == 2
    assert charts(Matrix.from_rows(np.empty((0, 2))), compared=False) == []

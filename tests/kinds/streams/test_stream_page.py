"""The charts of a stream: estimates over time with their half-width, and errors beside it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from hedgerow import PureDP, find_method
from hedgerow.charts import score_charts
from hedgerow.evaluate import evaluate
from hedgerow.kinds.streams.cases import stream_of
from hedgerow.kinds.streams.charts import charts, thin
from hedgerow.kinds.streams.data import Estimates, Rows, value_domain
from hedgerow.report import report

ALONE = "Estimates of the release, with their half-width"
ERRORS = "Error over time, beside the half-width (RMSE, lower is better)"
ESTIMATES = "Estimates over time, with their half-width"


def titled(drawn):
    return {chart["title"]: chart["spec"] for chart in drawn}


def estimates(*rows, of="means"):
    times, values, half_widths = zip(*rows, strict=True) if rows else ([], [], [])
    columns = Rows(np.array(times, np.int64), np.array(values, float), np.array(half_widths, float))
    return Estimates.from_rows(value_domain(), columns, of=of)


def released(events=3_000, every=10):
    data = stream_of([n % 7 % 2 for n in range(events)])
    return data, find_method("stream-count")(every=every).publish(data, PureDP(epsilon=1, unit="event"), seed=1)


def test_a_release_alone_is_drawn_with_its_half_width():
    drawn = titled(charts(estimates((5, 0.5, 0.1), (9, 0.25, 0.2), (12, 1, 0.5)), compared=False))
    assert list(drawn) == [ALONE]
    band, lines = drawn[ALONE]["layer"]
    assert band["mark"]["type"] == "area"
    ends = [(row["low"], row["high"]) for row in band["data"]["values"]]
    assert np.allclose(ends, [(0.4, 0.6), (0.05, 0.45), (0.5, 1.5)])
    points = drawn[ALONE]["data"]["values"]
    assert [(row["event"], row["value"], row["series"]) for row in points] == [
        (5, 0.5, "this release"),
        (9, 0.25, "this release"),
        (12, 1, "this release"),
    ]
    assert lines["mark"]["type"] == "line"
    assert charts(estimates((5, 0.5, 0.1)), compared=True) == []


def test_no_row_one_row_and_infinite_half_widths_are_drawn():
    assert charts(estimates(), compared=False) == []
    [one] = titled(charts(estimates((5, 0.5, 0.1)), compared=False)).values()
    assert one["layer"][0]["mark"]["type"] == "rule"
    [half] = titled(charts(estimates((1, 0, math.inf), (2, 0.5, 0.5)), compared=False)).values()
    assert [row["event"] for row in half["layer"][0]["data"]["values"]] == [2]
    [lines] = titled(charts(estimates((1, 0, math.inf)), compared=False)).values()
    assert len(lines["layer"]) == 1
    json.dumps([one, half, lines], allow_nan=False)


@pytest.mark.parametrize("size", [1, 500, 501, 1_000, 1_001, 12_345])
@pytest.mark.parametrize("block", [1, 77, 20_000])
def test_many_rows_are_thinned_evenly(size, block):
    every = Rows(np.arange(1, size + 1), np.arange(size) / 2, np.zeros(size))
    thinned = thin((every.take(slice(start, start + block)) for start in range(0, size, block)), 500)
    step = 1
    while -(-size // step) > 500:
        step *= 2
    wanted = sorted({*range(1, size + 1, step), size})
    assert thinned.times.tolist() == wanted
    assert np.array_equal(thinned.values, (thinned.times - 1) / 2)


def test_an_owner_sees_errors_beside_the_half_width_and_the_truth():
    data, release = released()
    scores = evaluate(release, data, seed=1)
    drawn = titled(score_charts(scores, kind="streams"))
    assert list(drawn) == [ERRORS, ESTIMATES]
    errors = drawn[ERRORS]["data"]["values"]
    assert {row["series"] for row in errors} == {"this release", "published half-width", "binary mechanism"}
    assert all(row["value"] > 0 for row in errors)
    assert max(row["event"] for row in errors) == 3_000
    widths = {row["value"] for row in errors if row["series"] == "published half-width"}
    half_width = float(release.data.all_rows().half_widths[0])
    # in the first of 38 groups it is more than the whole range of the first sums, which is shown instead
    assert widths == {half_width, float(np.minimum(half_width, np.arange(10, 90, 10)).mean())}
    points = drawn[ESTIMATES]["data"]["values"]
    truth = {row["event"]: row["value"] for row in points if row["series"] == "original"}
    assert truth[3_000] == sum(n % 7 % 2 for n in range(3_000))
    assert len(truth) == len(drawn[ESTIMATES]["layer"][0]["data"]["values"]) == 38


def test_errors_of_nothing_have_no_chart():
    data = stream_of([0, 1])
    _, release = released(2, 1)
    exact = replace(release, outputs={"": estimates((1, 0, 0), (2, 1, 0), of="sums")})
    scores = [score for score in evaluate(exact, data, seed=1) if score.chart]
    alone = [replace(score, controls=()) if score.name.startswith("RMSE") else score for score in scores]
    assert list(titled(score_charts(alone, kind="streams"))) == [ESTIMATES]


@pytest.mark.parametrize("at", ["", "x", "-1", "\u0665x", "9" * 30, "1e9"])
def test_a_changed_file_of_scores_is_drawn_without_what_has_no_time(at):
    data, release = released(40, 10)
    scores = [score for score in evaluate(release, data, seed=1) if score.chart]
    changed = [replace(scores[0], at=at), *scores[1:4], replace(scores[4], at=at, controls=()), *scores[5:]]
    drawn = titled(score_charts(changed, kind="streams"))
    for title in (ERRORS, ESTIMATES):
        assert {row["event"] for row in drawn[title]["data"]["values"]} == {20, 30, 40}
    gone = [replace(score, at=at) for score in scores]
    assert score_charts(gone, kind="streams") == []


def test_the_page_says_for_whom_it_is():
    data, release = released()
    public = report([("1. R", release)])
    assert "for the owner only" not in public.lower().split("<script")[0]
    assert ALONE in public
    owner = report([("1. R", release)], [evaluate(release, data, seed=1)])
    assert "for the owner only" in owner.lower()
    assert ERRORS in owner
    assert ALONE not in owner
    assert "share of estimates within their half-width" in owner


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_the_charts_are_drawn_in_a_browser(width, tmp_path):
    import shutil

    from playwright.sync_api import sync_playwright

    data, release = released()
    pages = {"owner": 3, "public": 2, "one": 2}
    (tmp_path / "owner.html").write_text(report([("R", release)], [evaluate(release, data, seed=1)]))
    (tmp_path / "public.html").write_text(report([("R", release)]))
    (tmp_path / "one.html").write_text(report([("R", released(2, 2)[1])]))
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "a browser is needed here: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, number in pages.items():
            page = browser.new_page(viewport={"width": width, "height": 900})
            said = []
            page.on("console", lambda message: said.append(message.text))  # noqa: B023
            page.on("pageerror", lambda error: said.append(str(error)))  # noqa: B023
            page.goto((tmp_path / f"{name}.html").as_uri())
            page.wait_for_function("document.body.dataset.drawn")
            assert page.locator(".plot svg").count() == number
            assert page.locator(".plot svg .mark-line path").count() >= number - 1
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert said == []
        browser.close()

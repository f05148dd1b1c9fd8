"""Visits with times: several at one time, from file to report, and measures as by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from terminal import run

from hedgerow import Domain, PureDP, Sequences, Trajectories, find_method, read
from hedgerow.errors import ParameterError, ReadError
from hedgerow.evaluate import evaluate
from hedgerow.formats.files import Ending
from hedgerow.kinds.sequences.measures import containment_scores
from hedgerow.kinds.trajectories.criterion import KCL
from hedgerow.kinds.trajectories.measures import as_sequences, measure_journeys
from hedgerow.measures.itemsets import ItemsetIndex
from hedgerow.releases.reader import open_folder
from hedgerow.releases.writer import Layout, write_folder

DOMAIN = Domain.declare(place=["a", "b", "c"], time=range(4))


def journeys(records):
    return Trajectories.from_records(records, domain=DOMAIN, several=True)


def values(scores):
    return {score.name: score.value for score in scores}


def test_several_visits_at_one_time_keep_their_order():
    data = journeys([[("b", 1), ("a", 1), ("b", 1), ("c", 0)], [("a", 2)], []])
    assert [visits for visits, _ in data.records()] == [
        (),
        (("a", 2),),
        (("c", 0), ("b", 1), ("a", 1), ("b", 1)),
    ]
    assert data.canonical().to_bytes() == data.canonical().canonical().to_bytes()
    assert len(data.without(0, unit="trajectory")) == 2
    assert as_sequences(data).distinct_records() == [(("a",), 1), (("c", "b", "a", "b"), 1)]
    kept = data.keep_visits(np.array([True, False, True, False, True]))
    assert kept.records()[-1][0] == (("c", 0), ("a", 1))
    assert data.narrowed().records() == data.records()


def test_kcl_needs_one_visit_at_a_time():
    with pytest.raises(ParameterError, match="one visit per record and time"):
        find_method("kcl")().publish(journeys([[("a", 1), ("b", 1)]]), KCL(k=1, l=1))


def test_a_release_with_several_visits_comes_back(tmp_path):
    data = journeys([[("b", 1), ("a", 1), ("c", 3)]] * 900 + [[("c", 0)]] * 300)
    release = find_method("continued-prefix-tree")(height=3).publish(data, PureDP(epsilon=4, unit="trajectory"), seed=1)
    for form in ("csv", "parquet"):
        folder = write_folder(release, tmp_path / form, Layout(form, Ending(form, "")))
        again, _ = open_folder(folder)
        assert again.data.records() == release.data.records()
        assert again.data.several


def test_files_with_several_visits_and_unknown_places(tmp_path):
    table = pl.DataFrame({"unit": [1, 1, 1, 2], "time": [1, 1, 0, 2], "place": ["b", "a", "c", "elsewhere"]})
    table.write_csv(tmp_path / "t.csv")

    def load(**options):
        return read(tmp_path / "t.csv", kind="trajectories", domain=DOMAIN, options=options)

    with pytest.raises(ReadError, match="a place is not in the domain"):
        load(collisions="keep")
    with pytest.raises(ParameterError, match="on_unknown must be"):
        load(on_unknown="x")
    data = load(collisions="keep", on_unknown="drop")
    assert [visits for visits, _ in data.records()] == [(), (("c", 0), ("b", 1), ("a", 1))]
    assert load(collisions="last", on_unknown="drop").records()[-1][0] == (("c", 0), ("a", 1))


@pytest.mark.parametrize("odd", ["noon", "", "1e3", "07.5", "2020-01-01T07:00:00"])
@pytest.mark.parametrize("options", [{}, {"bin": "2"}], ids=["plain", "binned"])
def test_one_odd_record_changes_no_other(tmp_path, odd, options):
    """What is read of others is the same, whatever somebody's times look like."""
    lines = ["unit,time,place", "1,07,a", "1,08,b", "2,1,c"]
    domain = Domain.declare(place=["a", "b", "c"], time=range(24))

    def load(rows):
        (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
        held = {"on_unknown": "drop", **options}
        return read(tmp_path / "t.csv", kind="trajectories", domain=domain, options=held)

    without = load(lines)
    assert len(without.records()[-1][0]) == 2
    place = "a" if odd else ""
    more = load([*lines, f"x,{odd},{place}"])
    assert more.without(2, unit="trajectory").to_bytes() == without.to_bytes()


def test_journeys_are_measured_as_by_hand():
    before = journeys([[("a", 0), ("b", 2)]] * 3 + [[("a", 1)]])
    after = journeys([[("a", 0), ("c", 1)]] * 2 + [[("b", 3), ("b", 3)]] * 2)
    found = values(measure_journeys(before, after, {}, np.random.default_rng(1), longest=3, queries=5))
    # three begin at 0 and one at 1; then two at 0 and two at 3
    assert found["total variation of times of first visits"] == 0.5
    # three end at 2 and one at 1; then two at 1 and two at 3
    assert found["total variation of times of last visits"] == 0.75
    # apart by 2 in three quarters and 0 in one; then by 1 in half and 0 in half
    assert found["total variation of durations"] == 0.75
    assert found["total variation of origin-destination pairs"] == 1
    assert found["total variation of times of visits"] == pytest.approx(
        (abs(3 / 7 - 2 / 8) + abs(1 / 7 - 2 / 8) + abs(3 / 7 - 0) + abs(0 - 4 / 8)) / 2
    )
    assert found["total variation of times and places of visits"] == pytest.approx(1 - min(3 / 7, 2 / 8))
    assert found["ratio of released to original sequences"] == 1
    same = values(measure_journeys(before, before, {}, np.random.default_rng(1), longest=3, queries=5))
    assert {n for name, n in same.items() if "variation" in name} == {0}


def test_sets_of_places_are_counted_whatever_their_order():
    domain = Domain.declare(item=["a", "b", "c"])
    data = Sequences.from_records(map(list, ["aba", "bab", "c", "cab"]), domain=domain)
    held = ItemsetIndex.of(data)
    assert held.supports([(0, 1), (2,), (0, 1, 2)]).tolist() == [3, 2, 1]
    nothing = Sequences.from_records([], domain=domain)
    rng = np.random.default_rng(1)
    scores = containment_scores(data, nothing, {"original": data}, rng)
    drawn = [score for score in scores if "10% to 100%" in score.name]
    assert [score.value for score in drawn] == [1]
    assert [dict(score.controls)["original"] for score in drawn] == [0]


def test_a_release_of_journeys_is_evaluated_beside_controls():
    rng = np.random.default_rng(2)
    domain = Domain.declare(place=list("abcdef"), time=range(6))
    records = []
    for _ in range(4_000):
        home, work = rng.integers(0, 6, 2).tolist()
        start, third = int(rng.integers(0, 3)), (home + 1) % 6
        records.append([("abcdef"[home], start), ("abcdef"[work], start + 1), ("abcdef"[third], start + 3)])
    data = Trajectories.from_records(records, domain=domain)
    release = find_method("continued-prefix-tree")(height=4).publish(data, PureDP(epsilon=4, unit="trajectory"), seed=1)
    scores = {score.name: score for score in evaluate(release, data, seed=1)}
    for what in ("durations", "origin-destination pairs", "times of visits"):
        score = scores[f"total variation of {what}"]
        controls = dict(score.controls)
        assert score.value < controls["first visits"]
        assert controls["original, cut at 4"] == 0
    assert scores["ratio of released to original sequences"].value == pytest.approx(1, abs=0.05)


def test_the_console_of_journeys(tmp_path):
    """From file to report: a declared domain, several visits an hour."""
    lines = ["unit,time,place"]
    for unit in range(2_000):
        lines += [f"{unit},{hour},{place}" for hour, place in ((7, "home"), (8, "bus"), (8, "work"))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "d.toml").write_text('[place]\nvalues = ["home", "bus", "work"]\n[time]\nlow = 0\nhigh = 23\n')
    for line in (
        "publish t.csv --kind trajectories --read collisions=keep --domain d.toml --method continued-prefix-tree --epsilon 1 --unit trajectory --set height=4 --out R",
        "verify R",
        "evaluate R --against t.csv --read collisions=keep --scores s.json",
        "report R --scores s.json --html p.html",
    ):
        ran = run(line, tmp_path)
        assert (ran.code, ran.err) == (0, ""), line
    page = (tmp_path / "p.html").read_text()
    assert "The most frequent origin-destination pairs" in page
    assert "keep" in (tmp_path / "R" / "release.json").read_text()

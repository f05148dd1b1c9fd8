"""AdaTrace's seven measures, as by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hedgerow import Domain, Trajectories
from hedgerow.data import Axis
from hedgerow.kinds.trajectories.adatrace_measures import Map, Traces, divergence, kendall_tau, map_scores
from hedgerow.kinds.trajectories.mobility import LabelledVisits, Spread

#: corners of a square of 6 degrees on the equator, and its middle; the cosine of the mean latitude is 1
POINTS = ((0, -3), (6, -3), (0, 3), (6, 3), (3.1, 0.1))
DOMAIN = Domain.declare(place=list("swneo"), time=range(9)).with_coordinates("place", POINTS)
BOX = Map.of(DOMAIN.axis("place"))


def visits(records):
    timed = [[(place, time) for time, place in enumerate(record)] for record in records]
    return LabelledVisits.of(Trajectories.from_records(timed, domain=DOMAIN), DOMAIN)


def traces(records):
    return Traces(visits(records), BOX)


def scores(before, after):
    rng = np.random.default_rng(1)
    listed = map_scores(DOMAIN.axis("place"), visits(before), visits(after), {"nothing": visits([])}, rng)
    return {score.name.removeprefix("AdaTrace, "): score for score in listed}


def test_the_map_is_that_of_the_public_places():
    assert BOX.cells(BOX.points, 6).tolist() == [0, 5, 30, 35, 3 * 6 + 3]
    assert BOX.cells(BOX.points, 2).tolist() == [0, 1, 2, 3, 3]
    tilted = Map.of(Axis(("a", "b"), coordinates=((0, 60), (10, 60))))
    assert tilted.points[1, 0] == pytest.approx(10 * math.cos(math.radians(60)))
    assert tilted.cells(tilted.points, 6).tolist() == [0, 5]  # a line has one row
    assert Map.of(Axis(("a", "b"), coordinates=((1, 1), (1, 1)))) is None
    assert Map.of(Axis(("a", "b"))) is None
    assert map_scores(Axis(("a", "b")), visits(["s"]), visits(["s"]), {}, np.random.default_rng(1)) == []


def test_discs_count_records_and_not_visits():
    data = traces(["swsw", "n", "", "eo"])
    centres = np.array([[0.0, -3.0], [3.0, 0.0], [0, 0]])
    assert data.counts_in(centres, np.array([1.0, 0.2, 100.0])).tolist() == [1, 1, 3]
    many = np.repeat(centres, 50, axis=0)
    assert data.counts_in(many, np.full(150, 1.0)).tolist() == [1] * 100 + [0] * 50
    assert traces([]).counts_in(centres, np.ones(3)).tolist() == [0, 0, 0]


def test_patterns_are_runs_of_cells_without_repeats():
    cells = dict(zip("swneo", BOX.cells(BOX.points, 6).tolist(), strict=True))

    def support(data, run):
        code = 0
        for place in run:
            code = code * 36 + cells[place]
        return int(data.patterns[code + (36**2 if len(run) == 3 else 0)])

    data = traces(["sswnn", "swsw", "s", "ww", "wn"])
    # the end of one record and the beginning of the next are no run
    runs = {"sw": 2, "wn": 2, "ws": 1, "swn": 1, "sws": 1, "wsw": 1, "ss": 0, "ns": 0, "sww": 0}
    assert {run: support(data, run) for run in runs} == runs
    assert data.patterns.sum() == 8


def test_lengths_of_ways():
    data = traces(["swe", "s", "ss", "se"])
    # by number of visits: one, two, two, three
    assert data.diameters == pytest.approx([0, 0, math.hypot(6, 6), math.hypot(6, 6)])
    assert data.distances == pytest.approx([0, 0, math.hypot(6, 6), 12])


def test_trips_and_coverage():
    data = traces(["sw", "sw", "o"])
    assert data.trips.sum() == 3
    assert data.trips[0 * 36 + 5] == 2
    assert data.trips[21 * 36 + 21] == 1
    assert data.coverage[[0, 14]].tolist() == [2, 2]


def test_divergence_and_tau_as_by_hand():
    p, q = np.array([3.0, 1.0]), np.array([1.0, 1.0])
    middle = [0.625, 0.375]
    one = 0.75 * math.log2(0.75 / middle[0]) + 0.25 * math.log2(0.25 / middle[1])
    other = 0.5 * math.log2(0.5 / middle[0]) + 0.5 * math.log2(0.5 / middle[1])
    assert divergence(p, q) == pytest.approx((one + other) / 2)
    assert divergence(np.zeros(2), q) == 1
    assert divergence(np.zeros(2), np.zeros(2)) == 0
    # of six pairs: five in the same order and one tied
    assert kendall_tau(np.array([1, 2, 3, 4]), np.array([1, 2, 2, 9])) == pytest.approx(5 / 6)
    assert kendall_tau(np.array([1, 2]), np.array([2, 1])) == -1
    assert kendall_tau(np.array([1]), np.array([5])) == 1


def test_the_original_is_perfect_and_nothing_is_not():
    records = ["swn", "swn", "se", "o", "oe"]
    same = scores(records, records)
    assert list(same) == [
        *("query error", "coverage (Kendall's tau)", "F1 of frequent patterns"),
        *("support error of frequent patterns", "trip error", "diameter error", "travel distance error"),
    ]
    # 5 cells: s 3, w 2, n 2, e 2, o 2: of ten pairs four are not tied
    assert [score.value for score in same.values()] == [0, 0.4, 1, 0, 0, 0, 0]
    nothing = {name: dict(score.controls)["nothing"] for name, score in same.items()}
    # most discs meet none of the five places
    assert nothing.pop("query error") > 0.1
    assert list(nothing.values()) == [0, 0, 1, 1, 1, 1]


def test_a_release_is_measured_as_by_hand():
    found = {name: score.value for name, score in scores(["sw", "sw", "sn", "o"], ["sw", "ee", "ee", "o"]).items()}
    # patterns sw 2, sn 1 against sw 1: one of two and of one
    assert found["F1 of frequent patterns"] == pytest.approx(2 / 3)
    assert found["support error of frequent patterns"] == pytest.approx((1 / 2 + 1) / 2)
    # half go 6 degrees and half go nowhere, then a quarter and three quarters
    trips = divergence(np.array([2.0, 1, 1, 0]), np.array([1.0, 0, 1, 2]))
    assert found["trip error"] == pytest.approx(trips)
    ways = divergence(np.array([1.0, 3]), np.array([3.0, 1]))
    assert found["diameter error"] == found["travel distance error"] == pytest.approx(ways)


def test_a_coarser_label_is_the_mean_of_its_places():
    regions = Spread(labels=2, values=5, rows=np.array([0, 0, 1]), columns=np.array([0, 1, 4]))
    starts = np.array([0, 2])
    data = LabelledVisits(starts, np.array([0, 1]), np.array([0, 1]), regions, Spread.exact(9))
    assert Traces(data, BOX).points == pytest.approx(np.array([[3, -3], [3.1, 0.1]]))

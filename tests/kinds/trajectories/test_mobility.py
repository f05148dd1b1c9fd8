"""Measures that all methods for trajectories share, as by hand; controls; coarser labels; the page."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hedgerow import KCL, Domain, PureDP, Trajectories, find_method
from hedgerow.data import Axis
from hedgerow.errors import ParameterError
from hedgerow.evaluate import evaluate
from hedgerow.kinds.trajectories.mobility import (
    Frame,
    LabelledVisits,
    Mobility,
    Spread,
    evaluation_regions,
    total_variation,
)
from hedgerow.kinds.trajectories.mobility_measures import compare_labels, compare_mobility
from hedgerow.report import report

DOMAIN = Domain.declare(place=["a", "b", "c"], time=range(6))


def trips(records, domain=DOMAIN, **more):
    return Trajectories.from_records(records, domain=domain, several=True, **more)


def compare(before, after, controls=None, longest=5):
    scores = compare_mobility(before, after, controls or {}, np.random.default_rng(1), longest=longest)
    return {score.name: score for score in scores}


def mobility(records):
    return Mobility(LabelledVisits.of(trips(records), DOMAIN), Frame.of(DOMAIN))


BEFORE = [[("a", 0), ("b", 2)]] * 3 + [[("a", 1)], []]
AFTER = [[("a", 0), ("c", 1)]] * 2 + [[("b", 3), ("b", 5)]] * 2


def test_distributions_as_by_hand():
    data = mobility(BEFORE)
    assert data.records == 4
    assert data.start_hours.tolist() == [0.75, 0.25, 0, 0, 0, 0]
    assert data.end_hours.tolist() == [0, 0.25, 0.75, 0, 0, 0]
    assert data.hours == pytest.approx([3 / 7, 1 / 7, 3 / 7, 0, 0, 0])
    assert data.places == pytest.approx([4 / 7, 3 / 7, 0])
    assert data.flows.toarray().tolist() == [[0.25, 0.75, 0], [0, 0, 0], [0, 0, 0]]
    assert data.transitions.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert data.durations.tolist() == [0.25, 0, 0.75, 0, 0, 0]
    assert data.lengths(5).tolist() == [0, 0.25, 0.75, 0, 0, 0]
    assert data.lengths(1).tolist() == [0, 1]
    assert data.share_of_trips() == 0.6  # the record without visits counts
    assert data.precision() == (1, 1)


def test_distances_as_by_hand():
    scores = {name: score.value for name, score in compare(trips(BEFORE), trips(AFTER)).items()}
    assert scores["total variation of times of first visits"] == 0.5
    assert scores["total variation of times of last visits"] == 0.75  # a quarter ends at 1 in both
    assert scores["total variation of origin-destination pairs"] == 1
    # 4/7, 3/7, 0 against 2/8, 4/8, 2/8
    assert scores["total variation of places of visits"] == pytest.approx(4 / 7 - 2 / 8)
    assert scores["total variation of transitions between places"] == 1
    assert scores["total variation of durations"] == pytest.approx(0.5)
    assert scores["total variation of numbers of visits, cut at 5"] == 0.25
    assert scores["share of records with two visits or more"] == 1
    assert scores["share of the 2 most frequent origin-destination pairs"] == 0
    # none of the drawn pairs is there: the error is 1 for each
    assert scores["mean relative error of origin-destination counts"] == 1


def test_the_original_is_at_no_distance_and_an_empty_release_at_the_largest():
    before = trips(BEFORE)
    scores = compare(before, before, {"empty release": before.truncated(0)})
    distances = [score for name, score in scores.items() if name.startswith("total variation")]
    assert len(distances) == 11
    for score in distances:
        assert (score.value, dict(score.controls)["empty release"]) == (0, 1), score.name
    assert scores["share of the 2 most frequent origin-destination pairs"].value == 1
    both_empty = compare(before.truncated(0), before.truncated(0))
    assert {score.value for name, score in both_empty.items() if "variation" in name} == {0}


def test_controls_keep_what_they_should_and_lose_the_rest():
    """Independent visits keep times and places and lose flows; shuffled times keep flows and starts."""
    records = [[("a", 0), ("b", 1)]] * 500 + [[("b", 3), ("a", 4), ("c", 5)]] * 500 + [[]] * 9
    scores = compare(trips(records), trips(records))
    of = {name: dict(score.controls) for name, score in scores.items()}
    for name in ("times of visits", "places of visits", "numbers of visits, cut at 5"):
        assert of[f"total variation of {name}"]["independent visits"] == 0
    assert of["total variation of origin-destination pairs"]["independent visits"] > 0.3
    for name in ("origin-destination pairs", "transitions between places", "times of first visits", "durations"):
        assert of[f"total variation of {name}"]["shuffled times"] == 0
    # records of one length are alike here, so even times and places are kept
    mixed = [[("a", 0), ("b", 1)]] * 500 + [[("b", 3), ("a", 4)]] * 500
    of = {name: dict(score.controls) for name, score in compare(trips(mixed), trips(mixed)).items()}
    assert of["total variation of times and places of visits"]["shuffled times"] > 0.3


def test_independent_visits_are_in_the_order_of_time():
    visits = LabelledVisits.of(trips([[("a", 0), ("b", 3), ("c", 5)]] * 50), DOMAIN).independent(
        np.random.default_rng(1)
    )
    assert (np.diff(visits.times.reshape(-1, 3)) >= 0).all()
    assert sorted(zip(visits.places, visits.times, strict=True)) == [(0, 0)] * 50 + [(1, 3)] * 50 + [(2, 5)] * 50


# ---- labels that stand for several places or times


def coarse_labels() -> LabelledVisits:
    """Two records: (a or b, hours 0 to 2) then (c, hour 5); and (anywhere, any time)."""
    regions = Spread(labels=3, values=3, rows=np.array([0, 0, 1, 2, 2, 2]), columns=np.array([0, 1, 2, 0, 1, 2]))
    bins = Spread(
        labels=3, values=6, rows=np.array([0] * 3 + [1] + [2] * 6), columns=np.array([0, 1, 2, 5, 0, 1, 2, 3, 4, 5])
    )
    return LabelledVisits(np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([0, 1, 2]), regions, bins)


def test_coarser_labels_are_spread_evenly():
    data = Mobility(coarse_labels(), Frame.of(DOMAIN))
    sixth, third = 1 / 6, 1 / 3
    assert data.start_hours == pytest.approx([(third + sixth) / 2] * 3 + [sixth / 2] * 3)
    assert data.places == pytest.approx([(0.5 + 0 + third) / 3, (0.5 + 0 + third) / 3, (0 + 1 + third) / 3])
    # the first record goes from a or b to c; the second may go from anywhere to anywhere, since it is one visit
    once = 1 / 18
    expected = [[once, once, 0.25 + once], [once, once, 0.25 + once], [once, once, once]]
    assert data.flows.toarray() == pytest.approx(np.array(expected))
    # 5 - 0, 1 or 2; and the second: six in 36 pairs apart by 0, 21 with those that the order leaves open
    assert data.durations == pytest.approx([21 / 72, 5 / 72, 4 / 72, 1 / 6 + 3 / 72, 1 / 6 + 2 / 72, 1 / 6 + 1 / 72])
    assert data.precision() == (
        pytest.approx((1 - math.log(2) / math.log(3) + 1 + 0) / 3),
        pytest.approx((1 - math.log(3) / math.log(6) + 1 + 0) / 3),
    )


def test_precision_is_told_only_where_labels_are_coarser():
    before = trips(BEFORE)
    rng = np.random.default_rng(1)
    named = {score.name for score in compare_labels(before, coarse_labels(), {}, rng, longest=5)}
    assert {"mean precision of places", "mean precision of times"} <= named
    assert not {name for name in compare(before, before) if "precision" in name}


def test_a_release_over_fewer_values_is_compared_by_their_names():
    before = trips([[("b", 2), ("c", 4)]] * 2)
    scores = compare(before, before.narrowed())
    assert {score.value for name, score in scores.items() if "variation" in name} == {0}
    other = Trajectories.from_records([[("elsewhere", 2)]])
    with pytest.raises(ParameterError, match="the release has visits that are not in the data"):
        compare(before, other)


def test_dates_are_compared_by_their_hour():
    times = ["2024-05-01T08:00:00", "2024-05-02T08:00:00", "2024-05-02T23:00:00"]
    domain = Domain.declare(place=["a"], time=times)
    before = trips([[("a", times[0])], [("a", times[2])]], domain)
    after = trips([[("a", times[1])], [("a", times[2])]], domain)
    assert compare(before, after)["total variation of times of first visits"].value == 0
    assert Frame.of(domain).parts.tolist() == [2, 2, 5]


def test_many_places_are_compared_by_region():
    names = tuple(f"p{number}" for number in range(8))
    points = tuple((2 + 0.001 * (number % 2), 48.0 + number // 2) for number in range(8))
    assert evaluation_regions(Axis(names, coordinates=points)).called == "places"
    cells = evaluation_regions(Axis(names, coordinates=points), most=4)
    assert (cells.of_place.tolist(), cells.called) == ([0, 0, 1, 1, 2, 2, 3, 3], "cells of 0.005 degrees")
    assert cells.names == ("48,2", "49,2", "50,2", "51,2")
    halves = evaluation_regions(Axis(names, coordinates=points), most=2)
    assert len(halves.names) <= 2
    paths = tuple(("north" if number < 4 else "south", f"d{number // 2}") for number in range(8))
    groups = evaluation_regions(Axis(names, paths, points), most=4)
    assert (groups.of_place.tolist(), groups.names[1]) == ([0, 0, 1, 1, 2, 2, 3, 3], "north/d1")
    assert evaluation_regions(Axis(names, paths), most=2).names == ("north", "south")
    assert evaluation_regions(Axis(names), most=2).called == "places"


def test_total_variation_of_nothing():
    assert total_variation(np.zeros(2), np.zeros(2)) == 0
    assert total_variation(np.zeros(2), np.array([0.5, 0.5])) == 1


# ---- from a release to the page


@pytest.mark.parametrize(
    ("method", "promise"), [("prefix-tree", PureDP(epsilon=4, unit="trajectory")), ("kcl", KCL(k=5, l=2))]
)
def test_every_method_is_measured_alike_and_the_page_shows_the_day_first(method, promise):
    rng = np.random.default_rng(2)
    places, hours = rng.integers(0, 3, (600, 2)), np.sort(rng.integers(0, 6, (600, 2)), axis=1)
    records = [
        [("abc"[place], int(hour)) for place, hour in zip(*both, strict=True)]
        for both in zip(places.tolist(), hours.tolist(), strict=True)
    ]
    records = [[first, second] if first[1] < second[1] else [first] for first, second in records]
    data = Trajectories.from_records(records, domain=DOMAIN)
    release = find_method(method)().publish(data, promise, seed=1)
    scores = evaluate(release, data, seed=1)
    shared = {score.name: dict(score.controls) for score in scores if not score.chart}
    for name in ("times of first visits", "times of last visits", "origin-destination pairs", "durations"):
        assert {"independent visits", "shuffled times", "empty release"} <= set(shared[f"total variation of {name}"])
    charts = list(dict.fromkeys(score.chart for score in scores if score.chart))
    assert charts[:4] == [
        "records by time of first visit",
        "records by time of last visit",
        "visits by time",
        "the most frequent origin-destination pairs",
    ]
    page = report([("r", release)], [scores])
    assert page.index("Records by time of first visit") < page.index("The most frequent origin-destination pairs")
    alone = report([("r", release)])
    assert (
        alone.index("Visits, starts and ends by time") < alone.index("Largest flows") < alone.index("Visits by place")
    )

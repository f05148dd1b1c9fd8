"""Trip synthesis: small cases computed by hand, noise off."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from trip_cases import exact_answers, published, trips_of

from hedgerow.data import Axis
from hedgerow.errors import DomainError
from hedgerow.kinds.trajectories.methods.trip_synthesis.draw import Trips, bridge_times, look_ahead
from hedgerow.kinds.trajectories.methods.trip_synthesis.model import (
    Closeness,
    Noisy,
    PlaceMargins,
    closeness_by_coordinates,
    correct_cells,
    count_departures,
    fit_ends,
    fit_steps,
    fit_times,
    group_by_weight,
    length_classes,
    most_inner_visits,
    shrink_by_size,
    simplex,
)
from hedgerow.kinds.trajectories.methods.trip_synthesis.publisher import SCALE
from hedgerow.numerics.sampling import draw_systematically
from hedgerow.numerics.shrinkage import shrink_cells
from hedgerow.numerics.visit_classes import duration_classes
from hedgerow.privacy import samplers

COMMUTER = "A7 B8 B17 A18"


def coins():
    return samplers.coins((5, 0))


# ---- tools


@pytest.mark.parametrize(
    ("noisy", "total", "expected"),
    [([5, -1, 2], 6, [4.5, 0, 1.5]), ([5, 3, 0, -4], 4, [3, 1, 0, 0]), ([1, 1], 6, [3, 3]), ([7, 1], -1, [0, 0])],
)
def test_projection_to_a_total(noisy, total, expected):
    assert simplex(np.array(noisy, float), total).tolist() == expected


@pytest.mark.parametrize(("cards", "expected"), [(8, [0, 0, 0, 1, 3, 3, 3, 3]), (4, [0, 1, 3, 3])])
def test_decks_are_dealt_systematically(cards, expected):
    assert draw_systematically(np.array([2.5, 1.5, 0, 4]), cards, 0.25).tolist() == expected


def test_no_card_without_weight_is_dealt_however_sums_are_rounded():
    assert draw_systematically(np.array([0.1, 0.2, 0.3, 0.0]), 3, 1 - 1e-16).max() <= 2


@pytest.mark.parametrize(
    ("weight", "most", "expected"),
    [
        ([8, 1, 1, 1, 1, 4], 4, [0, 1, 1, 1, 1, 2]),
        ([3, 1, 1, 1], 2, [0, 1, 1, 1]),
        ([0, 0, 0, 0], 2, [0, 0, 1, 1]),
        ([0, 5], 3, [0, 1]),
    ],
)
def test_groups_of_about_equal_weight(weight, most, expected):
    assert group_by_weight(np.array(weight, float), np.arange(len(weight)), most).tolist() == expected


def test_groups_follow_an_order():
    assert group_by_weight(np.array([1.0, 4, 1, 4]), np.array([0, 2, 1, 3]), 2).tolist() == [0, 0, 0, 1]


def test_shrinkage_towards_a_model():
    alike = np.full(4, 5.0)
    assert shrink_cells(np.array([6.0, 4, 5, 5]), alike, 2).values.tolist() == [5, 5, 5, 5]
    both = shrink_cells(np.array([30.0, 10, 20, 20]), np.full(4, 20.0), 1)
    assert both.values.tolist() == [30, 10, 20, 20]
    assert both.known.tolist() == [True, True, False, False]
    by_size = shrink_by_size(np.array([30.0, 10, 20, 20, 1]), np.array([20.0, 20, 20, 20, 0.5]), 1)
    assert by_size.values.tolist() == [30, 10, 20, 20, 0.5]


def test_shrinkage_weighs_the_error_of_the_model_against_the_noise():
    """Two cells off by 4, noise of variance 2: the error is (32 - 4) / 2 per cell, so they move by 14 / 16 of 4."""
    moved = shrink_cells(np.array([104.0, 96]), np.full(2, 100.0), 1)
    assert moved.known.tolist() == [True, True]  # 4 > ln 2 + 1
    slightly = shrink_cells(np.array([103.0, 97]), np.full(2, 100.0), 2)  # 3 < 2 (ln 2 + 1); error (18 - 16) / 2 = 1
    np.testing.assert_allclose(slightly.values, [100 + 3 / 9, 100 - 3 / 9])


def test_shrinkage_survives_cells_of_any_size():
    model = np.array([0.0, 1e-310, 1e-200, 1e-3, 1, 1e100])
    for noisy in (model, model + 1, np.zeros(6)):
        shrunk = shrink_by_size(noisy, model, 0.5).values
        assert np.isfinite(shrunk).all()
        assert (shrunk >= 0).all()


def test_classes_of_lengths():
    assert length_classes(20)[1:].tolist() == [-1, -1, 0, 0, 1, 1, 1, 1, *[2] * 8, *[3] * 4]
    assert most_inner_visits(8).tolist() == [2, 6]
    assert [len(most_inner_visits(longest)) for longest in (4, 8, 16, 32, 60)] == [1, 2, 3, 4, 5]
    assert most_inner_visits(60)[-1] == 58


def test_departures_weigh_one_per_record():
    """Ten records of 3 visits have two steps of a half, six of 5 four of a quarter; 4 have one or two visits."""
    lengths = np.array([1.0, 3, 10, 0, 6])
    first, inner = np.array([20.0, 0]), np.array([[0.0, 10], [9, 9]])
    # 10 / 2 + 6 / 4 of the first visits; of inner visits (10 * 1/2) of 10, and (6 * 3 / 4) of 18
    np.testing.assert_allclose(count_departures(lengths, first, inner), [6.5 + 2.25, 5 + 2.25])
    assert count_departures(np.zeros(5), first, inner).tolist() == [0, 0]


def test_classes_of_gaps():
    assert duration_classes(24).tolist() == [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 8, *[9] * 8]
    assert np.flatnonzero(np.diff(duration_classes(96))).tolist() == [0, 1, 2, 3, 4, 7, 11, 19, 27, 35, 43, 51, 63]
    assert duration_classes(1).tolist() == [0]


def test_steps_of_round_trips_are_not_modelled_by_their_ends():
    """All records end where they start; their steps go anywhere, and the answers say so."""
    places, number = 4, 1200.0
    margin, truth = np.full(places, number / places), np.full((places, places), number / places**2)
    closeness = np.array([number / places, number * (1 - 1 / places)])
    ends = np.diag(margin) + np.array([[0.0, 5, 0, 0], [0, 0, 5, 0], [0, 0, 0, 5], [5, 0, 0, 0]])
    classes = 1 - np.eye(places, dtype=np.int64)
    fitted = fit_steps(margin, margin, ends, closeness, classes, Noisy(truth.ravel(), 40.0, 0.025))
    # of a mixture with nine parts of the ends, a tenth would be evenly spread
    assert np.abs(fitted - truth).sum() / 2 < 0.2 * number
    flows = truth + 70 * (np.eye(places)[[1, 2, 3, 0]] - np.eye(places)[[2, 3, 0, 1]])
    fitted = fit_steps(margin, margin, flows, closeness, classes, Noisy(flows.ravel(), 100.0, 0.01))
    assert np.abs(fitted - flows).sum() / 2 < 0.05 * number


# ---- noisy answers that exclude each other: none of them is replaced by a profile that nobody answered


@pytest.mark.parametrize("single", [None, 4.0])
def test_first_times_are_kept_if_all_noisy_last_times_are_earlier(single):
    first, last = np.array([0.0, 0, 9, 1]), np.array([10.0, 0, 0, 0])
    classes = duration_classes(4)[np.maximum(0, np.arange(4) - np.arange(4)[:, None])]
    gaps, blocks = Noisy(np.array([5.0, 5, 0, 0]), 2.0, 0.5), (np.zeros(4, np.int64), Noisy(np.array([10.0]), 2.0, 0.5))
    fitted = fit_times(first, last, gaps, classes, lambda _: blocks, single=single)
    np.testing.assert_allclose(fitted.sum(axis=1), first)
    assert not np.tril(fitted, -1).any()


def test_first_and_last_places_are_kept_if_the_distances_contradict_them():
    first, last = np.array([10.0, 0]), np.array([0.0, 10])
    margins, nothing = PlaceMargins(first, first, last, np.zeros((0, 2))), Noisy(np.zeros(4), 40.0, 0.025)
    fitted = fit_ends(margins, np.array([10.0, 0]), 1 - np.eye(2, dtype=np.int64), nothing)
    np.testing.assert_allclose(fitted, np.outer(first, last) / 10)


def test_the_model_is_kept_if_all_single_cells_shrink_to_nothing():
    margin, model = np.full(2, 20.0), np.full((2, 2), 10.0)
    assert correct_cells(model, margin, margin, Noisy(np.full(4, -20.0), 13.0, 0.1)).tolist() == model.tolist()


# ---- closeness


def test_closeness_by_coordinates():
    line = np.array([[0.0, 0], [1, 0], [2, 0], [4, 0], [8, 0]])
    assert closeness_by_coordinates(line)[0].tolist() == [0, 1, 4, 7, 9]
    assert closeness_by_coordinates(np.zeros((3, 2))).tolist() == (1 - np.eye(3)).tolist()
    twice = closeness_by_coordinates(np.array([[0.0, 0], [0, 0], [5, 0]]))
    assert twice[0].tolist() == [0, 1, 9]
    assert closeness_by_coordinates(np.zeros((1, 2))).tolist() == [[0]]


def test_where_closeness_comes_from():
    names, paths, points = ("a", "b", "c"), (("x",), ("y",), ("x",)), ((0.0, 60.0), (2.0, 60.0), (0.0, 61.5))
    both = Axis(names, paths, points)
    declared = Closeness.of(both, "declared")
    assert declared.classes.tolist() == [[0, 2, 1], [2, 0, 2], [1, 2, 0]]
    assert declared.ordered(np.ones(3)).tolist() == [0, 2, 1]
    by_points = Closeness.of(both, "auto").classes
    # a degree of longitude is half as long in the north: b is closer to a than c is
    assert by_points[0, 1] < by_points[0, 2]
    assert by_points.tolist() == Closeness.of(both, "coordinates").classes.tolist()
    nothing = Closeness.of(both, "none")
    assert nothing.classes.tolist() == (1 - np.eye(3)).tolist()
    assert nothing.ordered(np.array([1.0, 3, 3])).tolist() == [1, 2, 0]
    assert Closeness.of(Axis(names, paths), "auto").classes.tolist() == declared.classes.tolist()


@pytest.mark.parametrize(("source", "what"), [("coordinates", "no coordinates"), ("declared", "no declared paths")])
def test_closeness_that_is_not_declared_is_refused(source, what):
    with pytest.raises(DomainError, match=f"the places have {what}; declare them, or take closeness=auto"):
        Closeness.of(Axis(("a", "b")), source)


def test_close_places_are_next_to_each_other():
    square = tuple((float(x), float(y)) for x in range(4) for y in range(4))
    order = Closeness.of(Axis(tuple("abcdefghijklmnop"), (), square), "auto").ordered(np.ones(16))
    quarters = [
        {(int(square[place][0] // 2), int(square[place][1] // 2)) for place in order[at : at + 4]}
        for at in (0, 4, 8, 12)
    ]
    assert [len(quarter) for quarter in quarters] == [1, 1, 1, 1]


# ---- one record in all questions


def test_a_record_of_four_visits():
    exact = exact_answers(trips_of([COMMUTER]), l_max=8)
    assert exact["lengths"].tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert np.flatnonzero(exact["first times"]).tolist() == [7]
    assert np.flatnonzero(exact["last times"]).tolist() == [18]
    assert np.flatnonzero(exact["durations"]).tolist() == [7]
    assert np.flatnonzero(exact["origin-destination pairs"]).tolist() == [0]
    assert exact["lengths and distances"].reshape(8, -1)[3].tolist() == [1, 0]
    assert exact["lengths and durations"].reshape(8, -1)[3, 7] == 1
    assert exact["inner places"].reshape(2, 4).tolist() == [[0, SCALE, 0, 0], [0] * 4]
    inner = exact["inner times"].reshape(2, 24)[0]
    assert {hour: int(inner[hour]) for hour in np.flatnonzero(inner)} == {8: 13_860, 17: 13_860}
    # new, stay, seen
    assert exact["types of steps"].reshape(4, 4).tolist() == [
        [0, 0, 0, 9240],
        [9240, 0, 0, 0],
        [0, 0, 9240, 0],
        [0] * 4,
    ]
    steps = exact["steps"].reshape(4, 4)
    assert steps[0, 1] == steps[1, 1] == 9240
    assert steps.sum() == 2 * 9240
    assert exact["distances of steps"].tolist() == [9240, 9240]
    gaps = exact["times and gaps of steps"].reshape(-1, 10).sum(axis=0)
    assert {kind: int(gaps[kind]) for kind in np.flatnonzero(gaps)} == {1: 18_480, 6: 9240}


def test_a_long_record_is_cut_before_anything_is_counted():
    exact = exact_answers(trips_of(["A0 B1 A2 B3 A4 B5 A6 B7 C8 C9"]), l_max=8)
    assert exact["lengths"].tolist() == [0] * 7 + [1]
    assert np.flatnonzero(exact["first times"]).tolist() == [0]
    assert np.flatnonzero(exact["last times"]).tolist() == [7]
    assert np.flatnonzero(exact["origin-destination pairs"]).tolist() == [1]
    assert exact["inner places"].reshape(2, 4)[1].tolist() == [13_860, 13_860, 0, 0]
    types = exact["types of steps"].reshape(4, 4)
    assert (types // 3960).tolist() == [[0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0], [0, 4, 0, 0]]
    assert exact["steps"].sum() == 3960


def test_eighteen_questions_or_twelve():
    assert len(exact_answers(trips_of([COMMUTER]), l_max=8)) == 18
    assert len(exact_answers(trips_of([COMMUTER]), l_max=2)) == 12
    assert len(exact_answers(trips_of([COMMUTER]), l_max=1)) == 12


# ---- bridges


@pytest.mark.parametrize(("tilt", "expected"), [((1, 1, 1), (0.25, 0.25, 0.5)), ((1, 4, 1), (1 / 7, 4 / 7, 2 / 7))])
def test_a_bridge_of_three_visits(tilt, expected):
    """5,000 bridges: each part within 5 standard deviations, a false alarm in fewer than 2 of a million runs."""
    kernel = np.array([[0.5, 0.25, 0.25], [0, 0.5, 0.5], [0, 0, 1]])
    number = 5_000
    still = np.zeros(number, np.int64)
    trips = Trips(still + 3, still, still + 2, still, still)
    ahead = look_ahead(kernel, np.array(tilt), 1)
    times = bridge_times(trips, 3, kernel * np.array(tilt), ahead, 0, coins())
    part = np.bincount(times[:, 1], minlength=3) / number
    assert (times[:, 0] == 0).all()
    assert (times[:, 2] == 2).all()
    assert np.all(np.abs(part - expected) < 5 * np.sqrt(np.array(expected) * (1 - np.array(expected)) / number))


# ---- whole releases, noise off


def visits_of(data):
    return Counter(" ".join(f"{place}{time}" for place, time in visits) for visits, _ in data.records())


@pytest.mark.parametrize("several", [True, False])
def test_equal_trips_come_back(several):
    data = trips_of(["A7 B8"] * 1000, several=several)
    assert visits_of(published(data, l_max=4)) == {"A7 B8": 1000}


@pytest.mark.parametrize("several", [True, False])
def test_commuters_come_back(several):
    released = visits_of(published(trips_of([COMMUTER] * 1000, several=several), l_max=4))
    assert released.total() == 1000
    assert all(record.startswith("A7 ") and record.endswith(" A18") for record in released)
    assert (
        sum(n for record, n in released.items() if [visit[1:] for visit in record.split()] == ["7", "8", "17", "18"])
        >= 990
    )
    assert released[COMMUTER] >= 750


@pytest.mark.parametrize("several", [True, False])
def test_two_kinds_of_records_come_back(several):
    released = visits_of(published(trips_of(["A7"] * 600 + ["B9 C17"] * 400, several=several), l_max=4))
    assert released.total() == 1000
    assert released["A7"] + released["B9 C17"] >= 850

"""Trip synthesis: what its parts give each other, how close coupling comes, and the steps that bridges take."""

from __future__ import annotations

import numpy as np
import pytest
from trip_cases import asked, published, total_variation, trips_of

from hedgerow.kinds.trajectories.methods.trip_synthesis import draw as trip_bridges
from hedgerow.kinds.trajectories.methods.trip_synthesis import model as trip_model
from hedgerow.kinds.trajectories.methods.trip_synthesis import publisher
from hedgerow.kinds.trajectories.methods.trip_synthesis.draw import (
    Tilts,
    Trips,
    calibrate,
    couple,
    walk,
)
from hedgerow.kinds.trajectories.methods.trip_synthesis.model import (
    CrossTables,
    Kernels,
    Noisy,
    PlaceKernel,
    TripModel,
    place_margins,
)
from hedgerow.kinds.trajectories.methods.trip_synthesis.publisher import SCALE
from hedgerow.numerics.visit_classes import duration_classes
from hedgerow.privacy import samplers

PLACES = 5


def given_to(monkeypatch, name: str) -> list[tuple]:
    """What the publisher gives to one of its parts, call by call."""
    calls, part = [], getattr(publisher, name)

    def spy(*given, **named):
        calls.append(given)
        return part(*given, **named)

    monkeypatch.setattr(publisher, name, spy)
    return calls


def test_the_noise_of_inner_visits_is_in_visits(monkeypatch):
    calls = given_to(monkeypatch, "place_margins")
    data = trips_of(["A1 B2 B3 C4"] * 3 + ["A1 D2 D3 D4 D5 D6 D7 A8"])
    published(data)
    (share,) = [question.shares.fractions()[0] for question in asked(data) if question.label == "inner places"]
    short, long = calls[0][2]
    assert short.values.tolist() == [0, 6, 0, 0]
    assert long.values.tolist() == [0, 0, 0, 6]
    for answer, most in ((short, 2), (long, 6)):
        assert answer.scale == pytest.approx(SCALE / (SCALE // most) / float(share))


def test_steps_start_at_first_and_inner_places_and_end_at_inner_and_last_ones(monkeypatch):
    calls = given_to(monkeypatch, "fit_steps")
    published(trips_of(["A1 B2 C3"] * 1000), epsilon="10")
    rows, columns = calls[0][:2]
    np.testing.assert_allclose(rows, [500, 500, 0, 0], atol=1)
    np.testing.assert_allclose(columns, [0, 500, 500, 0], atol=1)


@pytest.mark.parametrize("seed", range(3))
def test_where_times_increase_as_many_records_take_no_time_as_have_one_visit(monkeypatch, seed):
    calls = given_to(monkeypatch, "couple")
    draw = np.random.default_rng(seed)
    records = [f"A{hour}" for hour in draw.integers(0, 24, 1500)]
    records += [f"A{hour} B{hour + more}" for hour, more in draw.integers(1, 8, (1500, 2))]
    published(trips_of(records, several=False), seed=seed)
    (model, _) = calls[0]
    assert np.trace(model.times) == pytest.approx(model.lengths[0], rel=0.01)


def test_where_times_increase_hardly_any_record_is_shortened(monkeypatch):
    """Of 12,000 records; 80 and more if records of one visit, or what is impossible, are left to chance."""
    calls, moved = given_to(monkeypatch, "couple"), 0.0
    for seed in range(4):
        draw = np.random.default_rng(seed)
        records = [f"A{hour}" for hour in draw.integers(0, 24, 1000)]
        for size, start in zip(draw.integers(2, 6, 2000), draw.integers(0, 10, 2000), strict=True):
            hours = np.sort(draw.choice(np.arange(start, start + 10), size, replace=False))
            records.append(" ".join(f"{'ABCD'[draw.integers(4)]}{hour}" for hour in hours))
        released = published(trips_of(records, several=False), seed=seed, l_max=6)
        lengths = np.bincount(np.diff(released.starts), minlength=7)[1:]
        moved += float(np.abs(lengths - calls[-1][0].lengths).sum() / 2)
    assert moved < 30


def test_popularity_weighs_answers_by_their_visits_and_noise():
    """Weights 10, 10 and 20 / 4 of answers about 10, 10 and 20 visits: 125 and 175 of 300."""
    first, last = Noisy(np.array([10.0, 0]), 1.0, 1.0), Noisy(np.array([0.0, 10]), 1.0, 1.0)
    inner = Noisy(np.array([5.0, 15]), 2.0, 0.5)
    margins = place_margins(first, last, [inner], 10.0, np.array([20.0]))
    np.testing.assert_allclose(margins.popularity, [125 / 300, 175 / 300])


# ---- coupling


def far_from_targets(monkeypatch, seed: int) -> float:
    """The total variation of (first time, first place) from its target, of 20,000 records whose tables disagree."""
    draw, number, times, places = np.random.default_rng(seed), 20_000, 12, 4
    made, tables = [], trip_bridges._Cards.tables
    monkeypatch.setattr(trip_bridges._Cards, "tables", lambda *given: made.append(tables(*given)) or made[-1])
    weights = [draw.random(5), np.triu(draw.random((times, times))), draw.random((places, places))]
    gaps = duration_classes(times)[np.maximum(np.arange(times) - np.arange(times)[:, None], 0)]
    sizes = (5 * (int(gaps.max()) + 1), 10, times * places, times * places)
    noisy = [Noisy(draw.integers(-200, 2400, size).astype(float), 2.0, 0.5) for size in sizes]
    each = [np.arange(size) for size in (times, times, places, places)]
    model = TripModel(
        *(number * weight / weight.sum() for weight in weights),
        *noisy[:2],
        CrossTables(*noisy[2:], *each),
        gaps,
        1 - np.eye(places, dtype=np.int64),
        0,
    )
    trips = couple(model, samplers.coins((seed, 0)))
    cells = np.bincount(trips.first_time * places + trips.first_place, minlength=times * places)
    monkeypatch.setattr(trip_bridges._Cards, "tables", tables)
    return total_variation(cells, made[0][2].target.ravel())


def test_factors_are_fitted_while_cards_are_exchanged(monkeypatch):
    fitted = sum(far_from_targets(monkeypatch, seed) for seed in range(6))
    monkeypatch.setattr(trip_bridges._Coupling, "refit", lambda *_: None)
    assert fitted < 0.75 * sum(far_from_targets(monkeypatch, seed) for seed in range(6))


# ---- types of steps


def test_places_where_many_stay():
    """All of 100 steps stay at the first place, none of 50 at the second: two of three in all, as three more steps."""
    types = np.zeros((4, 4))
    types[0, trip_bridges.STAY], types[0, trip_bridges.NEW] = 100, 50
    kernel = trip_model.place_kernel(types, np.array([[100.0, 0], [50, 0]]))
    np.testing.assert_allclose(kernel.stay, [102 / 103 * 1.5, 2 / 53 * 1.5], rtol=1e-6)


def walked(types: list[int], length: int, number: int = 400) -> np.ndarray:
    """Places of records from place 0 to place 0, if all steps of each number are of one type."""
    anywhere = (1 - np.eye(PLACES)) / (PLACES - 1)
    kernel = PlaceKernel(np.eye(4)[types], anywhere, np.ones(PLACES), np.full((PLACES, PLACES), 1 / PLACES))
    still = np.zeros(number, np.int64)
    trips = Trips(still + length, still, still, still, still)
    ahead = [np.ones((PLACES, PLACES))] * length, [np.ones((1, 1))] * length
    tilts = Tilts(np.ones(PLACES), np.ones(1), *ahead)
    return walk(trips, Kernels(kernel, np.ones((1, 1)), 0), tilts, samplers.coins((7, 0)))[1]


def test_going_back_is_to_the_visit_before():
    places = walked([trip_bridges.NEW, *[trip_bridges.BACK] * 3], 6)
    assert (places[:, 1] != places[:, 0]).all()
    assert (places[:, 2] == places[:, 0]).all()
    assert (places[:, 3] == places[:, 1]).all()
    assert (places[:, 4] == places[:, 0]).all()


def test_each_step_has_the_type_of_its_number():
    """A place is kept in at most 97 of 100 steps: of 400, 360 and fewer are kept in less than 1 of a million runs."""
    new, stay = trip_bridges.NEW, trip_bridges.STAY
    places = walked([new, stay, new, stay], 6)
    kept = (places[:, 1:5] == places[:, :4]).sum(axis=0)
    assert kept[[0, 2]].tolist() == [0, 0]
    assert (kept[[1, 3]] > 360).all()


def test_places_seen_are_those_before_the_last_two():
    places = walked([trip_bridges.NEW, trip_bridges.NEW, trip_bridges.SEEN, trip_bridges.SEEN], 6)
    assert (places[:, 3] == places[:, 0]).all()
    assert ((places[:, 4] == places[:, 0]) | (places[:, 4] == places[:, 1])).all()
    assert 0 < np.count_nonzero(places[:, 4] == places[:, 0]) < len(places)


# ---- calibration


def test_the_times_of_the_best_round_are_taken_and_places_are_corrected(monkeypatch):
    """The second round has the wanted times, all others do not; all walks miss the wanted place."""
    tilts, number = [], 10
    still = np.zeros(number, np.int64)

    def scripted(trips, _kernels, given, _coins):
        tilts.append(given.time)
        middle = 1 if len(tilts) == 2 else 2
        return np.column_stack((still, still + middle, still + 2)), np.zeros((len(trips.length), 3), np.int64)

    monkeypatch.setattr(trip_bridges, "walk", scripted)
    kernel = PlaceKernel(np.eye(4), np.zeros((2, 2)), np.ones(2), np.ones((2, 2)))
    kernels = Kernels(kernel, np.triu(np.ones((3, 3))), 0)
    trips = Trips(still + 3, still, still + 2, still, still)
    best = calibrate(trips, kernels, np.array([0.0, 10]), np.array([0.0, 10, 0]), samplers.coins((1, 0)))
    assert len(tilts) > 3
    assert best.time.tolist() == tilts[1].tolist()
    assert best.time.tolist() != tilts[-1].tolist()
    assert best.place[0] < 1 < best.place[1]

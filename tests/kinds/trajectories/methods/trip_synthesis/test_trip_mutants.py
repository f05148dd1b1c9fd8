"""Planted bugs of trip synthesis: each is the shipped code with one place changed, and is caught by a law."""

from __future__ import annotations

import numpy as np
import pytest
import test_trip_vectors as vectors
from trip_cases import PEAKS, TRIP, asked, largest_error, published, start_hours, total_variation, trips_of

from hedgerow import Domain, PureDP, Trajectories, TripSynthesis
from hedgerow.errors import GuaranteeError
from hedgerow.frontiers import FirstAndLast, ListSize, StepType
from hedgerow.kinds.trajectories.methods.trip_synthesis import draw as trip_bridges
from hedgerow.kinds.trajectories.methods.trip_synthesis import model, publisher
from hedgerow.kinds.trajectories.methods.trip_synthesis.model import Closeness, Noisy
from hedgerow.kinds.trajectories.methods.trip_synthesis.publisher import Questions
from hedgerow.testing import changed, check_replay, mutant

LOSES = "loses .* between neighbours"


# ---- privacy: caught by the replay law


def replayed(records, epsilon="1", method=TripSynthesis, l_max=8, **shape):
    """Replay the data without its last record, with several seeds."""
    data = trips_of(records, **shape)
    promise = PureDP(epsilon=epsilon, unit="trajectory")
    for seed in range(5):
        check_replay(method(l_max=l_max), data, data.without(len(data) - 1, unit="trajectory"), promise, seed)


LONG_LAST = ["A1 B2", "C3", "A4 A5 D6", "B2 C3 D4 A5 B6 C7"]
UNEVEN = ["A0"] * 10 + ["B0"] * 10 + ["C0"] * 6 + ["D0"] * 5 + ["A0"]


def test_the_data_of_these_tests_passes_without_a_bug():
    replayed(LONG_LAST)
    replayed(UNEVEN, "6", times=1, l_max=1)


def data_dependent_closeness(data):
    """Classes of distances cut by the places that occur."""
    points = np.array(data.domain.axis("place").coordinates)
    seen = np.unique(data.pairs % len(points))
    classes = model.closeness_by_coordinates(points)
    classes[np.ix_(seen, seen)] = model.closeness_by_coordinates(points[seen])
    return Closeness(classes, np.arange(len(points)))


LEAKS = {
    "the exact number of records": (publisher, "ask_lengths", "max(0, int(noisy.sum()))", "int(exact.sum())"),
    "shares by exact lengths": (
        *(TripSynthesis, "run", "share_out(ledger.budget, lengths)"),
        "share_out(ledger.budget, np.bincount(np.diff(data.starts), minlength=9)[1:].astype(np.float64))",
    ),
}


@pytest.mark.parametrize("bug", LEAKS)
def test_leaks_of_questions_are_caught(bug):
    with changed(*LEAKS[bug]):
        with pytest.raises(GuaranteeError):
            replayed(LONG_LAST)


HEAVY = {
    "every inner visit weighs all": lambda _: np.full(2, 27_720),
    "weights by the longest record": lambda self: (
        27_720 // np.full(2, max(1, int(self._records.count(ListSize(np.arange(9))).codes.max(initial=3)) - 2))
    ),
}


@pytest.mark.parametrize("bug", HEAVY)
def test_inner_visits_that_weigh_too_much_are_caught(bug, monkeypatch):
    monkeypatch.setattr(Questions, "_visit_weight", property(HEAVY[bug]))
    with pytest.raises(GuaranteeError):
        replayed(LONG_LAST)


def test_steps_that_weigh_one_each_are_caught(monkeypatch):
    monkeypatch.setattr(Questions, "_step_weight", property(lambda self: np.full(self.longest - 2, 27_720)))
    with pytest.raises(GuaranteeError):
        replayed(LONG_LAST)


def test_groups_of_exact_popularity_are_caught():
    old = "weight = [ends.sum(axis=axis) for axis in (1, 0)]"
    new = "weight = [self._count(ends=by(np.arange(self._places))).astype(np.float64) for by in (_by_first, _by_last)]"
    with changed(Questions, "cross_tables", old, new), pytest.raises(GuaranteeError):
        replayed(UNEVEN, "6", times=1, l_max=1)


def test_places_seen_in_other_records_are_caught():
    with changed(StepType, "encode", "np.flatnonzero(index >= back)", "np.flatnonzero(rows.at >= back)"):
        data = trips_of(["A0 B1 C2 D3", "D0 C1 B2 A3", "B3 D4 A5"] * 3)
        with pytest.raises(GuaranteeError):
            for index in range(len(data)):
                check_replay(TripSynthesis(), data, data.without(index, unit="trajectory"), TRIP, 1)


def test_closeness_of_visited_places_is_caught():
    old = 'Closeness.of(data.domain.axis("place"), self.closeness)'
    broken = mutant(TripSynthesis, old, "look(data)", look=data_dependent_closeness)
    points = ((0.0, 0.0), (0.1, 0.0), (1.0, 0.0), (50.0, 0.0))
    with pytest.raises(GuaranteeError):
        replayed(["A1 B2", "A1 C2", "B1 C2", "A3 A4 D5"], method=broken, coordinates=points)


# ---- counts: caught by the vectors


def test_lengths_before_cutting_are_caught():
    broken = mutant(TripSynthesis, "data.positions(longest)", "data.positions(10**6)")
    with changed(TripSynthesis, "run", "data.positions(longest)", "data.positions(10**6)"):
        with pytest.raises(AssertionError):
            vectors.test_a_long_record_is_cut_before_anything_is_counted()
    data = trips_of(["A0 B1 A2 B3 A4 B5 A6 B7 C8 C9", "A1"])
    with pytest.raises(GuaranteeError, match=LOSES):
        check_replay(broken(), data, data.without(0, unit="trajectory"), TRIP, 1)


def test_steps_that_weigh_less_than_they_may_are_caught(monkeypatch):
    lighter = property(lambda self: 27_720 // np.arange(3, self.longest + 1))
    monkeypatch.setattr(Questions, "_step_weight", lighter)
    with pytest.raises(AssertionError):
        vectors.test_a_record_of_four_visits()


def test_near_places_that_count_as_one_are_caught():
    old, new = "1 + np.searchsorted(bounds, distance)", "np.searchsorted(bounds, distance)"
    test = vectors.test_closeness_by_coordinates
    with changed(model, "closeness_by_coordinates", old, new):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(test.__globals__, "closeness_by_coordinates", model.closeness_by_coordinates)
            with pytest.raises(AssertionError):
                test()


def test_last_times_in_place_of_first_ones_are_caught():
    with changed(FirstAndLast, "encode", "self.times[first_time, last_time]", "self.times[last_time, first_time]"):
        with pytest.raises(AssertionError):
            vectors.test_a_record_of_four_visits()


# ---- utility: what the shipped code reaches, and the mutant does not


def errors_of_joint(number=4000, seed=0):
    """The total variation of (start hour, first place), of data in which each place has hours of its own."""
    draw = np.random.default_rng(4)
    place, late = draw.integers(0, 4, number), draw.integers(0, 3, number)
    records = [f"{'ABCD'[p]}{5 * p + x} {'BCDA'[p]}{5 * p + x + 3}" for p, x in zip(place, late, strict=True)]
    data = trips_of(records)
    released = published(data, seed=seed)
    return total_variation(*(np.bincount(some.pairs[some.starts[:-1]], minlength=96) for some in (released, data)))


def test_places_have_their_hours():
    assert errors_of_joint() < 0.1


def test_exchanges_that_are_always_accepted_are_caught():
    old, new = "np.exp(np.minimum(gain, 0.0))", "2.0 + gain * 0"
    with changed(trip_bridges._Cards, "exchange", old, new):
        assert errors_of_joint() > 0.1


def errors_of_margins(coupling) -> float:
    """How far the target of a noisy table is from the margins of the decks, relative to the number of records."""
    draw = np.random.default_rng(3)
    state = np.zeros((9, 2000), np.int32)
    state[0], state[1] = draw.integers(0, 4, 2000), draw.integers(0, 6, 2000) ** 2 // 5
    noisy = Noisy(draw.normal(80, 60, 24), 40.0, 0.02)
    target = coupling.of(noisy, (0, 1), state, np.ones((4, 6), np.bool_)).target
    return float(np.abs(target.sum(axis=1) - np.bincount(state[0], minlength=4)).sum() / 2000)


def test_tables_that_are_not_fitted_to_the_decks_are_caught():
    old = "fit_margins(np.where(possible, shrunk + _LITTLE * model, 0.0), ours, theirs, rounds=_ROUNDS)"
    assert errors_of_margins(trip_bridges._Coupling) < 0.001
    broken = mutant(trip_bridges._Coupling, old, "np.where(possible, shrunk + _LITTLE * model, 0.0)")
    assert errors_of_margins(broken) > 0.01


ROUNDS = ["A1 B3 C5 D7", "B2 C4 D6 A8", "C3 D5 A7 B9", "D4 A6 B8 C10"]


def errors_of_steps(seed=0):
    """The total variation of the last steps of a round trip: it goes A, B, C, D, A ..."""
    data = trips_of(ROUNDS * 1000)
    released = published(data, seed=seed)
    last = released.starts[1:] - 1
    kept = np.diff(released.starts) > 1
    step = 4 * (released.pairs[last - 1] % 4) + released.pairs[last] % 4
    truth = np.zeros(16)
    truth[[1, 6, 11, 12]] = 1
    return total_variation(np.bincount(step[kept], minlength=16), truth)


def test_last_steps_are_like_the_others():
    assert errors_of_steps() < 0.1


def test_a_bridge_without_look_ahead_is_caught():
    old, new = "self.ahead[length - 2 - visit])", "np.ones_like(self.ahead[0]))"
    with changed(trip_bridges._PlaceWalk, "places", old, new):
        assert errors_of_steps() > 0.1


def inner_time_errors(monkeypatch):
    """The total variation of inner times in the first round of calibration, and in the best one."""
    seen = []
    original = trip_bridges._inner

    def spy(table, length, states):
        counts = original(table, length, states)
        if states == 24:
            seen.append(counts)
        return counts

    monkeypatch.setattr(trip_bridges, "_inner", spy)
    draw = np.random.default_rng(1)
    records = []
    for _ in range(3000):
        inner = np.sort(draw.choice(np.arange(24), 6, p=np.where(np.arange(24) % 6 == 3, 0.2, 0.01), replace=False))
        records.append(" ".join(f"{'ABCD'[draw.integers(4)]}{hour}" for hour in (0, *inner[1:-1], 23)))
    data = trips_of(records)
    published(data, epsilon="1000")
    wanted = np.bincount(data.pairs // 4, minlength=24).astype(float)
    wanted[[0, 23]] = 0
    errors = [total_variation(counts, wanted) for counts in seen]
    return errors[0], min(errors)


def test_calibration_comes_closer_to_the_inner_times(monkeypatch):
    first, best = inner_time_errors(monkeypatch)
    assert best < 0.12 * first


def test_tilts_that_are_normalised_away_are_caught(monkeypatch):
    old = "tilted = kernel * tilt"
    with changed(
        trip_bridges, "look_ahead", old, f"{old}\n    tilted = tilted * ratio(1.0, tilted.sum(axis=1))[:, None]"
    ):
        first, best = inner_time_errors(monkeypatch)
    assert best > 0.12 * first


def known_cell() -> tuple[float, float]:
    """How many trips within one place are released, of 1,000, in the mean of 4 runs; and the scale of the noise.

    The place has many other trips, from and to 79 places each; none of these pairs is frequent.
    """
    draw, places, others = np.random.default_rng(1), 80, 4000
    first, last = draw.integers(1, places, others), draw.integers(1, places, 2000)
    ends = np.zeros((others + 2500, 2), np.int64)
    ends[:others, 0], ends[2000:others, 1], ends[-1500:, 1] = first, last, draw.integers(1, places, 1500)
    number = len(ends)
    data = Trajectories.from_columns(
        records=number,
        row=np.repeat(np.arange(number), 2),
        time=np.tile([0, 1], number),
        place=ends.ravel(),
        sensitive={},
        domain=Domain.declare(place=range(places), time=range(2)),
    )
    cells = []
    for seed in range(4):
        released = published(data, epsilon="0.25", seed=seed, l_max=2)
        first, last = (released.pairs[at] % places for at in (released.starts[:-1], released.starts[1:] - 1))
        cells.append(np.count_nonzero((first == 0) & (last == 0)))
    (share,) = [q.shares.fractions()[0] for q in asked(data, 0, "0.25", l_max=2) if q.label == PAIRS]
    return float(np.mean(cells)), 1 / float(share)


PAIRS = "origin-destination pairs"


def test_known_cells_keep_their_answers():
    """The mean of four answers: within three scales, which is more than four of its standard deviations."""
    number, scale = known_cell()
    assert abs(number - 1000) < 3 * scale


def test_known_cells_that_are_scaled_are_caught():
    old = "shrunk = shrink_by_size(cells.values.reshape(model.shape), model, cells.scale)"
    new = old + "._replace(known=np.zeros(model.shape, np.bool_))"
    with changed(model, "correct_cells", old, new):
        number, scale = known_cell()
    assert abs(number - 1000) > 3 * scale


def test_uniform_start_times_are_caught():
    old = "(simplex(noisy.values, number) for noisy in (ask.first_times(), ask.last_times()))"
    new = "(np.full(times, number / times) for _ in (ask.first_times(), ask.last_times()))"
    data = trips_of(PEAKS["two peaks"])
    (share,) = [q.shares.fractions()[0] for q in asked(data, 1) if q.label == "first times"]
    released = mutant(TripSynthesis, old, new)().publish(data, TRIP, seed=1).data
    assert total_variation(start_hours(released), start_hours(data)) > largest_error(data, share)

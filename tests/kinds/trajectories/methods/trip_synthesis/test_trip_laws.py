"""Laws of trip synthesis: budget, replays, valid records, decks, start hours, awkward data."""

from __future__ import annotations

import itertools
import os
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import ROOT
from trip_cases import (
    PEAKS,
    TRIP,
    asked,
    largest_error,
    published,
    random_trips,
    start_hours,
    total_variation,
    trips_of,
)

from hedgerow import Domain, PureDP, Trajectories, TripSynthesis
from hedgerow.audit import Recorder
from hedgerow.errors import ParameterError
from hedgerow.kinds.trajectories.methods.trip_synthesis import publisher
from hedgerow.kinds.trajectories.methods.trip_synthesis.draw import Trips, couple
from hedgerow.kinds.trajectories.methods.trip_synthesis.model import CrossTables, Noisy, TripModel
from hedgerow.kinds.trajectories.methods.trip_synthesis.publisher import SCALE, inner_share
from hedgerow.numerics.sampling import draw_systematically
from hedgerow.numerics.visit_classes import duration_classes
from hedgerow.privacy import NoisyAnswers, samplers
from hedgerow.publisher import publish_with
from hedgerow.testing import check_replay

small = st.fixed_dictionaries(
    {
        "number": st.integers(1, 12),
        "seed": st.integers(0, 10**6),
        "places": st.integers(1, 5),
        "times": st.integers(1, 26),
        "most": st.integers(0, 20),
        "several": st.booleans(),
        "coordinates": st.booleans(),
        "paths": st.booleans(),
    }
)


# ---- budget and replays


def shares_of(questions) -> Fraction:
    return sum((question.shares.fractions()[0] for question in questions), Fraction(0))


@pytest.mark.parametrize("l_max", [1, 2, 3, 8, 20, 60])
@pytest.mark.parametrize("epsilon", ["1", "0.37"])
def test_all_of_the_budget_is_spent_and_not_more(l_max, epsilon):
    for seed in range(3):
        questions = asked(random_trips(20, seed, most=9), seed, epsilon, l_max=l_max)
        assert shares_of(questions) == Fraction(epsilon)
        assert len(questions) == (18 if l_max > 2 else 12)


def test_the_part_of_inner_questions():
    assert inner_share(np.ones(2)) == 0
    assert inner_share(np.zeros(3)) == Fraction(10, 100)
    assert inner_share(np.array([5.0, 0, 0])) == Fraction(10, 100)
    assert inner_share(np.array([0.0, 0, 9])) == Fraction(27, 100)  # 0.8 / 3
    assert inner_share(np.eye(60)[59]) == Fraction(50, 100)


@pytest.mark.slow
@given(case=small, l_max=st.integers(1, 14), epsilon=st.sampled_from(["0.1", "1", "30"]), seed=st.integers(0, 999))
@settings(max_examples=12)
def test_neighbours_are_replayed(case, l_max, epsilon, seed):
    data = random_trips(**case)
    for unit in ("trajectory", "person"):
        promise = PureDP(epsilon=epsilon, unit=unit)
        neighbour = data.neighbour(seed % data.count_neighbours(unit), unit=unit)
        check_replay(TripSynthesis(l_max=l_max), data, neighbour, promise, seed)


def test_a_record_that_weighs_all_it_may_loses_all_of_epsilon():
    data = trips_of(["A1 B2 C3 D4"] * 5 + ["A7", "B8"], times=24)
    assert check_replay(TripSynthesis(l_max=4), data, data.without(4, unit="trajectory"), TRIP, 3).loss == 1


@pytest.mark.parametrize("l_max", [1, 2, 3, 4])
def test_no_record_moves_a_question_by_more_than_its_sensitivity(l_max, monkeypatch):
    """All records of up to five visits over two places and two times, one at a time: each question reaches its L1."""
    nothing = Trips(*(np.zeros(0, np.int64) for _ in Trips._fields))
    monkeypatch.setattr(publisher, "couple", lambda *_: nothing)  # only the questions matter
    largest = Counter()
    for size in range(1, 6):
        for hours in itertools.combinations_with_replacement((0, 1), size):
            for places in itertools.product("AB", repeat=size):
                record = " ".join(f"{place}{hour}" for place, hour in zip(places, hours, strict=True))
                for question in asked(trips_of([record], places=2, times=2), l_max=l_max):
                    moved = int(np.abs(question.exact).sum())
                    assert moved <= question.mechanism.l1
                    largest[question.label] = max(largest[question.label], moved)
    assert all(moved in {1, SCALE} for moved in largest.values())
    assert sum(moved == SCALE for moved in largest.values()) == (6 if l_max > 2 else 0)


def test_records_without_visits_are_in_no_question():
    data = trips_of(["", "A1 B2", ""])
    other = trips_of(["A1 B2"])
    assert check_replay(TripSynthesis(), data, other, TRIP, 1, within=Fraction(0)).loss == 0


# ---- what is released


def require_valid(released: Trajectories, longest: int) -> None:
    sizes = np.diff(released.starts)
    assert not len(sizes) or (sizes.min() >= 1 and sizes.max() <= longest)
    hours = released.pairs // released.domain.size("place")
    inside = np.ones(len(hours), np.bool_)
    inside[released.starts[:-1][sizes > 0]] = False
    gap = np.diff(hours, prepend=0)[inside]
    assert not len(gap) or gap.min() >= (0 if released.several else 1)


@given(case=small, l_max=st.integers(1, 14), epsilon=st.sampled_from(["0.2", "1", "1000"]), seed=st.integers(0, 999))
@settings(max_examples=60)
def test_records_are_valid_and_as_many_as_the_noisy_lengths_say(case, l_max, epsilon, seed):
    """Awkward data of all sorts; warnings are errors here, so nothing is divided by 0."""
    data = random_trips(**case)
    recorder = Recorder(NoisyAnswers(seed))
    promise = PureDP(epsilon=epsilon, unit="trajectory")
    released = publish_with(TripSynthesis(l_max=l_max), data, promise, recorder).data
    noisy = next(answer for question, answer in recorder.transcript if question.label == "lengths")
    assert len(released) == max(0, int(noisy.sum()))
    require_valid(released, min(l_max, case["times"]) if not case["several"] else l_max)


@pytest.mark.parametrize("records", [[], ["A0"], ["A0 B0"] * 3, ["A0 A0 A0 A0"] * 9], ids=str)
@pytest.mark.parametrize(("places", "times"), [(2, 1), (8, 1), (2, 24), (2, 96)])
def test_awkward_data(records, places, times):
    for l_max, seed in itertools.product((1, 2, 8), (1, 2)):
        data = trips_of(records, places=places, times=times)
        require_valid(published(data, seed=seed, l_max=l_max), l_max)
        require_valid(published(data, l_max=l_max), l_max)


def model_of(draw: np.random.Generator, *, gap: int) -> TripModel:
    """A random model of 500 records over 4 places and 12 times."""
    times, places, lengths = 12, 4, 5
    weights = [draw.random(shape) for shape in (lengths, (times, times), (places, places))]
    weights[1] = np.triu(weights[1])
    scaled = [500 * weight / weight.sum() for weight in weights]
    apart = np.arange(times) - np.arange(times)[:, None]
    gaps, close = duration_classes(times)[np.maximum(apart, 0)], 1 - np.eye(places, dtype=np.int64)
    noisy = [
        Noisy(draw.integers(-5, 60, shape).astype(float).ravel(), 2.0, 0.5)
        for shape in ((lengths, int(gaps.max()) + 1), (lengths, 2), (times, places), (times, places))
    ]
    cross = CrossTables(noisy[2], noisy[3], np.arange(times), np.arange(times), np.arange(places), np.arange(places))
    return TripModel(*scaled, noisy[0], noisy[1], cross, gaps, close, gap)


@pytest.mark.parametrize("seed", range(5))
def test_decks_are_kept_whatever_the_coupling_does(seed):
    model = model_of(np.random.default_rng(seed), gap=0)
    trips = couple(model, samplers.coins((seed, 0)))
    moves = trips.length > 1
    for deck, first, last in (
        (model.times, trips.first_time, trips.last_time),
        (model.ends, trips.first_place, trips.last_place),
    ):
        cards = np.bincount(first[moves] * len(deck) + last[moves], minlength=deck.size).reshape(deck.shape)
        assert np.all(cards <= np.ceil(deck))
    lengths = np.bincount(trips.length - 1, minlength=len(model.lengths))
    assert np.all(np.abs(lengths - model.lengths) < 1)
    assert (trips.first_time[~moves] == trips.last_time[~moves]).all()
    assert (trips.first_place[~moves] == trips.last_place[~moves]).all()


@pytest.mark.parametrize("seed", range(5))
def test_where_times_increase_every_record_has_time_for_its_visits(seed):
    trips = couple(model_of(np.random.default_rng(seed), gap=1), samplers.coins((seed, 0)))
    assert (trips.last_time - trips.first_time >= trips.length - 1).all()


def test_cells_are_dealt_their_expectation_rounded_up_or_down():
    weight = np.random.default_rng(2).random(40)
    expected = 100 * weight / weight.sum()
    counts = np.bincount(draw_systematically(weight, 100, 0.3), minlength=40)
    assert np.all(np.abs(counts - expected) < 1)
    assert counts.sum() == 100


def test_names_of_places_and_the_order_of_records_do_not_matter():
    points = ((0.0, 0.0), (1.0, 0.2), (0.3, 2.0), (3.0, 3.1))
    swapped = dict(zip("ABCD", "CADB", strict=True))
    places = ["ABCD".index(swapped[name]) for name in "ABCD"]
    records = ["A1 B2 C3", "B5 D7", "A0", "C2 C4 D6 A9"] * 40
    renamed = ["".join(swapped.get(letter, letter) for letter in record) for record in reversed(records)]
    one = {q.label: q.exact for q in asked(trips_of(records, coordinates=points))}
    moved = tuple(points[places.index(at)] for at in range(4))
    other = {q.label: q.exact for q in asked(trips_of(renamed, coordinates=moved))}
    by_place = {"first places": 1, "last places": 1, "origin-destination pairs": 2, "steps": 2}
    for label, exact in one.items():
        if label == "inner places":
            assert other[label].reshape(2, 4)[:, places].tolist() == exact.reshape(2, 4).tolist()
        elif label in by_place:
            table = other[label].reshape((4,) * by_place[label])
            assert table[np.ix_(*[places] * by_place[label])].ravel().tolist() == exact.tolist()
        else:
            assert other[label].tolist() == exact.tolist(), label


# ---- start hours


@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("name", PEAKS)
def test_start_hours_are_as_good_as_their_noise(name, several):
    # where times increase, no record is at two places at 23
    data = trips_of([record for record in PEAKS[name] if several or record != "A23 B23"], several=several)
    truth = start_hours(data)
    for seed in range(3):
        (share,) = [q.shares.fractions()[0] for q in asked(data, seed) if q.label == "first times"]
        released = published(data, seed=seed)
        assert total_variation(start_hours(released), truth) <= largest_error(data, share)


@pytest.mark.parametrize("control", ["uniform day", "another hour"])
def test_a_profile_without_support_is_noticed(control):
    """The same bound refuses the faults it is for: all hours alike, or all records in one hour."""
    data = trips_of(PEAKS["two peaks"])
    wrong = np.ones(24) if control == "uniform day" else np.eye(24)[6]
    (share,) = [q.shares.fractions()[0] for q in asked(data, 1) if q.label == "first times"]
    assert total_variation(wrong, start_hours(data)) > largest_error(data, share)


def test_without_noise_ends_and_times_are_those_of_the_original():
    data = random_trips(400, 3, places=4, times=12, most=8)
    released = published(data, epsilon="100000")
    assert total_variation(start_hours(released), start_hours(data)) < 0.005
    ends = [Counter((visits[0], visits[-1]) for visits, _ in some.records() if visits) for some in (data, released)]
    places = [Counter() for _ in ends]
    for count, table in zip(ends, places, strict=True):
        for (first, last), many in count.items():
            table[first[0], last[0]] += many
    assert sum(abs(places[0][pair] - places[1][pair]) for pair in set(places[0]) | set(places[1])) <= 24


@pytest.mark.slow
def test_smart_cards_at_epsilon_1():
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from trip_data import sube

    data = sube(Path(folder))
    line = data.domain.axis("place").codes["32"]

    def same_line(some):
        ends = np.column_stack((some.pairs[some.starts[:-1]], some.pairs[some.starts[1:] - 1])) % some.domain.size(
            "place"
        )
        return int(np.count_nonzero((ends == line).all(axis=1)))

    for seed in (100, 101, 102):
        released = TripSynthesis().publish(data, TRIP, seed=seed).data
        assert total_variation(start_hours(released), start_hours(data)) < 0.05
        assert abs(same_line(released) / same_line(data) - 1) < 0.1


# ---- refusals


@pytest.mark.parametrize(("axis", "sizes"), [("place", (2001, 3)), ("time", (3, 2001))])
def test_too_many_places_or_times_are_refused_before_anything_is_asked(axis, sizes):
    data = Trajectories.from_records([], domain=Domain.declare(place=range(sizes[0]), time=range(sizes[1])))
    with pytest.raises(
        ParameterError, match=f"counts all pairs of {axis}s, so there may be 2,000 of them; declare coa"
    ):
        TripSynthesis().publish(data, TRIP)


def test_noise_that_makes_millions_of_records_is_refused():
    with pytest.raises(ParameterError, match="noise alone may produce about 2e"):
        TripSynthesis().publish(trips_of(["A1"]), PureDP(epsilon="0.000005", unit="trajectory"))

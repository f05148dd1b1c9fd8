"""Visits with times: what is asked about times, what is drawn from it, and what is said."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project import ROOT

from hedgerow import Domain, PureDP, Sequences, Trajectories
from hedgerow.audit import release_bytes
from hedgerow.formats.files import Ending
from hedgerow.frontiers import Duration
from hedgerow.kinds.sequences.methods.continued_prefix_tree.draw import Journeys, TimeAssignment
from hedgerow.kinds.sequences.methods.continued_prefix_tree.model import (
    TimeAnswers,
    differs_from_model,
    last_times,
    start_times,
    starts_by_size,
    time_blocks,
)
from hedgerow.kinds.sequences.methods.continued_prefix_tree.publisher import ContinuedPrefixTree
from hedgerow.kinds.sequences.methods.prefix_tree.model import NoisyTree
from hedgerow.numerics.shrinkage import shrink_table
from hedgerow.releases.writer import Layout, write_folder

HOURS = 24
PLACES = 384
RECORDS = 20_000
#: most journeys begin in the morning, hardly any at night
MORNING = np.array([4, 2, 1, 2, 18, 43, 97, 151, 115, 84, 57, 55, 80, 54, 40, 37, 43, 42, 32, 17, 13, 6, 3, 2])


def commuters(records=RECORDS, seed=7):
    """Boardings by line and hour: two of three come back, most of them nine or ten hours later.

    There are so many places and hours that hardly any first visit is frequent enough to be counted.
    """
    rng = np.random.default_rng(seed)
    first = rng.choice(HOURS, records, p=MORNING / MORNING.sum())
    last = first + rng.choice([0, 1, 2, 9, 10], records, p=[0.1, 0.1, 0.1, 0.4, 0.3])
    two = (rng.random(records) < 2 / 3) & (last < HOURS)
    line = rng.zipf(1.5, 2 * records) % PLACES
    row = np.concatenate((np.arange(records), np.flatnonzero(two)))
    return Trajectories.from_columns(
        records=records,
        row=row,
        time=np.concatenate((first, last[two])),
        place=line[: len(row)],
        sensitive={},
        domain=Domain.declare(place=range(PLACES), time=range(HOURS)),
        several=True,
    )


def profile(data):
    """Records by the hour of the first and of the last visit, and by how long they take."""
    starts, pairs, _ = data.arrays()
    hour = pairs // data.domain.size("place")
    some = np.flatnonzero(np.diff(starts))
    first, last = hour[starts[some]], hour[starts[some + 1] - 1]
    return [np.bincount(hours, minlength=HOURS) for hours in (first, last, last - first)]


def apart(one, other):
    return 0.5 * np.abs(one / one.sum() - other / other.sum()).sum()


def published(data, epsilon, seed, **parameters):
    promise = PureDP(epsilon=epsilon, unit="trajectory")
    return ContinuedPrefixTree(**{"height": 8, **parameters}).publish(data, promise, seed=seed)


@pytest.fixture(scope="module")
def city():
    return commuters()


# ---- a daily profile that the answers support


def bound(epsilon, records=RECORDS):
    """What the error of the start hour stays below, but for about one run in 10,000.

    The noise of `first times` has the scale 1 / (0.03 epsilon) in each of the 24 cells; a sum of so
    many exponential variables is rarely more than eight standard deviations above its mean.
    """
    scale = 1 / (0.03 * float(epsilon))
    return (HOURS + 8 * HOURS**0.5) * scale / (2 * records) + HOURS / records


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "10"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_journeys_begin_when_they_do(city, epsilon, seed):
    truth = profile(city)[0]
    assert apart(truth, profile(published(city, epsilon, seed).data)[0]) <= bound(epsilon)
    # a day of even hours, and all journeys in one hour, are seen by the same check
    assert apart(truth, np.ones(HOURS)) > bound(epsilon)
    assert apart(truth, np.eye(HOURS)[np.argmax(truth)]) > bound(epsilon)


def test_a_larger_epsilon_is_never_worse(city):
    """Over first hours, last hours and durations: the mean of three runs falls."""
    truth = profile(city)
    errors = np.array(
        [
            np.mean(
                [
                    [apart(*pair) for pair in zip(truth, profile(made), strict=True)]
                    for made in (published(city, epsilon, seed).data for seed in (1, 2, 3))
                ],
                axis=0,
            )
            for epsilon in ("0.1", "1", "10")
        ]
    )
    assert np.all(np.diff(errors, axis=0) < 0), errors
    assert np.all(errors[1] < [0.05, 0.1, 0.1]), errors


def test_at_a_tiny_epsilon_hours_are_even_and_that_is_said(city):
    release = published(city, "0.005", 1)
    first = profile(release.data)[0]
    assert first.max() - first.min() <= 1
    assert any("first times were spread evenly" in label for label, _ in release.evidence.notes)


@pytest.mark.slow
def test_the_daily_profile_of_smart_cards():
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip("set HEDGEROW_DATA to the folder of public data sets")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from prefix_times import sube

    data = sube(Path(folder))
    truth = profile(data)
    # last hours and durations: below the mean of ten runs of the rule that was replaced. At 0.5
    # last hours are not better than that (0.225 against 0.231): nothing is claimed of them
    replaced = {"0.5": (1.0, 0.224), "1": (0.282, 0.117), "10": (0.165, 0.065)}
    for epsilon, limits in replaced.items():
        for seed in range(10):
            errors = [apart(*pair) for pair in zip(truth, profile(published(data, epsilon, seed).data), strict=True)]
            assert np.all(np.array(errors) <= [bound(epsilon), *limits]), (epsilon, seed, errors)


# ---- what is said


def notes_of(release):
    return dict(release.evidence.notes)


def test_what_nothing_was_answered_about_is_in_the_statement(tmp_path):
    data = commuters(30)
    release = published(data, "0.1", 4)
    folder = write_folder(release, tmp_path / "R", Layout("csv", Ending("csv", "")))
    statement = (folder / "STATEMENT.md").read_text()
    about = [
        "first visits (pairs of place and time) whose noisy count reached the threshold: 0",
        "records whose first times were spread evenly: the noisy answer does not differ",
        "answers about durations that are not significantly different from noise: if a journey is",
    ]
    listed = statement.split("## Notes on the answers")[1].split("##")[0]
    for text in about:
        assert text in listed
        assert text.split(": 0")[0] in (folder / "release.json").read_text()


def test_what_was_answered_is_not_denied(city):
    said = notes_of(published(city, "1", 1))
    assert not any("spread evenly" in label or "different from noise" in label for label in said)
    (counted, begun) = said.values()
    # the reader is told that hardly any first visit was counted, and how many were drawn
    assert counted < 50
    assert begun > RECORDS / 2


def test_nothing_new_is_asked_of_sequences_without_times():
    data = Sequences.from_records([[0, 1]] * 50, domain=Domain.declare(item=range(3)))
    release = ContinuedPrefixTree(height=3).publish(data, PureDP(epsilon=1, unit="sequence"), seed=1)
    labels = [entry.label for entry in release.evidence.entries]
    assert labels == ["number of records", "transition types", "places", "prefixes"]
    assert release.evidence.notes == ()
    assert b"first time" not in release_bytes(release)


def test_three_hundredths_are_spent_on_each_question_about_times(city):
    release = published(city, "2", 1)
    spent = {entry.label: entry.spend for entry in release.evidence.entries}
    for label in ("times", "first times", "durations"):
        assert spent[label] == Fraction(2 * 3, 100)
    assert sum(spent.values()) == 2
    single = published(city, "2", 1, height=1)
    assert "durations" not in {entry.label for entry in single.evidence.entries}


# ---- estimates, as by hand


def known(starts=(), durations=(), block=None, scale=1.0, visits=None):
    starts, durations = np.array(starts, float), np.array(durations, float)
    block = np.zeros(len(starts), np.int64) if block is None else np.array(block)
    visits = np.zeros(len(starts)) if visits is None else np.array(visits, float)
    return TimeAnswers(visits, scale, starts, scale, durations, scale, block)


def test_first_times_are_those_no_prefix_tells():
    times = known([500, 300, 200, 0], scale=1e-6)
    assert start_times(times, 1_000, np.zeros(4)).round().tolist() == [500, 300, 200, 0]
    told = np.array([600.0, 100, 0, 0])
    assert start_times(times, 1_000, told).round().tolist() == [0, 200, 200, 0]
    # a prefix tells of all: what was answered stands
    assert start_times(times, 1_000, np.full(4, 900.0)).round().tolist() == [500, 300, 200, 0]
    # noise alone says nothing
    assert start_times(known([9, -40, 30, 2], scale=30), 1_000, np.zeros(4)).tolist() == [250] * 4
    assert start_times(times, -3, np.zeros(4)).tolist() == [0] * 4


def test_noise_alone_is_rarely_believed():
    """One run in 50 for few cells, one in 100 for a day; what is twice as large is believed."""
    rng = np.random.default_rng(5)
    for cells, most in ((2, 0.03), (24, 0.02)):
        noise = rng.laplace(scale=3, size=(20_000, cells))
        zero = np.zeros(cells)
        believed = np.mean([differs_from_model(row, zero, 3.0) for row in noise])
        assert 0.2 * most < believed < most
    assert differs_from_model(np.full(24, 20.0), np.zeros(24), 3.0)


@given(st.lists(st.floats(0, 1e4), min_size=2, max_size=30), st.floats(1e-3, 1e3))
@settings(max_examples=100)
def test_shrinking_stays_between_the_model_and_the_answer(values, scale):
    noisy = np.array(values)
    model = np.full(len(noisy), noisy.mean())
    shrunk = shrink_table(noisy, model, scale)
    low, high = np.minimum(noisy, model), np.maximum(noisy, model)
    assert np.all((shrunk >= low - 1e-6) & (shrunk <= high + 1e-6))


def test_late_journeys_are_short():
    """Of those that begin at time 0 half have two visits, of those at time 2 none has."""
    durations = [[[0, 500, 0], [0, 0, 0]]]
    times = known([1_000, 0, 1_000], durations, block=[0, 0, 1], scale=1e-3)
    table = starts_by_size(times, np.array([100.0, 0, 100]), np.array([150.0, 50]))
    assert table.round().tolist() == [[50, 0, 100], [50, 0, 0]]
    assert table.sum(axis=0).tolist() == pytest.approx([100, 0, 100])
    # where nothing is known, both have nothing to do with each other
    even = starts_by_size(known([0] * 3), np.array([100.0, 0, 100]), np.array([150.0, 50]))
    assert even.tolist() == [[75, 0, 75], [25, 0, 25]]


def test_last_times_follow_durations():
    """Four times; durations of 0, 1, 2 and 3 are classes of their own, in one block."""
    times = known([10] * 4, [[[0, 600, 400, 0]]], scale=1e-3)
    weight = last_times(times, np.ones(4), np.zeros(3, np.int64), np.array([0, 1, 2]))
    weight /= weight.sum(axis=1, keepdims=True)
    expected = [[0, 0.6, 0.4, 0], [0, 0, 0.6, 0.4], [0, 0, 0, 1]]
    assert weight == pytest.approx(np.array(expected), abs=0.005)
    # where durations are noise, later times are as popular as visits are
    noise = known([10] * 4, [[[3, -2, 1, 0]]], scale=30)
    popular = last_times(noise, np.array([1.0, 2, 3, 0]), np.zeros(1, np.int64), np.array([1]))
    assert popular[0] / popular.sum() == pytest.approx([0, 0.4, 0.6, 0], abs=0.005)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=30), st.integers(1, 40))
@settings(max_examples=100)
def test_blocks_are_stretches(weight, most):
    block = time_blocks(np.array(weight), most)
    assert block[0] == 0
    assert set(np.diff(block).tolist()) <= {0, 1}
    assert block[-1] < most


# ---- journeys get times


@given(st.data())
@settings(max_examples=150)
def test_times_are_in_order_and_places_stay(data):
    """Whatever was answered; with a gap, a journey for which no time is left ends."""
    gap, hours, places = data.draw(st.integers(0, 1)), data.draw(st.integers(1, 9)), 3
    longest = data.draw(st.integers(1, 6))
    record = st.lists(st.integers(0, places - 1), min_size=1, max_size=longest)
    records = data.draw(st.lists(record, min_size=1, max_size=12))
    answer = st.integers(-50, 300)
    table = np.full((len(records), longest), -1)
    for row, path in enumerate(records):
        table[row, : len(path)] = path
        table[row, 0] += places * data.draw(st.integers(0, hours - 1))
    begun = np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
    starts, visits = (data.draw(st.lists(answer, min_size=hours, max_size=hours)) for _ in range(2))
    sizes = 1 + np.searchsorted((2, 4, 8), longest)
    classes = 1 + len({bound for bound in (1, 2, 3) if bound < max(2, hours)})
    shape = (sizes, 1, max(classes, hours))
    cells = data.draw(st.lists(answer, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    times = known(starts, np.reshape(cells, shape), scale=5.0, visits=visits)
    journeys = Journeys(table.copy(), np.ones(len(table), np.int64), np.full(len(table), -1), begun, places)
    timing = TimeAssignment(times, times.visits, gap, np.random.default_rng(1))
    timed = timing.fill(journeys, NoisyTree(places * hours), table.__getitem__)
    for before, after in zip(table, timed, strict=True):
        time, place = np.divmod(after[after >= 0], places)
        assert (place == before[: len(place)] % places).all()
        assert np.all(np.diff(time) >= gap)
        assert np.all(time < hours)
        assert 1 <= len(place) <= np.sum(before >= 0)
        if not gap:
            assert len(place) == np.sum(before >= 0)
    assert np.array_equal(timed[~begun, 0], table[~begun, 0])
    if begun.any():
        first = [np.bincount(rows[begun, 0] // places, minlength=hours) for rows in (table, timed)]
        assert np.abs(first[0] - first[1]).max() <= 2 * (1 + sizes)


def test_journeys_go_on_with_no_visit_that_was_counted():
    """Place 1 at time 3 was counted after place 0 at time 1; the others go on at other times."""
    tree = NoisyTree(8)
    first = tree.add(np.array([-1]), np.array([2]), np.array([100.0]), np.ones(1))
    tree.expanded[first] = True
    tree.add(first[[0]], np.array([7]), np.array([60.0]), np.ones(1))

    def again(rows):
        return np.tile([2, 1], (len(rows), 1))

    whole, node = np.ones(200, np.int64), np.zeros(200, np.int64)
    journeys = Journeys(again(node), whole, node, np.zeros(200, np.bool_), 2)
    times = known([0, 100, 0, 0], [[[0, 50, 50, 0]]], scale=1e-3, visits=[0, 100, 70, 30])
    timing = TimeAssignment(times, np.array([0.0, 0, 20, 20]), 0, np.random.default_rng(1))
    timed = timing.fill(journeys, tree, again)
    went = timed[timed[:, 1] >= 0, 1]
    assert not np.any(went == 7)
    assert len(went) > 190
    assert np.mean(went == 5) > 0.95  # place 1 at time 2
    # where no other time helps, they go on at another place
    only = times._replace(durations=np.array([[[0.0, 0, 1e5, 0]]]))
    timing = TimeAssignment(only, np.array([0.0, 0, 0, 40]), 0, np.random.default_rng(1))
    timed = timing.fill(journeys, tree, lambda rows: np.tile([2, 0], (len(rows), 1)))
    assert np.mean(timed[:, 1] == 6) > 0.95  # place 0 at time 3
    # where every later visit was counted, they end
    tree.add(np.zeros(1, np.int64), np.array([5]), np.array([40.0]), np.ones(1))
    free = TimeAssignment(times, np.zeros(4), 1, np.random.default_rng(1))
    assert np.all(free.fill(journeys, tree, again)[:, 1] == -1)


def test_no_time_is_left_at_the_only_time():
    domain = Domain.declare(place=range(3), time=[0])
    data = Trajectories.from_records([[(n % 3, 0)] for n in range(500)], domain=domain)
    release = published(data, "1", 1)
    assert {len(visits) for visits, _ in release.data.records()} == {1}


@given(
    st.lists(st.lists(st.integers(0, 7), max_size=6), max_size=12),
    st.integers(1, 7),
)
@settings(max_examples=100)
def test_durations_are_counted_as_by_hand(records, longest):
    """Two places at four times; records of one visit are not counted."""
    domain = Domain.declare(item=range(8))
    journeys = [sorted(record) for record in records if record]
    data = Sequences.from_records(journeys, domain=domain)
    rule = Duration(2, np.arange(longest + 1), np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1]))
    expected = np.zeros(rule.shape, np.int64)
    for journey in (record[:longest] for record in journeys):
        first, last = journey[0] // 2, journey[-1] // 2
        expected[len(journey), rule.times[first], rule.spans[last - first]] += len(journey) > 1
    assert data.positions(longest).first().count(rule).by_code().tolist() == expected.ravel().tolist()

"""prefix-tree on visits with times: first times and places are asked for, so that no profile is without support."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trip_cases import PEAKS, TRIP, largest_error, random_trips, start_hours, total_variation, trips_of

from hedgerow import PureDP, Sequences
from hedgerow.audit import Recorder
from hedgerow.errors import GuaranteeError, ParameterError
from hedgerow.kinds.sequences.methods.prefix_tree import publisher
from hedgerow.kinds.sequences.methods.prefix_tree.draw import FirstVisits, add_first_visits
from hedgerow.kinds.sequences.methods.prefix_tree.publisher import PrefixTree
from hedgerow.privacy import NoisyAnswers, samplers
from hedgerow.publisher import publish_with
from hedgerow.testing import changed, check_replay, sequences_of

SHARE = Fraction(3, 100)


def questions(data, unit):
    recorder = Recorder(NoisyAnswers(1))
    publish_with(PrefixTree(height=3), data, PureDP(epsilon=1, unit=unit), recorder)
    return [question.label for question, _ in recorder.transcript]


def test_sequences_are_asked_as_before():
    assert "first times" not in questions(sequences_of([[0, 1]] * 9, 3), "sequence")
    assert {"first times", "first places"} <= set(questions(trips_of(["A1 B2"] * 9), "trajectory"))
    assert "first times" not in questions(trips_of(["A0 B0"] * 9, times=1), "trajectory")


def test_three_hundredths_each_and_the_tree_has_the_rest():
    release = PrefixTree(height=3).publish(trips_of(PEAKS["two peaks"]), TRIP, seed=1)
    shares = {entry.label: entry.spend for entry in release.evidence.entries}
    assert shares == {"first times": SHARE, "first places": SHARE, "prefixes": 1 - 2 * SHARE}


@given(seed=st.integers(0, 10**6), epsilon=st.sampled_from(["0.1", "1", "40"]), several=st.booleans())
@settings(max_examples=15)
def test_neighbours_are_replayed(seed, epsilon, several):
    data = random_trips(8, seed, several=several)
    for unit in ("trajectory", "person"):
        neighbour = data.neighbour(seed % data.count_neighbours(unit), unit=unit)
        check_replay(PrefixTree(height=3), data, neighbour, PureDP(epsilon=epsilon, unit=unit), seed)


BUGS = {
    "half the noise": ('Laplace(l1=1), spend=spend, label="first times"', 'Laplace(l1=Fraction(1, 2)), spend=spend, label="first times"'),
    "exact first times": ("max(0, int(times.sum()))", "int(exact.sum())"),
    "exact first places": ('label="first places")', 'label="first places") * 0 + exact'),
    "only times that occur": ("exact = np.zeros(groups.times, np.int64)", "exact = np.zeros(int(time.max(initial=0)) + 1, np.int64)"),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug):
    # all levels of a frequent path are asked for, so that it spends all that it may
    data = trips_of([*["A1 B2"] * 400, "C3"] if bug == "half the noise" else ["A1 B2", "C3", "A4 D6", "B9"])
    gone = 0 if bug == "half the noise" else 3
    with changed(publisher, "ask_first_visits", *BUGS[bug], Fraction=Fraction), pytest.raises(GuaranteeError):
        for seed in range(5):
            check_replay(PrefixTree(height=2), data, data.without(gone, unit="trajectory"), TRIP, seed)


@pytest.mark.parametrize("name", PEAKS)
def test_start_hours_are_as_good_as_their_noise(name):
    data = trips_of(PEAKS[name])
    for seed in range(3):
        released = PrefixTree(height=3).publish(data, TRIP, seed=seed).data
        assert total_variation(start_hours(released), start_hours(data)) <= largest_error(data, SHARE)


def test_a_uniform_day_is_caught():
    data = trips_of([f"{'ABCDEFGH'[n % 8]}{7 + n % 3}" for n in range(6000)], places=8)
    old, new = "(first.times, table[:, 0] // places)", "(np.ones_like(first.times), table[:, 0] // places)"
    assert error_of(data) <= largest_error(data, 3 * SHARE)
    with changed(publisher, "add_first_visits", old, new):
        assert error_of(data) > largest_error(data, 3 * SHARE)


def error_of(data):
    # a tree so high that its levels have hardly any budget: nothing passes
    released = PrefixTree(height=200).publish(data, PureDP(epsilon=3, unit="trajectory"), seed=1).data
    return total_variation(start_hours(released), start_hours(data))


def test_added_visits_are_what_the_tree_leaves():
    first = FirstVisits(np.array([6.0, 0, 4]), np.array([5.0, 5]))
    table, copies = np.array([[0, 3], [5, -1]]), np.array([4, 1])  # first visits: place 0 at 0, place 1 at 2
    rows, numbers = add_first_visits(first, table, copies, samplers.coins((1, 0)))
    assert rows[:2].tolist() == table.tolist()
    assert numbers[:2].tolist() == copies.tolist()
    assert numbers.sum() == 10
    added, many = rows[2:, 0], numbers[2:]
    assert np.bincount(added // 2, many, 3).tolist() == [2, 0, 3]
    assert np.bincount(added % 2, many, 2).tolist() == [1, 4]
    assert (rows[2:, 1] == -1).all()


def test_times_and_places_of_added_visits_are_independent():
    """Of 1,000 visits at two times and two places: 250 of each, with a standard deviation below 8."""
    first = FirstVisits(np.array([500.0, 500]), np.array([500.0, 500]))
    nothing = np.zeros((0, 3), np.int64), np.zeros(0, np.int64)
    _, numbers = add_first_visits(first, *nothing, samplers.coins((1, 0)))
    assert len(numbers) == 4
    assert np.all(np.abs(numbers - 250) < 50)


def test_times_and_places_have_the_noisy_number_of_records(monkeypatch):
    """Noise that is below 0 is not cut off: that would lift all quiet hours."""
    estimates = []

    ask_first_visits = publisher.ask_first_visits

    def spy(*given):
        estimates.append(ask_first_visits(*given))
        return estimates[-1]

    monkeypatch.setattr(publisher, "ask_first_visits", spy)
    recorder = Recorder(NoisyAnswers(3))
    publish_with(PrefixTree(height=2), trips_of(["A7 B8"] * 900), TRIP, recorder)
    (noisy,) = [answer for question, answer in recorder.transcript if question.label == "first times"]
    assert noisy.min() < 0
    assert [part.sum() for part in estimates[0]] == pytest.approx([noisy.sum()] * 2)


def test_nothing_is_added_where_the_tree_has_all_or_more():
    first = FirstVisits(np.array([3.0, 0]), np.array([3.0]))
    rows, numbers = add_first_visits(first, np.array([[0], [1]]), np.array([3, 2]), samplers.coins((1, 0)))
    assert numbers.tolist() == [3, 2]
    assert len(rows) == 2


def test_noise_of_the_number_of_records_is_bounded():
    with pytest.raises(ParameterError, match="noise alone may produce about"):
        PrefixTree(height=1).publish(trips_of(["A1"]), PureDP(epsilon="0.000003", unit="trajectory"))


def test_an_empty_data_set_of_sequences_stays_empty():
    data = Sequences.from_records([], domain=sequences_of([[0]], 2).domain)
    assert len(PrefixTree(height=2).publish(data, PureDP(epsilon=50, unit="sequence"), seed=1).data) == 0

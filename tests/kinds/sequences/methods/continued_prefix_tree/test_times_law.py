"""Questions about times: what one record moves, the whole law on a tiny universe, planted bugs."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import Domain, PureDP, Trajectories
from hedgerow.errors import GuaranteeError
from hedgerow.kinds.sequences.methods.continued_prefix_tree import publisher
from hedgerow.kinds.sequences.methods.continued_prefix_tree.publisher import ContinuedPrefixTree
from hedgerow.kinds.sequences.methods.prefix_tree.model import place_groups
from hedgerow.privacy.questions import CellQuestion, ExactAnswers
from hedgerow.publisher import publish_with
from hedgerow.testing import changed, check_publisher, check_replay
from laws import worst

TRAJECTORY = PureDP(epsilon=1, unit="trajectory")
ROUNDING = 1e-9
ABOUT_TIMES = ("times", "first times", "durations")


class OnlyTimes(ContinuedPrefixTree):
    """Publishes what was answered about times, and nothing else."""

    def run(self, data, ledger):
        groups, positions = place_groups(data.domain, data.labels, "none", 0.5), data.positions(self.height)
        times = publisher.ask_times(positions, groups, 0, self.height, ledger)
        answers = np.concatenate((times.visits, times.starts, times.durations.ravel()))
        for number, answer in enumerate(answers.tolist()):
            ledger.note(f"answer {number}", int(answer))
        return Trajectories.from_records([], domain=data.domain, several=True)


def visits(records, times=2, places=1):
    domain = Domain.declare(place=range(places), time=range(times))
    return Trajectories.from_records(records, domain=domain, several=True)


# ---- the whole law on a tiny universe


@pytest.mark.parametrize(
    "record",
    [
        pytest.param([(0, 1)], marks=pytest.mark.slow),
        [(0, 0), (0, 1)],
        pytest.param([(0, 0), (0, 0)], marks=pytest.mark.slow),
    ],
)
def test_answers_about_times_lose_three_times_three_hundredths(record):
    # one visit at each time moves no answer by more than 1: all from 1 on may be one
    high = 1 if len(set(record)) == 2 else 2
    loss = worst(OnlyTimes(height=2), visits([record]), unit="trajectory", low=0, high=high)
    longest = 0.03 * (2 + len(record) / 2) if len(record) > 1 else 0.03 * 1.5
    assert loss <= 0.09 + ROUNDING
    assert loss == pytest.approx(longest)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            'exact, Laplace(l1=1), spend=spend, label="first times"',
            'exact, Laplace(l1=Fraction(1, 3)), spend=spend, label="first times"',
        ),
        ("Laplace(l1=height)", "Laplace(l1=Fraction(1, 2))"),
        (
            'exact, Laplace(l1=1), spend=spend, label="durations"',
            'exact, Laplace(l1=Fraction(1, 3)), spend=spend, label="durations"',
        ),
    ],
    ids=ABOUT_TIMES[1:2] + ABOUT_TIMES[:1] + ABOUT_TIMES[2:],
)
def test_too_little_noise_is_seen_by_the_same_check(old, new):
    with changed(publisher, "ask_times", old, new):
        data = visits([[(0, 0), (0, 1)]])
        assert worst(OnlyTimes(height=2), data, unit="trajectory", low=0, high=1) > 0.1


# ---- what one record moves, exhaustively


class Listening(ExactAnswers):
    """Remembers the exact answers about times."""

    def __init__(self):
        self.exact = {}

    def answer(self, question):
        if isinstance(question, CellQuestion) and question.label in ABOUT_TIMES:
            self.exact[question.label] = question.exact
        return super().answer(question)


def exact_answers(records, height, method=OnlyTimes):
    heard = Listening()
    publish_with(method(height=height), visits(records, 3, 2), TRAJECTORY, heard)
    return heard.exact


@pytest.mark.parametrize("height", [1, 3])
def test_the_whole_method_asks_the_same_about_times(height):
    for records in ([], [[(0, 0), (1, 0), (0, 2)]], [[(1, 1)]]):
        alone, whole = (exact_answers(records, height, method) for method in (OnlyTimes, ContinuedPrefixTree))
        assert {label: exact.tolist() for label, exact in alone.items()} == {
            label: exact.tolist() for label, exact in whole.items()
        }


@pytest.mark.parametrize("height", [1, 2, pytest.param(3, marks=pytest.mark.slow), 5])
def test_one_record_moves_no_question_by_more_than_is_paid_for(height):
    """All records of up to four visits over two places and three times, against no record."""
    paid = {"times": height, "first times": 1, "durations": 1}
    nothing, most = exact_answers([], height), dict.fromkeys(paid, 0)
    labels = list(itertools.product(range(2), range(3)))
    for size in range(5):
        for chosen in itertools.product(labels, repeat=size):
            record = sorted(chosen, key=lambda visit: visit[1])
            if record != list(chosen):
                continue
            for label, exact in exact_answers([record], height).items():
                moved = int(np.abs(exact - nothing[label]).sum())
                assert moved <= paid[label]
                most[label] = max(most[label], moved)
    expected = {**paid, "times": min(4, height)}
    assert most == expected | ({"durations": 0} if height == 1 else {})


# ---- the replay law, where a record uses its whole budget, and planted bugs


EQUAL = visits([[(0, 0), (0, 1), (0, 1)]] * 300, 3, 2)


def replayed(data=EQUAL, promise=TRAJECTORY, **parameters):
    other = data.without(0, unit="trajectory")
    method = ContinuedPrefixTree(**{"height": 3, **parameters})
    return max(check_replay(method, *pair, promise, 7).loss for pair in ((data, other), (other, data)))


def test_a_record_uses_its_whole_budget():
    """So that a planted bug of three hundredths cannot hide in what is left."""
    assert Fraction(999, 1_000) < replayed() <= 1


BUGS = {
    "first times per visit instead of per record": (
        "positions.count(label), first.count(label)",
        "positions.count(label), positions.count(label)",
    ),
    "first times twice at the price of once": (
        'exact, Laplace(l1=1), spend=spend, label="first times")',
        'np.tile(exact, 2), Laplace(l1=1), spend=spend, label="first times")[: groups.times]',
    ),
    "durations twice at the price of once": (
        'exact, Laplace(l1=1), spend=spend, label="durations")',
        'np.tile(exact, 2), Laplace(l1=1), spend=spend, label="durations")[: exact.size]',
    ),
    "times of visits as if a record had one": ("Laplace(l1=height)", "Laplace(l1=1)"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_records_that_count_twice_are_caught(bug):
    with changed(publisher, "ask_times", *BUGS[bug]):
        with pytest.raises(GuaranteeError, match=r"loses .* between neighbours"):
            replayed()


def test_durations_per_visit_are_caught():
    old, new = "first.count(duration)", "positions.count(duration)"
    with changed(publisher, "ask_times", old, new):
        with pytest.raises(GuaranteeError, match=r"loses .* between neighbours"):
            replayed()


#: 330 records in three blocks of time: one record less, and the second time is in the first block
NEAR = visits(
    [[(0, time), (0, 5)] for time, many in enumerate((60, 101, 60, 60, 49)) for _ in range(many)],
    6,
)
LEAKS = {
    "exact first times": ("starts = ledger.ask(exact", "starts = exact + 0 * ledger.ask(exact"),
    "blocks of exact first times": ("np.maximum(starts, 0)", "np.maximum(exact, 0)"),
    "as many blocks as exact answers say": (
        "int(number * spend",
        "int((exact[0] - 50) * 33 * spend",
    ),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_exact_answers_that_leak_are_caught(leak):
    promise = PureDP(epsilon=10, unit="trajectory")
    assert replayed(NEAR, promise, height=2) <= 10
    with changed(publisher, "ask_times", *LEAKS[leak]):
        with pytest.raises(
            GuaranteeError,
            match=r"asked differently|publishes something else|loses .* between neighbours",
        ):
            replayed(NEAR, promise, height=2)


def test_more_than_the_budget_is_refused():
    with changed(publisher, "ask_times", "ledger.budget * _PART", "ledger.budget"):
        with pytest.raises(GuaranteeError, match="would spend"):
            check_publisher(ContinuedPrefixTree(height=2), TRAJECTORY)

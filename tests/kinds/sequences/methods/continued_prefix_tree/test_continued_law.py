"""continued-prefix-tree: the whole law on a tiny universe, the replay law, and planted bugs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import PureDP, Trajectories
from hedgerow.errors import GuaranteeError
from hedgerow.kinds.sequences.methods.continued_prefix_tree import publisher
from hedgerow.kinds.sequences.methods.continued_prefix_tree.publisher import ContinuedPrefixTree
from hedgerow.kinds.sequences.methods.prefix_tree.model import END, Thresholds
from hedgerow.kinds.sequences.methods.prefix_tree.publisher import Growth
from hedgerow.testing import changed, check_publisher, check_replay, mutant, strategies, trajectories_of
from laws import sequences_over, worst

SEQUENCE = PureDP(epsilon=1, unit="sequence")
PERSON = PureDP(epsilon=1, unit="person")
TRAJECTORY = PureDP(epsilon=1, unit="trajectory")
ROUNDING = 1e-9
LOSES = r"loses .* between neighbours"


class LowThresholds(Thresholds):
    """Low enough that everything can happen in a small window."""

    def cutoff(self, families, spend):
        del spend
        return np.where(families.kind == END, 1, 2)


def test_all_that_is_published_loses_what_is_promised_and_no_more(monkeypatch):
    """Also the number of sequences and of each place is asked."""
    monkeypatch.setattr(publisher, "_THRESHOLDS", LowThresholds(5.0, 0.5))
    loss = worst(ContinuedPrefixTree(height=1), sequences_over([[0]], 1), low=-2, high=3)
    assert 0.4 <= loss <= 1 + ROUNDING


# ---- the replay law for visits with times, which have units of their own


@pytest.mark.parametrize(
    ("groups", "unit", "several"),
    [("fan-out", "trajectory", True), ("none", "person", True), ("none", "trajectory", False)],
)
def test_the_replay_law_holds_for_visits(groups, unit, several):
    moved = []

    @settings(max_examples=15)
    @given(
        hours=st.lists(st.lists(st.integers(0, 5), max_size=5), min_size=1, max_size=10),
        index=st.integers(0, 50),
        seed=strategies.seeds(),
    )
    def law(hours, index, seed):
        visits = [sorted(set(record)) for record in hours]
        data = trajectories_of(visits, several=several, shared=True)
        promise = PureDP(epsilon=Fraction(3, 2), unit=unit)
        other = data.without(index % data.count_units(unit), unit=unit)
        result = check_replay(ContinuedPrefixTree(groups=groups, height=4), data, other, promise, seed)
        moved.append(result.moved)

    law()
    assert sum(moved) >= len(moved) / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("promise", "chosen"),
    [
        pytest.param(SEQUENCE, {"groups": "fan-out", "inference": "exact", "height": 3}, marks=pytest.mark.slow),
        (TRAJECTORY, {"groups": "fan-out", "inference": "exact", "height": 2}),
        (SEQUENCE, {"height": 1}),
        pytest.param(TRAJECTORY, {"height": 1}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_every_way_to_run_keeps_the_promise(promise, chosen):
    """Every value of every parameter once, on small trees; conformance runs the others."""
    check_publisher(ContinuedPrefixTree(**chosen), promise)


def test_persons_with_several_trajectories_are_protected():
    data = trajectories_of([[0, 1], [1], [0, 2]] * 5, shared=True)
    other = data.without(1, unit="person")
    assert check_replay(ContinuedPrefixTree(height=3), data, other, PERSON, 5).loss <= 1


def test_sensitive_values_are_not_published():
    data = trajectories_of([[0, 1], [1, 2]] * 400, ill=range(0, 800, 2))
    release = ContinuedPrefixTree(height=3).publish(data, PureDP(epsilon=2, unit="trajectory"), seed=1)
    assert isinstance(release.data, Trajectories)
    assert release.data.sensitive == ()


def test_several_visits_at_a_time_keep_the_promise():
    """A record that the tree cuts, and records that it does not; trees of one level, and deeper than any record."""
    data = trajectories_of([range(6), [0, 5], [2]] * 10, several=True)
    for height, index in ((1, 0), (3, 0), (3, 1), (3, 2), (20, 0)):
        other = data.without(index, unit="trajectory")
        assert check_replay(ContinuedPrefixTree(height=height), data, other, TRAJECTORY, 7).loss <= 1


# ---- planted bugs


def test_sequences_that_are_not_cut_are_caught():
    broken = mutant(ContinuedPrefixTree, "positions = data.positions(self.height)", "positions = data.positions(99)")
    with pytest.raises(GuaranteeError, match=LOSES):
        check_publisher(broken(height=2), SEQUENCE)


def test_trajectories_that_are_not_cut_are_caught(monkeypatch):
    plain = Trajectories.positions
    monkeypatch.setattr(Trajectories, "positions", lambda self, _: plain(self, 99))
    with pytest.raises(GuaranteeError, match=LOSES):
        check_publisher(ContinuedPrefixTree(height=2), TRAJECTORY)


def test_more_than_is_left_is_caught():
    with changed(Growth, "grow", "spend=ledger.left, label", "spend=ledger.budget, label"):
        with pytest.raises(GuaranteeError, match="would spend"):
            check_publisher(ContinuedPrefixTree(height=2), SEQUENCE)


BUGS = {
    "exact numbers of places": (
        "** 2, places, transition_types",
        "** 2, occurs, transition_types",
        "publishes something else of a neighbour",
    ),
    "more items than declared": ("occurs, Laplace(l1=height)", "occurs, Laplace(l1=1)", LOSES),
    "an exact number of records": (
        "records = max(0, int(number[0]))",
        "records = int(exact[0])",
        "publishes something else",
    ),
    "places paid for by the exact number": (
        "part_for_places(int(number[0]) *",
        "part_for_places(90 * int(exact[0]) *",
        "asked differently of a neighbour",
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_bugs_in_questions_about_marginals_are_caught(bug):
    old, new, message = BUGS[bug]
    with changed(publisher, "ask_marginals", old, new):
        with pytest.raises(GuaranteeError, match=message):
            check_publisher(ContinuedPrefixTree(height=3), SEQUENCE)


def test_more_steps_than_declared_are_caught():
    with changed(publisher, "_ask_transition_types", "Laplace(l1=height - 1)", "Laplace(l1=1)"):
        with pytest.raises(GuaranteeError, match=LOSES):
            check_publisher(ContinuedPrefixTree(height=120), SEQUENCE)

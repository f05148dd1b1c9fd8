"""prefix-tree: the whole law on tiny universes, the replay law, and planted bugs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import sequences_over, worst

from hedgerow import Domain, PureDP, Sequences, Trajectories
from hedgerow.errors import GuaranteeError
from hedgerow.privacy import Laplace
from hedgerow.publishers.sequences import gates
from hedgerow.publishers.sequences.prefix_tree import PrefixTree
from hedgerow.testing import (
    check_publisher,
    check_replay,
    mutant,
    strategies,
    trajectories_of,
)

SEQUENCE = PureDP(epsilon=1, unit="sequence")
PERSON = PureDP(epsilon=1, unit="person")
TRAJECTORY = PureDP(epsilon=1, unit="trajectory")
ROUNDING = 1e-9
NAMES = {"np": np, "Fraction": Fraction, "Laplace": Laplace}


class Low(PrefixTree):
    """A threshold low enough that everything can happen in a small window."""

    def _cutoff(self, families, share):
        del share
        return np.where(families.kind == gates.END, 1, 2)


@pytest.mark.parametrize("budget", ["adaptive", "uniform"])
@pytest.mark.parametrize("records", [[[0]], [[0, 0]], [[0], [0, 0]]])
def test_all_that_is_published_loses_what_is_promised_and_no_more(records, budget):
    method = Low(height=2, budget=budget, generator="cut")
    loss = worst(method, sequences_over(records, 1))
    assert 0.4 <= loss <= 1 + ROUNDING


def test_groups_and_what_is_in_them():
    """A group of one place in a public tree: both questions are paid for by one level."""
    paths = [["A"], ["A"], ["B"]]
    domain = Domain.declare(item=range(3)).with_paths("item", paths)
    data = Sequences.from_records([[0]], domain=domain)
    method = Low(height=1, mode="hybrid", taxonomy="declared", generator="cut")
    assert 0.4 <= worst(method, data, low=-2, high=3) <= 1 + ROUNDING


def test_sequences_that_go_on():
    """Also the number of sequences and of each place is asked."""
    assert 0.4 <= worst(Low(height=1), sequences_over([[0]], 1), low=-2, high=3) <= 1 + ROUNDING


def test_half_the_noise_is_seen_by_the_same_check(monkeypatch):
    monkeypatch.setattr(gates, "Laplace", lambda l1: Laplace(l1=Fraction(l1, 2)))
    assert worst(Low(height=1, generator="cut"), sequences_over([[0]], 1)) > 1.5


# ---- the replay law for visits with times, which have units of their own


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("mode", "unit"), [("hybrid", "trajectory"), ("simple", "person")])
def test_the_replay_law_holds_for_visits(several, mode, unit):
    moved = []

    @settings(max_examples=60)
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
        result = check_replay(PrefixTree(mode=mode, height=4), data, other, promise, seed)
        moved.append(result.moved)

    law()
    assert sum(moved) >= len(moved) / 2


@pytest.mark.parametrize(
    "chosen",
    [
        {"mode": "hybrid"},
        {"mode": "hybrid", "generator": "cut", "budget": "uniform", "tau_split": 0.0},
        {"mode": "simple", "inference": "exact"},
        {"inference": "paper", "generator": "cut"},
        {"rounding": "nearest", "inference": "none"},
        {"height": 1},
    ],
    ids=str,
)
def test_every_way_to_run_keeps_the_promise(chosen):
    check_publisher(PrefixTree(**chosen), SEQUENCE)
    check_publisher(PrefixTree(**{"height": 2, **chosen}), TRAJECTORY)


# ---- planted bugs


def caught(old, new, message, promise=SEQUENCE, **parameters):
    broken = mutant(PrefixTree, old, new, **NAMES)(**parameters)
    with pytest.raises(GuaranteeError, match=message):
        check_publisher(broken, promise)


def test_sequences_that_are_not_cut_are_caught():
    caught(
        "positions = data.positions(self.height)",
        "positions = data.positions(99)",
        "loses .* between neighbours",
        height=2,
    )


def test_trajectories_that_are_not_cut_are_caught(monkeypatch):
    plain = Trajectories.positions
    monkeypatch.setattr(Trajectories, "positions", lambda self, _: plain(self, 99))
    with pytest.raises(GuaranteeError, match=r"loses .* between neighbours"):
        check_publisher(PrefixTree(height=2), TRAJECTORY)


def test_more_than_is_left_is_caught():
    caught("spend=ledger.left, label", "spend=ledger.budget, label", "would spend")


def test_prefixes_chosen_by_exact_counts_are_caught():
    caught(
        "on = (height[found.at] > 1)",
        "on = (height[found.at] > 1) & (counted.counts.sum() % 2 == 0)",
        "asked differently of a neighbour|publishes something else",
    )


def test_exact_numbers_of_places_are_caught():
    caught(
        "spread, noisy, habits",
        "spread, occurs, habits",
        "publishes something else of a neighbour",
        height=2,
    )


def test_more_items_than_declared_are_caught():
    old, new = "occurs, Laplace(l1=self.height)", "occurs, Laplace(l1=1)"
    caught(old, new, "loses .* between neighbours")


def test_more_steps_than_declared_are_caught():
    caught("Laplace(l1=self.height - 1)", "Laplace(l1=1)", "loses .* between neighbours", height=120)


def test_a_place_in_two_groups_is_caught(monkeypatch):
    """A sequence would be counted twice at one level, for the price of once."""
    names = {name: held for name, held in vars(gates).items() if not name.startswith("__")}
    twice = mutant(gates._Question, "place, exact, len", "place, 2 * exact, len", **names)
    monkeypatch.setattr(gates, "_Question", twice)
    with pytest.raises(GuaranteeError, match=r"loses .* between neighbours"):
        check_publisher(PrefixTree(mode="hybrid"), SEQUENCE)


def test_persons_with_several_trajectories_are_protected():
    data = trajectories_of([[0, 1], [1], [0, 2]] * 5, shared=True)
    other = data.without(1, unit="person")
    assert check_replay(PrefixTree(height=3), data, other, PERSON, 5).loss <= 1


def test_sensitive_values_are_not_published():
    data = trajectories_of([[0, 1], [1, 2]] * 400, ill=range(0, 800, 2))
    release = PrefixTree(height=3).publish(data, PureDP(epsilon=2, unit="trajectory"))
    assert isinstance(release.data, Trajectories)
    assert release.data.sensitive == ()


def test_several_visits_at_a_time_keep_the_promise():
    data = trajectories_of([range(6), [0, 5], [2]] * 30, several=True)
    for height in (1, 3, 20):
        for index in (0, 1, 2):
            other = data.without(index, unit="trajectory")
            assert check_replay(PrefixTree(height=height), data, other, TRAJECTORY, 7).loss <= 1

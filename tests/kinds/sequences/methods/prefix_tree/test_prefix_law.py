"""prefix-tree: the whole law on tiny universes, the replay law, and planted bugs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import Domain, PureDP, Sequences, Trajectories
from hedgerow.errors import GuaranteeError
from hedgerow.kinds.sequences.methods.prefix_tree import publisher
from hedgerow.kinds.sequences.methods.prefix_tree.model import END, Thresholds
from hedgerow.kinds.sequences.methods.prefix_tree.publisher import Growth, PrefixTree
from hedgerow.privacy import Laplace
from hedgerow.testing import changed, check_publisher, mutant
from laws import sequences_over, worst

SEQUENCE = PureDP(epsilon=1, unit="sequence")
TRAJECTORY = PureDP(epsilon=1, unit="trajectory")
ROUNDING = 1e-9


class LowThresholds(Thresholds):
    """Low enough that everything can happen in a small window."""

    def cutoff(self, families, spend):
        del spend
        return np.where(families.kind == END, 1, 2)


class Low(PrefixTree):
    def growth(self, groups):
        return replace(PrefixTree.growth(self, groups), thresholds=LowThresholds(5.0, 0.5))


@pytest.mark.parametrize("budget", ["adaptive", "uniform"])
@pytest.mark.parametrize("records", [[[0]], [[0, 0]], [[0], [0, 0]]])
def test_all_that_is_published_loses_what_is_promised_and_no_more(records, budget):
    loss = worst(Low(height=2, budget=budget), sequences_over(records, 1))
    assert 0.4 <= loss <= 1 + ROUNDING


def test_groups_and_what_is_in_them():
    """A group of one place in a public tree: both questions are paid for by one level."""
    paths = [["A"], ["A"], ["B"]]
    domain = Domain.declare(item=range(3)).with_paths("item", paths)
    data = Sequences.from_records([[0]], domain=domain)
    assert 0.4 <= worst(Low(height=1, groups="declared"), data, low=-2, high=3) <= 1 + ROUNDING


def test_half_the_noise_is_seen_by_the_same_check(monkeypatch):
    monkeypatch.setattr(publisher, "Laplace", lambda l1: Laplace(l1=Fraction(l1, 2)))
    assert worst(Low(height=1), sequences_over([[0]], 1)) > 1.5


@pytest.mark.parametrize(
    ("promise", "chosen"),
    [
        (SEQUENCE, {"groups": "fan-out", "false_nodes": 0.0, "inference": "exact"}),
        (TRAJECTORY, {"groups": "fan-out", "false_nodes": 0.0, "inference": "exact", "height": 3}),
        (SEQUENCE, {"groups": "none", "budget": "adaptive"}),
        (SEQUENCE, {"height": 1}),
    ],
    ids=str,
)
def test_every_way_to_run_keeps_the_promise(promise, chosen):
    """Every value of every parameter once; conformance runs the defaults."""
    check_publisher(PrefixTree(**chosen), promise)


# ---- planted bugs


def test_more_than_the_budget_is_caught():
    with changed(Growth, "grow", "paths.left(live.nodes) / height", "paths.left(live.nodes) * 2 / height"):
        with pytest.raises(GuaranteeError, match="would spend"):
            check_publisher(PrefixTree(height=1), SEQUENCE)


def test_prefixes_chosen_by_exact_counts_are_caught():
    old, new = "on = (height[passed.at] > 1)", "on = (height[passed.at] > 1) & (counted.counts.sum() % 2 == 0)"
    with changed(Growth, "grow", old, new):
        with pytest.raises(GuaranteeError, match=r"asked .*of a neighbour|publishes something else"):
            check_publisher(PrefixTree(height=3), SEQUENCE)


def test_a_place_in_two_groups_is_caught(monkeypatch):
    """A sequence would be counted twice at one level, for the price of once."""
    names = {name: value for name, value in vars(publisher).items() if not name.startswith("__")}
    twice = mutant(publisher._LevelQuestion, "place, exact, len", "place, 2 * exact, len", **names)
    monkeypatch.setattr(publisher, "_LevelQuestion", twice)
    with pytest.raises(GuaranteeError, match=r"loses .* between neighbours"):
        check_publisher(PrefixTree(groups="fan-out", height=2), SEQUENCE)


def test_exact_counts_in_the_release_are_caught():
    old, new = "passed.noisy, passed.spend", "passed.noisy + counted.counts.sum(), passed.spend"
    with changed(Growth, "grow", old, new):
        with pytest.raises(GuaranteeError, match="publishes something else of a neighbour"):
            check_publisher(PrefixTree(height=2), SEQUENCE)


def test_trajectories_without_sensitive_values():
    domain = Domain.declare(place=["a", "b"], time=range(3), diagnosis=["flu", "well"])
    day = [[("a", 0), ("b", 1)]] * 400
    data = Trajectories.from_records(day, sensitive={"diagnosis": ["flu"] * 400}, domain=domain)
    release = PrefixTree(height=3).publish(data, PureDP(epsilon=2, unit="trajectory"), seed=1)
    assert release.data.sensitive == ()

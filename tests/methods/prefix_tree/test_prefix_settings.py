"""The tree of prefixes: settings of our own, as by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow import Domain, PureDP, Sequences, Trajectories
from hedgerow.errors import ParameterError
from hedgerow.privacy.shares import Shares
from hedgerow.publishers.sequences.gates import END, GATES, PLACES, Families
from hedgerow.publishers.sequences.prefix_tree import PrefixTree
from hedgerow.publishers.sequences.prefix_writing import Known, emitted
from hedgerow.steps.following import Habits
from hedgerow.steps.prefixes import Prefixes
from hedgerow.steps.visit_times import Times


def test_few_empty_ones_pass():
    """So many as `tau_split` are expected of a family, of groups and of places; ends all pass."""
    kinds = Families(np.zeros(3, np.int64), np.array([GATES, PLACES, END]), np.array([900, 40, 1]))
    share = Shares.of([Fraction(1, 5)] * 3)
    cutoff = PrefixTree(a_gate=0.0, a_place=0.0, tau_split=0.5)._cutoff(kinds, share)
    chance = np.exp(-0.2 * cutoff) / (1 + np.exp(-0.2))
    assert np.all(kinds.candidates[:2] * chance[:2] <= 0.5)
    assert np.all(kinds.candidates[:2] * chance[:2] > 0.5 * np.exp(-0.2))
    assert cutoff[2] == 1
    assert PrefixTree(a_place=9.0)._cutoff(kinds, share)[1] == np.ceil(9 * np.sqrt(2) * 5)


def test_single_places_get_more_where_a_tree_cannot_grow():
    method = PrefixTree(height=12)
    assert method._single(10**6, 68, 1.0) == Fraction(9, 100)
    assert method._single(20_000, 384, 1.0) == Fraction(50, 100)
    assert method._single(-5, 10, 1.0) == Fraction(50, 100)
    assert Fraction(9, 100) < method._single(100_000, 400, 1.0) < Fraction(50, 100)


def test_groups_are_asked_for_from_many_labels_on():
    for places, mode, groups in ((1_999, "auto", 0), (2_000, "auto", 45), (50, "hybrid", 7)):
        data = Sequences.from_records([[0]], domain=Domain.declare(item=range(places)))
        tree = PrefixTree(mode=mode)._gates(data).tree
        assert tree.inner - 1 == groups


def test_the_number_of_records_by_both_counts():
    tree = Prefixes(3)
    tree.add(np.full(2, -1), np.arange(2), np.array([600.0, 380.0]), np.array([0.02, 0.02]))
    none = Habits(np.zeros((0, 4), np.int64), 0.0)

    def total(number, spread):
        return Known(number, spread, np.zeros(3, np.int64), none, Times.none(1), 0).total(tree)

    assert total(1_000, 100.0) == pytest.approx(990)  # both have a variance of 100
    assert total(1_000, 300.0) == pytest.approx(985)
    assert total(1_400, 100.0) == 1_400  # what is missing is too rare to be counted
    assert total(700, 100.0) == 700


def test_what_is_missing_is_begun():
    """Half of the sequences begin with items too rare to be counted: they are there all the same."""
    rare = [[number % 900 + 100] for number in range(4_000)]
    data = Sequences.from_records(rare + [[0]] * 4_000, domain=Domain.declare(item=range(1_000)))
    release = PrefixTree(height=2).publish(data, PureDP(epsilon=1, unit="sequence"), seed=1)
    held = dict(release.data.named())
    assert len(release.data) == pytest.approx(8_000, abs=600)
    assert held[0,] == pytest.approx(4_000, abs=300)


def test_rounding_each_by_itself():
    tree = Prefixes(4)
    tree.add(np.full(3, -1), np.arange(3), np.full(3, 0.4), np.ones(3))
    assert emitted(tree, tree.noisy, "nearest").tolist() == [0, 0, 0]
    assert emitted(tree, tree.noisy, "cumulative").sum() == 1


def test_many_labels_do_not_wrap():
    """More labels of place and time than 32 bits hold."""
    domain = Domain.declare(place=range(50_000), time=range(50_000))
    visits = [(49_000, 49_000), (49_001, 49_500)]
    data = Trajectories.from_records([visits] * 3_000, domain=domain)
    release = PrefixTree(height=2, generator="cut").publish(data, PureDP(epsilon=8, unit="trajectory"), seed=1)
    held = [record for record, _ in release.data.records()]
    assert held.count(tuple(visits)) > 2_500
    many = Domain.declare(place=range(1_200_000), time=range(2))
    with pytest.raises(ParameterError, match="too many"):
        PrefixTree().publish(Trajectories.from_records([], domain=many), PureDP(epsilon=1, unit="trajectory"))

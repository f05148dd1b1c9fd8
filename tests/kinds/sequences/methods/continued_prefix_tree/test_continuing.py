"""What follows where a prefix tree stops: sampled systematically, learnt as by hand, never what was counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain, Sequences
from hedgerow.frontiers import TransitionType
from hedgerow.kinds.sequences.methods.continued_prefix_tree import model
from hedgerow.kinds.sequences.methods.continued_prefix_tree.draw import RejectionSampler, calibrate, continue_sequences
from hedgerow.kinds.sequences.methods.continued_prefix_tree.model import (
    KeyIndex,
    PairSet,
    Transitions,
    TransitionTypeCounts,
)
from hedgerow.kinds.sequences.methods.prefix_tree.model import NoisyTree
from hedgerow.numerics.sampling import WeightedLabels

NO_TYPES = TransitionTypeCounts(np.zeros((2, 4), np.int64), 1.0)
#: there is one time only
ONCE = np.zeros(1)


def coins(seed=1):
    return np.random.default_rng(seed)


@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=50),
    st.integers(0, 9),
)
@settings(max_examples=60)
def test_labels_are_sampled_to_within_one(weights, states, seed):
    state = np.repeat(np.arange(len(weights)), [len(weight) for weight in weights])
    label = np.concatenate([np.arange(len(weight)) for weight in weights])
    labels = WeightedLabels.of(state, label, np.concatenate(weights).astype(float), len(weights))
    asked = np.array(states, np.int64) % len(weights)
    sampled = labels.sample(asked, coins(seed))
    for number, weight in enumerate(weights):
        mine = np.bincount(sampled[asked == number], minlength=len(weight))
        expected = np.array(weight) / sum(weight) * np.sum(asked == number)
        assert np.all(np.abs(mine - expected) <= 1 + 1e-9)


def test_labels_become_rarer():
    labels = WeightedLabels.of(np.zeros(3, np.int64), np.array([0, 1, 2]), np.array([4.0, 4.0, 2.0]), 1)
    assert np.diff(labels.scaled(np.array([3.0, 1.0, 0.5])).upto) == pytest.approx([12, 4, 1])


@given(st.lists(st.integers(0, 40), max_size=20), st.lists(st.integers(-1, 60), max_size=30))
@settings(max_examples=60)
def test_keys_are_looked_up_with_a_table_and_without(listed, wanted):
    keys = np.unique(np.array(listed, np.int64))
    asked = np.array(wanted, np.int64)
    expected = [keys.tolist().index(key) if key in keys else -1 for key in wanted]
    assert KeyIndex.of(keys).find(asked).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_TABLE", 0)
        assert KeyIndex.of(keys).find(asked).tolist() == expected


def test_what_is_known_is_not_drawn():
    labels = WeightedLabels.of(np.zeros(3, np.int64), np.arange(3), np.array([8.0, 1.0, 1.0]), 1)
    sampler = RejectionSampler(3, 200, coins())
    owner = np.zeros(200, np.int64)
    pairs = PairSet.of(np.zeros(1, np.int64), np.zeros(1, np.int64), 4)
    sampler.rejects.append(lambda label, rows: pairs.contains(owner, label, rows))
    sampler.draw(labels, owner)
    assert set(sampler.drawn.tolist()) <= {1, 2, 3}
    assert np.sum(sampler.drawn == 3) < 120


def known_tree():
    """Items 0, 1, 2; 100 sequences: 60 begin 0 1 and of these 50 end, 40 begin 0 and go on rarely."""
    tree = NoisyTree(3)
    first = tree.add(np.array([-1]), np.array([0]), np.array([100.0]), np.ones(1))
    tree.expanded[first] = True
    second = tree.add(first[[0]], np.array([1]), np.array([60.0]), np.ones(1))
    tree.expanded[second] = True
    tree.add(second[[0]], np.array([3]), np.array([50.0]), np.ones(1))
    return tree


def test_sequences_go_on_with_nothing_that_was_counted():
    tree = known_tree()
    for left in ([0.0, 0.0, 50.0], [500.0, 500.0, 0.0]):
        transitions = Transitions.of(tree, tree.noisy, np.array(left), ONCE, NO_TYPES)
        table = continue_sequences(tree, transitions, np.repeat([0, 1], [40, 10]), 5, 3, coins())
        assert table.shape == (55, 3)
        # after 0, item 1 was counted and nothing ended: the other 40 go on with something else
        assert np.all(table[:40, 0] == 0)
        assert np.all((table[:40, 1] != 1) & (table[:40, 1] >= 0))
        # after 0 1, ends were counted: the other ten do not end
        assert np.all(table[40:50, :2] == [0, 1])
        assert np.all(table[40:50, 2] >= 0)
        # what begins with something too rare to be counted begins with no counted item
        assert np.all((table[50:, 0] != 0) & (table[50:, 0] >= 0))


def test_where_everything_was_counted_sequences_end():
    tree = NoisyTree(2)
    first = tree.add(np.full(2, -1), np.arange(2), np.array([50.0, 50.0]), np.ones(2))
    tree.expanded[first] = True
    tree.add(first[[0, 0]], np.arange(2), np.array([20.0, 20.0]), np.ones(2))
    transitions = Transitions.of(tree, tree.noisy, np.ones(2), ONCE, NO_TYPES)
    table = continue_sequences(tree, transitions, np.zeros(10, np.int64), 4, 3, coins())
    assert np.all(table[:, 1] == -1)
    assert len(table) == 10  # and nothing can begin with an item that was not counted


def test_as_many_end_as_were_counted():
    """After one item 30 of 100 end, of which the tree tells nothing; after two, all but ten."""
    tree = NoisyTree(3)
    first = tree.add(np.full(3, -1), np.arange(3), np.full(3, 100.0), np.ones(3))
    counts = np.array([[0, 0, 210, 90], [0, 0, 30, 180]])
    transitions = Transitions.of(tree, tree.noisy, np.ones(3), ONCE, TransitionTypeCounts(counts, 1.0))
    table = continue_sequences(tree, transitions, np.repeat(first, 100), 0, 3, coins())
    sizes = np.bincount(np.sum(table >= 0, axis=1), minlength=4)
    assert sizes[1:] == pytest.approx([90, 180, 30], abs=2)
    # what may be noise is not believed: 270 of 510 end after any item
    doubted = Transitions.of(tree, tree.noisy, np.ones(3), ONCE, TransitionTypeCounts(counts, 1e6))
    table = continue_sequences(tree, doubted, np.repeat(first, 100), 0, 3, coins())
    sizes = np.bincount(np.sum(table >= 0, axis=1), minlength=4)
    assert sizes[1] == pytest.approx(300 * 270 / 510, abs=2)
    assert sizes[2] == pytest.approx((300 - sizes[1]) * 270 / 510, abs=2)


def test_places_are_drawn_as_often_as_they_occur():
    """Without trials the place that is known after others comes out too often."""
    rng = coins(3)
    tree = NoisyTree(4)
    first = tree.add(np.full(4, -1), np.arange(4), np.full(4, 1_000.0), np.ones(4))
    tree.expanded[first] = True
    tree.add(first, np.zeros(4, np.int64), np.full(4, 300.0), np.ones(4))
    wanted = np.array([0.0, 1_000.0, 1_000.0, 2_000.0])
    usual = TransitionTypeCounts(np.array([[0, 0, 4_000, 0], [0, 0, 2_800, 0]]), 1.0)
    transitions = Transitions.of(tree, tree.noisy, wanted, ONCE, usual)
    moving = np.repeat(first, 700)

    def drawn(table):
        new = table[:, 1:]
        return np.bincount(new[new >= 0], minlength=4) / np.sum(new >= 0)

    plain = drawn(continue_sequences(tree, transitions, moving, 0, 3, coins()))
    fitted = calibrate(tree, transitions, moving, 0, wanted, 3, rng)
    better = drawn(continue_sequences(tree, fitted, moving, 0, 3, coins()))
    target = wanted / wanted.sum()
    assert np.abs(better - target).sum() < np.abs(plain - target).sum()


def test_one_goes_back_as_often_as_is_usual():
    """Of what the tree does not tell of, four in five go back, and one in five ends."""
    tree = NoisyTree(4)
    first = tree.add(np.array([-1, -1]), np.array([0, 2]), np.array([900.0, 100.0]), np.ones(2))
    tree.expanded[first] = True
    second = tree.add(first[[0]], np.array([1]), np.array([900.0]), np.ones(1))
    tree.expanded[second] = True
    tree.add(second[[0, 0]], np.array([0, 4]), np.array([800.0, 100.0]), np.ones(2))
    counts = np.array([[0, 0, 1_000, 0], [0, 800 + 80, 0, 100 + 20]])
    types = TransitionTypeCounts(counts, 1.0)
    transitions = Transitions.of(tree, tree.noisy, np.array([0.0, 0.0, 0.0, 100.0]), ONCE, types)
    table = continue_sequences(tree, transitions, np.repeat(first[[1]], 100), 0, 3, coins())
    went = table[table[:, 1] == 3]
    assert len(went) == 100
    assert np.sum(went[:, 2] == 2) == pytest.approx(80, abs=1)
    assert np.sum(went[:, 2] == -1) == pytest.approx(20, abs=1)


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), max_size=12),
    st.integers(1, 7),
)
@settings(max_examples=60)
def test_transition_types_are_counted_as_by_hand(records, longest):
    """Three places at two times: the place of a label is what is left."""
    domain = Domain.declare(item=range(6))
    data = Sequences.from_records(records, domain=domain)
    expected = np.zeros((longest - 1, 4), np.int64)
    for record in records:
        cut = [label % 3 for label in record[:longest]]
        for number, place in enumerate(cut[: longest - 1]):
            if number + 1 == len(cut):
                expected[number, 3] += 1
            elif cut[number + 1] == place:
                expected[number, 0] += 1
            elif number and cut[number + 1] == cut[number - 1]:
                expected[number, 1] += 1
            else:
                expected[number, 2] += 1
    assert data.positions(longest).count(TransitionType(3, longest)).by_code().tolist() == expected.ravel().tolist()

"""What follows where a tree of prefixes stops: dealt evenly, learnt as by hand, never what is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain, Sequences
from hedgerow.frontiers import Habit
from hedgerow.steps import decks
from hedgerow.steps.continuing import calibrated, continued
from hedgerow.steps.decks import Deck, Drawn, Index, Pairs
from hedgerow.steps.following import Follow, Habits
from hedgerow.steps.prefixes import Prefixes

NO_HABITS = Habits(np.zeros((2, 4), np.int64), 1.0)
#: there is one time only
ONCE = np.zeros(1)


def coins(seed=1):
    return np.random.default_rng(seed)


@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=50),
    st.integers(0, 9),
)
@settings(max_examples=150)
def test_labels_are_dealt_to_within_one(weights, states, seed):
    state = np.repeat(np.arange(len(weights)), [len(held) for held in weights])
    label = np.concatenate([np.arange(len(held)) for held in weights])
    deck = Deck.of(state, label, np.concatenate(weights).astype(float), len(weights))
    asked = np.array(states, np.int64) % len(weights)
    dealt = deck.deal(asked, coins(seed))
    for number, held in enumerate(weights):
        mine = np.bincount(dealt[asked == number], minlength=len(held))
        expected = np.array(held) / sum(held) * np.sum(asked == number)
        assert np.all(np.abs(mine - expected) <= 1 + 1e-9)


def test_labels_become_rarer():
    deck = Deck.of(np.zeros(3, np.int64), np.array([0, 1, 2]), np.array([4.0, 4.0, 2.0]), 1)
    assert np.diff(deck.scaled(np.array([3.0, 1.0, 0.5])).upto) == pytest.approx([12, 4, 1])


@given(st.lists(st.integers(0, 40), max_size=20), st.lists(st.integers(-1, 60), max_size=30))
@settings(max_examples=100)
def test_keys_are_found_with_a_table_and_without(held, wanted):
    keys = np.unique(np.array(held, np.int64))
    asked = np.array(wanted, np.int64)
    expected = [keys.tolist().index(key) if key in keys else -1 for key in wanted]
    assert Index.of(keys).find(asked).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decks, "_TABLE", 0)
        assert Index.of(keys).find(asked).tolist() == expected


def test_what_is_known_is_not_drawn():
    deck = Deck.of(np.zeros(3, np.int64), np.arange(3), np.array([8.0, 1.0, 1.0]), 1)
    drawn = Drawn(3, 200, coins())
    owner = np.zeros(200, np.int64)
    pairs = Pairs.of(np.zeros(1, np.int64), np.zeros(1, np.int64), 4)
    drawn.avoid.append(lambda label, rows: pairs.hold(owner, label, rows))
    drawn.draw(deck, owner)
    assert set(drawn.found.tolist()) <= {1, 2, 3}
    assert np.sum(drawn.found == 3) < 120


def known_tree():
    """Items 0, 1, 2; 100 sequences: 60 begin 0 1 and of these 50 end, 40 begin 0 and go on rarely."""
    tree = Prefixes(3)
    first = tree.add(np.array([-1]), np.array([0]), np.array([100.0]), np.ones(1))
    tree.asked[first] = True
    second = tree.add(first[[0]], np.array([1]), np.array([60.0]), np.ones(1))
    tree.asked[second] = True
    tree.add(second[[0]], np.array([3]), np.array([50.0]), np.ones(1))
    return tree


def test_sequences_go_on_with_nothing_that_was_counted():
    tree = known_tree()
    for left in ([0.0, 0.0, 50.0], [500.0, 500.0, 0.0]):
        follow = Follow.of(tree, tree.noisy, np.array(left), ONCE, NO_HABITS)
        held = continued(tree, follow, np.repeat([0, 1], [40, 10]), 5, 3, coins())
        assert held.shape == (55, 3)
        # after 0, item 1 was counted and nothing ended: the other 40 go on with something else
        assert np.all(held[:40, 0] == 0)
        assert np.all((held[:40, 1] != 1) & (held[:40, 1] >= 0))
        # after 0 1, ends were counted: the other ten do not end
        assert np.all(held[40:50, :2] == [0, 1])
        assert np.all(held[40:50, 2] >= 0)
        # what begins with something too rare to be counted begins with no counted item
        assert np.all((held[50:, 0] != 0) & (held[50:, 0] >= 0))


def test_where_everything_was_counted_sequences_end():
    tree = Prefixes(2)
    first = tree.add(np.full(2, -1), np.arange(2), np.array([50.0, 50.0]), np.ones(2))
    tree.asked[first] = True
    tree.add(first[[0, 0]], np.arange(2), np.array([20.0, 20.0]), np.ones(2))
    follow = Follow.of(tree, tree.noisy, np.ones(2), ONCE, NO_HABITS)
    held = continued(tree, follow, np.zeros(10, np.int64), 4, 3, coins())
    assert np.all(held[:, 1] == -1)
    assert len(held) == 10  # and nothing can begin with an item that was not counted


def test_as_many_end_as_were_counted():
    """After one item 30 of 100 end, of which the tree tells nothing; after two, all but ten."""
    tree = Prefixes(3)
    first = tree.add(np.full(3, -1), np.arange(3), np.full(3, 100.0), np.ones(3))
    counts = np.array([[0, 0, 210, 90], [0, 0, 30, 180]])
    follow = Follow.of(tree, tree.noisy, np.ones(3), ONCE, Habits(counts, 1.0))
    held = continued(tree, follow, np.repeat(first, 100), 0, 3, coins())
    sizes = np.bincount(np.sum(held >= 0, axis=1), minlength=4)
    assert sizes[1:] == pytest.approx([90, 180, 30], abs=2)
    # what may be noise is not believed: 270 of 510 end after any item
    doubted = Follow.of(tree, tree.noisy, np.ones(3), ONCE, Habits(counts, 1e6))
    held = continued(tree, doubted, np.repeat(first, 100), 0, 3, coins())
    sizes = np.bincount(np.sum(held >= 0, axis=1), minlength=4)
    assert sizes[1] == pytest.approx(300 * 270 / 510, abs=2)
    assert sizes[2] == pytest.approx((300 - sizes[1]) * 270 / 510, abs=2)


def test_places_are_drawn_as_often_as_they_occur():
    """Without trials the place that is known after others comes out too often."""
    rng = coins(3)
    tree = Prefixes(4)
    first = tree.add(np.full(4, -1), np.arange(4), np.full(4, 1_000.0), np.ones(4))
    tree.asked[first] = True
    tree.add(first, np.zeros(4, np.int64), np.full(4, 300.0), np.ones(4))
    wanted = np.array([0.0, 1_000.0, 1_000.0, 2_000.0])
    usual = Habits(np.array([[0, 0, 4_000, 0], [0, 0, 2_800, 0]]), 1.0)
    follow = Follow.of(tree, tree.noisy, wanted, ONCE, usual)
    moving = np.repeat(first, 700)

    def drawn(held):
        new = held[:, 1:]
        return np.bincount(new[new >= 0], minlength=4) / np.sum(new >= 0)

    plain = drawn(continued(tree, follow, moving, 0, 3, coins()))
    fitted = calibrated(tree, follow, moving, 0, wanted, 3, rng)
    better = drawn(continued(tree, fitted, moving, 0, 3, coins()))
    target = wanted / wanted.sum()
    assert np.abs(better - target).sum() < np.abs(plain - target).sum()


def test_one_goes_back_as_often_as_is_usual():
    """Of what the tree does not tell of, four in five go back, and one in five ends."""
    tree = Prefixes(4)
    first = tree.add(np.array([-1, -1]), np.array([0, 2]), np.array([900.0, 100.0]), np.ones(2))
    tree.asked[first] = True
    second = tree.add(first[[0]], np.array([1]), np.array([900.0]), np.ones(1))
    tree.asked[second] = True
    tree.add(second[[0, 0]], np.array([0, 4]), np.array([800.0, 100.0]), np.ones(2))
    counts = np.array([[0, 0, 1_000, 0], [0, 800 + 80, 0, 100 + 20]])
    habits = Habits(counts, 1.0)
    follow = Follow.of(tree, tree.noisy, np.array([0.0, 0.0, 0.0, 100.0]), ONCE, habits)
    held = continued(tree, follow, np.repeat(first[[1]], 100), 0, 3, coins())
    went = held[held[:, 1] == 3]
    assert len(went) == 100
    assert np.sum(went[:, 2] == 2) == pytest.approx(80, abs=1)
    assert np.sum(went[:, 2] == -1) == pytest.approx(20, abs=1)


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), max_size=12),
    st.integers(1, 7),
)
@settings(max_examples=150)
def test_habits_are_counted_as_by_hand(records, longest):
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
    assert data.positions(longest).count(Habit(3, longest)).by_code().tolist() == expected.ravel().tolist()

"""The replay law on random data, for the shipped methods and an adaptive toy."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import small
from toys import TokenTree

from hedgerow import METHODS, FlatLaplace, PureDP, find_method
from hedgerow.errors import ParameterError, PromiseBroken
from hedgerow.kind_registry import find_kind
from hedgerow.testing import check_replay, mutant, sets_of, strategies

MOVED: Counter[tuple[str, str, bool]] = Counter()
EXAMPLES = 75
LAWFUL = [*(small(name) for name in METHODS if PureDP in find_method(name).keeps), TokenTree()]


def replay(method, data, unit, index, seed):
    """Check the law on neighbour number `index`, and count whether anything moved."""
    guarantee = PureDP(epsilon=Fraction(3, 2), unit=unit)
    neighbour = data.neighbour(index % data.count_neighbours(unit), unit=unit)
    result = check_replay(method, data, neighbour, guarantee, seed)
    MOVED[method.name, unit, result.moved] += 1
    return result


def share_moved(method, unit):
    moved, still = MOVED[method, unit, True], MOVED[method, unit, False]
    return moved / (moved + still)


@pytest.mark.parametrize(
    ("method", "unit"),
    [(method, unit) for method in LAWFUL for unit in find_kind(method.kinds[0]).type.units if unit in method.units],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_replay_law_holds(method, unit, record_property):
    @settings(max_examples=EXAMPLES)
    @given(
        data=strategies.of_kind(method.kinds[0]),
        index=st.integers(0, 50),
        seed=strategies.seeds(),
    )
    def law(data, index, seed):
        replay(method, data, unit, index, seed)

    law()
    share = share_moved(method.name, unit)
    told = f"an exact answer moved in {share:.1%} of {EXAMPLES} examples"
    record_property(f"replay law, {method.name}, unit {unit}", told)
    assert share >= 0.5


@pytest.mark.parametrize(
    ("new", "loss"),
    [("most=6", "3/2"), ("most=3) + count_tokens(data, most=3", "3/2")],
    ids=["six tokens where three were declared", "every token counted twice"],
)
def test_the_two_epsilon_variants_of_the_toy_tree_are_red(new, loss):
    """Twice the tokens that `touches=3` declares: twice the share of the tree is lost.

    The tree has three quarters of the promise; the favourite loses nothing on records that have all
    pairs alike, so 3/4 becomes 3/2.
    """
    double = mutant(TokenTree, "most=3", new)()
    # so many records that every pair and item is far above the cutoff and asked to the end
    data = sets_of([[0, 2, 4, 1, 3, 5][:6] if new == "most=6" else [0, 2, 4]] * 400, 6)
    guarantee = PureDP(epsilon=1, unit="record")
    neighbour = data.without(0, unit="record")
    honest = check_replay(TokenTree(), data, neighbour, guarantee, 1)
    assert Fraction(3, 4) <= honest.loss <= 1
    with pytest.raises(PromiseBroken, match=f"loses {loss} between neighbours where 1 was promised"):
        check_replay(double, data, neighbour, guarantee, 1)


def test_the_whole_budget_can_be_lost():
    """The law is no loose bound: flat-laplace reaches it."""
    data = sets_of([[0], [1]], 2)
    result = check_replay(FlatLaplace(), data, data.without(0, unit="record"), PureDP(epsilon="0.3", unit="record"), 5)
    assert (result.loss, result.moved, result.questions) == (Fraction(3, 10), True, 1)


def test_a_pair_that_is_no_pair_is_red():
    data = sets_of([[0], [1], [0, 1]], 2)
    far = data.without(0, unit="record").without(0, unit="record")
    with pytest.raises(PromiseBroken, match="loses 2"):
        check_replay(FlatLaplace(), data, far, PureDP(epsilon=1, unit="record"), 5)


def test_without_an_epsilon_there_is_nothing_to_replay():
    from toys import MinimumSupport, PassOn

    data = sets_of([[0]] * 4, 2)
    with pytest.raises(ParameterError, match="has no epsilon"):
        check_replay(PassOn(), data, data, MinimumSupport(2), 1)


def test_seeds_repeat_and_entropy_does_not():
    data = sets_of([[0]] * 40 + [[1, 2]] * 30, 3)
    guarantee = PureDP(epsilon=Fraction(1, 20), unit="record")
    publish = FlatLaplace(threshold=0).publish
    first, again = (publish(data, guarantee, seed=3).data.to_bytes() for _ in "ab")
    assert first == again
    assert len({publish(data, guarantee).data.to_bytes() for _ in range(5)}) > 1


def test_the_order_of_records_is_not_published():
    data = sets_of([[3], [2], [1], [0], [0, 1]], 4)
    other = data.shuffled(np.random.default_rng(1))
    guarantee = PureDP(epsilon=1, unit="record")
    check_replay(FlatLaplace(), data, other, guarantee, 3, within=Fraction(0))

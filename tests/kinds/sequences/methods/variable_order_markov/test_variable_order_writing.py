"""Writing of variable-order-markov: distinct beginnings first, then one sequence after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.kinds.sequences.methods.variable_order_markov import draw
from hedgerow.kinds.sequences.methods.variable_order_markov.draw import Beginnings, _deal, write_sequences
from hedgerow.kinds.sequences.methods.variable_order_markov.model import ContextTree
from hedgerow.kinds.sequences.methods.variable_order_markov.plan_model import LengthHistogram
from hedgerow.privacy.samplers import coins
from hedgerow.testing import changed

#: three items: what follows 0, 1, 2 and the start; the root has the mean
FOLLOW = np.array([[3, 3, 2, 2], [1, 5, 2, 2], [2, 0, 6, 2], [6, 2, 0, 2], [5, 3, 2, 0]]) / 10
LENGTHS = LengthHistogram(np.array([0.0, 2_000, 3_000, 4_000, 3_000]))


def first_order():
    tree = ContextTree(4)
    tree.add_level(np.zeros(4, np.int64), np.arange(4), np.zeros(4, np.bool_), np.zeros(4))
    return tree


def written(seed):
    """How often each list was written."""
    row, item, counts = write_sequences(first_order(), FOLLOW, LENGTHS, coins((seed, 0)))
    lists = np.split(item, np.flatnonzero(np.diff(row)) + 1)
    number = {}
    for path, count in zip(map(tuple, lists), counts.tolist(), strict=True):
        number[path] = number.get(path, 0) + count
    return number


@pytest.mark.parametrize("few", [0, 3, 1_000], ids=["one by one", "from the third on", "beginnings"])
def test_beginnings_and_single_sequences_have_the_same_law(few, monkeypatch):
    """Also of runs that are longer than the order: which sequences of a row get which item is random."""
    monkeypatch.setattr(draw, "_FEW", few)
    deviation = deviations(range(3))
    assert deviation < 4.5


def deviations(seeds):
    """The largest deviation of any list of four items from the chain, in standard deviations of a binomial number."""
    worst = 0.0
    for seed in seeds:
        number = written(seed)
        assert sum(number.values()) == 12_000
        four = {path: count for path, count in number.items() if len(path) == 4}
        assert sum(four.values()) == 3_000
        pairs = {}
        for path, count in four.items():
            pairs.setdefault(path[2], {}).setdefault(path[:2], []).append((path[3], count))
        # the last item does not depend on the first two, given the third
        for groups in pairs.values():
            last = np.zeros((len(groups), 3))
            for at, group in enumerate(groups.values()):
                for item, count in group:
                    last[at, item] += count
            mean = last.sum(axis=0) / last.sum()
            expected = last.sum(axis=1, keepdims=True) * mean
            spread = np.sqrt(np.maximum(expected * (1 - mean), 1.0))
            worst = max(worst, float(np.abs((last - expected) / spread).max()))
    return worst


def test_sequences_that_are_dealt_in_order_are_noticed():
    old = 'coins.multivariate_hypergeometric(left, hand, method="marginals")'
    new = "np.diff(np.minimum(np.cumsum(left), hand), prepend=0)"
    with changed(draw, "_deal", old, new, np=np):
        assert deviations([0]) > 10


def test_few_beginnings_are_written_once():
    row, _, counts = write_sequences(first_order(), FOLLOW, LENGTHS, coins((1, 0)))
    assert len(counts) == row.max() + 1 < 200


def test_many_beginnings_are_not_listed():
    tree = first_order()
    assert Beginnings.of(tree, 16).are_few(tree)
    assert not Beginnings.of(tree, 15).are_few(tree)
    assert not Beginnings(np.zeros((0, 2), np.int8), np.zeros(0, np.int64)).are_few(tree)


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=6), st.lists(st.integers(0, 9), max_size=5), st.integers(0, 99)
)
def test_all_is_dealt(counts, hands, seed):
    left = sum(counts)
    many = [min(hand, left // (len(hands) + 1)) for hand in hands]
    many.append(left - sum(many))
    dealt = _deal(counts, np.array(many), coins((seed, 0)))
    assert dealt.sum(axis=0).tolist() == counts
    assert dealt.sum(axis=1).tolist() == many
    assert dealt.min() >= 0

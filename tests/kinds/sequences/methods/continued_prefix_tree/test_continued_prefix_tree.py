"""Continued prefix trees: what is written fits what was counted, and what is missing is begun."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain, PureDP, Sequences, Trajectories
from hedgerow.errors import ParameterError
from hedgerow.kinds.sequences.methods.continued_prefix_tree.model import Marginals, TimeAnswers, TransitionTypeCounts
from hedgerow.kinds.sequences.methods.continued_prefix_tree.publisher import ContinuedPrefixTree, part_for_places
from hedgerow.kinds.sequences.methods.prefix_tree.model import NoisyTree

UNIT = PureDP(epsilon=1, unit="sequence")


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("groups", ["none", "fan-out"])
def test_visits_are_published_in_order(several, groups):
    rng = np.random.default_rng(4)
    domain = Domain.declare(place=[f"p{n}" for n in range(9)], time=range(6))
    records = []
    for _ in range(3_000):
        times = np.sort(rng.choice(6, 3, replace=several)).tolist()
        records.append([(f"p{int(p)}", t) for p, t in zip(rng.integers(0, 9, 3), times, strict=True)])
    data = Trajectories.from_records(records, domain=domain, several=several)
    method = ContinuedPrefixTree(height=3, groups=groups)
    release = method.publish(data, PureDP(epsilon=4, unit="trajectory"), seed=1)
    starts, pairs, _ = release.data.arrays()
    assert len(release.data) == pytest.approx(3_000, rel=0.05)
    for begin, end in itertools.pairwise(starts):
        steps = np.diff(pairs[begin:end] // 9)
        assert 1 <= end - begin <= 3
        assert np.all(steps >= (0 if several else 1))


def test_deeper_groups_are_asked_one_after_the_other():
    paths = [[str(code // 16), str(code // 4)] for code in range(64)]
    domain = Domain.declare(item=range(64)).with_paths("item", paths)
    data = Sequences.from_records([[5, 60, 5]] * 4_000 + [[33]] * 2_000, domain=domain)
    method = ContinuedPrefixTree(groups="declared", height=4)
    released = dict(method.publish(data, PureDP(epsilon=2, unit="sequence"), seed=1).data.distinct_records())
    assert released[5, 60, 5] == pytest.approx(4_000, rel=0.05)
    assert released[33,] == pytest.approx(2_000, rel=0.05)


@given(st.data())
@settings(max_examples=40)
def test_sequences_have_as_many_items_as_they_may(data):
    record = st.lists(st.integers(0, 4), min_size=1, max_size=7)
    records = data.draw(st.lists(record, max_size=60))
    private = Sequences.from_records(records, domain=Domain.declare(item=range(5)))
    groups = data.draw(st.sampled_from(["none", "fan-out"]))
    method = ContinuedPrefixTree(height=4, groups=groups)
    release = method.publish(private, PureDP(epsilon=20, unit="sequence"), seed=data.draw(st.integers(0, 99)))
    assert all(1 <= len(path) <= 4 for path in release.data.records())


def test_what_is_empty_is_published():
    for items in (1, 2, 50):
        data = Sequences.from_records([], domain=Domain.declare(item=range(items)))
        for groups in ("none", "fan-out"):
            ContinuedPrefixTree(groups=groups).publish(data, UNIT)


def test_noise_beyond_reason_is_refused_before_anything_is_asked():
    data = Sequences.from_records([], domain=Domain.declare(item=range(4)))
    for height in (1, 12):  # by the number of records, and by the prefixes
        with pytest.raises(ParameterError, match="take a larger epsilon"):
            ContinuedPrefixTree(height=height).publish(data, PureDP(epsilon="1e-6", unit="sequence"))


# ---- settings of our own, as by hand


def test_single_places_get_more_where_a_tree_cannot_grow():
    assert part_for_places(1e6, 68, 12) == Fraction(9, 100)
    assert part_for_places(20_000.0, 384, 12) == Fraction(50, 100)
    assert part_for_places(-5.0, 10, 12) == Fraction(50, 100)
    assert Fraction(9, 100) < part_for_places(100_000.0, 400, 12) < Fraction(50, 100)


def test_the_number_of_records_by_both_counts():
    tree = NoisyTree(3)
    tree.add(np.full(2, -1), np.arange(2), np.array([600.0, 380.0]), np.array([0.02, 0.02]))
    types = TransitionTypeCounts(np.zeros((0, 4), np.int64), 0.0)

    def total(number, variance):
        return Marginals(number, variance, np.zeros(3, np.int64), types, TimeAnswers.none(1)).total(tree)

    assert total(1_000, 100.0) == pytest.approx(990)  # both have a variance of 100
    assert total(1_000, 300.0) == pytest.approx(985)
    assert total(1_400, 100.0) == 1_400  # what is missing is too rare to be counted
    assert total(700, 100.0) == 700


def test_what_is_missing_is_begun():
    """Half of the sequences begin with items too rare to be counted: they are there all the same."""
    rare = [[number % 900 + 100] for number in range(4_000)]
    data = Sequences.from_records(rare + [[0]] * 4_000, domain=Domain.declare(item=range(1_000)))
    release = ContinuedPrefixTree(height=2).publish(data, UNIT, seed=1)
    assert len(release.data) == pytest.approx(8_000, abs=600)
    assert dict(release.data.distinct_records())[0,] == pytest.approx(4_000, abs=300)

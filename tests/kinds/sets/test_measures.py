"""Measures of sets against the printed figures, a brute force, and their controls."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import VECTORS

from hedgerow import Domain, FlatLaplace, PureDP, Sets
from hedgerow.evaluate import evaluate
from hedgerow.kinds.sets.measures import (
    drawn_queries,
    set_errors,
    size_distance,
    tail_size,
    top_utility,
    uniform_queries,
)
from hedgerow.measures.itemsets import ItemsetIndex
from hedgerow.testing import sets_of, strategies

VECTOR = json.loads((VECTORS / "diffpart.json").read_text())


def postings(records):
    return ItemsetIndex.of(Sets.from_records(records, domain=Domain.declare(item=[1, 2, 3, 4])))


def test_counting_queries_on_the_printed_table():
    held = postings(VECTOR["records"])
    asked = {tuple(int(item) - 1 for item in text.split()): n for text, n in VECTOR["queries"]["supports"].items()}
    assert held.supports(list(asked)).tolist() == list(asked.values())


@pytest.mark.parametrize(("most", "utility", "dropped"), [(1, 0.857143, 0), (2, 0.928571, 0), (4, 0.651786, 1)])
def test_the_printed_figures_of_the_top_itemsets(most, utility, dropped):
    """Table 4.1 against itself without its second record; ties by size, then by items."""
    before, after = (
        postings(VECTOR["records"]),
        postings(VECTOR["records"][:1] + VECTOR["records"][2:]),
    )
    kept, gone = top_utility(before, after, most)
    assert (kept, gone) == (pytest.approx(utility, abs=1e-6), dropped)
    assert set_errors(before, after, [(1,)]).tolist() == [pytest.approx(1 / 7)]
    assert list(before.top(4)) == [(1,), (0,), (3,), (1, 3)]


def test_sizes_are_compared_as_a_whole_and_in_the_tail():
    long = [[*range(12)]] * 2 + [[*range(6)]] * 6
    truth = ItemsetIndex.of(sets_of([[0]] * 592 + long, 12))
    cut = ItemsetIndex.of(sets_of([[0]] * 592 + [[*range(6)]] * 8, 12))
    nothing = ItemsetIndex.of(sets_of([], 12))
    assert [size_distance(truth, other) for other in (truth, cut, nothing)] == pytest.approx([0, 2 / 600, 1])
    # a hundredth of 600 records: two of 12 items and four of 6
    assert [tail_size(data) for data in (truth, cut, nothing)] == pytest.approx([8, 6, 0])


@given(data=strategies.of_kind("sets", items=5), most=st.integers(1, 40))
def test_the_miner_finds_what_brute_force_finds(data, most):
    held = ItemsetIndex.of(data)
    items = range(data.domain.size("item"))
    every = [q for size in items for q in itertools.combinations(items, size + 1)]
    counted = [(-int(n), len(q), q) for q, n in zip(every, held.supports(every), strict=True) if n]
    assert [(-n, len(q), q) for q, n in held.top(most).items()] == sorted(counted)[:most]
    brute = [sum(set(q) <= set(record) for record in data.records()) for q in every]
    assert held.supports(every).tolist() == brute


def test_workloads_are_what_they_say():
    held = ItemsetIndex.of(sets_of([[0, 1, 2], [3], [0, 3]] * 30, 6))
    rng = np.random.default_rng(1)
    for name, queries in uniform_queries(held, rng, 50).items():
        longest = int(name.split()[-2])
        assert len(queries) == 50
        assert all(1 <= len(query) <= longest and list(query) == sorted(set(query)) for query in queries)
    for queries in drawn_queries(held, rng, 50).values():
        assert (held.supports(queries) > 0).all()  # parts of real records occur
    assert drawn_queries(ItemsetIndex.of(sets_of([], 3)), rng, 50) == {}


def test_scores_are_for_the_owner_and_stand_beside_controls():
    data = sets_of([[0, 1]] * 300 + [[2]] * 200 + [[0, 1, 2]] * 50, 4)
    promise = PureDP(epsilon=2, unit="record")
    scores = {score.name: score for score in evaluate(FlatLaplace().publish(data, promise, seed=1), data, seed=1)}
    for score in scores.values():
        assert score.scope == "owner"
        assert [name for name, _ in score.controls][-2:] == ["empty release", "noisy singletons"]
    loss = scores["utility loss of the top 20 itemsets"]
    controls = dict(loss.controls)
    assert loss.value < 0.1 < controls["noisy singletons"] < controls["empty release"] == 1
    assert scores["ratio of released to original records"].value == pytest.approx(1, abs=0.05)

"""The chain of balanced flows: what goes in comes out, and what is written is what was counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain, PureDP, Sequences
from hedgerow.frontiers import NextSymbol
from hedgerow.kinds.sequences.methods.ngram.publisher import Exploration
from hedgerow.kinds.sequences.methods.ngram_markov.draw import _sample, sample_sequences
from hedgerow.kinds.sequences.methods.ngram_markov.model import (
    MarkovChain,
    _first_order,
    balanced_chain,
    chain_states,
    correct_lengths,
    forward_chain,
    sequence_count,
)
from hedgerow.numerics.projections import project_to_simplex
from hedgerow.privacy.questions import ExactAnswers, NoisyAnswers


def walks(records=4_000, items=4, seed=3):
    rng = np.random.default_rng(seed)
    near = rng.dirichlet(np.ones(items), items)
    paths = []
    for _ in range(records):
        path = [int(rng.integers(items))]
        while len(path) < 12 and rng.random() < 0.75:
            path.append(int(rng.choice(items, p=near[path[-1]])))
        paths.append(path)
    return Sequences.from_records(paths, domain=Domain.declare(item=range(items)))


def explored(data, epsilon=50, answers=None):
    exploration = Exploration(l_max=8, n_max=3, adaptive=True, fill="backoff")
    promise = PureDP(epsilon=epsilon, unit="sequence")
    return exploration.explore(data, promise.open(data, answers or NoisyAnswers(7)))


def test_what_goes_into_an_item_comes_out_of_it():
    tree = explored(walks())
    number = sequence_count(tree, 8)
    other, flows = _first_order(tree, number)
    into = flows.rows.sum(axis=0) + other + flows.starts[0]
    occurs = np.append(tree.counts[0, :-1], number)
    assert np.allclose(into, occurs, atol=1e-6 * occurs.sum())
    out = flows.rows.sum(axis=1)
    assert np.allclose(out, tree.counts[0, tree.label[flows.contexts]], atol=1e-4 * occurs.sum())


def test_without_noise_the_grams_number_and_lengths_come_back():
    data = walks()
    tree = explored(data, 500, ExactAnswers())
    number = sequence_count(tree, 8)
    assert number == pytest.approx(len(data))
    chain = correct_lengths(balanced_chain(tree, 8), 8, tree.counts[0].sum() / sequence_count(tree, 8))
    row, item = sample_sequences(chain, len(data), 8, np.random.default_rng(1))
    made = Sequences.from_columns(row=row, item=item, domain=data.domain)
    exact, released = (np.zeros((4, 5)) for _ in range(2))
    for sequences, table in ((data.truncated(8), exact), (made, released)):
        first = sequences.positions(8).count(NextSymbol(4))
        pairs = first.move(np.zeros(4, np.int64), np.arange(4)).count(NextSymbol(4))
        table[pairs.cells, pairs.codes] = pairs.counts
    assert np.abs(released - exact).sum() < 0.03 * exact.sum()
    lengths = [np.bincount(np.diff(part.arrays()[0]), part.arrays()[2], 9) for part in (data.truncated(8), made)]
    assert 0.5 * np.abs(lengths[0] - lengths[1]).sum() < 0.05 * len(data)


def test_many_items_of_which_nothing_is_known_are_one_state():
    """Three thousand items, four of them frequent: there are rows for what is known only."""
    base = walks(3_000)
    starts, items, _ = base.arrays()
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    data = Sequences.from_columns(row=row, item=items, domain=Domain.declare(item=range(3_000)))
    tree = explored(data, 20)
    chain = correct_lengths(balanced_chain(tree, 8), 8, tree.counts[0].sum() / sequence_count(tree, 8))
    assert len(chain.follow) < 200
    assert np.allclose(chain.follow.sum(axis=1), 1)
    assert np.all(chain.onward < len(chain.follow))


@given(st.integers(1, 4), st.integers(0, 10**6), st.sampled_from([0.01, 0.5, 3, 100]))
@settings(max_examples=80)
def test_every_chain_is_a_chain(items, seed, epsilon):
    """Whatever the noise: chances add up, nothing is missing, states lead to states."""
    data = walks(40, items, seed)
    tree = explored(data, epsilon, NoisyAnswers(seed))
    if tree.counts[0].sum() == 0:
        return
    for chain in (
        correct_lengths(balanced_chain(tree, 8), 8, tree.counts[0].sum() / sequence_count(tree, 8)),
        forward_chain(tree)[0],
    ):
        for rows in (chain.follow, chain.start[None, :]):
            assert np.all(np.isfinite(rows))
            assert np.all(rows >= 0)
            assert np.allclose(rows.sum(axis=1), 1)
        assert chain.onward.min() >= 0
        assert chain.onward.max() < len(chain.follow)
        assert chain.first.max() < len(chain.follow)


def test_states_lead_to_the_longest_they_end_in():
    tree = explored(walks(), 200, ExactAnswers())
    states = chain_states(tree)
    names = {0: None} | {int(states.number[context]): tree.items(int(context)) for context in states.contexts}
    known = {name: state for state, name in names.items() if name}
    for state, name in names.items():
        for item in range(tree.size):
            path = (*(name or ()), item)
            longest = max((path[i:] for i in range(len(path)) if path[i:] in known), key=len)
            assert names[int(states.onward[state, item])] == longest


def test_the_projection_is_the_nearest_point_with_its_sum():
    rng = np.random.default_rng(2)
    values, sums = rng.normal(size=(50, 6)) * 5, rng.random(50) * 4
    projected = project_to_simplex(values, sums)
    assert np.all(projected >= 0)
    assert np.allclose(projected.sum(axis=1), sums)
    for row, total, point in zip(values, sums, projected, strict=True):
        others = rng.dirichlet(np.ones(6), 200) * total
        assert np.all(((others - row) ** 2).sum(axis=1) >= ((point - row) ** 2).sum() - 1e-9)


def test_sampling_is_within_one_of_the_expectation_and_unbiased():
    """False alarm: the mean of 2,000 samples is beyond five standard errors in 1 of 10**6 runs."""
    follow = np.array([[0.2, 0.5, 0.3], [0.0, 0.05, 0.95]])
    state = np.array([0] * 7 + [1] * 5)
    coins = np.random.default_rng(4)
    totals = np.zeros((2, 3))
    for _ in range(2_000):
        sampled = _sample(follow, state, coins)
        counts = np.zeros((2, 3))
        np.add.at(counts, (state, sampled), 1)
        assert np.all(np.abs(counts - follow * [[7], [5]]) < 1)
        totals += counts
    assert np.all(np.abs(totals / 2_000 - follow * [[7], [5]]) < 5 * 0.5 / 2_000**0.5)


def test_a_chain_that_is_stopped_ends_as_often_as_was_counted():
    """One item, ends after each with chance a half as counted, stopped at three items."""
    chain = MarkovChain(np.array([1.0]), np.array([0]), np.array([[0.5, 0.5]]), np.array([[0]]))
    longer = correct_lengths(chain, 3, 2.0)
    on = longer.follow[0, 0]
    # occurrences: 1 + p + p**2; ends: one each; half of what follows must be an end
    assert 1 / (1 + on + on**2) == pytest.approx(0.5, abs=1e-3)

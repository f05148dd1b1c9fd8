"""stream-count and binary-mechanism keep their promise: exact small cases, exact losses, and planted bugs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import PureDP
from hedgerow.errors import GuaranteeError
from hedgerow.kinds.streams.cases import stream_of
from hedgerow.kinds.streams.methods import running_sums, stream_count
from hedgerow.kinds.streams.methods.binary_mechanism import BinaryMechanism
from hedgerow.kinds.streams.methods.stream_count import StreamCount
from hedgerow.testing import changed, check_publisher, check_replay, mutant, output_distribution, worst_loss

PROMISE = PureDP(epsilon=1, unit="event")
ROUNDING = 1e-9
BALANCED = StreamCount(balance="paper")
ALL = [StreamCount(), BALANCED, StreamCount(equal_noise=False), BinaryMechanism()]
NAMES = ["best", "balanced", "without empty nodes", "binary"]


def worst(method, data):
    """The worst log-ratio between a stream and all its neighbours, and between those: every stream of its length."""
    laws = [
        output_distribution(method, stream, PROMISE, low=-1, high=2)
        for stream in (data, *(data.neighbour(event, unit="event") for event in range(data.count_units("event"))))
    ]
    assert all(math.isclose(sum(law.values()), 1, rel_tol=1e-9) for law in laws)
    return max(worst_loss(laws[0], law) for law in laws[1:])


THREE = pytest.param([1, 0, 1], marks=pytest.mark.slow)


@pytest.mark.parametrize("bits", [[0], [0, 0], [0, 1], [1, 1], THREE], ids=str)
@pytest.mark.parametrize("method", ALL, ids=NAMES)
def test_the_whole_law_on_a_few_events(method, bits):
    """Every answer is enumerated: nothing loses more than was promised, and some output loses much of it.

    Two events are in one node each of the balanced tree, of two that it has noise for.
    """
    least = 0.49 if method is BALANCED else 0.66
    assert least <= worst(method, stream_of(bits)) <= 1 + ROUNDING


def test_the_whole_law_shows_too_little_noise():
    with changed(running_sums, "noisy_sums", "Laplace(l1=l1)", "Laplace(l1=l1 * Fraction(9, 10))", Fraction=Fraction):
        running_sums.noisy_sums, shipped = running_sums.noisy_sums, running_sums.noisy_sums
        try:
            assert worst(StreamCount(), stream_of([0, 1])) > 1.1
        finally:
            running_sums.noisy_sums = shipped


@pytest.mark.parametrize("method", ALL, ids=NAMES)
@pytest.mark.parametrize("steps", [1, 7])
def test_some_event_costs_exactly_what_was_promised(method, steps):
    """An event that lies in a node of every rank, and moves from bound to bound; none costs more."""
    data = stream_of([0] * 64, steps)
    promise = PureDP(epsilon="0.3", unit="event")
    to_the_top = [data.neighbour(index, unit="event") for index in range(0, data.count_neighbours("event"), data._ways)]
    losses = [check_replay(method, data, neighbour, promise, 5).loss for neighbour in to_the_top[:20]]
    assert max(losses) == Fraction(3, 10)
    assert min(losses) > 0


@settings(max_examples=25)
@given(
    values=st.lists(st.integers(0, 6), min_size=1, max_size=200),
    index=st.integers(0, 10_000),
    every=st.integers(1, 5),
    method=st.sampled_from([StreamCount, BinaryMechanism]),
    seed=st.integers(0, 999),
)
def test_the_replay_law_holds_for_values_and_any_distance(values, index, every, method, seed):
    """Neighbours move one event by a step, or to a bound: within the sensitivity of 6 steps."""
    data = stream_of(values, 6)
    neighbour = data.neighbour(index % data.count_neighbours("event"), unit="event")
    result = check_replay(method(every=every), data, neighbour, PureDP(epsilon="0.7", unit="event"), seed)
    event = index % data.count_neighbours("event") // 3
    assert result.moved == (event < len(values) // every * every)


IN_SUMS = {
    "halved sensitivity": ("Laplace(l1=l1)", "Laplace(l1=Fraction(l1, 2))"),
    "one rank too few in the noise": ("Laplace(l1=l1)", "Laplace(l1=Fraction(l1 * (tree.ranks - 1), tree.ranks))"),
    "every rank has the whole budget": ("spend=piece.budget", "spend=ledger.budget"),
    "the largest nodes without noise": (
        "        _, piece",
        "        if rank == 0:\n            return exact\n        _, piece",
    ),
}
IN_NODES = {
    "events in two nodes of a rank": (
        "_add_nodes",
        "np.diff(known[:, 0])",
        "(known[1:, 0] - known[np.maximum(np.arange(len(leaves)) - 2, 0), 0])",
    ),
    "noise drawn for each publication": ("_answer", "state[:, 1] + _sum", "ask(0, state[:, 0]) + _sum"),
    "exact sums": ("_answer", "state[:, 1] + _sum", "state[:, 0] + _sum"),
    "empty nodes by what they follow": ("_answer", "int(ends.empty.sum())", "int(ends.empty.sum() + run.sums[0])"),
    "noise only where there is something": ("_answer", "if not len(run.times)", "if not run.sums.any()"),
}


@pytest.mark.parametrize("method", [BALANCED, BinaryMechanism()], ids=["balanced", "binary"])
@pytest.mark.parametrize("bug", IN_SUMS)
def test_mutants_of_the_budget_are_caught(method, bug):
    old, new = IN_SUMS[bug]
    with changed(running_sums, "noisy_sums", old, new, Fraction=Fraction):
        with pytest.raises(GuaranteeError):
            check_publisher(method, PROMISE)


@pytest.mark.parametrize("method", [BALANCED, BinaryMechanism()], ids=["balanced", "binary"])
@pytest.mark.parametrize("bug", IN_NODES)
def test_mutants_of_the_nodes_are_caught(method, bug):
    name, old, new = IN_NODES[bug]
    with changed(running_sums, name, old, new), pytest.raises(GuaranteeError):
        check_publisher(method, PROMISE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schedule.require_count())", "schedule.require_count() + int(data.events.read(0, 1).sum()))"),
        ("padded=self.equal_noise", "padded=bool(data.events.read(0, 99).any())"),
        ("self.every, self", "self.every + int(data.events.read(0, 99).sum() > 1), self"),
    ],
    ids=["leaves by the first event", "noise by the events", "times by the events"],
)
def test_mutants_of_stream_count_are_caught(old, new):
    with pytest.raises(GuaranteeError):
        check_publisher(mutant(StreamCount, old, new)(), PROMISE)


def test_a_value_moves_by_all_its_steps():
    data = stream_of([0] * 9, 4)
    with changed(running_sums, "estimate_sums", "l1=axis.steps)", "l1=1)"):
        stream_count.estimate_sums, shipped = running_sums.estimate_sums, stream_count.estimate_sums
        try:
            with pytest.raises(GuaranteeError, match="loses 4 between neighbours where 1 was promised"):
                check_replay(StreamCount(), data, data.neighbour(0, unit="event"), PROMISE, 3)
        finally:
            stream_count.estimate_sums = shipped
    assert np.isclose(float(check_replay(StreamCount(), data, data.neighbour(0, unit="event"), PROMISE, 3).loss), 1)

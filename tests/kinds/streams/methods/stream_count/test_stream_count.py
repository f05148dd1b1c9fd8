"""stream-count and binary-mechanism: what is published, when, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Domain, NumberAxis, PureDP
from hedgerow.errors import ParameterError, ReadError
from hedgerow.kinds.streams.data import Stream
from hedgerow.kinds.streams.methods.binary_mechanism import BinaryMechanism
from hedgerow.kinds.streams.methods.partial_sums_model import SmoothTree
from hedgerow.kinds.streams.methods.stream_count import StreamCount
from hedgerow.numerics.laplace_sums import two_sided_quantile
from hedgerow.privacy import ExactAnswers
from hedgerow.publisher import publish_with

PROMISE = PureDP(epsilon=1, unit="event")
METHODS = [StreamCount, BinaryMechanism]


def rows(method, data, promise=PROMISE, seed=5):
    return method.publish(data, promise, seed=seed).data.all_rows()


def exactly(method, data):
    return publish_with(method, data, PROMISE, ExactAnswers()).data.all_rows()


@st.composite
def schedules(draw):
    """Parameters for a stream of some length, and the times that they mean."""
    length = draw(st.integers(1, 60))
    if draw(st.booleans()):
        every = draw(st.integers(1, 70))
        horizon = draw(st.sampled_from([0, length, length + draw(st.integers(0, 50))]))
        return length, {"every": every, "horizon": horizon}, list(range(every, length + 1, every))
    times = sorted(draw(st.lists(st.integers(1, length), min_size=1, max_size=9)))
    return length, {"times": ",".join(map(str, times))}, times


@settings(max_examples=60)
@given(
    schedule=schedules(),
    method=st.sampled_from([StreamCount, BinaryMechanism, lambda **named: StreamCount(balance="paper", **named)]),
    bounds=st.sampled_from([("0", "1", "1"), ("-3", "5", "0.5"), ("10", "11", "0.1"), ("0", "2", "1/3")]),
    seed=st.integers(0, 99),
)
def test_without_noise_the_sums_come_back_whenever_they_are_due(schedule, method, bounds, seed):
    length, settings, times = schedule
    axis = NumberAxis.between(*bounds)
    codes = np.random.default_rng(seed).integers(0, axis.steps + 1, length).tolist()
    values = [axis.low + axis.step * code for code in codes]
    data = Stream.from_values([float(value) for value in values], Domain.declare(value=axis))
    published = exactly(method(**settings), data)
    assert published.times.tolist() == times
    assert published.values.tolist() == pytest.approx([float(sum(values[:time])) for time in times], abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_events_may_come_from_an_iterator_in_batches_of_any_size(method, monkeypatch):
    bits = np.random.default_rng(1).integers(0, 2, 300)
    expected = rows(method(every=3, horizon=300), Stream.from_values(bits))
    assert expected.times.tolist() == list(range(3, 301, 3))
    data = Stream.from_values(iter(bits.tolist()))
    sizes = iter([1, 2, 5, 40, 1, 1, 50])
    monkeypatch.setattr(data.events, "batch_size", lambda: next(sizes))
    once = exactly(method(every=3, horizon=300), data)
    assert once.values.tolist() == np.cumsum(bits)[2::3].tolist()
    assert once.half_widths.tolist() == expected.half_widths.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_a_stream_may_end_before_its_horizon(method):
    published = exactly(method(every=10, horizon=10_000), Stream.from_values(iter([1] * 35)))
    assert published.times.tolist() == [10, 20, 30]
    assert published.values.tolist() == [10, 20, 30]


@pytest.mark.parametrize("method", METHODS)
def test_a_time_that_is_listed_twice_is_published_twice_from_the_same_noise(method):
    published = rows(method(times="3,3,8,8,8"), Stream.from_values([1] * 9), seed=2)
    assert published.times.tolist() == [3, 3, 8, 8, 8]
    assert len(set(published.values[:2])) == len(set(published.values[2:])) == 1
    # it costs nothing: the noise is that of two publications
    once = rows(method(times="3,8"), Stream.from_values([1] * 9), seed=2)
    assert once.values.tolist() == published.values[[0, 2]].tolist()
    assert once.half_widths.tolist() == published.half_widths[[0, 2]].tolist()


def test_no_event_after_the_last_listed_time_is_read():
    def events():
        yield from [1, 1, 1]
        raise AssertionError

    assert exactly(StreamCount(times="2,3"), Stream.from_values(events())).values.tolist() == [2, 3]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("settings", "events", "due", "message"),
    [
        ({"horizon": 4}, 5, 4, r"the stream goes on after event 4, the horizon; give a larger one with --set horizon"),
        ({"every": 3, "horizon": 8}, 9, 2, r"the stream goes on after event 8, the horizon"),
        ({"times": "2,4,9"}, 6, 2, r"the stream has ended before the last of the listed times"),
    ],
)
def test_what_is_due_is_published_before_an_error(method, settings, events, due, message):
    data = Stream.from_values(iter([1] * events))
    release = method(**settings).publish(data, PROMISE, seed=1, in_slices=True)
    slices, seen = release.data.rows(), 0
    with pytest.raises(ReadError, match=message):
        while True:
            seen += len(next(slices).times)
    assert seen == due


@pytest.mark.parametrize("method", METHODS)
def test_what_cannot_be_published_is_refused_with_what_to_do(method):
    with pytest.raises(ParameterError, match=r"must know in advance how long the stream is.*--set horizon=N"):
        method().publish(Stream.from_values(iter([1, 0])), PROMISE)
    with pytest.raises(ParameterError, match="there are 3 events, more than the horizon of 2; leave it out, or list"):
        method(horizon=2).publish(Stream.from_values([1, 0, 1]), PROMISE)
    steps = Domain.declare(value=NumberAxis.between(0, 2**52, 1))
    with pytest.raises(
        ParameterError, match=r"values have .* steps, too many for sums over 3 events; declare a larger"
    ):
        method().publish(Stream.from_values([1, 0, 2], steps), PROMISE)
    with pytest.raises(ParameterError, match="confidence must be less than 1; got 1"):
        method(confidence=1)
    with pytest.raises(ParameterError, match="times must be in order"):
        method(times="3,2").publish(Stream.from_values([1, 0, 1]), PROMISE)


def test_half_widths_are_those_of_the_noises_of_a_sum():
    """By the quantiles of sums of Laplace noise, rounded to whole steps; the same at every step, or by bits set."""
    axis = NumberAxis.between("0", "2", "0.5")
    data = Stream.from_values([0.5] * 100, Domain.declare(value=axis))
    promise = PureDP(epsilon="0.25", unit="event")
    smooth = rows(StreamCount(confidence=0.9), data, promise)
    tree = SmoothTree.best(100)
    steps = math.ceil(two_sided_quantile(tree.ones, 0.1) * 4 * tree.zeros / 0.25 - 0.5)
    assert set(smooth.half_widths) == {0.5 * steps}
    binary = rows(BinaryMechanism(confidence=0.9), data, promise).half_widths.tolist()
    widths = [math.ceil(two_sided_quantile(time.bit_count(), 0.1) * 4 * 8 / 0.25 - 0.5) for time in range(1, 101)]
    assert binary == [0.5 * width for width in widths]


def test_without_noise_of_empty_nodes_no_half_width_is_larger():
    data = Stream.from_values([1] * 1000)
    equal, less = rows(StreamCount(), data).half_widths, rows(StreamCount(equal_noise=False), data).half_widths
    assert np.all(less <= equal)
    assert less.mean() < 0.9 * equal.mean()
    assert less.max() == equal.max()


def test_the_whole_budget_is_charged_before_the_first_row():
    release = StreamCount(horizon=50).publish(Stream.from_values(iter([1] * 50)), PROMISE, seed=1, in_slices=True)
    assert release.evidence.total() == Fraction(1)
    next(release.data.rows())
    assert [(entry.label, entry.spend) for entry in release.evidence.entries] == [("partial sums", 1)]


def test_the_events_of_a_file_are_counted_if_nobody_says_how_many_there_are():
    """Its length is not known when it is opened, but it can be read twice."""
    data = Stream.from_values([1, 0, 1])
    data.events.length = None
    data.events.count = lambda: 3
    assert exactly(StreamCount(), data).values.tolist() == [1, 1, 2]

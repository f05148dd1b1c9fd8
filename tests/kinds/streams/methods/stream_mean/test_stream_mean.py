"""What stream-mean publishes, and when; what it refuses; what it reads and keeps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hedgerow import Domain, PureDP
from hedgerow.audit import Recorder
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import InputError, ParameterError, ReadError
from hedgerow.kinds.streams.data import Stream
from hedgerow.kinds.streams.events import Events
from hedgerow.kinds.streams.methods.stream_mean import publisher
from hedgerow.kinds.streams.methods.stream_mean.draw import expected_reads
from hedgerow.kinds.streams.methods.stream_mean.publisher import StreamMean
from hedgerow.privacy import ExactAnswers
from hedgerow.privacy.questions import NoisyAnswers
from hedgerow.publisher import publish_with
from hedgerow.testing import check_publisher

EVENT = PureDP(epsilon=1, unit="event")
SAMPLED = ("randomised-response", "laplace-bits", "central")
MECHANISMS = (*SAMPLED, "tree")


def published(data, method, answers=None):
    return publish_with(method, data, EVENT, answers or NoisyAnswers(5)).data.all_rows()


def read(release):
    return dict(release.evidence.notes)["events read"]


def numbers(values, low=-2, high=3, step="0.5"):
    return Stream.from_values(values, Domain.declare(value=NumberAxis.between(low, high, step)))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_conformance(mechanism):
    check_publisher(StreamMean(mechanism=mechanism, every=2), EVENT)


# ---- when


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_time_listed_twice_is_published_twice_from_one_noise(mechanism):
    data = Stream.from_values([0, 1] * 50)
    recorder = Recorder(NoisyAnswers(7))
    rows = published(data, StreamMean(mechanism=mechanism, times="10,10,10,40,100,100"), recorder)
    assert rows.times.tolist() == [10, 10, 10, 40, 100, 100]
    assert len(set(rows.values[:3])) == len(set(rows.values[4:])) == 1
    once = published(data, StreamMean(mechanism=mechanism, times="10,40,100"), NoisyAnswers(7))
    assert once.values.tolist() == rows.values[[0, 3, 4]].tolist()
    assert once.half_widths.tolist() == rows.half_widths[[0, 3, 4]].tolist()


@pytest.mark.parametrize("mechanism", SAMPLED)
@pytest.mark.parametrize("sample", [3, 1000])
def test_batches_of_times_do_not_matter(mechanism, sample, monkeypatch):
    """Without noise, since batches of questions draw their noise differently."""
    data, method = Stream.from_values([0, 1, 1] * 40), StreamMean(mechanism=mechanism, sample=sample)
    whole = published(data, method, ExactAnswers())
    monkeypatch.setattr(type(data.events), "batch_size", lambda _: 7)
    parts = published(data, method, ExactAnswers())
    assert len(parts.times) == 120
    assert all(np.array_equal(one, other) for one, other in zip(whole, parts, strict=True))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_an_iterator_that_ends_early_publishes_what_is_due_and_then_an_error(mechanism):
    data = Stream.from_values(iter([0, 1] * 20))
    method = StreamMean(mechanism=mechanism, times="5,17,40,41,90", sample=4)
    release = method.publish(data, EVENT, seed=1, in_slices=True)
    times = []
    with pytest.raises(ReadError, match="ended before the last of the listed times"):
        for rows in release.data.rows():
            times += rows.times.tolist()
    assert times == [5, 17, 40]
    assert issubclass(ReadError, InputError)


@pytest.mark.parametrize("mechanism", ["randomised-response", "laplace-bits"])
def test_the_end_of_a_pipe_is_the_end_of_the_series(mechanism):
    data = Stream.from_values(iter([0, 1] * 500))
    rows = published(data, StreamMean(mechanism=mechanism, every=7, sample=5))
    assert rows.times.tolist() == list(range(7, 1001, 7))


@pytest.mark.parametrize("mechanism", ["central", "tree"])
def test_who_divides_the_budget_must_know_the_number_of_estimates(mechanism):
    with pytest.raises(ParameterError, match="must know in advance how long the stream is at most"):
        StreamMean(mechanism=mechanism).publish(Stream.from_values(iter([0, 1])), EVENT)
    rows = published(Stream.from_values(iter([0, 1] * 9)), StreamMean(mechanism=mechanism, every=4, horizon=50))
    assert rows.times.tolist() == [4, 8, 12, 16]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_stream_that_goes_on_after_the_horizon_is_refused(mechanism):
    with pytest.raises(ReadError, match="goes on after event 50, the horizon"):
        published(Stream.from_values(iter([0, 1] * 40)), StreamMean(mechanism=mechanism, horizon=50))


def test_a_horizon_before_the_end_of_an_array_is_refused_at_once():
    for mechanism in MECHANISMS:
        with pytest.raises(ParameterError, match="there are 80 events, more than the horizon of 50"):
            StreamMean(mechanism=mechanism, horizon=50).publish(Stream.from_values([0, 1] * 40), EVENT)


# ---- what


def test_without_noise_it_is_the_mean_of_the_sample():
    rows = published(Stream.from_values([1, 0, 0, 1, 1]), StreamMean(mechanism="central"), ExactAnswers())
    assert rows.values == pytest.approx([1, 1 / 2, 1 / 3, 1 / 2, 3 / 5])
    rows = published(Stream.from_values([1, 0, 0, 1, 1]), StreamMean(mechanism="tree"), ExactAnswers())
    assert rows.values == pytest.approx([1, 1 / 2, 1 / 3, 1 / 2, 3 / 5])


@pytest.mark.parametrize("mechanism", ["laplace-bits", "central", "tree"])
def test_values_of_a_lattice_are_scaled(mechanism):
    values = [-2, 3, 0.5, 0.5]
    rows = published(numbers(values), StreamMean(mechanism=mechanism), ExactAnswers())
    assert rows.values == pytest.approx(np.cumsum(values) / np.arange(1, 5))
    assert np.all(rows.half_widths <= 5)
    long = published(numbers([0.5] * 4000), StreamMean(mechanism=mechanism, times="4000"))
    bits = published(Stream.from_values([1] * 4000), StreamMean(mechanism=mechanism, times="4000"))
    assert 0 < long.half_widths[0] == pytest.approx(5 * bits.half_widths[0], rel=0.25)  # whole steps of noise
    assert abs(long.values[0] - 0.5) < long.half_widths[0] < 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("bit", [0, 1])
def test_estimates_and_half_widths_are_within_the_bounds(mechanism, bit):
    rows = published(Stream.from_values([bit] * 300), StreamMean(mechanism=mechanism))
    assert np.all((rows.values >= 0) & (rows.values <= 1))
    assert np.all((rows.half_widths > 0) & (rows.half_widths <= 1))
    assert rows.values.min() < rows.values.max()


def test_before_the_sample_is_full_the_achieved_half_width_is_published():
    rows = published(Stream.from_values([0, 1] * 1000), StreamMean(times="10,100,863,864,2000"))
    in_sample = np.array([10, 100, 863, 864, 864])
    assert rows.half_widths == pytest.approx(2.163953 * np.sqrt(np.log(40) / 2 / in_sample), abs=1e-6)
    assert rows.half_widths[-1] <= 0.1


# ---- reads and memory


def test_half_widths_of_central_are_those_of_its_share_of_the_budget():
    """The formula of the spec, minimised on a grid, with a quarter of epsilon for each of four estimates."""
    data = Stream.from_values([0, 1] * 5_000)
    rows = published(data, StreamMean(mechanism="central", times="30,40,50,1000", sample=20))
    tried = np.linspace(0, 0.25, 100_002)[1:-1, None]
    spread = 20 * (1 - 19 / rows.times) * tried**2 / 8
    bounds = (np.log(2 / 0.05) + spread - np.log1p(-((tried / 0.25) ** 2))) / (20 * tried)
    assert rows.half_widths == pytest.approx(np.minimum(bounds.min(axis=0), 1), rel=1e-6)
    # and so is the sample that it takes for a half-width
    enough = published(data, StreamMean(mechanism="central", every=1_000, half_width=0.2))
    assert 0.19 < enough.half_widths[-1] <= 0.2


def test_reads_are_counted_and_as_expected():
    """4.9 standard deviations: 1 in a million; 0.9 and 1.1 of the claim are rejected."""
    data = Stream.from_values(np.tile([0, 1, 1], 1000))
    counts = np.array([read(StreamMean(sample=30, every=5).publish(data, EVENT, seed=seed)) for seed in range(100)])
    claim = expected_reads(30, np.arange(5, 3001, 5))
    deviation = counts.std() / np.sqrt(len(counts))
    distances = [abs(counts.mean() - factor * claim) / deviation for factor in (1, 0.9, 1.1)]
    assert distances[0] < 4.9 < min(distances[1:])


def test_only_events_of_the_sample_are_read():
    class Counted(type(Stream.from_values([0]).events)):
        taken = 0

        def take(self, positions):
            self.taken += len(positions)
            return super().take(positions)

        def read(self, start, stop):
            raise AssertionError((start, stop))

    stream = Stream.from_values(np.zeros(10**6))
    data = Stream(stream.domain, Counted(stream.events.codes))
    release = StreamMean(times="1000000").publish(data, EVENT, seed=1)
    assert data.events.taken == read(release) == 864
    assert read(StreamMean(mechanism="tree", every=10).publish(Stream.from_values([1] * 95), EVENT)) == 90


@pytest.mark.parametrize(
    ("mechanism", "private"), [("randomised-response", True), ("laplace-bits", True), ("central", False)]
)
def test_what_stays_in_memory_is_private_but_for_central(mechanism, private):
    """The slots hold answers of the ledger; those of `central` hold the bits themselves."""
    bits = [1, 1, 0, 0, 1, 0] * 10
    recorder = Recorder(NoisyAnswers(3))
    method = StreamMean(mechanism=mechanism, times="60")
    release = publish_with(method, Stream.from_values(bits), EVENT, recorder, in_slices=True)
    next(release.data.rows())
    suspended = release.data.source._rows.gi_frame.f_locals
    state = suspended["slots"]._values.tolist()
    answers = [np.asarray(answer).tolist() for _, answer in recorder.transcript]
    assert (state in answers) == private
    arrays = [state, *(value.tolist() for value in suspended.values() if isinstance(value, np.ndarray))]
    assert (bits in arrays) == (not private)


def test_a_billion_events_are_skipped_quickly():
    class Long(Events):
        length = 10**9

        def read(self, start, stop):
            raise AssertionError((start, stop))

        def take(self, positions):
            return positions % 2

    rows = published(Stream(Stream.from_values([0]).domain, Long()), StreamMean(every=10**6))
    assert len(rows.times) == 1000
    assert abs(rows.values[-1] - 0.5) < 0.2


# ---- what is refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mechanism": "exponential"}, "must be one of randomised-response, laplace-bits, central, tree"),
        ({"half_width": 0}, "must be greater than 0"),
        ({"half_width": 1}, "must be less than 1"),
        ({"confidence": 1.0}, "must be less than 1"),
        ({"every": 0}, "must be at least 1"),
        ({"sample": -1}, "must be at least 0"),
        ({"horizon": -1}, "must be at least 0"),
    ],
)
def test_parameters_out_of_range(changes, message):
    with pytest.raises(ParameterError, match=message):
        StreamMean(**changes)


@pytest.mark.parametrize("times", ["5,3", "0", "1.5", "a", "1,,2", "7"])
def test_times_that_make_no_sense(times):
    with pytest.raises(ParameterError, match="times"):
        StreamMean(times=times).publish(Stream.from_values([0, 1, 1]), EVENT)


def test_randomised_response_takes_bits():
    with pytest.raises(ParameterError, match="takes bits; use laplace-bits"):
        StreamMean().publish(numbers([0, 1]), EVENT)


def test_samples_beyond_memory_are_refused():
    data = Stream.from_values(itertools.repeat(1))
    with pytest.raises(ParameterError, match="give a larger half_width"):
        StreamMean(half_width=0.0001).publish(data, EVENT)
    assert len(published(Stream.from_values([1, 0]), StreamMean(half_width=0.0001)).times) == 2


@pytest.mark.parametrize("mechanism", SAMPLED)
def test_the_smallest_half_width_takes_all_events(mechanism):
    """Its square is 0 as a floating-point number."""
    data, method = Stream.from_values([1, 0] * 9), StreamMean(mechanism=mechanism, half_width=1e-200, times="18")
    assert published(data, method).times.tolist() == [18]
    with pytest.raises(ParameterError, match="give a larger half_width"):
        StreamMean(mechanism=mechanism, half_width=1e-200, horizon=10**9).publish(
            Stream.from_values(iter([1, 0])), EVENT
        )


@pytest.mark.parametrize("every", [2**53 + 1, 2**62, 10**30])
def test_a_distance_beyond_any_stream_is_refused(every):
    with pytest.raises(ParameterError, match=r"every must be at most 2\^53"):
        published(Stream.from_values(iter([1, 0])), StreamMean(every=every))
    assert len(published(Stream.from_values(iter([1, 0])), StreamMean(every=2**53)).times) == 0


def test_lattices_of_too_many_steps_are_refused():
    with pytest.raises(ParameterError, match="declare a larger step"):
        published(numbers([0, 1] * 400, 0, 1, "1/4503599627370496"), StreamMean(mechanism="laplace-bits"))


def test_a_bit_that_is_none_is_refused():
    with pytest.raises(ReadError, match="neither 0 nor 1"):
        published(Stream.from_values(iter([0, 1, 2])), StreamMean(times="3"))


def test_the_mechanisms_are_those_of_the_parameter():
    assert (*publisher._MEANS, "tree") == MECHANISMS

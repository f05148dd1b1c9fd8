"""Privacy of stream-mean: exact small cases, planted leaks, and the printed mechanism, which is not private."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from printed_streams import algorithm_3, algorithm_4, algorithm_r, all_draws
from scipy import stats

from hedgerow import Domain, Laplace, PureDP
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import BudgetExceeded, GuaranteeError, InternalError, PromiseBroken
from hedgerow.kinds.streams.data import Stream
from hedgerow.kinds.streams.methods.stream_mean import publisher
from hedgerow.kinds.streams.methods.stream_mean.publisher import FlippedBits, NoisySums, NoisyValues, Slots, StreamMean
from hedgerow.privacy import samplers
from hedgerow.testing import changed, check_publisher, check_replay, mutant, output_distribution, worst_loss

EVENT = PureDP(epsilon=1, unit="event")


# ---- exact small cases


def series(entries, kept, size, events):
    """The sums that are published after every event, of the kept bits of each event."""
    slots, sums = Slots(size), []
    for event in range(events):
        for position, slot in entries:
            if position == event:
                slots.replace(np.array([slot]), np.array([kept[event]]))
        sums.append(slots.total)
    return tuple(sums)


def exact_laws(size, events, epsilon):
    """The law of the series of every stream, over all draws of the reservoir and all flips."""
    draws = list(all_draws(size, events))
    stay = math.exp(epsilon) / (1 + math.exp(epsilon))
    streams = list(itertools.product((0, 1), repeat=events))
    laws = {bits: {} for bits in streams}
    for draw in draws:
        entries = algorithm_r(size, events, draw)
        read = [position for position, _ in entries]
        for kept in itertools.product((0, 1), repeat=len(read)):
            published = series(entries, dict(zip(read, kept, strict=True)), size, events)
            for bits, law in laws.items():
                right = sum(bits[position] == bit for position, bit in zip(read, kept, strict=True))
                chance = stay**right * (1 - stay) ** (len(read) - right) / len(draws)
                law[published] = law.get(published, 0.0) + chance
    return laws


@pytest.mark.parametrize(("size", "events"), [(2, 5), (3, 6)])
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_the_worst_ratio_of_all_series_is_that_of_one_bit(size, events, epsilon):
    """All streams, all flipped bits, all draws and all answers: exactly e to the epsilon."""
    laws = exact_laws(size, events, epsilon)
    losses = []
    for bits, law in laws.items():
        assert sum(law.values()) == pytest.approx(1)
        for event in range(events):
            other = (*bits[:event], 1 - bits[event], *bits[event + 1 :])
            losses.append(worst_loss(law, laws[other]))
    assert max(losses) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize(("key", "bits"), [(0, (0, 0, 0, 0)), (1, (1, 0, 0, 1)), (2, (1, 1, 0, 1)), (3, (0, 1, 1, 0))])
def test_the_shipped_method_loses_exactly_epsilon(key, bits, monkeypatch):
    """Everything that it can publish, for several draws of the reservoir."""
    fresh = samplers.coins
    monkeypatch.setattr(samplers, "coins", lambda _: fresh((key, 3)))
    data, method = Stream.from_values(bits), StreamMean(sample=2)
    here = output_distribution(method, data, EVENT, low=0, high=1)
    assert sum(here.values()) == pytest.approx(1)
    losses = [
        worst_loss(here, output_distribution(method, other, EVENT, low=0, high=1)) for other in data.neighbours("event")
    ]
    assert max(losses) == pytest.approx(1, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["laplace-bits", "central", "tree"])
def test_mechanisms_with_laplace_noise_lose_exactly_epsilon(mechanism):
    data = Stream.from_values([1, 0])
    method = StreamMean(mechanism=mechanism)

    def law(stream):
        return output_distribution(method, stream, EVENT, low=-3, high=5)

    losses = [worst_loss(law(data), law(other)) for other in data.neighbours("event")]
    assert max(losses) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("mechanism", ["laplace-bits", "central", "tree"])
def test_values_of_a_lattice_keep_the_replay_law(mechanism):
    axis = NumberAxis.between(-1, 1, "0.25")
    data = Stream.from_values(np.rint(np.linspace(-4, 4, 25)) / 4, Domain.declare(value=axis))
    method = StreamMean(mechanism=mechanism, every=3, sample=9)
    replays = [check_replay(method, data, other, EVENT, seed) for seed, other in enumerate(data.neighbours("event"))]
    assert max(replay.loss for replay in replays) == 1
    assert sum(replay.moved for replay in replays) > len(replays) / 4


# ---- planted leaks


class Redrawn(NoisyValues):
    """Exact bits stay in memory, and fresh noise with the whole budget is drawn at every publication."""

    def keep(self, codes):
        return codes

    def estimate(self, sums, sizes):
        return self._privatise(sums, Laplace(l1=self.steps)) / (sizes * self.steps)


MUTANTS = {
    "kept as they are": (FlippedBits, "self._privatise(codes, Flip())", "codes"),
    "flipped less than promised": (FlippedBits, "Flip()", "Flip(bits=Fraction(1, 2))"),
    "a single step instead of all": (NoisyValues, "Laplace(l1=self.steps)", "Laplace(l1=Fraction(1, 2))"),
    "sums without noise": (NoisySums, "return noisy /", "return sums /"),
    "budget not divided over publications": (NoisySums, "l1=self.steps * len(sums)", "l1=self.steps"),
    "noise of a full sample before it is full": (NoisySums, "part.ask(sums,", "part.ask(sums * 20 // sizes,"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_leaks_are_caught(name, monkeypatch):
    kind, old, new = MUTANTS[name]
    mechanism = next(key for key, value in publisher._MEANS.items() if value is kind)
    monkeypatch.setitem(publisher._MEANS, mechanism, mutant(kind, old, new, Fraction=Fraction))
    with pytest.raises((GuaranteeError, InternalError)):
        check_publisher(StreamMean(mechanism=mechanism, sample=20), EVENT)


def test_noise_that_is_redrawn_is_caught(monkeypatch):
    monkeypatch.setitem(publisher._MEANS, "laplace-bits", Redrawn)
    with pytest.raises(PromiseBroken, match="loses"):
        check_publisher(StreamMean(mechanism="laplace-bits"), EVENT)


def test_a_share_per_publication_that_is_too_large_is_refused(monkeypatch):
    broken = mutant(NoisySums, "budget * len(sums) / self.publications", "budget * len(sums)")
    monkeypatch.setitem(publisher._MEANS, "central", broken)
    with pytest.raises(BudgetExceeded):
        StreamMean(mechanism="central").publish(Stream.from_values([0, 1]), EVENT)


def test_reading_that_depends_on_the_events_is_caught():
    line = "read += len(kept)"
    with (
        changed(publisher, "_estimates", line, "read += int(data.events.take(entries.positions).sum())"),
        pytest.raises(PromiseBroken),
    ):
        check_publisher(StreamMean(), EVENT)


def test_an_event_that_moves_many_answers_is_caught():
    line = "data.events.take(entries.positions)"
    with (
        changed(publisher, "_estimates", line, f"np.maximum.accumulate({line})"),
        pytest.raises(PromiseBroken),
    ):
        check_publisher(StreamMean(every=2), EVENT)


# ---- the printed mechanism: one-sided exponential noise


def binned(bit, epsilon):
    """The exact law of the printed answer for one bit, in tenths up to 3."""
    noise = stats.expon(loc=bit, scale=1 / epsilon)
    edges = np.linspace(0, 3, 31)
    chances = np.diff(noise.cdf(np.append(edges, np.inf)))
    return {f"{edge:.1f}".encode(): chance for edge, chance in zip(edges, chances, strict=True) if chance > 0}


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1])
def test_the_printed_mechanism_is_not_private(epsilon):
    """An answer below 1 is always a 0: no epsilon bounds it. The same check on Laplace noise gives epsilon."""
    zero, one = binned(0, epsilon), binned(1, epsilon)
    assert worst_loss(zero, one) == math.inf
    proof = sum(chance for answer, chance in zero.items() if answer not in one)
    assert proof == pytest.approx(-math.expm1(-epsilon))
    edges = np.linspace(-20, 20, 401)
    laws = [np.diff(stats.laplace(loc=bit, scale=1 / epsilon).cdf(edges)) for bit in (0, 1)]
    assert np.abs(np.log(laws[0] / laws[1])).max() == pytest.approx(epsilon)


def test_the_printed_mechanism_is_refused_by_the_ledger(monkeypatch):
    """No question is answered by a mechanism that nobody has proven."""

    class Exponential(Laplace):
        def draw(self, exact, spend, source):
            raise AssertionError((exact, spend, source))

    monkeypatch.setattr(publisher, "Laplace", Exponential)
    with pytest.raises(InternalError, match="not a mechanism with a proven price"):
        StreamMean(mechanism="laplace-bits").publish(Stream.from_values([0, 1]), EVENT)


def attack(estimates):
    """Recover what is in the sample from consecutive estimates, while it is not full; below 1 is said to be a 0."""
    totals = estimates * np.arange(1, len(estimates) + 1)
    return np.diff(totals, prepend=0.0)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1])
def test_the_attack_reads_bits_from_the_printed_series(epsilon):
    """Section 5.6: precision 1, recall on zeros 1 - exp(-epsilon), within 4.9 deviations (1 in a million)."""
    draw = np.random.default_rng(8)
    bits = (draw.random(4000) < 0.3).astype(int)
    recovered = attack(algorithm_4(bits, 5000, epsilon, np.random.default_rng(9)))
    kept = algorithm_3(bits, epsilon, np.random.default_rng(9))
    assert recovered == pytest.approx(kept, abs=1e-9)
    said_zero, zeros = recovered < 1 - 1e-9, int((bits == 0).sum())
    assert np.all(bits[said_zero] == 0)
    recall = -math.expm1(-epsilon)
    assert abs(said_zero.sum() - zeros * recall) < 4.9 * math.sqrt(zeros * recall * (1 - recall))


@pytest.mark.parametrize("kind", [FlippedBits, NoisyValues])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_the_attack_fails_on_what_is_kept_here(kind, epsilon):
    """Even with all that is kept: what is said to be 0 is 1 nearly as often as epsilon demands (1 in a million)."""
    from hedgerow import Ledger
    from hedgerow.privacy.questions import NoisyAnswers

    bits = (np.random.default_rng(8).random(40_000) < 0.3).astype(np.int64)
    kept = kind(Ledger(epsilon, NoisyAnswers(2)), steps=1, publications=None, confidence=0.95).keep(bits)
    said_zero = bits[kept < 1]
    precision = np.mean(said_zero == 0)
    limit = 0.7 * math.exp(epsilon) / (0.7 * math.exp(epsilon) + 0.3)
    assert precision < limit + 4.9 * math.sqrt(limit * (1 - limit) / len(said_zero))
    assert precision < 0.9


# ---- its theorems


@pytest.mark.parametrize(("epsilon", "bound"), [(0.1, 1.790), (0.5, 0.438), (1, 0.269), (2, 0.185)])
def test_the_printed_bound_covers_nothing(epsilon, bound):
    """Theorem 8.4.4 (section 5.4): the bias is 1 / epsilon. With Laplace noise at least 0.999 are covered."""
    width = 0.1 + math.sqrt(6 * 0.1**2 / 2.1) / epsilon
    assert width == pytest.approx(bound, abs=1e-3)
    draw = np.random.default_rng(1)
    sampled = draw.hypergeometric(30_000, 70_000, 775, 4000) / 775
    # the mean of 775 exponential noises is a gamma variable; that of as many Laplace noises is a difference of two
    up, down = draw.gamma(775, 1 / (775 * epsilon), (2, 4000))
    errors = sampled + up - 0.3
    assert np.mean(np.abs(errors) <= width) == 0
    assert errors.mean() == pytest.approx(1 / epsilon, rel=0.01)
    assert np.mean(np.abs(sampled + up - down - 0.3) <= width) >= 0.999


def test_the_noise_of_the_printed_mechanism_does_not_vanish():
    """Theorem 8.4.2 is about the wrong target, 1 / (n epsilon), and of size: against 1 / epsilon it covers 0.63."""
    draw, epsilon = np.random.default_rng(2), 0.1
    size = math.ceil((20 + 10 * 0.1) / 0.1**2 * math.log(40))
    mean = draw.gamma(size, 1 / (size * epsilon), 20_000)
    assert np.all(np.abs(mean - 1 / (size * epsilon)) > 0.1)
    assert np.mean(np.abs(mean - 1 / epsilon) <= 0.1) == pytest.approx(0.63, abs=0.03)


def test_the_printed_estimate_is_never_negative_but_nearly_always_above_one():
    """Theorem 8.3.3."""
    means = algorithm_4((np.arange(2000) % 10 < 3).astype(int), 775, 1.0, np.random.default_rng(3))
    assert np.all(means >= 0)
    assert np.mean(means > 1) > 0.99

"""The noise of stream-count and binary-mechanism: its law at every step, and its variance at 65,536 publications."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hedgerow import PureDP
from hedgerow.kinds.streams.data import Stream
from hedgerow.kinds.streams.methods.binary_mechanism import BinaryMechanism
from hedgerow.kinds.streams.methods.partial_sums_model import BinaryTree, SmoothTree
from hedgerow.kinds.streams.methods.stream_count import StreamCount
from laws import FALSE_ALARM, chi_square

PROMISE = PureDP(epsilon=1, unit="event")
STEPS, RUNS = 30, 2500
SMOOTH, BALANCED, BINARY = StreamCount(), StreamCount(balance="paper"), BinaryMechanism()


def law_of_sum(number, scale):
    """P(S <= s) of the sum of some discrete Laplace noises, by convolution of the probabilities of one."""
    decay = math.exp(-1 / scale)
    reach = math.ceil(40 * scale)
    one = (1 - decay) / (1 + decay) * decay ** np.abs(np.arange(-reach, reach + 1))
    law = np.ones(1)
    for _ in range(number):
        law = np.convolve(law, one)
    below, middle = np.cumsum(law), len(law) // 2
    return lambda s: below[np.clip(np.asarray(s, int) + middle, 0, len(law) - 1)]


def variance_of_noise(scale):
    decay = math.exp(-1 / scale)
    return 2 * decay / (1 - decay) ** 2


def errors_of(method, steps, runs):
    """The errors of all sums of some streams, one row per stream."""
    bits = np.arange(steps) % 3 == 1
    data = Stream.from_values(bits)
    released = (method.publish(data, PROMISE, seed=seed).data.all_rows().values for seed in range(runs))
    return np.array(list(released)) - np.cumsum(bits)


@pytest.fixture(scope="module")
def smooth_errors():
    return errors_of(SMOOTH, STEPS, RUNS)


@pytest.fixture(scope="module")
def binary_errors():
    return errors_of(BINARY, STEPS, RUNS)


def chances_at_each_step(errors, law):
    return [chi_square(column, law, cells=15) for column in errors.T]


@pytest.mark.parametrize(("factor", "accepted"), [(1.0, True), (0.9, False), (1.1, False)])
def test_the_noise_of_stream_count_has_one_law_at_every_step(smooth_errors, factor, accepted):
    """The law of 7 noises of scale 2, at each of 30 steps; a false alarm in 33,000 (30 tests at one in a million)."""
    tree = SmoothTree.best(STEPS)
    assert (tree.zeros, tree.ones) == (2, 7)
    law = law_of_sum(tree.ones, factor * tree.zeros)
    assert (min(chances_at_each_step(smooth_errors, law)) > FALSE_ALARM) == accepted


def test_the_noise_of_the_binary_mechanism_has_not(binary_errors):
    """At each step it is the law of as many noises of scale 6 as the number of the step has ones, and of no other."""
    levels = BinaryTree(STEPS).ranks
    assert levels == 6
    laws = {number: law_of_sum(number, levels) for number in range(1, 5)}
    for number, law in laws.items():
        chances = chances_at_each_step(binary_errors, law)
        fits = [chance > FALSE_ALARM for chance in chances]
        assert fits == [step.bit_count() == number for step in range(1, STEPS + 1)]


@pytest.mark.parametrize("method", [SMOOTH, StreamCount(equal_noise=False), BINARY], ids=["smooth", "less", "binary"])
def test_sums_are_within_their_half_widths_as_often_as_stated(method, request):
    """At each step; 5.5 standard deviations at 30 steps are a false alarm in 800,000. Whole numbers cover more."""
    shared = {SMOOTH: "smooth_errors", BINARY: "binary_errors"}.get(method)
    errors = request.getfixturevalue(shared) if shared else errors_of(method, STEPS, 600)
    widths = method.publish(Stream.from_values(np.zeros(STEPS)), PROMISE, seed=1).data.all_rows().half_widths
    covered = (np.abs(errors) <= widths).mean(axis=0)
    deviation = math.sqrt(0.95 * 0.05 / len(errors))
    assert covered.min() > 0.95 - 5.5 * deviation
    narrower = (np.abs(errors) <= 0.8 * widths).mean(axis=0)
    assert narrower.max() < 0.95 - deviation


def test_without_the_noise_of_empty_nodes_the_variance_is_smaller(smooth_errors):
    """By formula at each step: one noise per 1 of the next word before its last zero."""
    errors = errors_of(StreamCount(equal_noise=False), STEPS, 600)
    assert (errors**2).mean() < 0.8 * (smooth_errors**2).mean()


# ---- 65,536 publications


def claimed(method, steps):
    """The mean over all steps of the variance by formula."""
    if isinstance(method, BinaryMechanism):
        nodes = sum(step.bit_count() for step in range(1, steps + 1)) / steps
        return nodes * variance_of_noise(BinaryTree(steps).ranks)
    tree = (SmoothTree.best if method.balance == "best" else SmoothTree.balanced)(steps)
    return tree.ones * variance_of_noise(tree.zeros)


@pytest.mark.slow
@pytest.mark.parametrize("method", [SMOOTH, BALANCED, BINARY], ids=["best", "balanced", "binary"])
def test_the_variance_at_two_to_the_sixteen_is_as_computed(method):
    """400 streams: the mean squared error over all steps. 0.9 and 1.1 of it are rejected at a rate of one in a million.

    For stream-count, the law of the errors at 64 steps is that of every step as well, at the same rate for each.
    """
    steps, runs = 2**16, 400
    chosen = np.random.default_rng(1).choice(steps, 64, replace=False)
    squares, some = np.zeros(runs), np.zeros((runs, len(chosen)))
    data = Stream.from_values(np.zeros(steps))
    for run in range(runs):
        errors = method.publish(data, PROMISE, seed=run).data.all_rows().values
        squares[run], some[run] = np.mean(errors**2), errors[chosen]
    deviation = squares.std() / math.sqrt(runs)
    distances = [abs(squares.mean() - factor * claimed(method, steps)) / deviation for factor in (1, 0.9, 1.1)]
    assert distances[0] < 4.9 < min(distances[1:])
    if method is SMOOTH:
        law = law_of_sum(21, 5)
        assert min(chances_at_each_step(some, law)) > FALSE_ALARM


def test_the_claims_at_two_to_the_sixteen():
    """Standard deviations of a sum at epsilon 1: 32 at every step, 45 with as many zeros as ones, 68 on average."""
    deviations = [math.sqrt(claimed(method, 2**16)) for method in (SMOOTH, BALANCED, BINARY)]
    assert deviations == pytest.approx([32.35, 44.70, 67.99], abs=0.01)
    assert claimed(BINARY, 2**16) / claimed(SMOOTH, 2**16) == pytest.approx(4.417, abs=0.001)

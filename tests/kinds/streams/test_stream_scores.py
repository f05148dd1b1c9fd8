"""Scores of streams: estimates beside the truth at the same time, figure by figure."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import Domain, NumberAxis, PureDP, Stream, find_method, read
from hedgerow.errors import ParameterError
from hedgerow.evaluate import evaluate
from hedgerow.kinds.streams import measures as stream_errors
from hedgerow.kinds.streams.cases import stream_of
from hedgerow.kinds.streams.data import Estimates, Rows, RowsToCome, value_domain
from hedgerow.kinds.streams.measures import (
    ERRORS_OVER_TIME,
    ESTIMATES_OVER_TIME,
    HALF_WIDTH,
    ErrorTally,
    RowsInStep,
    RunningTruth,
    controls,
    describe,
    measure,
)
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.release import Recipe

PROMISE = PureDP(epsilon=1, unit="event")
RMSE, LARGEST, BIAS = "root mean squared error (RMSE)", "largest error", "mean error (bias)"
WITHIN, AT_BOUNDS = (
    "share of estimates within their half-width",
    "share of estimates at a bound of the values, or beyond it",
)
MOST, WIDTH, COUNT = "size that 95% of errors do not exceed", "mean half-width", "published estimates"


def rows_of(*rows):
    times, values, half_widths = zip(*rows, strict=True)
    return Rows(np.array(times), np.array(values, float), np.array(half_widths, float))


def estimates(*rows, of="means", domain=None):
    return Estimates.from_rows(domain or value_domain(), rows_of(*rows), of=of)


class Slices:
    """Rows that come some at a time."""

    once = False

    def __init__(self, *slices):
        self.slices = slices

    def __len__(self):
        return sum(len(rows.times) for rows in self.slices)

    def __iter__(self):
        return iter(self.slices)


def scored(data, released, others=None, **more):
    compared = Comparison(data, released, PROMISE, {}, **more)
    scores = measure(compared, {} if others is None else others, np.random.default_rng(1))
    return {score.name: score for score in scores}, scores


def test_every_figure_of_means_by_hand():
    # the truth is 0, 1/2, 2/3, 3/4, and the errors are 1/2, 0, -1/6, 1/4
    data = stream_of([0, 1, 1, 1])
    released = estimates((1, 0.5, 0.4), (2, 0.5, 0), (3, 0.5, 1 / 6), (4, 1, 0.2))
    scores, every = scored(data, released)
    assert scores[RMSE].value == pytest.approx(math.sqrt((1 / 4 + 1 / 36 + 1 / 16) / 4))
    assert scores[BIAS].value == pytest.approx((1 / 2 - 1 / 6 + 1 / 4) / 4)
    assert scores[LARGEST].value == scores[MOST].value == 0.5
    assert scores[WITHIN].value == 0.5
    assert scores[WIDTH].value == pytest.approx((0.4 + 1 / 6 + 0.2) / 4)
    assert (scores[AT_BOUNDS].value, dict(scores[AT_BOUNDS].controls)) == (0.25, {"original": 0.25})
    assert scores[COUNT].value == 4
    assert all(score.scope == "owner" for score in every)
    over_time = [(score.at, score.value, dict(score.controls)) for score in every if score.chart == ERRORS_OVER_TIME]
    assert [at for at, _, _ in over_time] == ["1", "2", "3", "4"]
    assert [error for _, error, _ in over_time] == pytest.approx([1 / 2, 0, 1 / 6, 1 / 4])
    assert over_time[0][2] == {HALF_WIDTH: 0.4}
    drawn = [score for score in every if score.chart == ESTIMATES_OVER_TIME]
    assert [dict(score.controls)["original"] for score in drawn] == pytest.approx([0, 1 / 2, 2 / 3, 3 / 4])
    assert (drawn[3].low, drawn[3].value, drawn[3].high) == (0.8, 1, 1.2)


def test_every_figure_of_sums_by_hand():
    # values 2, -1, 5 of a lattice from -1 in steps of 1/2: the sums are 2, 1, 6
    domain = Domain.declare(value=NumberAxis.between(-1, 5, "0.5"))
    data = Stream.from_values([2, -1, 5], domain)
    released = estimates((1, 4, 2), (2, -2, 2.5), (3, 6, 0), of="sums", domain=domain)
    scores, every = scored(data, released)
    assert scores[RMSE].value == pytest.approx(math.sqrt((4 + 9) / 3))
    assert scores[BIAS].value == pytest.approx(-1 / 3)
    assert scores[LARGEST].value == 3
    assert scores[WITHIN].value == pytest.approx(2 / 3)
    # the least sum of two events is -2
    assert (scores[AT_BOUNDS].value, dict(scores[AT_BOUNDS].controls)) == (pytest.approx(1 / 3), {"original": 0})
    assert [dict(score.controls)["original"] for score in every if score.chart == ESTIMATES_OVER_TIME] == [2, 1, 6]


@pytest.mark.parametrize("of", ["means", "sums"])
def test_a_release_of_the_truth_has_no_error(of):
    values = np.random.default_rng(3).integers(0, 8, 5_000)
    domain = Domain.declare(value=NumberAxis.between(0, 7, 1))
    times = np.arange(7, 5_001, 7)
    sums = np.cumsum(values)[times - 1]
    truth = sums if of == "sums" else sums / times
    slices = [Rows(*(each[part] for each in (times, truth, 0 * truth))) for part in (slice(300), slice(300, None))]
    scores, _ = scored(Stream.from_values(values, domain), Estimates(domain, Slices(*slices), of))
    assert max(abs(scores[name].value) for name in (RMSE, LARGEST, BIAS, WIDTH)) < 1e-12
    assert scores[WITHIN].value == 1


def test_a_time_may_be_published_several_times_also_across_slices():
    first, second = rows_of((2, 0, 0), (2, 0, 0)), rows_of((2, 0, 0), (4, 0, 0), (4, 0, 0))
    scores, _ = scored(stream_of([1, 0, 1, 1]), Estimates(value_domain(), Slices(first, second), "sums"))
    assert scores[RMSE].value == pytest.approx(math.sqrt((3 * 1 + 2 * 9) / 5))
    assert (scores[LARGEST].value, scores[COUNT].value) == (3, 5)


def test_events_are_read_once_and_forward():
    class Once(type(stream_of([]).events)):
        length, last = None, 0

        def read(self, start, stop):
            assert start >= self.last
            Once.last = start
            return super().read(start, stop)

    data = stream_of([0, 1] * 50)
    events = Once(data.events.codes)
    truth = RunningTruth(Stream(data.domain, events), of="sums")
    assert [truth.at(np.array(times)).tolist() for times in ([3, 9], [9, 9, 50], [100])] == [[1, 4], [4, 4, 25], [50]]


def test_no_row_and_one_row():
    nothing = Estimates.from_rows(value_domain(), Rows.join([]), of="means")
    scores, every = scored(stream_of([1]), nothing, {"middle of the bounds": nothing})
    assert [(score.name, score.value) for score in every] == [(COUNT, 0)]
    scores, every = scored(stream_of([1]), estimates((1, 0.25, 0.5)))
    assert (scores[RMSE].value, scores[MOST].value, scores[BIAS].value) == (0.75, 0.75, -0.75)
    assert (scores[WITHIN].value, len(every)) == (0, 9 + 1)


def test_an_infinite_half_width_covers_and_is_written_as_a_number():
    _, every = scored(stream_of([1, 0]), estimates((1, 0, math.inf), (2, 0.5, math.inf), of="sums"))
    scores = {score.name: score for score in every}
    assert scores[WITHIN].value == 1
    assert scores[WIDTH].value == 1.5  # one and two events: a sum is within 1, and within 2
    assert all(math.isfinite(number) for score in every for number in (score.value, score.low, score.high))


def test_numbers_of_a_changed_file_give_numbers():
    with np.errstate(all="raise"):
        scores, every = scored(stream_of([1, 0]), estimates((1, 1e308, 1e308), (2, -1e308, 0)))
    assert scores[LARGEST].value == 1e150
    assert all(math.isfinite(number) for score in every for number in (score.value, score.low, score.high))


def test_rounding_is_no_error():
    """A noise that is exactly the half-width is within it, although quotients are rounded."""
    times = np.arange(1, 2_000)
    rows = Rows(times, (0 + 7) / times, 7 / times)
    shifted = Rows(times, (3 * times + 7) / times, 7 / times)
    for values, each in (([0] * 2_000, rows), ([3] * 2_000, shifted)):
        domain = Domain.declare(value=NumberAxis.between(0, 9, 1))
        data = Stream.from_values(values, domain)
        scores, _ = scored(data, Estimates.from_rows(domain, each, of="means"))
        assert scores[WITHIN].value == 1
        narrow = each._replace(half_widths=6.99 / times)
        assert scored(data, Estimates.from_rows(domain, narrow, of="means"))[0][WITHIN].value == 0


def test_data_that_is_too_short_or_is_no_data_is_refused():
    released = estimates((2, 0, 0), (9, 0, 0))
    with pytest.raises(ParameterError, match="estimates after more events than the data has"):
        scored(stream_of([1] * 8), released)
    with pytest.raises(ParameterError, match="compared with the events of the stream"):
        scored(released, released)


def test_the_quantile_of_many_errors_is_that_of_a_sample(monkeypatch):
    monkeypatch.setattr(stream_errors, "SAMPLE", 2_000)
    errors = np.random.default_rng(5).permutation(np.arange(100_000) - 50_000)
    tally = ErrorTally(np.random.default_rng(2))
    for part in np.split(errors.astype(float), 50):
        tally.add(part)
    value, low, high = tally.quantile(0.95)
    assert low < 47_500 < high  # fixed by the seed
    assert abs(value - 47_500) < 5 * 50_000 * math.sqrt(0.95 * 0.05 / 2_000)
    assert len(tally._sampled) == 2_000
    exact = ErrorTally(np.random.default_rng(2))
    exact.add(np.arange(1.0, 101))
    assert exact.quantile(0.95) == (95, 95, 95)


@pytest.mark.parametrize("size", [1, 47, 48, 49, 96, 97, 1_000, 4_801])
@pytest.mark.parametrize("block", [1, 10, 5_000])
def test_groups_over_time_are_those_of_all_rows(size, block):
    """However the rows come, groups are of successive rows, and their squares and last rows are right."""
    times = np.arange(1, size + 1)
    rows = Rows(times, np.sin(times), times / 1e4)
    parts = [rows.take(slice(start, start + block)) for start in range(0, size, block)]
    _, every = scored(stream_of([0] * size), Estimates(value_domain(), Slices(*parts), "means"))
    groups = [score for score in every if score.chart == ERRORS_OVER_TIME]
    width = 1
    while -(-size // width) > 48:
        width *= 2
    wanted = [rows.take(slice(start, start + width)) for start in range(0, size, width)]
    assert [int(score.at) for score in groups] == [int(each.times[-1]) for each in wanted]
    assert [score.value for score in groups] == pytest.approx([np.sqrt(np.square(w.values).mean()) for w in wanted])
    widths = [dict(score.controls)[HALF_WIDTH] for score in groups]
    assert widths == pytest.approx([w.half_widths.mean() for w in wanted])
    drawn = [score.value for score in every if score.chart == ESTIMATES_OVER_TIME]
    assert drawn == pytest.approx([w.values[-1] for w in wanted])


def test_controls_have_the_schedule_of_the_release():
    data, released = stream_of([0, 1] * 8), estimates((4, 0.5, 0.1), (8, 0.5, 0.1))
    recipe = Recipe("stream-mean", (("mechanism", "central"), ("times", "4,8"), ("every", 1), ("horizon", 0)))
    made = controls(Comparison(data, released, PROMISE, {}, recipe=recipe))
    assert list(made) == ["middle of the bounds", "binary tree"]
    assert made["middle of the bounds"].all_rows().values.tolist() == [0.5, 0.5]
    tree = made["binary tree"]
    assert isinstance(tree, Control)
    assert (tree.method, dict(tree.parameters)) == (
        "stream-mean",
        {"times": "4,8", "every": 1, "horizon": 0, "mechanism": "tree"},
    )
    sums = estimates((4, 2, 1), (8, 4, 1), of="sums")
    middle = controls(Comparison(data, sums, PROMISE, {}))
    assert list(middle) == ["middle of the bounds"]
    assert middle["middle of the bounds"].all_rows().values.tolist() == [2, 4]
    assert controls(Comparison(data, data, PROMISE, {})) == {}
    once = Stream.from_values(iter([0, 1] * 8))
    assert list(controls(Comparison(once, released, PROMISE, {}, recipe=recipe))) == ["middle of the bounds"]


def test_a_control_at_other_times_is_left_out():
    data, released = stream_of([0, 1] * 4), estimates((2, 0.5, 0.1), (4, 0.5, 0.1))
    others = {
        "same": estimates((2, 0, 0), (4, 0, 0)),
        "other": estimates((2, 0, 0), (5, 0, 0)),
        "fewer": estimates((2, 0, 0)),
        "more": estimates((2, 0, 0), (4, 0, 0), (6, 0, 0)),
    }
    scores, _ = scored(data, released, others)
    assert dict(scores[RMSE].controls) == {"same": 0.5, "more": 0.5}


def test_rows_of_a_control_come_in_other_slices():
    rows = [rows_of((n, n, 0)) for n in range(1, 8)]
    step = RowsInStep(iter(rows))
    assert step.at(np.array([1, 2, 3])).values.tolist() == [1, 2, 3]
    assert step.at(np.array([4])).values.tolist() == [4]
    assert step.at(np.array([5, 7])) is None


def test_estimates_that_can_be_read_once_are_measured():
    rows = RowsToCome(iter([rows_of((1, 1, 0.5)), rows_of((2, 0.5, 0.5))]), lambda _: 0.5)
    scores, _ = scored(stream_of([1, 1]), Estimates(value_domain(), rows, "means"))
    assert scores[RMSE].value == pytest.approx(math.sqrt(0.25 / 2))


def test_reads_and_confidence_are_shown_beside_what_was_measured():
    recipe = Recipe("x", (("confidence", 0.9),))
    scores, _ = scored(stream_of([1] * 9), estimates((5, 1, 0.5)), recipe=recipe, notes={"events read": 3})
    assert (scores["events read"].value, dict(scores["events read"].controls)) == (3, {"up to the last estimate": 5})
    assert dict(scores[WITHIN].controls) == {"stated": 0.9}


@pytest.mark.parametrize("method", ["stream-count", "binary-mechanism"])
def test_a_published_release_is_compared_with_controls(method):
    data = stream_of([n * n % 7 % 2 for n in range(2_000)])
    release = find_method(method)(every=10).publish(data, PROMISE, seed=4)
    scores = {score.name: score for score in evaluate(release, data, seed=4)}
    expected = ["middle of the bounds", *(["binary mechanism"] if method == "stream-count" else [])]
    assert list(dict(scores[RMSE].controls)) == expected
    truth = np.cumsum(data.events.codes)[9::10]
    errors = release.data.all_rows().values - truth
    assert scores[RMSE].value == pytest.approx(np.sqrt(np.square(errors).mean()))
    assert dict(scores[RMSE].controls)["middle of the bounds"] == pytest.approx(
        np.sqrt(np.square(truth - np.arange(10, 2_001, 10) / 2).mean())
    )


@pytest.mark.parametrize("mechanism", ["randomised-response", "tree"])
def test_a_mean_is_compared_with_a_tree(mechanism, tmp_path):
    """Whatever the data is read from: the tree reads it independently of the comparison."""
    bits = [n * n % 7 % 2 for n in range(3_000)]
    (tmp_path / "a.csv").write_text("value\n" + "".join(f"{bit}\n" for bit in bits))
    data = stream_of(bits)
    release = find_method("stream-mean")(mechanism=mechanism, every=100).publish(data, PROMISE, seed=4)
    scores = {score.name: score for score in evaluate(release, data, seed=4)}
    again = {score.name: score for score in evaluate(release, read(tmp_path / "a.csv", kind="streams"), seed=4)}
    assert scores == again
    assert ("binary tree" in dict(scores[RMSE].controls)) == (mechanism != "tree")
    means = np.cumsum(bits)[99::100] / np.arange(100, 3_001, 100)
    assert scores[BIAS].value == pytest.approx((release.data.all_rows().values - means).mean())
    if mechanism != "tree":
        assert dict(scores[RMSE].controls)["binary tree"] < scores[RMSE].value
        assert scores["events read"].value == dict(release.evidence.notes)["events read"]


def test_a_stream_of_numbers_is_described():
    domain = Domain.declare(value=NumberAxis.between(-10, 10, Fraction(1, 2)))
    data = Stream.from_values([-10, -9.5, 0, 3, 3, 3, 4, 4.5, 99, 10, 0, 1], domain)
    assert describe(data) == {
        "values": "-10 to 10, in steps of 1/2",
        "events": 12,
        "mean": 1.583333,
        "spread": {"least": -10, "lower quartile": 0, "median": 3, "upper quartile": 4, "most": 10},
        "events at the bounds": 3,
        "mean of the first tenth": -9.75,
        "mean of the last tenth": 0.5,
        "can be read again": "yes",
    }


def test_streams_that_are_short_endless_or_fine_are_described():
    assert describe(stream_of([])) == {"values": "0 or 1", "events": 0, "can be read again": "yes"}
    assert describe(stream_of([1]))["ones"] == 1
    once = describe(Stream.from_values(iter([0, 1, 1])))
    assert once == {"values": "0 or 1", "events": 3, "mean": 0.666667, "ones": 2, "can be read again": "no, only once"}
    fine = Domain.declare(value=NumberAxis.between(0, 1, Fraction(1, 10**12)))
    facts = describe(Stream.from_values(np.arange(1_001) / 1_000, fine))
    assert facts["spread"]["median"] == pytest.approx(0.5, abs=2e-5)
    assert facts["spread"]["lower quartile"] == pytest.approx(0.25, abs=2e-5)
    assert "events at the bounds" not in facts
    assert describe(estimates((3, 1, 1), of="sums")) == {"estimates of sums": 1, "events up to the last estimate": 3}

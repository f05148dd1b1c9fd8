"""Measures of streams: how far published estimates are from the truth, over time.

Estimates say whether they are of means or of sums. All stream methods have the parameters `times`, `every` and
`horizon`, which controls share with the release, and `confidence`, how often a half-width should be large enough. The
note `events read` says how many events a method has looked at. Successive estimates have much of their noise in common:
the share that is within the half-width is near the confidence over many releases, and may be far from it in one.

Data and release are read forward, at the same time, and neither has to fit into memory. All of these figures compare
with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hedgerow.data import Dataset
from hedgerow.data.number_axis import NumberAxis
from hedgerow.errors import ParameterError
from hedgerow.kinds.streams.data import Estimates, Rows, Stream, axis_of
from hedgerow.kinds.streams.events import is_bits
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.scoring import compared_score
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.score import Score, exact_score

#: charts, and series in them
ERRORS_OVER_TIME = "error over time, beside the half-width"
ESTIMATES_OVER_TIME = "estimates over time, with their half-width"
HALF_WIDTH, ORIGINAL = "published half-width", "original"
_MIDDLE = "middle of the bounds"
#: the parameters of stream methods that say when something is published
_SCHEDULE = ("times", "every", "horizon")
#: the share of errors that one of the figures covers
_MOST_ERRORS = 0.95
#: numbers of this size and their intervals can be written to a file
_LARGEST = 1e300


def describe(data: Stream | Estimates) -> dict[str, Any]:
    """Describe a stream; every figure is a function of the private data: for the owner only.

    Examples
    --------
    >>> describe(Stream.from_values([0, 1, 1, 1]))["mean"]
    0.75
    """
    if not isinstance(data, Estimates):
        return describe_events(data)
    last = 0
    for rows in data.rows():
        last = int(rows.times[-1])
    return {f"estimates of {data.of}": len(data), "events up to the last estimate": last}


def controls(compared: Comparison) -> dict[str, Dataset | Control]:
    """Compare with the middle of the bounds, which ignores the data, and with a binary tree of noisy sums.

    A stream that can be read only once is needed for the comparison itself, so that there is no tree.
    """
    released = compared.released
    if not isinstance(released, Estimates):
        return {}
    chosen: dict[str, Dataset | Control] = {}
    if not released.comes_in_slices:
        chosen[_MIDDLE] = Estimates(released.domain, _Middle(released), released.of)
    original = compared.original
    again = None if isinstance(original, Estimates) else original.events.reopened()
    parameters = {} if compared.recipe is None else dict(compared.recipe.parameters)
    schedule = {name: parameters[name] for name in _SCHEDULE if name in parameters}
    if schedule and again is not None:
        data = replace(original, events=again)
        if released.of == "means" and parameters.get("mechanism") != "tree":
            chosen["binary tree"] = Control("stream-mean", {**schedule, "mechanism": "tree"}, data=data)
        elif released.of == "sums" and compared.recipe and compared.recipe.method != "binary-mechanism":
            chosen["binary mechanism"] = Control("binary-mechanism", schedule, data=data)
    return chosen


class _Middle:
    """Rows at the same times that ignore the data; the truth is always within their half-width."""

    once = False
    best = None

    def __init__(self, released: Estimates) -> None:
        self._released = released

    def __len__(self) -> int:
        return len(self._released)

    def __iter__(self) -> Iterator[Rows]:
        low, high, _ = axis_of(self._released.domain).bounds
        middle, half = float(low + high) / 2, float(high - low) / 2
        for rows in self._released.rows():
            events = rows.times.astype(np.float64) if self._released.of == "sums" else np.ones(len(rows.times))
            yield Rows(rows.times, middle * events, half * events)


def measure(compared: Comparison, controls: Mapping[str, Estimates], rng: np.random.Generator) -> list[Score]:
    """Compare estimates with the truth at the same time."""
    if isinstance(compared.original, Estimates):
        msg = "a release is compared with the events of the stream it was made from, not with estimates"
        raise ParameterError(msg)
    truth = RunningTruth(compared.original, of=compared.released.of)
    figures = _Figures(controls, rng)
    for rows in compared.released.rows():
        figures.add(Compared(rows, truth.at(rows.times), *truth.bounds(rows.times)))
    return figures.scores(compared)


class _Figures:
    """What is added up over all estimates, of the release and of controls; the release has the empty name."""

    def __init__(self, controls: Mapping[str, Estimates], rng: np.random.Generator) -> None:
        self._controls = {name: RowsInStep(control.rows()) for name, control in controls.items()}
        self._tallies = {name: ErrorTally(rng) for name in ("", *controls)}
        self._periods = Periods(self._tallies)
        self._covered = self._at_bounds = self._truth_at_bounds = 0
        self._half_widths = 0.0
        self._last = 0

    def add(self, compared: Compared) -> None:
        """Add some estimates; a control without estimates at the same times is left out."""
        errors = {"": compared.errors}
        for name, control in self._controls.items():
            rows = control.at(compared.rows.times)
            if rows is None:
                self._tallies.pop(name, None)
            errors[name] = compared._replace(rows=rows or compared.rows).errors
        for name, tally in self._tallies.items():
            tally.add(errors[name])
        self._periods.add(compared, errors)
        self._covered += int(compared.covered.sum())
        self._half_widths += float(compared.half_widths.sum())
        self._at_bounds += int(compared.at_bounds(compared.rows.values).sum())
        self._truth_at_bounds += int(compared.at_bounds(compared.truth).sum())
        self._last = int(compared.rows.times[-1])

    def scores(self, compared: Comparison) -> list[Score]:
        """Return all scores."""
        count = self._tallies[""].count
        size = exact_score("published estimates", count, {})
        if not count:
            return [size]
        parameters = {} if compared.recipe is None else dict(compared.recipe.parameters)
        confidence = parameters.get("confidence")
        stated = {"stated": float(confidence)} if isinstance(confidence, (int, float)) else {}
        reads = compared.notes.get("events read")
        at_bounds = {"": self._at_bounds / count, ORIGINAL: self._truth_at_bounds / count}
        return [
            self._compare("root mean squared error (RMSE)", lambda tally: tally.rmse),
            self._quantile(),
            self._compare("largest error", lambda tally: tally.largest),
            exact_score("mean error (bias)", *self._values(lambda tally: tally.mean)),
            exact_score("share of estimates within their half-width", self._covered / count, stated),
            exact_score("mean half-width", self._half_widths / count, {}),
            compared_score("share of estimates at a bound of the values, or beyond it", at_bounds),
            *([] if reads is None else [exact_score("events read", reads, {"up to the last estimate": self._last})]),
            size,
            *self._errors_over_time(),
            *self._estimates_over_time(),
        ]

    def _values(self, figure: Callable[[ErrorTally], float]) -> tuple[float, dict[str, float]]:
        values = {name: figure(tally) for name, tally in self._tallies.items()}
        return values.pop(""), values

    def _compare(self, name: str, figure: Callable[[ErrorTally], float]) -> Score:
        return exact_score(name, *self._values(figure), better="lower")

    def _quantile(self) -> Score:
        name = f"size that {_MOST_ERRORS:.0%} of errors do not exceed"
        score = self._compare(name, lambda tally: tally.quantile(_MOST_ERRORS)[0])
        _, low, high = self._tallies[""].quantile(_MOST_ERRORS)
        return replace(score, low=low, high=high)

    def _errors_over_time(self) -> Iterator[Score]:
        for time, half_width, errors in self._periods.root_mean_squares():
            # what ignores the data is often so far away that nothing else could be seen
            others = {name: errors[name] for name in self._tallies if name not in {"", _MIDDLE}}
            yield exact_score(
                f"RMSE up to event {time:,}",
                errors[""],
                {HALF_WIDTH: half_width, **others},
                chart=ERRORS_OVER_TIME,
                at=str(time),
            )

    def _estimates_over_time(self) -> Iterator[Score]:
        for time, truth, estimate, half_width in self._periods.last_rows():
            value = float(np.clip(estimate, -_LARGEST, _LARGEST))
            score = exact_score(
                f"estimate after event {time:,}", value, {ORIGINAL: truth}, chart=ESTIMATES_OVER_TIME, at=str(time)
            )
            yield replace(score, low=value - half_width, high=value + half_width)


# Errors of estimates, tallied in one pass over estimates and events, in constant memory.

#: quantiles are those of at most so many errors, drawn at random if there are more
SAMPLE = 2**18
#: the most groups of successive estimates that a chart shows; at least half as many if there are enough estimates
PERIODS = 48
#: larger errors are counted as this: a changed file may have any number, and their squares must be numbers
_LARGEST_ERROR = 1e150
#: sums and quotients of floating-point numbers are exact up to this share
_ROUNDING = 1e-9


class RunningTruth:
    """The mean, or the sum, of all events so far: what estimates are compared with. Events are read forward, once.

    Examples
    --------
    >>> RunningTruth(Stream.from_values([0, 1, 1, 1]), of="means").at(np.array([2, 2, 4])).tolist()
    [0.5, 0.5, 0.75]
    """

    def __init__(self, data: Stream, *, of: str) -> None:
        self._events = data.events
        self._low, self._high, self._step = data.axis.bounds.floats()
        self._cumulative = of == "sums"
        self._time = 0
        self._total = 0.0

    def at(self, times: Integers) -> Floats:
        """Return the truth at ascending times, none of them before those of the last call."""
        distinct, place = np.unique(times, return_inverse=True)
        new = distinct[distinct > self._time]
        sums = self._events.sums(self._time, new)
        if len(sums) < len(new):
            msg = "the release has estimates after more events than the data has; give the data it was made from"
            raise ParameterError(msg)
        totals = self._total + np.concatenate(([0.0], np.cumsum(sums, dtype=np.float64)))
        if len(new):
            self._time, self._total = int(new[-1]), float(totals[-1])
        total = totals[len(totals) - len(distinct) :][place]
        value = self._low * times + self._step * total
        return value if self._cumulative else value / times

    def bounds(self, times: Integers) -> tuple[Floats, Floats]:
        """Return the least and the largest possible truth at these times."""
        factor = times.astype(np.float64) if self._cumulative else np.ones(len(times))
        return self._low * factor, self._high * factor


class Compared(NamedTuple):
    """Some estimates in order of time, beside the truth and its bounds."""

    rows: Rows
    truth: Floats
    low: Floats
    high: Floats

    @property
    def errors(self) -> Floats:
        """Estimate minus truth."""
        return np.clip(self.rows.values - self.truth, -_LARGEST_ERROR, _LARGEST_ERROR)

    @property
    def half_widths(self) -> Floats:
        """The half-widths; the truth is never further away than its bounds are from each other."""
        return np.clip(self.rows.half_widths, 0.0, self.high - self.low)

    @property
    def covered(self) -> Flags:
        """Which estimates are as close to the truth as their half-width says."""
        rounding = _ROUNDING * (self.rows.half_widths + 1e-3 * (self.high - self.low))
        return np.abs(self.errors) <= self.rows.half_widths + rounding

    def at_bounds(self, values: Floats) -> Flags:
        """Which values are not between the bounds."""
        rounding = _ROUNDING * (self.high - self.low)
        return (values <= self.low + rounding) | (values >= self.high - rounding)


class ErrorTally:
    """Figures of the errors of one series of estimates."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.count = 0
        self.largest = 0.0
        self._sum = self._squares = 0.0
        self._rng = rng
        self._sampled, self._keys = np.zeros(0), np.zeros(0)

    def add(self, errors: Floats) -> None:
        """Count the errors of some more estimates."""
        self.count += len(errors)
        self.largest = max(self.largest, float(np.abs(errors).max(initial=0.0)))
        self._sum += float(errors.sum())
        self._squares += float(np.square(errors).sum())
        self._sampled = np.concatenate((self._sampled, np.abs(errors)))
        if self.count > SAMPLE:  # the smallest of random keys, one per error, are a sample
            missing = len(self._sampled) - len(self._keys)
            self._keys = np.concatenate((self._keys, self._rng.random(missing)))
            smallest = np.argpartition(self._keys, SAMPLE - 1)[:SAMPLE]
            self._sampled, self._keys = self._sampled[smallest], self._keys[smallest]

    @property
    def mean(self) -> float:
        """The mean error."""
        return self._sum / self.count

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(self._squares / self.count))

    def quantile(self, share: float) -> tuple[float, float, float]:
        """Return the size that this share of errors does not exceed, and its 95 % interval if they are sampled."""
        margin = 1.96 * np.sqrt(share * (1 - share) / SAMPLE) if self.count > SAMPLE else 0.0
        shares = np.clip([share, share - margin, share + margin], 0, 1)
        value, low, high = np.quantile(self._sampled, shares, method="inverted_cdf").tolist()
        return value, low, high


class Periods:
    """Groups of successive estimates: the squares of their errors, their half-widths, and the last estimate of each.

    All groups are of the same number of estimates, but the last one. The number is doubled whenever there are too many
    groups, so that it need not be known how many estimates there are.
    """

    def __init__(self, series: Iterable[str]) -> None:
        self._series = tuple(series)
        self._size = 1
        self._rows = 0
        # estimates, half-widths, and the squares of each series
        self._sums = np.zeros((2 + len(self._series), PERIODS))
        # time, truth, estimate and half-width of the last estimate
        self._last = np.zeros((4, PERIODS))

    def add(self, compared: Compared, errors: Mapping[str, Floats]) -> None:
        """Add some more estimates; their errors are those of each series."""
        numbers = np.arange(self._rows, self._rows + len(compared.truth))
        self._rows += len(numbers)
        while (self._rows - 1) // self._size >= PERIODS:
            self._join_pairs()
        groups = numbers // self._size
        added = [np.ones(len(numbers)), compared.half_widths, *(np.square(errors[name]) for name in self._series)]
        self._sums += [np.bincount(groups, each, PERIODS) for each in added]
        ends = np.flatnonzero(np.diff(groups, append=PERIODS))
        rows = compared.rows
        last = (rows.times, compared.truth, rows.values, compared.half_widths)
        self._last[:, groups[ends]] = [each[ends] for each in last]

    def _join_pairs(self) -> None:
        self._size *= 2
        filled = self._sums[0, 1::2] > 0
        joined, last = np.zeros_like(self._sums), np.zeros_like(self._last)
        joined[:, : PERIODS // 2] = self._sums[:, ::2] + self._sums[:, 1::2]
        last[:, : PERIODS // 2] = np.where(filled, self._last[:, 1::2], self._last[:, ::2])
        self._sums, self._last = joined, last

    def root_mean_squares(self) -> list[tuple[int, float, dict[str, float]]]:
        """Return the last time of each group, the mean of its half-widths, and the RMSE of each series."""
        used = self._sums[:, self._sums[0] > 0]
        times = self._last[0].astype(np.int64).tolist()
        half_widths, *errors = used[1] / used[0], *np.sqrt(used[2:] / used[0])
        named = [dict(zip(self._series, each, strict=True)) for each in np.array(errors).T.tolist()]
        return list(zip(times, half_widths.tolist(), named, strict=False))

    def last_rows(self) -> list[tuple[int, float, float, float]]:
        """Return time, truth, estimate and half-width of the last estimate of each group."""
        used = self._last[:, self._sums[0] > 0]
        return [(int(time), truth, value, half) for time, truth, value, half in used.T.tolist()]


class RowsInStep:
    """The rows of one series at the times of another, taken in order."""

    def __init__(self, rows: Iterator[Rows]) -> None:
        self._rows = rows
        self._rest = Rows.join([])

    def at(self, times: Integers) -> Rows | None:
        """Return the next rows, if they are at these times."""
        while len(self._rest.times) < len(times) and (more := next(self._rows, None)) is not None:
            self._rest = Rows.join([self._rest, more])
        rows, self._rest = self._rest.take(slice(len(times))), self._rest.take(slice(len(times), None))
        return rows if np.array_equal(rows.times, times) else None


# The description of the events, in one pass and constant memory.

#: values are counted in so many cells between the bounds, or one per value if there are fewer
_CELLS = 2**16
#: digits of means
_DIGITS = 6


def describe_events(data: Stream) -> dict[str, Any]:
    """Describe the events of a stream: how many, their values, and whether they drift; for the owner only.

    Quartiles are exact to a 65,536th of the range. A pipe is read to its end, and its first and last events are not
    compared, since its length is not known before.

    Examples
    --------
    >>> for name, fact in describe_events(Stream.from_values([0, 0, 0, 1, 1, 1, 1, 1, 1, 1])).items():
    ...     print(name, fact)
    values 0 or 1
    events 10
    mean 0.7
    ones 7
    mean of the first tenth 0.0
    mean of the last tenth 1.0
    can be read again yes
    """
    axis, events = data.axis, data.events
    length = events.count()
    tenth = -(-length // 10) if length else 0
    # the events are three parts: the first tenth, the last one, and what is between
    edges = np.array([0, tenth, max(tenth, (length or 0) - tenth), np.iinfo(np.int64).max])
    cell = max(1, -(-(axis.steps + 1) // _CELLS))
    counts = np.zeros(axis.steps // cell + 1, np.int64)
    count, totals, least, most = 0, [0, 0, 0], axis.steps, 0
    for block in events.blocks():
        counts += np.bincount(block // cell, minlength=len(counts))
        least, most = min(least, int(block.min())), max(most, int(block.max()))
        inside = np.clip(edges - count, 0, len(block)).tolist()
        for part, (start, stop) in enumerate(pairwise(inside)):
            totals[part] += int(block[start:stop].sum())
        count += len(block)
    facts: dict[str, Any] = {"values": _describe_axis(axis), "events": count}
    if count:
        facts["mean"] = _mean(axis, sum(totals), count)
        facts |= {"ones": int(counts[-1])} if is_bits(axis) else _spread(axis, counts, cell, least, most)
    if tenth and count > 1:
        facts["mean of the first tenth"] = _mean(axis, totals[0], tenth)
        facts["mean of the last tenth"] = _mean(axis, totals[2], count - int(edges[2]))
    facts["can be read again"] = "no, only once" if events.reopened() is None else "yes"
    return facts


def _describe_axis(axis: NumberAxis) -> str:
    return "0 or 1" if is_bits(axis) else f"{axis.low} to {axis.high}, in steps of {axis.step}"


def _mean(axis: NumberAxis, total: int, count: int) -> float:
    return round(_value(axis, total / count), _DIGITS)


def _value(axis: NumberAxis, steps: float) -> float:
    low, _, step = axis.bounds.floats()
    return low + step * steps


def _spread(axis: NumberAxis, counts: Integers, cell: int, least: int, most: int) -> dict[str, Any]:
    """The least and the most, quartiles, and how many values are at a bound: they may have been beyond it."""
    so_far, size = np.cumsum(counts), int(counts.sum())
    cells = [int(np.searchsorted(so_far, -(-size * quarter // 4))) for quarter in (1, 2, 3)]
    quartiles = [min(max(each * cell + (cell - 1) // 2, least), most) for each in cells]
    names = ("least", "lower quartile", "median", "upper quartile", "most")
    numbers = [round(_value(axis, code), _DIGITS) for code in (least, *quartiles, most)]
    facts: dict[str, Any] = {"spread": dict(zip(names, numbers, strict=True))}
    if cell == 1:
        facts["events at the bounds"] = int(counts[0] + counts[-1])
    return facts

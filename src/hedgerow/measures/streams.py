"""Measures of streams: how far published estimates are from the truth, over time.

Estimates say whether they are of means or of sums. All stream methods have the parameters `times`, `every` and
`horizon`, which controls share with the release, and `confidence`, how often a half-width should be large enough. The
note `events read` says how many events a method has looked at. Successive estimates have much of their noise in common:
the share that is within the half-width is near the confidence over many releases, and may be far from it in one.

Data and release are read forward, at the same time, and neither has to fit into memory. All of these figures compare
with the original: they are for the owner only, and no guarantee covers them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.data import Dataset
from hedgerow.data.streams import Estimates, Rows, Stream
from hedgerow.errors import ParameterError
from hedgerow.measures.comparison import Comparison, Control
from hedgerow.measures.scoring import compared_score, exact_score
from hedgerow.measures.stream_description import describe_events
from hedgerow.measures.stream_errors import Compared, ErrorTally, Periods, RowsInStep, RunningTruth
from hedgerow.score import Score

__all__ = ["ERRORS_OVER_TIME", "ESTIMATES_OVER_TIME", "HALF_WIDTH", "ORIGINAL", "controls", "describe", "measure"]

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
        axis: Any = self._released.domain.axes[0][1]
        middle, half = float(axis.low + axis.high) / 2, float(axis.high - axis.low) / 2
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

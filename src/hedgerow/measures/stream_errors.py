"""Errors of the estimates of a stream, tallied in one pass over estimates and events, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.streams import Rows, Stream
from hedgerow.errors import ParameterError

__all__ = ["Compared", "ErrorTally", "Periods", "RowsInStep", "RunningTruth"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

#: quantiles are those of at most so many errors, drawn at random if there are more
SAMPLE = 2**18
#: the most groups of successive estimates that a chart shows; at least half as many if there are enough estimates
PERIODS = 48
#: larger errors are counted as this: a changed file may have any number, and their squares must be numbers
_LARGEST = 1e150
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
        axis = data.axis
        self._events = data.events
        self._low, self._high, self._step = float(axis.low or 0), float(axis.high or 0), float(axis.step or 1)
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
        return np.clip(self.rows.values - self.truth, -_LARGEST, _LARGEST)

    @property
    def half_widths(self) -> Floats:
        """The half-widths; the truth is never further away than its bounds are from each other."""
        return np.clip(self.rows.half_widths, 0.0, self.high - self.low)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which estimates are as close to the truth as their half-width says."""
        rounding = _ROUNDING * (self.rows.half_widths + 1e-3 * (self.high - self.low))
        return np.abs(self.errors) <= self.rows.half_widths + rounding

    def at_bounds(self, values: Floats) -> NDArray[np.bool_]:
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

r"""Fisher's noncentral hypergeometric distribution, drawn exactly.

Of $M$ cells $c$ are true, and $m$ are chosen; a choice with $w$ true cells has weight $\omega^w$. Then
$P(w) \propto \binom{c}{w} \binom{M - c}{m - w} \omega^w$, and neighbouring weights have the ratio

$$\frac{P(w + 1)}{P(w)} = \frac{(c - w)(m - w)}{(w + 1)(M - c - m + w + 1)} \, \omega,$$

which falls with $w$. Weights are computed outward from the mode, by adding the logarithms of these ratios: log-gamma
functions of large numbers would cancel all digits that matter.

**Why floats are safe here.** An infinite sequence $U$ of fair bits is looked up in the cumulative weights. 52 bits are
read, so $U$ lies in a known interval. A logarithm of a ratio, with the additions that follow, errs by at most
`LOG_ERROR` ($2^{-40}$, 4,096 units in the last place) of the numbers involved, and these errors are added up along with
the weights. What is left out far from the mode is at most a geometric series, since the ratios fall. Only if the
interval of $U$, widened by all of this, lies within one weight does it decide. Otherwise more bits are read and the
weights are enclosed in `decimal`, with directed rounding and more digits, as often as necessary. Floats and decimals
look up $U$ in the weights in the same order, so that it makes no difference which of them decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.privacy.interval_refinement import BITS, Bits
from hedgerow.privacy.rates import Bounds, RationalRate

LOG_ERROR = 2.0**-40
#: weights are computed to this many standard deviations on either side of the mode, and this many more
_DEVIATIONS, _MORE = 10.0, 48.0
#: the weights of so many values are computed at once
_AT_ONCE = 1 << 17
#: rows of up to so many values are computed side by side, however few they have
_NARROW = 16
#: logarithms of weights up to here are computed, and larger errors than this float decide nothing
_HIGHEST, _HUGE = 600.0, 1e290


class Law(NamedTuple):
    """One distribution: true cells, chosen cells, all other cells less those (may be negative) and log-odds."""

    true: int
    ones: int
    rest: int
    log_odds: Fraction
    mode: int


@dataclass(frozen=True)
class _Laws:
    """Distributions, one per row."""

    true: Integers
    ones: Integers
    rest: Integers
    odds: Floats
    mode: Integers

    def __getitem__(self, at: NDArray[np.intp]) -> _Laws:
        return _Laws(self.true[at], self.ones[at], self.rest[at], self.odds[at], self.mode[at])

    def reach(self) -> tuple[Integers, Integers]:
        """How many weights are computed: from the mode upward, and below it downward."""
        most = np.minimum(self.true, self.ones) - self.mode + 1
        below = self.mode - np.maximum(0, -self.rest)
        spread = sum(1 / (side + 1.0) for side in self._sides())
        window = np.ceil(_DEVIATIONS / np.sqrt(spread) + _MORE).astype(np.int64)
        return np.minimum(most, window), np.minimum(below, window)

    def _sides(self) -> tuple[Integers, ...]:
        return self.mode, self.true - self.mode, self.ones - self.mode, self.rest + self.mode


def noncentral_hypergeometric(
    cells: Integers, true: Integers, ones: Integers, log_odds: Sequence[Fraction], which: Integers, source: Bits
) -> Integers:
    r"""Draw how many of the `ones` chosen of `cells` cells are among the `true` ones, one number per row.

    Parameters
    ----------
    cells, true, ones
        $M$, $c$ and $m$: $c, m \le M \le 2^{62}$.
    log_odds
        The distinct values of $\ln \omega$, at least 0.
    which
        The position of each row's value in `log_odds`.
    source
        Where the fair bits come from.
    """
    least = np.maximum(0, true + ones - cells)
    drawn = least.copy()
    todo = np.flatnonzero(least < np.minimum(true, ones))
    odds = np.array([float(value) for value in log_odds], np.float64)[which[todo]]
    laws = _with_mode(true[todo], ones[todo], (cells - true - ones)[todo], odds)
    top = source.words(len(todo)) >> np.uint64(64 - BITS)
    values, certain = _look_up(laws, top)
    for row in np.flatnonzero(~certain).tolist():
        law = Law(
            int(laws.true[row]),
            int(laws.ones[row]),
            int(laws.rest[row]),
            log_odds[int(which[todo[row]])],
            int(laws.mode[row]),
        )
        values[row] = exact_draw(int(top[row]), law, source)
    drawn[todo] = values
    return drawn


def _with_mode(true: Integers, ones: Integers, rest: Integers, odds: Floats) -> _Laws:
    """Solve for the value at which the ratio is 1; it may be a little off, since it only decides where to begin."""
    shrink = np.exp(-odds)
    b = (true.astype(np.float64) + ones) + shrink * (rest + 2.0)
    c = true.astype(np.float64) * ones - shrink * (rest + 1.0)
    root = np.sqrt(np.maximum(b * b - 4 * (1 - shrink) * c, 0.0))
    mode = np.clip(np.ceil(2 * c / (b + root)), 0, np.minimum(true, ones)).astype(np.int64)
    return _Laws(true, ones, rest, odds, np.maximum(mode, -rest))


def _look_up(laws: _Laws, top: NDArray[np.uint64]) -> tuple[Integers, Flags]:
    """Look up each uniform number in the weights of its row; also say for which rows that is certain."""
    above, below = laws.reach()
    width = np.maximum(above, below)
    values = np.zeros(len(top), np.int64)
    certain = np.zeros(len(top), np.bool_)
    for rows in _batches(width):
        values[rows], certain[rows] = _look_up_batch(laws[rows], top[rows], above[rows], below[rows])
    return values, certain


def _batches(width: Integers) -> Iterator[NDArray[np.intp]]:
    """Group rows of similar width, few enough to be computed at once."""
    order = np.argsort(width, kind="stable")
    ordered = width[order]
    start = 0
    while start < len(order):
        widest = max(_NARROW, 2 * int(ordered[start]))
        alike = int(np.searchsorted(ordered, widest, "right"))
        stop = min(alike, start + max(1, _AT_ONCE // widest))
        yield order[start:stop]
        start = stop


def _look_up_batch(laws: _Laws, top: NDArray[np.uint64], above: Integers, below: Integers) -> tuple[Integers, Flags]:
    """Enclose the cumulative weights: from the mode upward, then from below the mode downward."""
    width = int(max(above.max(), below.max()))
    complete = above == np.minimum(laws.true, laws.ones) - laws.mode + 1
    upper, upper_error, rest_above = _wing(laws, 1, above, width, complete)
    complete = below == laws.mode - np.maximum(0, -laws.rest)
    lower, lower_error, rest_below = _wing(laws, -1, below, width, complete)
    # what is left out above the mode comes before the values below it
    lower_error[:, 0] += rest_above
    weights = np.concatenate((upper, lower), axis=1)
    # adding up n weights errs by n units in the last place
    errors = np.concatenate((upper_error, lower_error), axis=1) + weights * ((2 * width + 8) * 2.0**-52)
    sums, slack = np.cumsum(weights, axis=1), np.cumsum(errors, axis=1)
    low_total = (sums[:, -1] - slack[:, -1]) * (1 - 2.0**-50)
    high_total = (sums[:, -1] + slack[:, -1] + rest_below) * (1 + 2.0**-50)
    low, high = top * 2.0**-BITS * low_total, (top + 1.0) * 2.0**-BITS * high_total
    # all before `place` end below U for certain
    place: Integers = np.minimum((sums + slack <= low[:, None]).sum(axis=1), 2 * width - 1)
    rows = np.arange(len(top))
    certain = (sums - slack)[rows, place] >= high
    return laws.mode + np.where(place < width, place, width - 1 - place), certain


def _wing(laws: _Laws, direction: int, lengths: Integers, width: int, complete: Flags) -> tuple[Floats, Floats, Floats]:
    """Compute the weights on one side of the mode, relative to it, their errors, and bound the sum of all further ones.

    Upward the mode is the first value; downward the one below it is.
    """
    steps = np.arange(width)
    values = (laws.mode - 1)[:, None] + direction * steps
    # beyond the values of a row nothing counts, and a logarithm of 1 or more does no harm
    fewer = np.maximum(laws.true[:, None] - values, 1) / np.maximum(values + 1, 1)
    fewer *= np.maximum(laws.ones[:, None] - values, 1) / np.maximum(laws.rest[:, None] + values + 1, 1)
    logs = np.log(fewer)
    rises = direction * (logs + laws.odds[:, None])
    if direction > 0:
        rises[:, 0] = 0.0
    heights = np.cumsum(rises, axis=1)
    errors = LOG_ERROR * np.cumsum(1 + np.abs(logs) + laws.odds[:, None] + np.abs(heights), axis=1)
    weights = np.exp(np.minimum(heights, _HIGHEST))
    # e**error - 1 is at most twice the error up to 1/2; a larger error is far from the mode
    spreads = 2 * errors * weights
    far = errors > 0.5  # noqa: PLR2004
    spreads[far] = np.exp(np.minimum(heights[far] + errors[far], _HIGHEST))
    spreads[heights + errors >= _HIGHEST] = _HUGE
    outside = steps >= lengths[:, None]
    weights[outside] = spreads[outside] = 0.0
    return weights, spreads, _bound_rest(rises, errors, weights + spreads, lengths, complete)


def _bound_rest(rises: Floats, errors: Floats, most: Floats, lengths: Integers, complete: Flags) -> Floats:
    """Bound the sum of the weights left out: the ratios fall, so it is below a geometric series."""
    rows, last = np.arange(len(rises)), np.maximum(lengths - 1, 0)
    ratio = np.exp(np.minimum(rises[rows, last] + errors[rows, last], 0.0))
    left = 1 - ratio
    series = 2 * most[rows, last] * ratio / np.maximum(left, 2.0**-20)
    return np.where(complete, 0.0, np.where(left > 2.0**-20, series, _HUGE))


def exact_draw(top: int, law: Law, source: Bits) -> int:
    """Look up U, of which the first 52 bits are known, in enclosures of the weights; read bits until it is certain."""
    size = BITS
    while True:
        value = _decide(top, size, law)
        if value is not None:
            return value
        top, size = (top << 64) | int(source.words(1)[0]), size + 64


def _decide(top: int, size: int, law: Law) -> int | None:
    """Return the value whose weight contains all of the interval of U, if there is one."""
    floor, ceiling = _contexts(size + 40)
    upper, above = _enclose(law, 1, floor, ceiling)
    lower, below = _enclose(law, -1, floor, ceiling)
    # in the order in which floats look it up, with what is left out of either side behind that side
    weights = [*upper, (Decimal(0), above), *lower, (Decimal(0), below)]
    lows = list(itertools.accumulate((low for low, _ in weights), floor.add))
    highs = list(itertools.accumulate((high for _, high in weights), ceiling.add))
    whole = Decimal(2**size)
    low = floor.divide(floor.multiply(Decimal(top), lows[-1]), whole)
    high = ceiling.divide(ceiling.multiply(Decimal(top + 1), highs[-1]), whole)
    place = next(number for number, end in enumerate(highs) if end > low)
    if lows[place] < high:
        return None
    return law.mode + (place if place < len(upper) else len(upper) - place)


def _contexts(digits: int) -> tuple[Context, Context]:
    return (
        Context(prec=digits, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX),
        Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX),
    )


def _enclose(law: Law, direction: int, floor: Context, ceiling: Context) -> tuple[list[Bounds], Decimal]:
    """Enclose the weights on one side of the mode, relative to it, and bound the sum of all further ones.

    It stops where what is left out no longer matters at this number of digits.
    """
    enough = Decimal(1).scaleb(-(floor.prec // 2))
    low, high = _odds(law.log_odds, floor, ceiling)
    value, bounds = law.mode, (Decimal(1), Decimal(1))
    weights = [bounds] if direction > 0 else []
    end = min(law.true, law.ones) if direction > 0 else max(0, -law.rest)
    while value != end:
        at = value if direction > 0 else value - 1
        gain = Decimal((law.true - at) * (law.ones - at))
        loss = Decimal((at + 1) * (law.rest + at + 1))
        if direction > 0:
            ratio = floor.divide(floor.multiply(gain, low), loss), ceiling.divide(ceiling.multiply(gain, high), loss)
        else:
            ratio = floor.divide(loss, ceiling.multiply(gain, high)), ceiling.divide(loss, floor.multiply(gain, low))
        bounds = floor.multiply(bounds[0], ratio[0]), ceiling.multiply(bounds[1], ratio[1])
        weights.append(bounds)
        value += direction
        if ratio[1] < 1:
            rest = ceiling.divide(ceiling.multiply(bounds[1], ratio[1]), floor.subtract(Decimal(1), ratio[1]))
            if rest < enough:
                return weights, rest
    return weights, Decimal(0)


def _odds(log_odds: Fraction, floor: Context, ceiling: Context) -> Bounds:
    """Enclose the odds; `exp` is correctly rounded, so one unit in the last place either way encloses it."""
    low, high = RationalRate(log_odds).bounds(floor.prec)
    return floor.next_minus(floor.exp(low)), ceiling.next_plus(ceiling.exp(high))

r"""How many events must be read for an error, and the error of those that were read.

All widths are shares of `high - low`. With probability at least $1 - \lambda$ the published mean is within its half
width, at each single time; for $q$ times together, ask for $1 - \lambda / q$.

*Randomised response.* A read bit, debiased, lies in an interval of length $k = (e^\varepsilon + 1) / (e^\varepsilon -
1)$. Hoeffding's inequality bounds the error of the mean of $n$ of them: $2 \exp(-2 n \sigma^2 / k^2) \le \lambda$. It
also holds for sampling without replacement, flips included: given the sample, the moment generating function is a
product of one factor per event, which is a convex function of the sum of their logarithms.

*Laplace noise.* For $0 < u < \varepsilon$, the moment generating function of the error of the sum of $n$ values in
[0, 1], sampled out of $t$, is at most $\exp(n s u^2 / 8)$ with $s = 1 - (n - 1) / t$ (Serfling 1974; $s \le 1$ is
Hoeffding), and $s = 0$ if all are read. That of one Laplace noise of scale $1 / \varepsilon$ is $1 / (1 - u^2 /
\varepsilon^2)$. With `noises` of them (one per value, or one in all), Chernoff's bound gives

$$\sigma(n) = \min_u \frac{\ln(2 / \lambda) + n s u^2 / 8 - noises \cdot \ln(1 - u^2 / \varepsilon^2)}{n u}.$$

The noise that is drawn is discrete, on the lattice of the values. Its moment generating function is smaller: with rate
$r$, $(\cosh r - 1) / (\cosh r - \cosh v) \le 1 / (1 - v^2 / r^2)$, since $(\cosh v - 1) / v^2$ grows with $v$. So
what is computed here for continuous noise holds for it, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.numerics.arrays import Floats, Integers

#: Newton steps; they end in a float's precision after fewer, and any number of them gives a valid width
_STEPS = 16
#: no sample is looked for beyond this size
_LARGEST = 1 << 62


def debiasing_factor(epsilon: float) -> float:
    """How far apart the debiased values of a flipped 0 and a flipped 1 are.

    Examples
    --------
    >>> round(debiasing_factor(1.0), 6)
    2.163953
    """
    return 1 / math.tanh(epsilon / 2)


def flipped_half_widths(sizes: Integers, epsilon: float, confidence: float) -> Floats:
    """The half-width of the mean of so many flipped bits, debiased; at most 1, since the mean is clamped."""
    widths = debiasing_factor(epsilon) * np.sqrt(_log_inverse(confidence) / (2 * sizes))
    return np.minimum(widths, 1.0)


def flipped_size(half_width: float, epsilon: float, confidence: float) -> int:
    """The number of flipped bits for a half-width.

    Examples
    --------
    >>> [flipped_size(0.1, epsilon, 0.95) for epsilon in (0.1, 0.5, 1, 2)]
    [73901, 3075, 864, 318]
    """
    ratio = debiasing_factor(epsilon) / half_width
    size = ratio * ratio * _log_inverse(confidence) / 2  # it may be infinite
    return math.ceil(size) if size < _LARGEST else _LARGEST


def laplace_half_widths(
    sizes: Integers, times: Integers | None, epsilon: float, confidence: float, *, noise_per_value: bool
) -> Floats:
    """The half-width of a mean with Laplace noise; at most 1, since the mean is clamped.

    Parameters
    ----------
    sizes
        How many values are in the sample.
    times
        Out of how many; None for any number.
    epsilon
        The noise has scale 1 / epsilon, for values in [0, 1].
    noise_per_value
        Whether every value has its noise, or only their sum.
    """
    factors = np.ones(len(sizes)) if times is None else np.where(times > sizes, 1 - (sizes - 1) / times, 0.0)
    noises = sizes.astype(np.float64) if noise_per_value else np.ones(len(sizes))
    spread = sizes * factors * epsilon**2 / 8
    target = _log_inverse(confidence)
    odds = _best_odds(spread, noises, target)
    share = odds / (1 + odds)  # u^2 / epsilon^2
    bound = target + spread * share + noises * np.log1p(odds)
    return np.minimum(bound / (sizes * epsilon * np.sqrt(share)), 1.0)


def smallest_size(half_width: float, epsilon: float, confidence: float, *, noise_per_value: bool) -> int:
    """The number of values for a half-width, out of any number of events: the inverse of `laplace_half_widths`.

    Examples
    --------
    >>> [smallest_size(0.1, epsilon, 0.95, noise_per_value=True) for epsilon in (0.1, 0.5, 1, 2)]
    [147742, 6089, 1662, 555]
    >>> [smallest_size(0.1, epsilon, 0.95, noise_per_value=False) for epsilon in (0.1, 0.5, 1, 2)]
    [653, 220, 193, 187]
    """

    def suffices(size: int) -> bool:
        widths = laplace_half_widths(np.array([size]), None, epsilon, confidence, noise_per_value=noise_per_value)
        return bool(widths[0] <= half_width)

    enough = 1
    while enough < _LARGEST and not suffices(enough):
        enough *= 2
    short = enough // 2
    while enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (short, middle) if suffices(middle) else (middle, enough)
    return enough


def _best_odds(spread: Floats, noises: Floats, target: float) -> Floats:
    r"""The best $u$, as $z = u^2 / (\varepsilon^2 - u^2)$: the root of $b z / (1 + z) + w (2 z - \ln(1 + z)) = a$.

    That is where the derivative of the bound is 0. The left side grows with $z$, first concave and then convex, so that
    Newton's method from 0 converges.
    """
    odds = np.zeros(len(spread))
    for _ in range(_STEPS):
        value = spread * odds / (1 + odds) + noises * (2 * odds - np.log1p(odds)) - target
        slope = spread / (1 + odds) ** 2 + noises * (2 - 1 / (1 + odds))
        odds = np.maximum(odds - value / slope, 0.0)
    return odds


def _log_inverse(confidence: float) -> float:
    """ln(2 / lambda)."""
    return math.log(2 / (1 - confidence))


# Which events of a stream are in a uniform sample at each time, and which of them must be read.
#
# Reservoir sampling: the first $n$ events fill $n$ slots; after that, event $i$ enters with probability $n / i$ and
# replaces a slot chosen uniformly. Algorithm L draws how many events are skipped until the next one enters, so that
# nothing is drawn for the others. None of this looks at the events.
#
# An event that is replaced before the next publication is in no sample that is published, and need not be read. If
# something is published after every event, all that enter are read, which is what the thesis' Algorithm 4 does.

#: a position that no stream reaches
FAR = 1 << 62
#: events that enter, or are read, together
BATCH = 1 << 16
_TINY = 1e-300


class Entries(NamedTuple):
    """Events that enter the sample: their positions in the stream, from 0 and ascending, and the slots they take."""

    positions: Integers
    slots: Integers

    def where(self, at: NDArray[np.bool_] | slice) -> Entries:
        """Some of them."""
        return Entries(self.positions[at], self.slots[at])

    def then(self, later: Entries) -> Entries:
        """These, and later ones."""
        return Entries(np.append(self.positions, later.positions), np.append(self.slots, later.slots))


_NONE = Entries(np.zeros(0, np.int64), np.zeros(0, np.int64))


class Reservoir:
    """A uniform sample of `size` events, at every time.

    Examples
    --------
    >>> from hedgerow.privacy.samplers import coins
    >>> reservoir = Reservoir(3, coins((1, 0)))
    >>> [int(position) for entries in reservoir.reads(np.array([2, 4, 1000])) for position in entries.positions]
    [0, 1, 2, 3, 87, 383, 807]
    """

    def __init__(self, size: int, coins: np.random.Generator, batch: int = BATCH) -> None:
        batch = max(batch, size // 4)  # what is undecided, up to `size` entries, is sorted again with every batch
        self.size = size
        self._entering = _entries(size, coins, batch)
        self._ahead = _NONE

    def reads(self, times: Integers) -> Iterator[Entries]:
        """Yield what must be read to publish after `times` events, ascending and later than all times before.

        After its entries up to a time are written into their slots in order, the slots hold the sample of that time.
        """
        undecided = _NONE
        while True:
            entries = undecided.then(self._until(int(times[-1])))
            complete = len(self._ahead.positions) > 0
            # entries of one slot between two publications: only the last is in a sample that is published
            due = np.searchsorted(times, entries.positions, "right")
            last = _last_of_each(due * self.size + entries.slots)
            entries, due = entries.where(last), due[last]
            decided = len(due) if complete else int(np.searchsorted(due, int(due[-1])))
            for start in range(0, decided, BATCH):
                yield entries.where(slice(start, min(start + BATCH, decided)))
            if complete:
                return
            undecided = entries.where(slice(decided, None))

    def _until(self, time: int) -> Entries:
        """The next entries, up to a batch, among the first `time` events; those that come later stay ahead."""
        if not len(self._ahead.positions):
            self._ahead = next(self._entering)
        now = int(np.searchsorted(self._ahead.positions, time))
        entries, self._ahead = self._ahead.where(slice(now)), self._ahead.where(slice(now, None))
        return entries


def expected_reads(size: int, times: Integers) -> float:
    r"""How many events are read in expectation, if estimates are published after `times` events.

    A place in the sample of time $t_r$ is new if its event came after $t_{r-1}$, with probability $1 - t_{r-1} / t_r$.
    For all times up to $t \ge n$ it adds up to $n (1 + H_t - H_n)$, with harmonic numbers $H$.

    Examples
    --------
    >>> round(expected_reads(775, np.arange(1, 10_001)))
    2757
    >>> expected_reads(775, np.array([10_000]))
    775.0
    """
    before = np.append(0, times[:-1])
    return float((np.minimum(times, size) * (1 - before / times)).sum())


def _entries(size: int, coins: np.random.Generator, batch: int) -> Iterator[Entries]:
    """Yield all entries, without end: Algorithm L, some entries at a time."""
    for start in range(0, size, batch):
        first = np.arange(start, min(start + batch, size), dtype=np.int64)
        yield Entries(first, first)
    position, log_weight = size - 1, 0.0
    while True:
        # the weight w is the largest of n uniform numbers, and then of n uniform numbers below the last weight
        log_weights = log_weight - np.cumsum(np.maximum(coins.standard_exponential(batch), _TINY)) / size
        waiting = coins.standard_exponential(batch) / -_log_rest(log_weights)
        positions = _add_up(position, np.floor(np.minimum(waiting, FAR)))
        yield Entries(positions, coins.integers(0, size, batch))
        position, log_weight = int(positions[-1]), float(log_weights[-1])


def _log_rest(log_weights: Floats) -> Floats:
    """ln(1 - w) of ln w, precise for w near 0 as well as near 1."""
    small = log_weights < -1
    rest = np.empty_like(log_weights)
    rest[small] = np.log1p(-np.maximum(np.exp(log_weights[small]), _TINY))
    rest[~small] = np.log(-np.expm1(log_weights[~small]))
    return rest


def _add_up(position: int, skips: Floats) -> Integers:
    """The positions after skipping so many events each time; those beyond any stream are FAR."""
    far = position + np.cumsum(skips + 1) >= FAR
    steps = np.where(far, 0, skips).astype(np.int64) + 1
    return np.where(far, FAR, position + np.cumsum(steps))


def _last_of_each(keys: Integers) -> NDArray[np.bool_]:
    """Which entries are the last of their key."""
    order = np.argsort(keys, kind="stable")  # entries of one key stay in order of time
    last = np.ones(len(keys), np.bool_)
    last[order[:-1]] = np.diff(keys[order]) != 0
    return last


# The values in the slots of a sample, and their sum, which is kept up to date.


class Slots:
    """Values in numbered slots, all 0 at first.

    Examples
    --------
    >>> slots = Slots(3)
    >>> slots.replace(np.array([0, 1, 2]), np.array([5, 0, 1])).tolist()
    [5, 5, 6]
    >>> slots.replace(np.array([0, 0]), np.array([2, 3])).tolist()
    [3, 4]
    """

    def __init__(self, size: int) -> None:
        self._values = np.zeros(size, np.int64)
        self.total = 0

    def replace(self, slots: Integers, values: Integers) -> Integers:
        """Write values into slots one after another, and return the sum of all slots after each."""
        order = np.argsort(slots, kind="stable")
        sorted_slots, sorted_values = slots[order], values[order]
        again = np.append(False, np.diff(sorted_slots) == 0)[: len(slots)]
        old = self._values[sorted_slots]
        # a slot that is written again had the value that was written before
        old[again] = sorted_values[np.flatnonzero(again) - 1]
        change = np.empty_like(values)
        change[order] = sorted_values - old
        final = ~np.append(again[1:], False)[: len(slots)]
        self._values[sorted_slots[final]] = sorted_values[final]
        totals = self.total + np.cumsum(change)
        if len(totals):
            self.total = int(totals[-1])
        return totals

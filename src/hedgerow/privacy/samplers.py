r"""Exact integer noise from the operating system's entropy; the only source of bits for noise.

What an arrangement draws is in `noncentral_hypergeometric` and `arrangement`, on the same bits.

Everything follows from one distribution. $G = \lfloor -\ln W / \lambda \rfloor$ for a uniform $W$ is geometric,
$P(G \ge g) = e^{-\lambda g}$, and gives

- discrete Laplace: a sign and a magnitude $G$, drawn again for "minus zero";
- Bernoulli($e^{-x}$): is $G \ge 1$ at rate $x$; randomised response: is $G$ odd;
- the successes among $m$ rare trials: gaps between them are geometric;
- a tail beyond a threshold: the threshold plus $G$, since geometric distributions are memoryless.

**Why floats are safe here.** $W$ is an infinite sequence of fair bits of which 52 are read, so it lies in a known
interval. A float computation places $-\ln W / \lambda$ within an error bound (`_LOG_ERROR` covers the logarithm, the
rate and the division together: 4,096 units in the last place, where NumPy's logarithm errs by at most 4; a test
measures it on the machine at hand). Only if the whole enclosure lies between two integers does it decide. Otherwise
more bits are read and the enclosure is computed anew in `decimal`, whose logarithm is correctly rounded, with more
digits, as often as necessary. The draws therefore have the exact distribution, whatever the float hardware does within
that bound.

The time a draw takes depends on the draw: these samplers are not constant-time.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, localcontext
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError
from hedgerow.numerics.arrays import Flags, Floats, Integers
from hedgerow.privacy.interval_refinement import BITS, Bits, RateEnclosure, earliest_arrival, exact_floor
from hedgerow.privacy.rates import Bounds, GapRate, Rate, RationalRate

_CHUNK = 1 << 15
_LOG_ERROR = 2.0**-40
_UNCAPPED = 2.0**62
#: gaps of rates below 2**-52 are drawn one by one in Python integers, noise of such rates is
#: refused; above, a draw reaches 2**62, where int64 ends, with probability below exp(-2**9)
_VECTOR_SHIFT = 32
_VECTOR_TRIALS = 1 << 60
THINNED = Fraction(600)


class _SystemBits:
    """The operating system's entropy: the only source for a publication."""

    def words(self, size: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * size), np.uint64)


class _SeededBits:
    """A repeatable source, for tests: anyone who knows the seed can remove the noise."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Philox(seed)

    def words(self, size: int) -> NDArray[np.uint64]:
        return np.asarray(self._generator.random_raw(size), np.uint64)


def bits(*, seed: int | None = None) -> Bits:
    """Open a source of fair bits: the operating system's, or a seeded one for tests."""
    return _SystemBits() if seed is None else _SeededBits(seed)


def coins(key: tuple[int, int]) -> np.random.Generator:
    """Return a counter-based generator for randomness that is independent of exact answers."""
    return np.random.Generator(np.random.Philox(key=np.array(key, np.uint64)))


@dataclass(frozen=True)
class _Laws:
    """Geometric distributions: a few distinct rates, and which of them each cell has."""

    rates: Sequence[Rate]
    which: Integers
    approximate: Floats
    shifts: Integers

    @classmethod
    def of(cls, rates: Sequence[Rate], which: Integers) -> Self:
        approximate = np.array([rate.approximate for rate in rates], np.float64)
        return cls(rates, which, approximate, np.array([rate.shift for rate in rates], np.int64))

    def __getitem__(self, at: Integers | slice) -> _Laws:
        return _Laws(self.rates, self.which[at], self.approximate, self.shifts)

    def upper(self) -> Floats:
        """Each cell's rate, doubled until it is no longer tiny."""
        return self.approximate[self.which] if len(self.rates) > 1 else self.approximate[:1]

    def enclose(self, cell: int, times: int, digits: int) -> Bounds:
        """Enclose a whole multiple of a cell's rate; the product is exact, not rounded."""
        low, high = self.rates[int(self.which[cell])].bounds(digits)
        with localcontext(Context(prec=digits + 60)):
            return low * times, high * times


def discrete_laplace(rates: Sequence[Rate], which: Integers, source: Bits) -> Integers:
    r"""Draw two-sided geometric noise, $P(z) \propto e^{-\lambda |z|}$, one per cell.

    A sign and a magnitude are drawn, and drawn again for "minus zero".

    Parameters
    ----------
    rates
        The distinct rates, at least $2^{-50}$.
    which
        The position of each cell's rate in `rates`.
    source
        Where the fair bits come from.
    """
    laws = _Laws.of(rates, which)
    noise = np.empty(len(which), np.int64)
    for start in range(0, len(which), _CHUNK):
        todo = np.arange(start, min(start + _CHUNK, len(which)))
        while len(todo):
            magnitude, spare = _geometric(laws[todo], source)
            minus = (spare & np.uint64(1)).astype(np.bool_)
            noise[todo] = np.where(minus, -magnitude, magnitude)
            todo = todo[minus & (magnitude == 0)]
    return noise


def geometric(rates: Sequence[Rate], which: Integers, source: Bits) -> Integers:
    r"""Draw $G \ge 0$ with $P(G \ge g) = e^{-\lambda g}$, one per cell."""
    laws = _Laws.of(rates, which)
    drawn = np.empty(len(which), np.int64)
    for start in range(0, len(which), _CHUNK):
        part = slice(start, start + _CHUNK)
        drawn[part] = _geometric(laws[part], source)[0]
    return drawn


def bernoulli_exp(rates: Sequence[Rate], which: Integers, source: Bits) -> Flags:
    r"""Draw true with probability $e^{-\lambda}$, one per cell."""
    return _accepted(_Laws.of(rates, which), np.ones(len(which), np.int64), source)


def parity(rates: Sequence[Rate], which: Integers, source: Bits) -> Flags:
    r"""Draw true with probability $1 / (1 + e^{\lambda})$, one per cell: is a geometric draw odd."""
    return (geometric(rates, which, source) & 1).astype(np.bool_)


def successes(trials: int, rate: Fraction, cutoff: int, source: Bits) -> NDArray[Any]:
    r"""Draw which of `trials` empty cells reach `cutoff` under discrete Laplace noise.

    Each does so with probability $p = e^{-\lambda t} / (1 + e^{-\lambda})$, $t \ge 1$,
    independently: a binomial number of them, every subset of that size equally likely. Cells are
    not enumerated: the gaps between successes of probability $e^{-x}$, $x = \min(\lambda t, 600)$,
    are drawn, and each success is kept with the remaining probability $p / e^{-x}$.

    Returns
    -------
    NDArray
        Positions, ascending; Python integers where `trials` does not fit int64.
    """
    exponent = min(rate * cutoff, THINNED)
    if trials == 0:
        return np.zeros(0, np.int64)
    hits = _hits(trials, GapRate(exponent), source)
    which = np.zeros(len(hits), np.int64)
    kept = ~parity([RationalRate(rate)], which, source)
    if rate * cutoff > exponent:
        kept &= bernoulli_exp([RationalRate(rate * cutoff - exponent)], which, source)
    return hits[kept]


def choose(scores: Integers, factors: Sequence[Fraction], which: Integers, source: Bits) -> Integers:
    r"""Draw a column of each row with probability proportional to $e^{c s}$ for score $s$.

    A race: column $j$ arrives at $-\ln W_j \, e^{-c s_j}$ and the first one wins. The logarithms of
    the arrival times are compared as enclosures; where the best two overlap, more bits are read.

    Parameters
    ----------
    scores
        One row per choice.
    factors
        The distinct values of $c$.
    which
        The position of each row's $c$ in `factors`.
    source
        Where the fair bits come from.
    """
    behind = scores - scores.max(axis=1, keepdims=True)
    top = source.words(scores.size).reshape(scores.shape) >> np.uint64(64 - BITS)
    uniform = (top + 0.5) * 2.0**-BITS
    waits = -np.log(uniform)
    handicap = np.array([float(factor) for factor in factors])[which][:, None] * behind
    arrival = np.log(waits) - handicap
    slack = _LOG_ERROR * (1 + np.abs(np.log(waits)) - handicap) + 2.0**-BITS / (uniform * waits)
    slack[(top == 0) | (top == 2**BITS - 1)] = np.inf
    bar = (arrival + slack).min(axis=1, keepdims=True)
    open_ = arrival - slack <= bar
    winner = open_.argmax(axis=1)
    for row in np.flatnonzero(open_.sum(axis=1) > 1).tolist():
        columns = np.flatnonzero(open_[row]).tolist()
        rivals = [(int(top[row, column]), int(behind[row, column])) for column in columns]
        winner[row] = columns[earliest_arrival(rivals, factors[int(which[row])], source)]
    return winner.astype(np.int64)


def _geometric(laws: _Laws, source: Bits) -> tuple[Integers, NDArray[np.uint64]]:
    """Draw one per cell, and return the words whose low bits were not used.

    A draw of a tiny rate is `high * 2**shift + low`: the two are independent, the high part is
    geometric of the doubled rate, and the low part is uniform, accepted with `exp(-rate * low)`.
    """
    words = source.words(len(laws.which))
    shift = laws.shifts[laws.which]

    def exact(cell: int, digits: int) -> Bounds:
        return laws.enclose(cell, 1 << int(shift[cell]), digits)

    drawn = _floor_log(words, laws.upper(), exact, source)
    tiny = np.flatnonzero(shift)
    if len(tiny):
        drawn[tiny] = (drawn[tiny] << shift[tiny]) | _low_part(laws[tiny], source)
    return drawn, words


def _low_part(laws: _Laws, source: Bits) -> Integers:
    shift = laws.shifts[laws.which]
    if len(shift) and int(shift.max()) > _VECTOR_SHIFT:
        msg = "the scale of this noise is beyond 2**50; give a larger epsilon"
        raise ParameterError(msg)
    low = np.empty(len(shift), np.int64)
    todo = np.arange(len(shift))
    while len(todo):
        words = source.words(len(todo)) >> (64 - shift[todo]).astype(np.uint64)
        low[todo] = words.astype(np.int64)
        todo = todo[~_accepted(laws[todo], low[todo], source)]
    return low


def _accepted(laws: _Laws, times: Integers, source: Bits) -> Flags:
    """Draw true with probability `exp(-rate * times)`, one per cell."""
    rate = laws.upper() * (times * np.exp2(-laws.shifts[laws.which].astype(np.float64)))
    certain = times == 0
    rate = np.where(certain, 1.0, rate)

    def exact(cell: int, digits: int) -> Bounds:
        return laws.enclose(cell, max(1, int(times[cell])), digits)

    return certain | (_floor_log(source.words(len(times)), rate, exact, source, most=1) >= 1)


def _floor_log(
    words: NDArray[np.uint64],
    rate: Floats,
    exact: RateEnclosure,
    source: Bits,
    *,
    most: float = _UNCAPPED,
) -> Integers:
    """Return `min(most, floor(-ln(W) / rate))`, W being the bits of `words` and all that follow.

    The top 52 bits place W within 2**-53 of `uniform`, which moves the logarithm by at most
    2**-52 / uniform (all bits zero is set apart: the logarithm is then unbounded).
    """
    top = words >> np.uint64(64 - BITS)
    uniform = (top + 0.5) * 2.0**-BITS
    value = -np.log(uniform) / rate
    slack = value * _LOG_ERROR + 2.0**-BITS / (uniform * rate)
    low = np.minimum(np.floor(value - slack), most)
    np.maximum(low, 0.0, out=low)
    high = np.minimum(np.floor(value + slack), most)
    drawn = low.astype(np.int64)
    for cell in np.flatnonzero((low != high) | (top == 0)).tolist():
        drawn[cell] = exact_floor(int(top[cell]), exact, cell, int(most), source)
    return drawn


def _hits(trials: int, rate: GapRate, source: Bits) -> NDArray[Any]:
    """Draw the positions of the successes among `trials`, by the gaps between them."""
    if trials >= _VECTOR_TRIALS or rate.shift > _VECTOR_SHIFT:
        return _rare_hits(trials, rate, source)
    chance = math.exp(-rate.exponent)
    hits: list[Integers] = []
    last = -1
    while last < trials:
        more = (trials - last) * chance
        size = int(more + 4 * math.sqrt(more)) + 4
        steps = geometric([rate], np.zeros(size, np.int64), source) + 1
        steps = np.minimum(steps, trials + 1)
        # cut where the float sum is surely past the end, so that the integer sum cannot overflow
        past = int(np.searchsorted(np.cumsum(steps.astype(np.float64)), 2.0 * (trials + 1))) + 1
        positions = last + np.cumsum(steps[:past])
        hits.append(positions[positions < trials])
        last = int(positions[-1])
    return np.concatenate(hits)


def _rare_hits(trials: int, rate: GapRate, source: Bits) -> NDArray[Any]:
    """Draw the same in Python integers, one by one: for numbers beyond int64."""
    hits: list[int] = []
    position = -1
    while True:
        position += 1 + _long_gap(rate, source)
        if position >= trials:
            return np.array(hits, np.int64 if trials < 2**63 else np.object_)
        hits.append(position)


def _long_gap(rate: GapRate, source: Bits) -> int:
    shift = rate.shift
    law = _Laws.of([rate], np.zeros(1, np.int64))

    def exact(times: int) -> RateEnclosure:
        return lambda cell, digits: law.enclose(cell, times, digits)

    high = _floor_log(source.words(1), law.upper(), exact(1 << shift), source)
    while True:
        low = int.from_bytes(source.words(shift // 64 + 1).tobytes(), "little") % (1 << shift)
        if low == 0:
            return int(high[0]) << shift
        small = law.upper() * (low / (1 << shift))
        if _floor_log(source.words(1), small, exact(low), source, most=1)[0] >= 1:
            return (int(high[0]) << shift) | low

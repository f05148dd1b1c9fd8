"""What is counted: lengths of sequences from a noisy histogram, and the plan that follows from them.

Only noisy answers and public numbers are used here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.projections import isotonic_regression, project_to_simplex
from hedgerow.numerics.rounding import on_count_grid

#: the part of the budget that lengths get. Chosen on MSNBC (31,790 sequences, epsilon 0.1): with a twentieth, the
#: release has 1.19 times the items instead of 1.08
SHARE = Fraction(1, 10)
#: bins have one length below this, and a quarter of their first length from there on
_FINE, _WIDER = 16, 4
#: a bin of so many noise scales is certainly not empty
_CERTAIN = 6.0
#: equal up to rounding, relative to the largest
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LengthHistogram:
    """The estimated number of sequences of each length: `by_length[n]` of `n` items; `by_length[0]` is 0."""

    by_length: Floats

    @property
    def number(self) -> int:
        """The number of sequences, at least 1."""
        return math.floor(float(self.by_length.sum()) + 0.5)

    @property
    def mean(self) -> float:
        """The mean length."""
        return float(self.by_length @ np.arange(len(self.by_length)) / self.by_length.sum())

    def count_tokens(self, most: int) -> float:
        """The number of tokens, items and ends, if at most so many of a sequence are counted."""
        return float(self.by_length @ np.minimum(np.arange(len(self.by_length)) + 1, most))


def bin_edges(longest: int) -> Integers:
    """The first length of each bin, and the first length beyond the last.

    Examples
    --------
    >>> bin_edges(32)[14:].tolist()
    [15, 16, 20, 25, 31, 33]
    """
    edges = [1]
    while edges[-1] <= longest:
        edges.append(edges[-1] + (1 if edges[-1] < _FINE else edges[-1] // _WIDER))
    edges[-1] = longest + 1
    return np.array(edges, np.int64)


def items_by_noise(longest: int, epsilon: float) -> float:
    """How many items noise alone may write: the noise of all bins, in sequences of the greatest length."""
    return longest * math.sqrt(2 * (len(bin_edges(longest)) - 1)) / (epsilon * float(SHARE))


def estimate_lengths(noisy: Floats, edges: Integers, scale: float) -> LengthHistogram:
    """Smooth the tail, make all bins non-negative with the same sum, and spread each evenly over its lengths."""
    total = max(1.0, float(noisy.sum()))
    bins = project_to_simplex(_smooth_tail(noisy, edges, scale)[None, :], np.array([total]))[0]
    width = np.diff(edges)
    return LengthHistogram(np.append(0.0, np.repeat(on_count_grid(bins / width), width)))


def _smooth_tail(noisy: Floats, edges: Integers, scale: float) -> Floats:
    """Fit what follows the last certain bin by a density that falls at least as fast as one over the length.

    A run of bins with equal fitted values whose total is within the noise becomes 0.
    """
    certain = np.flatnonzero(noisy >= _CERTAIN * scale)
    first = int(certain[-1]) + 1 if len(certain) else 0
    tail = noisy[first:]
    if not len(tail):
        return noisy
    width = np.diff(edges)[first:]
    factor = (edges[first:-1] + (width - 1) / 2) / width
    fitted = -isotonic_regression(-(tail * factor)[None, :], 1 / factor[None, :])[0]
    near = _ROUNDING * float(np.abs(fitted).max())
    block = np.cumsum(np.append(0, np.diff(fitted) < -near))
    within_noise = np.bincount(block, tail) < scale * np.sqrt(2 * np.bincount(block))
    fitted[within_noise[block]] = 0.0
    return np.concatenate((noisy[:first], fitted / factor))


# The plan: how many tokens are counted, and in which contexts, by the cost of noise and of what is left out.

#: the numbers of tokens to choose from
_CHOICES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64)
#: the weight of noise against that of tokens left out. Chosen among 200, 300 and 400 at epsilon 0.1, 0.5 and 2 on MSNBC
#: (10,000 and 31,790), SUBE, BMS-WebView-1, Kosarak (1,000 items), Bible (300 words) and Leviathan (100 words). 200
#: counts more tokens than bigrams can bear at epsilon 2 (total variation on Kosarak 0.609, and 0.588 with 300; Bible
#: 0.286 and 0.266); 400 loses runs of Kosarak, BMS-WebView-1 and SUBE. On Kosarak at epsilon 0.5, 200 is better
_NOISE = 300.0
#: contexts are refined if an average item has so many tokens, in noise scales times the root of the number of symbols.
#: Below, first order alone is better on MSNBC (10,000 and 31,790 at epsilon 0.1), BMS-WebView-1, SUBE and Kosarak
_DEEP = 35.0
#: single items are asked for if an average item has fewer tokens, in noise scales, than this part of the number of
#: symbols to the power 3/2. Between the sizes at which one and the other way is better: MSNBC (2,000 of it: 17 items,
#: not at 10 scales), Kosarak (3,000 of it, 30 items: at 9, not at 40; 20,000 of it, 50 items: at 32, not at 123), Bible
#: (10,000 of it, 50 words: at 17, not at 72), SUBE (100 lines: still at 155), Bible (300 words: still at 187)
_ROOT, _ROOT_POWER = 0.1, 1.5
#: with single items, flows are balanced if sequences have so many items on average: better on FIFA (mean 36; query
#: error 0.350, and 0.480 without). Or if an average item has so large a part of the number of symbols as tokens, in
#: noise scales: better on SUBE and BMS-WebView-1 at epsilon 2 (parts 0.15 and 0.17; query error 0.198 and 0.120, and
#: 0.207 and 0.130 without), worse at epsilon 0.5 (0.06 and 0.07; 0.370 and 0.215, and 0.325 and 0.184 without)
_BALANCED, _BALANCED_PART = 10.0, 0.1


@dataclass(frozen=True)
class Plan:
    """What is counted.

    Attributes
    ----------
    symbols
        The number of symbols that can follow: all items, and the end.
    tokens
        How many tokens of a sequence are counted.
    spend
        The budget of a path of the context tree.
    total
        The expected number of tokens that are counted.
    order
        The length of the longest contexts.
    rows
        The maximum number of rows.
    with_items
        Whether single items are asked for, and rows only of those that are frequent enough.
    deep
        Whether contexts of single items are refined.
    balanced
        Whether the flows into and out of items are balanced.
    """

    symbols: int
    tokens: int
    spend: Fraction
    total: float
    order: int
    rows: int
    with_items: bool
    deep: bool
    balanced: bool

    def scale(self, share: Fraction) -> float:
        """The noise scale of a row with this share."""
        return self.tokens / float(share)

    def variance(self, share: Fraction) -> float:
        """The noise variance of a row with this share."""
        return 2 * self.scale(share) ** 2


def make_plan(lengths: LengthHistogram, symbols: int, spend: Fraction, *, tokens: int, order: int, cells: int) -> Plan:
    """Choose how many tokens are counted (unless it is given: not 0), and in which contexts."""
    tokens = tokens or choose_tokens(lengths, symbols, float(spend))
    total = lengths.count_tokens(tokens)
    # the tokens of an average item, in noise scales of a row that has the whole budget
    strength = total * float(spend) / (tokens * symbols)
    with_items = strength < _ROOT * symbols**_ROOT_POWER or symbols**2 > cells
    return Plan(
        symbols=symbols,
        tokens=tokens,
        spend=spend,
        total=total,
        order=order,
        rows=cells // symbols,
        with_items=with_items,
        deep=strength >= _DEEP * math.sqrt(symbols) and order > 1,
        balanced=not with_items or lengths.mean >= _BALANCED or strength >= _BALANCED_PART * symbols,
    )


def choose_tokens(lengths: LengthHistogram, symbols: int, spend: float) -> int:
    """Choose how many tokens of a sequence are counted: more mean more noise, fewer leave more out."""
    return min(_CHOICES, key=lambda tokens: token_cost(lengths, symbols, spend, tokens))


def token_cost(lengths: LengthHistogram, symbols: int, spend: float, tokens: int) -> float:
    """The cost of a number of tokens: the relative noise of a row, and the part of all tokens that is left out."""
    counted, every = lengths.count_tokens(tokens), lengths.count_tokens(len(lengths.by_length))
    return _NOISE * math.sqrt(symbols) * tokens / (spend * counted) + 1 - counted / every

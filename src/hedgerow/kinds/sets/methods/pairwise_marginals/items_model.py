"""What is estimated about sizes and single items, and the weights with which a record counts for them.

Only noisy answers and public numbers are used here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.projections import isotonic_regression, project_to_simplex
from hedgerow.numerics.rounding import on_count_grid, on_grid
from hedgerow.numerics.shrinkage import fit_prior

# Sizes: the estimated number of records of each size, from noisy counts in bins.

#: up to this size every bin is one size; larger bins grow by a quarter
_SINGLE, _GROWTH = 20, 1.25
#: expected number of empty bins that pass for the largest size; with none of it, noise on empty bins makes records of
#: a hundred items
_SPURIOUS = 0.2


def upper_edges(longest: int) -> Integers:
    """The largest size of each bin, up to `longest`.

    Examples
    --------
    >>> upper_edges(40)[18:].tolist()
    [19, 20, 25, 31, 38, 40]
    """
    edges = list(range(1, min(_SINGLE, longest) + 1))
    while edges[-1] < longest:
        edges.append(min(longest, max(edges[-1] + 1, math.floor(_GROWTH * edges[-1]))))
    return np.array(edges, np.int64)


def size_bins(edges: Integers) -> Integers:
    """The bin of each size 0, 1, ... `edges[-1]`; larger records count as the last size."""
    return np.searchsorted(edges, np.arange(int(edges[-1]) + 1))


@dataclass(frozen=True, eq=False)
class SizeHistogram:
    """How many records there are, and how many of each size: `by_size[k]` of `k` items, real numbers.

    `edges` are the upper edges of the bins up to the largest size.
    """

    records: int
    edges: Integers
    bins: Floats
    by_size: Floats

    @classmethod
    def estimate(cls, noisy: Integers, edges: Integers, spend: float) -> SizeHistogram:
        """Make the noisy counts of bins consistent: no negative ones, no noise beyond the largest size.

        Examples
        --------
        >>> SizeHistogram.estimate(np.array([6, -3, 2, 4]), upper_edges(4), spend=1000.0).by_size.tolist()
        [0.0, 5.0, 0.0, 1.0, 3.0]
        """
        records = max(1, int(noisy.sum()))
        counts = noisy.astype(np.float64)
        threshold = max(1.0, math.log(len(counts) / _SPURIOUS) / spend)
        top = int(np.flatnonzero(counts >= threshold).max(initial=0))
        counts[top] += max(0.0, float(counts[top + 1 :].sum()))
        counts, edges = counts[: top + 1], edges[: top + 1]
        width = np.diff(edges, prepend=0)
        wide = width > 1
        if np.any(wide):
            # a density that does not rise: negated, one that does not fall
            density, weight = counts[wide] / width[wide], width[wide] ** 2.0
            counts[wide] = -isotonic_regression(-density[None], weight[None])[0] * width[wide]
        bins = on_count_grid(project_to_simplex(counts[None], np.array([float(records)]))[0])
        return cls(records, edges, bins, np.concatenate((np.zeros(1), np.repeat(on_count_grid(bins / width), width))))

    def split(self, cuts: tuple[int, ...]) -> list[SizeHistogram]:
        """The same in bands of sizes, each without the others; a cut is the upper edge of a bin."""
        size = np.arange(len(self.by_size))
        parts: list[SizeHistogram] = []
        for low, high in zip((0, *cuts), (*cuts, int(self.edges[-1])), strict=True):
            bins = np.where((self.edges > low) & (self.edges <= high), self.bins, 0.0)
            by_size = np.where((size > low) & (size <= high), self.by_size, 0.0)
            parts.append(SizeHistogram(self.records, self.edges, bins, by_size))
        return parts

    def representatives(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Return a size, a number of records and a weight for each bin that has records.

        The size is the mean of the bin. The weight is such that the total weight of all items is that of the sizes.
        """
        size = np.arange(len(self.by_size))
        number = size_bins(self.edges)
        kept = self.bins > 0
        mean = np.bincount(number[1:], size[1:]) / np.diff(self.edges, prepend=0)
        total = np.bincount(number[1:], (self.by_size * size * weights[: len(size)])[1:])
        return mean[kept], self.bins[kept], total[kept] / (self.bins[kept] * mean[kept])

    def whole_sizes(self, records: int) -> Integers:
        """List the sizes of so many records, ascending, in these proportions."""
        running = np.rint(np.cumsum(self.by_size * (records / self.records))).astype(np.int64)
        running[-1] = records  # as it is, but for rounding errors
        return np.repeat(np.arange(len(running)), np.diff(running, prepend=0))


# Weights of items and pairs: no record counts for too much. A record of many items gives each of them a fraction,
# rather than 1 to some of them: no item is favoured.

#: the weight of 1, as a whole number: exact answers do not depend on the order in which weights are added up
UNIT = 1_000


def weigh_by_size(most: int, items: int, full: Integers | None = None) -> Integers:
    """The weight of each item in a record of 0, 1, ... `items` items: at most `most` units per record.

    Where only `full[k]` items of a record of `k` items count in full, and not `most`, each of them has more weight.

    Examples
    --------
    >>> weigh_by_size(2, 5).tolist()
    [1000, 1000, 1000, 666, 500, 400]
    >>> weigh_by_size(4, 5, np.array([2, 2, 2, 4, 4, 4])).tolist()
    [2000, 2000, 2000, 1000, 1000, 800]
    """
    return UNIT * most // np.maximum(np.arange(items + 1), most if full is None else full)


def weigh_by_pairs(most: int, items: int) -> Integers:
    """The weight of each pair in a record with 0, 1, ... `items` items of the head: at most `most` units per record.

    Examples
    --------
    >>> weigh_by_pairs(3, 5).tolist()
    [1000, 1000, 1000, 1000, 500, 300]
    """
    size = np.arange(items + 1)
    return UNIT * most // np.maximum(size * (size - 1) // 2, most)


def share_by_pairs(most: int, items: int) -> Floats:
    """The same, where 1 is the weight of a pair in full."""
    return weigh_by_pairs(most, items) / UNIT


# How many items of a record count in full: few add bias for long records, many add noise.

#: the numbers of items to choose from
_CANDIDATES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
#: relative bias that is expected of an item whose weight is hidden; of 0.25, 0.5, 0.75, 1, 2 and 4, chosen on
#: groceries, bms-webview-2 and kosarak-subset
_BIAS = 0.75
#: the frequency of items whose error is minimised; of 0.005 and 0.02, chosen on the same data
ATTENTION = 0.005


def choose_item_bound(by_size: Floats, spend: float, largest: int) -> int:
    """Choose the number of items that a record may count for, by expected bias and noise.

    Examples
    --------
    >>> by_size = np.array([0.0, 2000, 1500, 1200, 1000, 800, 600, 400, 300, 200, 100])
    >>> [choose_item_bound(by_size, spend, 10) for spend in (0.04, 0.2, 0.4, 0.8)]
    [1, 3, 5, 6]
    """
    size = np.arange(len(by_size))
    records, tokens = float(by_size.sum()), float(by_size @ size)
    costs: dict[int, float] = {}
    for most in (candidate for candidate in _CANDIDATES if candidate <= largest):
        seen = float(by_size @ np.minimum(size, most)) / tokens
        costs[most] = _BIAS * (1 - seen) * ATTENTION * records + math.sqrt(2) * most / (spend * seen)
    return min(costs, key=costs.__getitem__)


# Bands of sizes whose items are counted apart: long records often differ in kind from short ones.

#: the largest size of a band: ends of bins of sizes, and of the classes in which records are moved
_CUTS = (2, 4, 8, 16)
#: bands if so many items of a record may count in full without them. Of 3, 4, 5, 6 and 12, chosen on groceries,
#: bms-webview-2 and kosarak-subset
_LEAST_BOUND = 5
#: and if the noise of an item, over all bands, is at most this share of the records that have an item of a frequency of
#: 0.5 %: between 0.48, where bands help groceries, and 0.77, where they do not. That there must be a limit, retail at
#: epsilon 0.1 has shown
_MOST_NOISE = 0.65
#: the records beyond the highest cut have at least this share of all pairs, and each band this share of all items; of
#: 0.85, 0.9 and 0.95, and of 0.05 and 0.1, chosen on the same data
_PAIRS_BEYOND, _ITEMS_WITHIN = 0.9, 0.1
#: from one cut to the one below it
_NEXT = 4


@dataclass(frozen=True)
class SizeBands:
    """The largest size in each band but the last, and how many items of a record count in full in each band."""

    cuts: tuple[int, ...]
    bounds: tuple[int, ...]

    @classmethod
    def choose(cls, by_size: Floats, spend: float, largest: int) -> SizeBands:
        """Choose one band if noise is large, and else up to three.

        Parameters
        ----------
        by_size
            The estimated number of records of 0, 1, ... items.
        spend
            The budget of the question for items.
        largest
            The largest size that is told apart.

        Examples
        --------
        >>> by_size = np.array([0.0, 2000, 1500, 1200, 1000, 800, 600, 400, 300, 200, 100])
        >>> SizeBands.choose(by_size, 0.2, 10), SizeBands.choose(by_size, 0.4, 10)
        (SizeBands(cuts=(), bounds=(3,)), SizeBands(cuts=(2,), bounds=(2, 4)))
        """
        bound = choose_item_bound(by_size, spend, largest)
        cuts = _choose_cuts(by_size) if bound >= _LEAST_BOUND else ()
        band = np.searchsorted(np.array(cuts, np.int64), np.arange(len(by_size)))
        parts = (np.where(band == number, by_size, 0.0) for number in range(len(cuts) + 1))
        bounds = tuple(choose_item_bound(each, spend, largest) for each in parts)
        noise = math.sqrt(2) * math.hypot(*bounds) / spend
        clear = noise <= _MOST_NOISE * ATTENTION * float(by_size.sum())
        return cls(cuts, bounds) if clear else cls((), (bound,))

    @property
    def most(self) -> int:
        """How many items of a record count in full in the band where most do."""
        return max(self.bounds)

    def of(self, sizes: Integers) -> Integers:
        """The band of each size."""
        return np.searchsorted(np.array(self.cuts, np.int64), sizes)

    def starts(self, sizes: Integers) -> list[int]:
        """Where the records of each band start; sizes ascend."""
        return [0, *np.searchsorted(sizes, np.array(self.cuts, np.int64), "right").tolist()]

    def weigh(self, items: int) -> Integers:
        """The weight of each item in a record of 0, 1, ... `items` items, a row per band.

        It is 0 for sizes that are not in the band: a record counts in one of them, for at most `most` units.

        Examples
        --------
        >>> SizeBands((2,), (2, 4)).weigh(5).tolist()
        [[2000, 2000, 2000, 0, 0, 0], [0, 0, 0, 1000, 1000, 800]]
        """
        band = self.of(np.arange(items + 1))
        weights = weigh_by_size(self.most, items, np.array(self.bounds)[band])
        return np.where(band == np.arange(len(self.bounds))[:, None], weights, 0)

    def shares(self, items: int) -> Floats:
        """The weight of each item in a record of 0, 1, ... `items` items, where 1 is that of an item in full."""
        return np.array(self.bounds) @ self.weigh(items) / (UNIT * self.most)


def _choose_cuts(by_size: Floats) -> tuple[int, ...]:
    """The highest size beyond which nearly all pairs are, and one below it; no band without many items."""
    size = np.arange(len(by_size))
    items, pairs = by_size * size, by_size * size * (size - 1)
    least = _ITEMS_WITHIN * float(items.sum())
    cuts: list[int] = []
    for cut in reversed(_CUTS):
        beyond = float(pairs[cut + 1 :].sum()) >= _PAIRS_BEYOND * float(pairs.sum()) > 0
        above = cuts[0] if cuts else len(by_size)
        far = not cuts or cut * _NEXT <= above
        parts = (float(items[: cut + 1].sum()), float(items[cut + 1 : above + 1].sum()))
        if beyond and far and min(parts) >= least:
            cuts.insert(0, cut)
    return tuple(cuts)


# Items: estimates from their noisy weights that agree with the sizes of records.


@dataclass(frozen=True, eq=False)
class ItemEstimates:
    """For every band of sizes and every item: its weight over all records, its odds, and the expected records with it.

    Weighted counts are biased for plain ones, and are never inverted: the odds are those with which records, weighted
    in the same way, have these weights.

    Attributes
    ----------
    noisy, spends
        The noisy answers, a table per question, in it a row per band; and what each question has spent.
    weights, odds, expected
        A row per band.
    """

    bands: SizeBands
    noisy: list[Integers]
    spends: list[float]
    weights: Floats
    odds: Floats
    expected: Floats

    @classmethod
    def fit(cls, bands: SizeBands, noisy: list[Integers], spends: list[float], sizes: SizeHistogram) -> ItemEstimates:
        """Shrink the noisy weights, adjust them to the total of the sizes, and fit the odds, band by band.

        Parameters
        ----------
        bands
            The bands, and how many items of a record count in full in each.
        noisy, spends
            The noisy weights of all items, a table per question, and what each question has spent.
        """
        bounds = np.array(bands.bounds, np.float64)
        answers = np.array(noisy) * (bounds / bands.most)[:, None] / UNIT
        rates = np.array(spends)[:, None] / bounds
        items = answers.shape[-1]
        by_size = bands.shares(items)
        weights, odds, expected = np.zeros((3, len(bands.bounds), items))
        for number, part in enumerate(sizes.split(bands.cuts)):
            means, variances = estimate_weights(answers[:, number], rates[:, number])
            share = by_size[: len(part.by_size)]
            total = float(part.by_size @ (np.arange(len(share)) * share))
            weights[number] = on_grid(adjust_total(means, variances, total, float(part.by_size @ share)))
            fitted = fit_independent_items(weights[number], *part.representatives(by_size))
            odds[number], expected[number] = on_grid(fitted)
        return cls(bands, noisy, spends, weights, odds, expected)


# Shrink noisy item weights by empirical Bayes: posterior means under a prior estimated from the same answers.

#: points of the grid of weights, and rounds of expectation maximization
_GRID_POINTS, _ROUNDS = 120, 60
#: the finest value of the grid, in scales of the noise, and how far it goes beyond the largest answer
_FINEST, _BEYOND = 1 / 50, 1.02
#: what keeps every point of the grid possible, per item
_LEAST_MASS = 1e-9
#: scales of the noise from which on, and after which, an answer is taken as it is
_KEEP_FROM, _KEEP_WITHIN = 6.0, 6.0
#: rounds in which the total is adjusted, and how close it comes
_TOTAL_ROUNDS, _TOLERANCE = 20, 1e-6
_LEAST_WEIGHT, _LEAST_VARIANCE = 1e-6, 1e-9


def estimate_weights(answers: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Return the estimate of every item and its variance.

    Parameters
    ----------
    answers
        A row per question: the noisy weight of every item.
    rates
        The rate of the Laplace noise of each question.
    """
    means, variances = posterior_means(answers, rates)
    best, scale = _combine(answers, rates)
    # far above the noise the grid is coarser than the noise
    kept = np.clip((best / scale - _KEEP_FROM) / _KEEP_WITHIN, 0, 1)
    return (1 - kept) * means + kept * best, (1 - kept) * variances + kept * 2 * scale**2


def posterior_means(answers: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of every item's weight, given its answers, under the prior that fits all answers best.

    The prior is on a geometric grid and 0, estimated by the EM algorithm.

    Examples
    --------
    >>> posterior_means(np.array([[0.0, 3, -2, 1, 40, 100]]), np.array([0.5]))[0].round(4).tolist()
    [0.34, 1.0421, 0.34, 0.5215, 40.5351, 102.0]
    """
    best, scale = _combine(answers, rates)
    largest = _BEYOND * max(float(best.max()), 2 * scale)
    grid = np.concatenate((np.zeros(1), np.geomspace(scale * _FINEST, largest, _GRID_POINTS)))
    exponent = np.zeros((len(best), len(grid)))
    for answer, rate in zip(answers, rates.tolist(), strict=True):
        exponent -= rate * np.abs(answer[:, None] - grid)
    # an item between two distant grid points has likelihood 0 at all of them, but for this
    likelihood = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    even = np.full(len(grid), 1 / len(grid))
    prior = fit_prior(likelihood, even, pseudo=len(best) * _LEAST_MASS, rounds=_ROUNDS)
    posterior = likelihood * prior
    posterior /= posterior.sum(axis=1, keepdims=True)
    means = posterior @ grid
    return means, np.maximum(0.0, posterior @ grid**2 - means**2)


def adjust_total(means: Floats, variances: Floats, total: float, most: float) -> Floats:
    """Spread what is missing to the total over all items, the uncertain ones first; none above `most`.

    Examples
    --------
    >>> adjust_total(np.array([10.0, 5, 0, 1]), np.array([4.0, 4, 1, 1]), 38.0, 10.0).round(4).tolist()
    [10.0, 10.0, 8.5, 9.5]
    """
    means, variances = means.copy(), variances + _LEAST_VARIANCE
    for _ in range(_TOTAL_ROUNDS):
        missing = total - float(means.sum())
        free = means > _LEAST_WEIGHT if missing < 0 else means < most
        if abs(missing) <= _TOLERANCE * total or not np.any(free):
            break
        means[free] += missing * variances[free] / variances[free].sum()
        means = np.clip(means, _LEAST_WEIGHT, most)
    return means


def _combine(answers: Floats, rates: Floats) -> tuple[Floats, float]:
    """The weighted mean of the answers, and the scale of Laplace noise of the same variance."""
    squares = rates**2
    return squares @ answers / squares.sum(), 1 / math.sqrt(float(squares.sum()))


# Items that are independent given the size of the record: each has odds of its own, and each size a factor.

#: rounds of fitting, how close totals come, and the largest factor of odds in one round
_FIT_ROUNDS, _CLOSE, _LARGEST_STEP = 100, 1e-6, 5.0


def fit_independent_items(targets: Floats, sizes: Floats, records: Floats, weights: Floats) -> tuple[Floats, Floats]:
    r"""Fit the odds of items so that records of these sizes have the target weights.

    Item $i$ is in a record of size $k$ with probability $w_i l_k / (1 + w_i l_k)$, and $l_k$ is such that these
    add up to $k$.

    Parameters
    ----------
    targets
        The total weight of each item.
    sizes, records, weights
        The different sizes, the number of records of each and the weight of an item in one of them.

    Returns
    -------
    The odds $w_i$, which sum up to 1, and the expected number of records with each item.

    Examples
    --------
    >>> sizes, records = np.array([1.0, 2, 3, 4]), np.array([3.0, 2, 1, 2])
    >>> odds, counts = fit_independent_items(np.array([4.0, 7, 3, 4]), sizes, records, np.ones(4))
    >>> odds.round(3).tolist(), counts.round(3).tolist()
    ([0.049, 0.888, 0.015, 0.049], [4.0, 7.0, 3.0, 4.0])
    """
    items = len(targets)
    odds, factors = targets / targets.sum(), sizes.copy()
    chances = np.ones((len(sizes), items))
    partial = np.flatnonzero(sizes < items)  # a record of all items has every item
    for _ in range(_FIT_ROUNDS):
        ratio = factors[partial, None] * odds
        absent = (1 / (1 + ratio)).sum(axis=1)
        factors[partial] *= sizes[partial] * absent / ((items - absent) * (items - sizes[partial]))
        ratio = factors[partial, None] * odds
        chances[partial] = ratio / (1 + ratio)
        step = targets / ((records * weights) @ chances)
        if np.all(np.abs(1 / step - 1) < _CLOSE):
            break
        odds *= np.clip(step, 1 / _LARGEST_STEP, _LARGEST_STEP)
        odds /= odds.sum()
    return odds, records @ chances

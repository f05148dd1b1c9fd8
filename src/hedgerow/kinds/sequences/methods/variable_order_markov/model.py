"""The context tree of noisy answers, and the rows of a Markov chain that are estimated from all of them.

Only noisy answers, public numbers and coins are used here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.kinds.sequences.methods.variable_order_markov.plan_model import Plan
from hedgerow.numerics.arrays import Codes, Flags, Floats, Integers
from hedgerow.numerics.proportional_fitting import fit_proportionally, scale_rows
from hedgerow.numerics.rounding import on_grid
from hedgerow.numerics.shrinkage import fit_prior


class ContextTree:
    """Which histories have a row of their own, and what was answered about each.

    A context is a list of symbols that a history ends with; a longer one has one symbol more on the left. The root, row
    0, is the empty context. A context with longer ones below it is *opened*: what none of them contains is in its
    *rest*. So the rows below an opened context partition its tokens. Rows are in levels; those of one level are sorted
    by parent and symbol, the rest of a parent last.

    Symbol `a` is the leftmost of a context: an item, or the start of a sequence (`start`, which is also the code of the
    end, where it follows), or the rest (`rest`). `noisy[x, z]` is the answer to how often `z` follows in row `x`, with
    variance `variance[x]`, infinite if it was not asked for. `expected[x]` is the number of tokens that a row was
    expected to have.
    """

    def __init__(self, symbols: int) -> None:
        self.symbols = symbols
        self.start, self.rest = symbols - 1, symbols
        self.first = [0, 1]
        self.parent = np.full(1, -1, np.int64)
        self.symbol = np.full(1, -1, np.int64)
        self.level = np.zeros(1, np.int64)
        self.opened = np.ones(1, np.bool_)
        self.expected = np.zeros(1)
        self.noisy = np.zeros((1, symbols))
        self.variance = np.full(1, np.inf)
        #: the row below `x` for symbol `a`; `x` itself if it has none
        self.child = np.zeros((1, symbols), np.int32)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def depth(self) -> int:
        """The last level; the root is level 0."""
        return len(self.first) - 2

    def rows(self, level: int) -> Integers:
        """The rows of a level."""
        return np.arange(self.first[level], self.first[level + 1])

    def add_level(self, parent: Integers, symbol: Integers, opened: Flags, expected: Floats) -> Integers:
        """Add a level below opened rows, sorted by parent and symbol; nothing has been asked about it."""
        rows = np.arange(len(self), len(self) + len(parent))
        own = symbol != self.rest
        child = np.broadcast_to(rows[:, None], (len(rows), self.symbols))
        self.child = np.concatenate((self.child, child.astype(np.int32)))
        self.child[parent[~own]] = rows[~own][:, None]
        self.child[parent[own], symbol[own]] = rows[own]
        self.parent = np.concatenate((self.parent, parent))
        self.symbol = np.concatenate((self.symbol, symbol))
        self.level = np.concatenate((self.level, np.full(len(rows), self.depth + 1)))
        self.opened = np.concatenate((self.opened, opened))
        self.expected = np.concatenate((self.expected, expected))
        self.noisy = np.concatenate((self.noisy, np.zeros((len(rows), self.symbols))))
        self.variance = np.concatenate((self.variance, np.full(len(rows), np.inf)))
        self.first.append(len(self))
        return rows

    def read(self, rows: Integers, noisy: Floats, variance: Floats) -> None:
        """Set the answers about rows."""
        self.noisy[rows], self.variance[rows] = noisy, variance

    def walk(self, history: Iterable[Codes]) -> NDArray[np.int32]:
        """The row of each history: symbols from the nearest to the farthest, as many as the tree is deep or fewer."""
        row = np.zeros(1, np.int32)
        for symbol in history:
            row = self.child[row, symbol]
        return row

    def contexts(self, rows: Integers, level: int) -> list[Integers]:
        """The symbols of contexts of a level, from left to right: one array per position."""
        symbols: list[Integers] = []
        for _ in range(level):
            symbols.append(self.symbol[rows])
            rows = self.parent[rows]
        return symbols

    def families(self, level: int) -> tuple[Integers, Integers]:
        """The parents of the rows of a level, and where the children of each start."""
        parent = self.parent[self.rows(level)]
        starts = np.flatnonzero(np.diff(parent, prepend=-1))
        return parent[starts], starts


# Grow the tree: rows for contexts that are frequent enough, by noisy counts and estimates from them.

#: in noise scales: the count of an item that gets a row, of an item whose row is opened, the expected count of a longer
#: context that gets a row, and of its likeliest continuation if it is opened. The first was chosen among 3, 10, 20, 40
#: and 80 on the same data: rows of rare items are hardly more than noise, and they lose less in the common row of the
#: rest. With 3, independent items were better on small data (Leviathan, 2,000 of it at epsilon 0.1: 8 of the top 100
#: runs, 24 with 20; total variation of bigrams 0.73, and 0.59). The last two were not tuned
_OWN_ROW, _OWN_OPENED, _LONGER, _LONGER_OPENED = 20.0, 400.0, 8.0, 20.0


def add_first_order(tree: ContextTree, plan: Plan, left: Fraction) -> None:
    """Add rows for the start and all items; with single items, for the start, frequent items and the rest."""
    symbol = np.arange(plan.symbols)
    opened = (symbol != tree.start) & plan.deep
    if plan.with_items:
        noisy, scale = tree.noisy[0, : tree.start], plan.scale(left)
        largest = np.argsort(-noisy, kind="stable")[: max(0, plan.rows - 2)]
        item = np.sort(largest[noisy[largest] >= _OWN_ROW * scale])
        symbol = np.concatenate((item, [tree.start, tree.rest]))
        opened = np.concatenate(((noisy[item] >= _OWN_OPENED * scale) & plan.deep, [False, False]))
    tree.add_level(np.zeros(len(symbol), np.int64), symbol, opened, np.zeros(len(symbol)))


def add_longer(tree: ContextTree, plan: Plan, opened: Integers, left: Fraction, estimates: Estimates) -> None:
    """Add rows for longer contexts that are expected to be frequent enough, and for the rest of each opened row."""
    first = tree.symbol[tree.rows(1)]
    symbol = first[first != tree.rest]
    expected, scale = _expected_counts(tree, opened, symbol, estimates), plan.scale(left)
    candidates = np.flatnonzero(expected >= _LONGER * scale)
    room = max(0, plan.rows - (len(tree) - 1) - len(opened))
    kept = np.sort(candidates[np.argsort(-expected.flat[candidates], kind="stable")[:room]])
    at, number = np.divmod(kept, len(symbol))
    likeliest = estimates.follow[opened, :-1].max(axis=1)
    count = expected.flat[kept]
    again = (count * likeliest[at] >= _LONGER_OPENED * scale) & (symbol[number] != tree.start)
    again &= tree.depth + 1 < plan.order
    # the rest of every opened row belongs to it, or what it has left would be lost
    rests = len(opened)
    parent = np.concatenate((opened[at], opened))
    label = np.concatenate((symbol[number], np.full(rests, tree.rest)))
    order = np.lexsort((label, parent))
    again, count = np.append(again, np.zeros(rests, np.bool_)), np.append(count, np.zeros(rests))
    tree.add_level(parent[order], label[order], again[order], count[order])


def _expected_counts(tree: ContextTree, opened: Integers, symbol: Integers, estimates: Estimates) -> Floats:
    """The expected count of each longer context: a symbol, a column each, before the context of each opened row.

    It is the count of that symbol times the probability of each further symbol after those before it.
    """
    context = [part[:, None] for part in tree.contexts(opened, tree.depth)]
    history = [symbol[None, :]]
    expected = estimates.totals[tree.child[0, symbol]] * np.ones((len(opened), 1))
    for following in context:
        expected = expected * estimates.follow[tree.walk(reversed(history)), following]
        history.append(following)
    return expected


# Estimate the rows of a context tree from noisy answers: combine, shrink, make consistent.
#
# Rows are estimated from the root down. Every count is the posterior mean under a prior from the shorter context; then
# rows are scaled so that what comes into a context goes out of it, and longer contexts add up to shorter ones.

_SWEEPS = 12
#: no count is below this part of its prior mean, and no single item below this part of the average
_SMOOTHING = 1e-6
#: the prior mean of a cell that is known to be empty
_EMPTY = 1e-9
#: with single items, cells of so many noise scales stay, and the others share what is left, at least this part of a
#: row, by a factor within bounds. Better on SUBE, BMS-WebView-1 and Kosarak (epsilon 0.5: total variation of bigrams
#: 0.712, 0.716, 0.666 with it, and 0.765, 0.764, 0.685 without)
_STAYS, _LEFT, _FACTORS = 4.0, 0.02, (0.05, 20.0)
#: the variance of an expected total, relative to it, and of one without a row, relative to that of its parent
_MODEL, _UNREAD = 0.05, 4.0


@dataclass(frozen=True, eq=False)
class Estimates:
    """For each row of a tree: the estimated counts of what follows, the total, and the probabilities."""

    counts: Floats
    totals: Floats
    follow: Floats


def estimate_rows(tree: ContextTree, plan: Plan, coins: np.random.Generator) -> Estimates:
    """Estimate all rows from all answers; an opened context whose longer ones were not asked about is a leaf."""
    rows = _Rows(tree, plan, coins)
    rows.estimate_items()
    rows.estimate_first_order()
    for level in range(2, tree.depth + 1):
        rows.estimate_longer(level)
    return Estimates(on_grid(rows.counts), on_grid(rows.totals), on_grid(rows.follow()))


class _Rows:
    """The estimates so far, from the root down to some level."""

    def __init__(self, tree: ContextTree, plan: Plan, coins: np.random.Generator) -> None:
        self.tree, self.plan, self.coins = tree, plan, coins
        self.combined, self.variance = combine_readings(tree)
        self.counts = np.zeros(self.combined.shape)
        self.totals = np.zeros(len(tree))
        #: the normalized first readings of opened rows alone, the priors of what is below them
        self.priors = np.zeros((0, 0))
        self.prior_of = np.zeros(len(tree), np.int64)

    def estimate_items(self) -> None:
        """Order 0: how often each symbol occurs."""
        self._set_items(self.combined[0], self.variance[0])

    def _set_items(self, noisy: Floats, variance: float) -> None:
        """Shrink the counts of all symbols, or of all but the end."""
        flat = np.full(len(noisy), self.plan.total / self.plan.symbols)
        counts = posterior_counts(noisy, flat, _scale(variance), self.coins)
        self.counts[0, : len(noisy)] = np.maximum(counts, _SMOOTHING * counts.mean())
        self.totals[0] = self.counts[0].sum()
        self.priors = self.counts[:1] / self.totals[0]

    def estimate_first_order(self) -> None:
        """Order 1: what follows the start, each item with a row, and the rest."""
        tree, rows = self.tree, self.tree.rows(1)
        starts, own = tree.symbol[rows] == tree.start, tree.symbol[rows] != tree.rest
        totals = self._first_order_totals(rows, own)
        prior = self._independent(totals, starts)
        self.totals[rows] = totals
        if self.plan.with_items and not self._show_dependence(rows[own & ~starts], prior[own & ~starts]):
            self._pool_items(rows[~starts])
            self.counts[rows] = self._independent(totals, starts)
            return
        prior[starts, -1] = _EMPTY
        counts = self._shrunk(self.combined[rows], prior, self.variance[rows])
        counts[starts, -1] = 0.0
        if self.plan.with_items:
            counts = _share_residue(counts, self.combined[rows], totals, _scale(self.variance[rows])[:, None])
        if self.plan.balanced:
            columns = self.counts[0] * (totals.sum() / self.totals[0])
            columns[tree.symbol[rows[own]]] = totals[own]
            counts = _rake(
                counts, totals, np.zeros(len(rows), np.int64), scale_rows(columns[None, :], totals.sum()[None])
            )
        self.counts[rows] = counts

    def _independent(self, totals: Floats, starts: Flags) -> Floats:
        """The rows if nothing depends on what comes before; but nothing ends before its first item."""
        rows = totals[:, None] * self.priors
        rows[starts, -1] = 0.0
        return scale_rows(rows, totals)

    def _show_dependence(self, rows: Integers, prior: Floats) -> bool:
        return show_dependence(self.combined[rows], prior, self.variance[rows])

    def _pool_items(self, rows: Integers) -> None:
        """Estimate single items anew from all rows, which are alike."""
        tree, many = self.tree, float(self.counts[0, :-1].sum())
        pooled = pool_rows(self.combined[rows], self.totals[rows], self.variance[rows], many)
        if pooled is None:
            return
        noisy = weigh(tree.noisy[0, :-1], tree.variance[0], *pooled)
        variance = 1 / (1 / tree.variance[0] + 1 / pooled[1])
        self._set_items(noisy, variance)

    def _first_order_totals(self, rows: Integers, own: Flags) -> Floats:
        """The total of a row: its own sum, and how often its item occurs (ends as often as starts)."""
        sums, noise = self.combined[rows].sum(axis=1), self.plan.symbols * self.variance[rows]
        occurs, spread = np.empty(len(rows)), np.full(len(rows), self.variance[0])
        occurs[own] = self.counts[0, self.tree.symbol[rows[own]]]
        known = weigh(sums[own], noise[own], occurs[own], spread[own])
        occurs[~own] = max(1.0, float(self.totals[0] - known.sum()))
        spread[~own] *= np.count_nonzero(own)
        return np.maximum(1.0, weigh(sums, noise, occurs, spread))

    def estimate_longer(self, level: int) -> None:
        """Order 2 and more: rows below each opened row, within its own."""
        tree, rows = self.tree, self.tree.rows(level)
        parents, starts = tree.families(level)
        family = np.repeat(np.arange(len(parents)), np.diff(starts, append=len(rows)))
        self._set_priors(parents)
        totals = self._longer_totals(level, parents, starts, family)
        prior = totals[:, None] * self.priors[family]
        counts = self._shrunk(self.combined[rows], prior, self.variance[rows])
        columns = self.counts[parents]
        sums = totals * (columns.sum(axis=1) / np.add.reduceat(totals, starts))[family]
        self.counts[rows] = _rake(counts, sums, family, columns)
        self.totals[rows] = np.maximum(1.0, self.counts[rows].sum(axis=1))

    def _set_priors(self, parents: Integers) -> None:
        """Shrink the first readings of opened rows alone: the combined ones share the noise of what is below."""
        # the prior of the root is number 0
        prior = self.totals[parents, None] * self.priors[self.prior_of[self.tree.parent[parents]]]
        first = self._shrunk(self.tree.noisy[parents], prior, self.tree.variance[parents])
        self.priors = scale_rows(first, np.ones(len(parents)))
        self.prior_of[parents] = np.arange(len(parents))

    def _longer_totals(self, level: int, parents: Integers, starts: Integers, family: Integers) -> Floats:
        """The total of a row: its own sum, and the count of the same symbols in the row without the last of them."""
        tree, rows = self.tree, self.tree.rows(level)
        own = tree.symbol[rows] != tree.rest
        expected, spread = self._expected_totals(rows[own], level)
        sums, noise = self.combined[rows[own]].sum(axis=1), self.plan.symbols * self.variance[rows[own]]
        totals = np.zeros(len(rows))
        totals[own] = np.maximum(1.0, weigh(sums, noise, expected, spread + _MODEL * expected))
        whole = self.totals[parents]
        left = np.maximum(whole - np.add.reduceat(totals, starts), _LEFT * whole)
        totals[~own] = left[family[~own]]
        return totals

    def _expected_totals(self, rows: Integers, level: int) -> tuple[Floats, Floats]:
        """The count of a context's last symbol after the others, and its variance, if these have a row."""
        tree = self.tree
        *others, last = tree.contexts(rows, level)
        row = tree.walk(reversed(others))
        exists = (tree.level[row] == level - 1) & (tree.symbol[row] == others[0])
        expected = np.where(exists, self.counts[row, last], tree.expected[rows])
        spread = np.where(exists, self.variance[row], _UNREAD * self.variance[tree.parent[rows]])
        return expected, spread

    def _shrunk(self, noisy: Floats, prior: Floats, variance: Floats) -> Floats:
        return posterior_counts(noisy, prior, _scale(variance)[:, None], self.coins) + _SMOOTHING * prior

    def follow(self) -> Floats:
        """The probabilities of what follows; those of single items in a row without counts."""
        follow = scale_rows(self.counts, np.ones(len(self.counts)))
        follow[self.counts.sum(axis=1) <= 0] = follow[0]
        return follow


def _scale(variance: Floats | float) -> Floats:
    """The scale of Laplace noise of a variance."""
    return np.sqrt(np.asarray(variance) / 2)


def _share_residue(counts: Floats, combined: Floats, totals: Floats, scale: Floats) -> Floats:
    """Keep cells far above the noise, and scale the others of a row so that it adds up to its total."""
    small = combined < _STAYS * scale
    others = np.where(small, counts, 0.0).sum(axis=1)
    left = np.maximum(totals - np.where(small, 0.0, counts).sum(axis=1), _LEFT * totals)
    factor = np.clip(np.divide(left, others, out=np.ones_like(left), where=others > 0), *_FACTORS)
    return np.where(small, counts * factor[:, None], counts)


def _rake(rows: Floats, sums: Floats, family: Integers, columns: Floats) -> Floats:
    """Scale rows to their sums, and the columns of each family to theirs; rows at last."""
    return scale_rows(fit_proportionally(rows, sums, family, columns, sweeps=_SWEEPS), sums)


# Empirical Bayes: replace noisy counts by posterior means, under a prior that is fitted to all counts of their kind.
#
# A noisy count is a count $x$ plus Laplace noise of scale $b$. Counts are grouped into classes by their prior mean $m$,
# in powers of two of $b$. For every class the distribution of $x / b$ is estimated on a fixed grid by expectation
# maximization (the non-parametric maximum likelihood of Kiefer and Wolfowitz), with a weak exponential prior.

#: possible counts, in noise scales
GRID = np.concatenate((np.zeros(1), np.exp2(np.arange(-6.0, -1)), np.exp2(np.arange(-0.5, 4.6, 0.25))))
#: the classes of the logarithm of prior means
_LOWEST, _HIGHEST = -12, 4
_LEAST_MEAN, _LEAST_CHANCE = 1e-9, 1e-12
#: steps of expectation maximization, the most cells that it reads, and the weight of the weak prior in cells
_STEPS, _CELLS, _WEIGHT = 30, 6_000, 4.0
#: the uniform part of the first guess
_UNIFORM = 0.1
#: counts of so many noise scales stay; farther ones are alike to the fit; below the last, prior means of cells matter
_LARGE, _FARTHEST, _SMALL = 12.0, 40.0, 2.0


def posterior_counts(noisy: Floats, mean: Floats, scale: Floats, coins: np.random.Generator) -> Floats:
    """Return the posterior mean of each count, given its prior mean and its noise scale; one fit for all.

    Coins choose the cells that are read of classes with more than 6,000.
    """
    noisy, mean, scale = np.broadcast_arrays(noisy, np.maximum(mean, _LEAST_MEAN), scale)
    ratio = (mean / scale).ravel()
    count = (noisy / scale).ravel()
    kind = np.clip(np.frexp(on_grid(ratio))[1] - 1, _LOWEST, _HIGHEST)
    result = np.empty_like(count)
    for number in range(_LOWEST, _HIGHEST + 1):
        cells = np.flatnonzero(kind == number)
        if len(cells):
            result[cells] = _posterior_means(count[cells], ratio[cells], coins)
    result = np.where(count >= _LARGE, noisy.ravel(), result * scale.ravel())
    return result.reshape(noisy.shape)


def _posterior_means(count: Floats, ratio: Floats, coins: np.random.Generator) -> Floats:
    """Posterior means of the counts of one class; both in noise scales."""
    typical = float(ratio.mean())
    read = count if len(count) <= _CELLS else count[coins.integers(0, len(count), _CELLS)]
    means = _means_under(_fit(read, typical), np.clip(count, 0.0, _LARGE))
    return means * np.where(count < _SMALL, np.clip(ratio / typical, 0.5, 2.0), 1.0)


def _fit(count: Floats, typical: float) -> Floats:
    """Estimate the distribution on the grid."""
    weak = np.exp(-GRID / typical) * np.gradient(GRID) + _LEAST_CHANCE
    weak /= weak.sum()
    # below 0, the likelihood of all grid points falls alike
    likelihood = np.exp(-np.abs(np.clip(count, 0.0, _FARTHEST)[:, None] - GRID))
    chance = (1 - _UNIFORM) * weak + _UNIFORM / len(GRID)
    return fit_prior(likelihood, chance, pseudo=_WEIGHT * weak, rounds=_STEPS)


def _means_under(chance: Floats, count: Floats) -> Floats:
    """The posterior means of counts from 0 on, under a distribution on the grid.

    The likelihood of a grid point `g` is `exp(g - count)` below the count and `exp(count - g)` above, so sums over the
    grid are two cumulative sums.
    """
    below, above = chance * np.exp(GRID), chance * np.exp(-GRID)
    point = np.searchsorted(GRID, count, "right")
    near, far = np.exp(-count), np.exp(count)
    mass = near * _upto(below)[point] + far * _from(above)[point]
    return (near * _upto(below * GRID)[point] + far * _from(above * GRID)[point]) / mass


def _upto(values: Floats) -> Floats:
    return np.append(0.0, np.cumsum(values))


def _from(values: Floats) -> Floats:
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)


# Whether what follows depends on what comes before it, as far as noisy rows can tell; and if not, single items.

#: the fourth moment of Laplace noise, less 1, in squared variances: the variance of a squared deviation
_SPREAD = 5.0
#: standard deviations by which squared deviations must exceed their expectation. Where items depend on each other,
#: they do so by 2 and more (Leviathan at epsilon 0.1: 2.1; Kosarak, 5,000 of it, at 0.1: 2.4; FIFA, 3,000 of it and 300
#: items, at 1: 3.2; all else on which constants were chosen: 5 and more, or too few rows to matter)
_CLEAR = 1.0
#: the least part of items among tokens after an item: pooled rows of sequences that hardly go on say little
_LEAST_ITEMS = 0.5


def show_dependence(rows: Floats, expected: Floats, variance: Floats) -> bool:
    """Whether rows deviate from what is expected if nothing depends on them, by more than their noise.

    Examples
    --------
    >>> show_dependence(np.array([[9.0, 1], [1, 9]]), np.full((2, 2), 5.0), np.ones(2))
    True
    >>> show_dependence(np.array([[6.0, 4], [4, 6]]), np.full((2, 2), 5.0), np.ones(2))
    False
    """
    squares = (rows - expected) ** 2 / variance[:, None]
    return bool(squares.sum() - squares.size > _CLEAR * np.sqrt(_SPREAD * squares.size))


def pool_rows(rows: Floats, totals: Floats, variance: Floats, number: float) -> tuple[Floats, float] | None:
    """Estimate how often each item occurs, `number` in all, from rows that are alike but for their totals.

    A row weighs as much as its total, which is best if all rows have the same noise. Also returns the variance; None
    if rows have hardly any items.
    """
    parts = (totals[:, None] * rows[:, :-1]).sum(axis=0) / (totals**2).sum()
    items = float(parts.sum())
    if items < _LEAST_ITEMS:
        return None
    factor = number / items
    return parts * factor, float((totals**2 * variance).sum() / (totals**2).sum() ** 2) * factor**2


# Combine independent noisy answers about the same counts, by their variances.


def weigh(first: Floats, first_variance: Floats | float, second: Floats, second_variance: Floats | float) -> Floats:
    """The mean of two estimates, weighted by the inverse of their variances.

    Examples
    --------
    >>> weigh(np.array([10.0]), 1.0, np.array([14.0]), 3.0).tolist()
    [11.0]
    """
    return (first * second_variance + second * first_variance) / (first_variance + second_variance)


def combine_readings(tree: ContextTree) -> tuple[Floats, Floats]:
    """Combine the answer about each opened row with the sum of those below it, from the last level up.

    Returns the rows and the variance of each; all cells of a row have the same.
    """
    rows, variance = tree.noisy.copy(), tree.variance.copy()
    for level in range(tree.depth, 0, -1):
        parents, starts = tree.families(level)
        below = tree.rows(level)
        total = np.add.reduceat(rows[below], starts, axis=0)
        spread = np.add.reduceat(variance[below], starts)
        own = np.isfinite(variance[parents])
        rows[parents[~own]], variance[parents[~own]] = total[~own], spread[~own]
        at = parents[own]
        rows[at] = weigh(rows[at], variance[at, None], total[own], spread[own, None])
        variance[at] = 1 / (1 / variance[at] + 1 / spread[own])
    return rows, variance

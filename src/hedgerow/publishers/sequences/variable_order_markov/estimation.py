"""Estimate the rows of a context tree from noisy answers: combine, shrink, make consistent. No private data.

Rows are estimated from the root down. Every count is the posterior mean under a prior from the shorter context; then
rows are scaled so that what comes into a context goes out of it, and longer contexts add up to shorter ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.publishers.sequences.variable_order_markov.combination import combine_readings, weigh
from hedgerow.publishers.sequences.variable_order_markov.context_tree import ContextTree
from hedgerow.publishers.sequences.variable_order_markov.independence import pool_rows, show_dependence
from hedgerow.publishers.sequences.variable_order_markov.plan import Plan
from hedgerow.publishers.sequences.variable_order_markov.shrinkage import shrink
from hedgerow.steps.coarse_grid import on_grid
from hedgerow.steps.proportional_fitting import fit_proportionally, scale_rows

__all__ = ["Estimates", "estimate_rows"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

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
        counts = shrink(noisy, flat, _scale(variance), self.coins)
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
        self._set_priors(parents, level)
        totals = self._longer_totals(level, parents, starts, family)
        prior = totals[:, None] * self.priors[family]
        counts = self._shrunk(self.combined[rows], prior, self.variance[rows])
        columns = self.counts[parents]
        sums = totals * (columns.sum(axis=1) / np.add.reduceat(totals, starts))[family]
        self.counts[rows] = _rake(counts, sums, family, columns)
        self.totals[rows] = np.maximum(1.0, self.counts[rows].sum(axis=1))

    def _set_priors(self, parents: Integers, level: int) -> None:
        """Shrink the first readings of opened rows alone: the combined ones share the noise of what is below."""
        above = self.priors if level == 2 else self.priors[self.prior_of[self.tree.parent[parents]]]  # noqa: PLR2004
        prior = self.totals[parents, None] * above
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
        return shrink(noisy, prior, _scale(variance)[:, None], self.coins) + _SMOOTHING * prior

    def follow(self) -> Floats:
        """The probabilities of what follows; those of single items in a row without counts."""
        follow = scale_rows(self.counts, np.ones(len(self.counts)))
        follow[self.counts.sum(axis=1) <= 0] = follow[0]
        return follow


def _scale(variance: Any) -> Any:
    """The scale of Laplace noise of a variance."""
    return np.sqrt(variance / 2)


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

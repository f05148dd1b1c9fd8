"""Build a context tree: ask what follows single items, then, where it pays, what follows longer contexts."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy import Laplace, Ledger, PathBudget, Shares
from hedgerow.publishers.sequences.variable_order_markov.context_tree import ContextTree
from hedgerow.publishers.sequences.variable_order_markov.estimation import Estimates, estimate_rows
from hedgerow.publishers.sequences.variable_order_markov.plan import Plan
from hedgerow.publishers.sequences.variable_order_markov.tokens import Tokens

__all__ = ["explore"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: the part of the budget for single items. Chosen among 0.15, 0.25, 0.33 and 0.5 on SUBE, BMS-WebView-1 (all and 10,000
#: of it), Leviathan (all and 2,000 of it), Kosarak (5,000 of it) and FIFA (3,000 of it, 300 items): with 0.15 single
#: items are less exact (top 100 of FIFA at epsilon 0.5: 60, and 71), with 0.33 runs are lost (BMS-WebView-1: 42 of 100,
#: and 49)
_ITEMS = Fraction(1, 4)
#: what an opened row spends of what is left on its path: 0.3 is within the noise, 0.15 slightly worse
_OPENED = Fraction(1, 2)
#: in noise scales: the count of an item that gets a row, of an item whose row is opened, the expected count of a longer
#: context that gets a row, and of its likeliest continuation if it is opened. The first was chosen among 3, 10, 20, 40
#: and 80 on the same data: rows of rare items are hardly more than noise, and they lose less in the common row of the
#: rest. With 3, independent items were better on small data (Leviathan, 2,000 of it at epsilon 0.1: 8 of the top 100
#: runs, 24 with 20; total variation of bigrams 0.73, and 0.59). The last two were not tuned
_OWN_ROW, _OWN_OPENED, _LONGER, _LONGER_OPENED = 20.0, 400.0, 8.0, 20.0


def explore(tokens: Tokens, ledger: Ledger, plan: Plan, coins: np.random.Generator) -> ContextTree:
    """Spend all that is left on a context tree.

    A node of the forest of the ledger is a cell, a row and a symbol; the cell of a longer context is below the cell of
    the shorter one with the same symbol. So every token is in one cell per level, and walks down one path.
    """
    paths = ledger.paths(spend=plan.spend, touches=plan.tokens, label="followers")
    tree, left = ContextTree(plan.symbols), plan.spend
    cells = np.repeat(paths.root, plan.symbols)[None, :]
    if plan.with_items:
        share, left = plan.spend * _ITEMS, plan.spend * (1 - _ITEMS)
        cells = _ask_items(tokens, paths, tree, plan, share)
    _add_first_order(tree, plan, left)
    while True:
        tokens = tokens.descend(tree)
        cells = _ask_followers(tokens, paths, tree, plan, cells, left)
        opened = np.flatnonzero(tree.opened & (tree.level == tree.depth))
        if not len(opened):
            break
        left = left * (1 - _OPENED)
        _add_longer(tree, plan, opened, left, estimate_rows(tree, plan, coins))
    paths.close()
    return tree


def _ask_items(tokens: Tokens, paths: PathBudget, tree: ContextTree, plan: Plan, share: Fraction) -> Integers:
    """Ask how often each symbol occurs; return the cells."""
    under = np.repeat(paths.root, plan.symbols)
    exact = tokens.count(0, 1, plan.symbols)
    cells, noisy = paths.ask(exact, Laplace(l1=1), under=under, spend=share, label="items")
    tree.read(tree.rows(0), noisy[None, :].astype(np.float64), np.array([plan.variance(share)]))
    return cells[None, :]


def _ask_followers(
    tokens: Tokens, paths: PathBudget, tree: ContextTree, plan: Plan, above: Integers, left: Fraction
) -> Integers:
    """Ask what follows in each row of the last level, in one question; return the cells, one row each.

    An opened row spends half of what is left, the others all of it.
    """
    rows = tree.rows(tree.depth)
    opened = tree.opened[rows]
    parent = tree.parent[rows] - tree.first[tree.depth - 1]
    shares = Shares((left, left * _OPENED), np.repeat(opened, plan.symbols).astype(np.int64))
    # L1 = 1 per token: it is in one row of a level, and one symbol follows it
    exact = tokens.count(int(rows[0]), len(rows), plan.symbols)
    cells, noisy = paths.ask(exact, Laplace(l1=1), under=above[parent].ravel(), spend=shares, label="followers")
    answers = noisy.reshape(len(rows), plan.symbols).astype(np.float64)
    if tree.depth == 1:
        answers[tree.symbol[rows] == tree.start, -1] = 0.0  # nothing ends before its first item, whatever the data
    variance = np.array([plan.variance(left), plan.variance(left * _OPENED)])[opened.astype(np.int64)]
    tree.read(rows, answers, variance)
    return cells.reshape(len(rows), plan.symbols)


def _add_first_order(tree: ContextTree, plan: Plan, left: Fraction) -> None:
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


def _add_longer(tree: ContextTree, plan: Plan, opened: Integers, left: Fraction, estimates: Estimates) -> None:
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

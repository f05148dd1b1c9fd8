"""Sequences from a Markov chain of variable order, with private lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError
from hedgerow.kinds.sequences.data import Sequences
from hedgerow.kinds.sequences.methods.variable_order_markov.draw import write_sequences
from hedgerow.kinds.sequences.methods.variable_order_markov.model import (
    ContextTree,
    add_first_order,
    add_longer,
    estimate_rows,
)
from hedgerow.kinds.sequences.methods.variable_order_markov.plan_model import (
    SHARE,
    LengthHistogram,
    Plan,
    bin_edges,
    estimate_lengths,
    items_by_noise,
    make_plan,
)
from hedgerow.numerics.arrays import Codes, Floats, Integers, number_within_groups, take_lists
from hedgerow.privacy import Laplace, Ledger, PathBudget, PureDP, Shares
from hedgerow.publisher import Publisher, param, require_little_noise

#: the start, one item and the rest have a row at least
_LEAST_ROWS = 3
#: the part of the budget for single items. Chosen among 0.15, 0.25, 0.33 and 0.5 on SUBE, BMS-WebView-1 (all and 10,000
#: of it), Leviathan (all and 2,000 of it), Kosarak (5,000 of it) and FIFA (3,000 of it, 300 items): with 0.15 single
#: items are less exact (top 100 of FIFA at epsilon 0.5: 60, and 71), with 0.33 runs are lost (BMS-WebView-1: 42 of 100,
#: and 49)
_ITEMS = Fraction(1, 4)
#: what an opened row spends of what is left on its path: 0.3 is within the noise, 0.15 slightly worse
_OPENED = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class VariableOrderMarkov(Publisher[Sequences]):
    r"""Publish sequences by a Markov chain whose order is as high as the noise allows, with their lengths.

    A noisy histogram of lengths says how many sequences end where. Then it is asked what follows each item, and, where
    counts are large enough, what follows longer contexts. Noisy counts become posterior means under a prior that is
    fitted to all of them (empirical Bayes). At most `tokens` items of a sequence are counted, spread over the whole of
    it; how many is chosen from the noisy lengths. The method is our own; contexts that grow where it pays are those of
    prediction suffix trees [1]_, [2]_.

    Privacy
    -------
    lengths: a sequence is in one bin (L1 = 1); a tenth of the budget.
    items, followers: which tokens of a sequence are counted, at most $L$, is a public function of the sequence and of
    its number among equal sequences, so one sequence more adds the tokens of one copy and changes no other. A token is
    in one cell (context and symbol) of each level, and follows one path. Along a path, single items spend a quarter of
    nine tenths of the budget if they are asked for, an opened context half of what is left, any other all of it. $L$,
    contexts and shares depend on noisy answers and public numbers only, and so does what is written.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["home", "search", "shop"])
    >>> clicks = [["home", "search", "shop"]] * 4000 + [["home"]] * 2000
    >>> data = Sequences.from_records(clicks, domain=domain)
    >>> release = VariableOrderMarkov().publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.distinct_records() if n > 200]
    [(('home',), 2000), (('home', 'search', 'shop'), 4000)]

    References
    ----------
    .. [1] D. Ron, Y. Singer, N. Tishby. "The power of amnesia: learning probabilistic automata with variable memory
       length". Machine Learning 25, 1996.
    .. [2] J. Zhang, X. Xiao, X. Xie. "PrivTree: a differentially private algorithm for hierarchical decompositions".
       SIGMOD 2016.
    """

    name: ClassVar[str] = "variable-order-markov"
    kinds: ClassVar = ("sequences",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "person")
    recommended: ClassVar[str] = "sequences of items, from about 1,000 / epsilon on"
    #: equal sequences are numbered
    reads_all_records: ClassVar[bool] = True

    longest: int = param(128, "longest sequences that are published; longer ones count as so long", ge=1, le=10_000)
    tokens: int = param(
        0, "how many items of a sequence are counted, its end included; 0: chosen from noisy lengths", ge=0, le=1_000
    )
    order: int = param(4, "length of the longest contexts", ge=1, le=10)
    cells: int = param(4_000_000, "most counts that are asked for, contexts times symbols", ge=1)

    def run(self, data: Sequences, ledger: Ledger) -> Sequences:
        """Ask for lengths, build the context tree, estimate its rows, and write sequences."""
        symbols = data.domain.size("item") + 1
        self._require_reason(symbols, float(ledger.budget))
        lengths = ask_lengths(data, ledger, self.longest)
        plan = make_plan(lengths, symbols, ledger.left, tokens=self.tokens, order=self.order, cells=self.cells)
        coins = ledger.coins()
        tree = explore(Tokens.of(data, plan.tokens), ledger, plan, coins)
        estimates = estimate_rows(tree, plan, coins)
        ledger.note("counted tokens per sequence", plan.tokens)
        ledger.note("contexts", len(tree) - 1)
        row, item, counts = write_sequences(tree, estimates.follow, lengths, coins)
        return Sequences.from_columns(row=row, item=item, domain=data.domain, counts=counts)

    def _require_reason(self, symbols: int, epsilon: float) -> None:
        """Refuse what cannot work, by public numbers only."""
        if _LEAST_ROWS * symbols > self.cells:
            msg = f"cells must be at least {_LEAST_ROWS * symbols:,} for {symbols - 1:,} items; got {self.cells:,}"
            raise ParameterError(msg)
        noise = items_by_noise(self.longest, epsilon)
        require_little_noise(noise, "items", "take a larger epsilon or a smaller longest")


def ask_lengths(data: Sequences, ledger: Ledger, longest: int) -> LengthHistogram:
    """Ask how many sequences are in each bin of lengths; longer ones count as `longest`."""
    edges, spend = bin_edges(longest), ledger.budget * SHARE
    number = np.searchsorted(edges, np.minimum(np.diff(data.starts), longest), "right") - 1
    # L1 = 1: a sequence is in one bin
    exact = np.bincount(number, data.weights, len(edges) - 1).astype(np.int64)
    noisy = ledger.ask(exact, Laplace(l1=1), spend=spend, label="lengths")
    return estimate_lengths(noisy.astype(np.float64), edges, 1 / float(spend))


# Build a context tree: ask what follows single items, then, where it pays, what follows longer contexts.


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
    add_first_order(tree, plan, left)
    while True:
        tokens = tokens.descend(tree)
        cells = _ask_followers(tokens, paths, tree, plan, cells, left)
        opened = np.flatnonzero(tree.opened & (tree.level == tree.depth))
        if not len(opened):
            break
        left = left * (1 - _OPENED)
        add_longer(tree, plan, opened, left, estimate_rows(tree, plan, coins))
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


# Tokens: the positions of a sequence that are counted, and the context of each. Which tokens are counted is a public
# function of the sequence and of its number among equal sequences. No coins are used, and no other record matters:
# removing one of several equal sequences removes exactly the tokens of the last copy.

Words: TypeAlias = NDArray[np.uint64]
#: the finalizer of SplitMix64, and the golden ratio in 64 bits
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_DROPPED, _UNIT = np.uint64(11), 2.0**-53
_WORD = 2**64 - 1
#: the rest of so few lists is hashed one by one, which is faster than an array operation for each of thousands of items
_FEW = 16


@dataclass(frozen=True, eq=False, repr=False)
class Tokens:
    """Tokens of all sequences, each in a row of a context tree.

    A sequence of `n` items has `n + 1` tokens: every item and the end, each with what comes before it. Of a sequence
    that has more than `most`, exactly `most` are counted, spread over the whole of it.

    `symbols` are the items of all sequences, with a separator before, between and after them: the separator is the end
    of one sequence and the start of the next. Token `i` is at `at[i]`: the symbol after it is its own, those up to it
    are its history. `weights` is None if every token counts once. The first `depth` symbols of the history were used to
    find `row`.
    """

    symbols: Codes
    at: Codes
    weights: Integers | None
    row: NDArray[np.int32]
    depth: int = 0

    @classmethod
    def of(cls, data: Sequences, most: int) -> Self:
        """Take at most so many tokens of each sequence."""
        size, tokens = data.domain.size("item"), np.diff(data.starts) + 1
        long = tokens > most
        # only long sequences need to be numbered among their equals
        merged = Sequences(
            data.domain, data.numbers[long], *take_lists(data.starts, data.items, long), data.weights[long]
        )
        merged = merged.canonical()
        symbols = _with_separators(data.starts, data.items, size)
        every, copies = np.flatnonzero(np.repeat(~long, tokens)), _positions_of_copies(merged, most) + len(symbols)
        symbols = np.concatenate((symbols, _with_separators(merged.starts, merged.items, size)))
        # positions of half the size are read twice as fast
        narrow = np.int32 if len(symbols) < 2**31 else np.int64
        at = np.concatenate((every.astype(narrow), copies.astype(narrow)))
        weights = None
        if int(data.weights.max(initial=1)) > 1:
            weights = np.append(np.repeat(data.weights[~long], tokens[~long]), np.ones(len(copies), np.int64))
        return cls(symbols, at, weights, np.zeros(len(at), np.int32))

    def descend(self, tree: ContextTree) -> Self:
        """Keep the tokens of opened contexts, and move each to the context one symbol longer, or to the rest."""
        if self.depth == 0:  # all tokens are at the root
            return replace(self, row=tree.child[0][self.symbols[self.at]], depth=1)
        inside = np.flatnonzero(tree.opened[self.row])
        at = self.at[inside]
        row = tree.child[self.row[inside], self.symbols[at - self.depth]]
        weights = None if self.weights is None else self.weights[inside]
        return replace(self, at=at, weights=weights, row=row, depth=self.depth + 1)

    def count(self, first: int, rows: int, symbols: int) -> Integers:
        """Count how often each symbol follows, in so many rows from a first one on."""
        cell = (self.row.astype(np.int64) - first) * symbols + self.symbols[self.at + 1]
        return np.bincount(cell, self.weights, rows * symbols).astype(np.int64)


def _with_separators(starts: Integers, items: Codes, size: int) -> Codes:
    """Put a separator, the code `size`, before each list, and after the last."""
    symbols = np.full(len(items) + len(starts), size, np.min_scalar_type(size))
    inner = np.ones(len(symbols), np.bool_)
    inner[starts + np.arange(len(starts))] = False
    symbols[inner] = items
    return symbols


def _positions_of_copies(merged: Sequences, most: int) -> Integers:
    """Positions of the tokens of every copy of sequences that have more than `most`."""
    copy_of = np.repeat(np.arange(len(merged.weights)), merged.weights)
    offset = copy_offsets(content_hashes(merged.starts, merged.items)[copy_of], number_within_groups(copy_of))
    tokens = np.diff(merged.starts)[copy_of] + 1
    first = merged.starts[copy_of] + copy_of
    return (first[:, None] + kept_positions(tokens, offset, most)).ravel()


def kept_positions(tokens: Integers, offset: Floats, most: int) -> Integers:
    """Which tokens of a sequence are counted if it has more than `most`: one row of numbers for each.

    They are distinct, and over all offsets each token is counted equally often.

    Examples
    --------
    >>> kept_positions(np.array([6, 5]), np.array([0.5, 0.5]), 4).tolist()
    [[0, 2, 3, 5], [0, 1, 3, 4]]
    """
    steps = (np.arange(most) + offset[:, None]) * tokens[:, None] / most
    return np.minimum(tokens[:, None] - 1, np.floor(steps).astype(np.int64))


def content_hashes(starts: Integers, items: Codes) -> Words:
    """Hash each list by its length and its items, in order."""
    length = np.diff(starts)
    order = np.argsort(-length, kind="stable")
    hashes = _mix(length[order].astype(np.uint64))
    first = starts[:-1][order]
    # lists that have an item at a position are the first ones, as longer lists come first
    having = np.searchsorted(-length[order], -np.arange(int(length.max(initial=0))), "left")
    together = int(np.count_nonzero(having > _FEW))
    for position, lists in enumerate(having[:together].tolist()):
        code = items[first[:lists] + position].astype(np.uint64)
        hashes[:lists] = _mix(hashes[:lists] + code + np.uint64(1))
    for number, left in enumerate(np.maximum(0, length[order][:_FEW] - together).tolist()):
        start = int(first[number]) + together
        hashes[number] = _mix_one_by_one(int(hashes[number]), items[start : start + left].tolist())
    by_list = np.empty_like(hashes)
    by_list[order] = hashes
    return by_list


def copy_offsets(hashes: Words, copy: Integers) -> Floats:
    """The offset of each copy, in [0, 1): golden-ratio steps spread the copies of one sequence evenly."""
    return ((hashes + copy.astype(np.uint64) * _GOLDEN) >> _DROPPED).astype(np.float64) * _UNIT


def _mix(words: Words) -> Words:
    """Mix the bits of words; every step can be undone."""
    words = (words ^ (words >> _SHIFTS[0])) * _FIRST
    words = (words ^ (words >> _SHIFTS[1])) * _SECOND
    return words ^ (words >> _SHIFTS[2])


def _mix_one_by_one(word: int, codes: list[int]) -> int:
    """Go on with the hash of one list; the same as `_mix`, on a Python number."""
    first, second = int(_FIRST), int(_SECOND)
    for code in codes:
        word = (word + code + 1) & _WORD
        word = (word ^ (word >> 30)) * first & _WORD
        word = (word ^ (word >> 27)) * second & _WORD
        word ^= word >> 31
    return word

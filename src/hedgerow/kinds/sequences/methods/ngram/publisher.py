"""Variable-length n-grams: noisy counts of n-grams, as long as they reach a threshold, joined to sequences."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

from hedgerow.data import Dataset, Domain
from hedgerow.frontiers import Counts, NextSymbol
from hedgerow.kinds.sequences.data import Sequences
from hedgerow.kinds.sequences.methods.ngram.draw import extend, extract_sequences, integer_grams
from hedgerow.kinds.sequences.methods.ngram.model import FILLS, ExplorationTree, fill_missing
from hedgerow.kinds.sequences.ngrams.data import NGrams
from hedgerow.numerics.arrays import Integers, number_within_groups
from hedgerow.numerics.rounding import on_count_grid, on_grid
from hedgerow.privacy import Laplace, Ledger, PathBudget, PureDP, Shares, SurvivingNodes
from hedgerow.publisher import Publisher, param, require_little_noise

#: thresholds are computed for at least this many items, since the logarithm of one or two is too small
_LEAST = 3


@dataclass(frozen=True, kw_only=True)
class NGram(Publisher[Sequences]):
    r"""Publish sequences by joining noisy n-grams of up to `n_max` items, and publish the n-grams themselves.

    The exploration tree is built level by level: an n-gram whose noisy count reaches a threshold is expanded by every
    item and by the end of a sequence. The counts of the others are estimated from shorter n-grams (Markov
    assumption). The budget is adaptive: a branch that is expected to end soon spends more per level. Then n-grams that
    overlap are joined to longer ones, and sequences are taken from the counts, longest first [1]_.

    Corrected: the expected height of a branch is rounded up and is at least one, or a node could spend 2.32 times the
    budget; the end of a sequence is not an n-gram by itself, or every sequence would have one token more; noise is
    integer and sampled exactly; a sequence is published as often as the counts of all its parts allow, or counts would
    become negative. The printed `fill` is unbounded if the n-grams that passed are rare in the shorter context;
    `backoff` distributes only what is left over. Joining keeps the counts of n-grams, but cuts sequences into pieces.

    Privacy
    -------
    n-grams: every position of a sequence, truncated to its first `l_max` items, is a token (`l_max` tokens, L1 = 1
    each). A token starts one n-gram of each length, so it follows one path: at the root it is in the cell of its item,
    below that in the cell of the next item. A context with $e$ of the budget left on its path and a height of
    $h \ge 1$ spends $e / h$, so no path spends more than the budget. Heights, thresholds, filling and joining depend on
    noisy answers only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["home", "search", "shop"])
    >>> clicks = [["home", "search", "shop"]] * 4000 + [["home"]] * 2000
    >>> data = Sequences.from_records(clicks, domain=domain)
    >>> release = NGram(l_max=3, n_max=3).publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.distinct_records() if n > 200]
    [(('home',), 2000), (('home', 'search', 'shop'), 4000)]

    References
    ----------
    .. [1] R. Chen, G. Acs, C. Castelluccia. "Differentially private sequential data publication via variable-length
       n-grams". CCS 2012.
    """

    name: ClassVar[str] = "ngram"
    kinds: ClassVar = ("sequences",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "person")

    l_max: int = param(20, "how many items of a sequence are used, from the first on", ge=1, le=1_000)
    n_max: int = param(5, "length of the longest n-grams", ge=1, le=100)
    budget: str = param(
        "adaptive",
        "share of each level: by the expected height of the branch, or equal",
        choices=("adaptive", "uniform"),
    )
    fill: str = param(
        "markov", "counts of n-grams below the threshold: Markov assumption as printed, back-off, or 0", choices=FILLS
    )
    leaf_threshold: bool = param(True, "apply the threshold also at the last level of a branch")

    def run(self, data: Sequences, ledger: Ledger) -> Mapping[str, Dataset]:
        """Build the exploration tree, join its n-grams to longer ones, and generate sequences from their counts."""
        adaptive = self.budget == "adaptive"
        exploration = Exploration(self.l_max, self.n_max, adaptive, self.fill, self.leaf_threshold)
        tree = exploration.explore(data, ledger)
        return {"": join_grams(tree, self.l_max, data.domain), "ngrams": gram_table(tree, data.domain)}

    @property
    def workload(self) -> Mapping[str, int]:
        """The first `l_max` items of a sequence are used."""
        return {"longest": self.l_max}


# Build an exploration tree: ask for the counts of n-grams, level by level, below those that passed the threshold.


class _LiveGrams(NamedTuple):
    """N-grams that passed and are expanded: node, parent, last item, noisy count, and their threshold."""

    nodes: Integers
    at: Integers
    label: Integers
    noisy: Integers
    cutoff: Integers


@dataclass(frozen=True)
class Exploration:
    """How an exploration tree is built.

    The first `l_max` items of a sequence are used, in n-grams of up to `n_max`. With `adaptive`, a branch divides what
    it has left by the number of levels that it is expected to have; else every level gets the same. `fill` says how
    counts below the threshold are estimated (`fill_missing`), `leaf_threshold` whether the last level of a branch has a
    threshold, too.
    """

    l_max: int
    n_max: int
    adaptive: bool
    fill: str
    leaf_threshold: bool = True

    def explore(self, data: Sequences, ledger: Ledger) -> ExplorationTree:
        """Spend the whole budget on a tree of n-grams, whose counts are consistent."""
        if self.n_max > self.l_max + 1:
            warnings.warn("n_max is too large: no n-gram is longer than l_max items and an end", stacklevel=5)
        size = data.domain.size("item")
        self._require_little_noise(size, float(ledger.budget))
        paths = ledger.paths(spend=ledger.budget, touches=self.l_max, label="n-grams")
        counted = data.positions(self.l_max).count(NextSymbol(size))
        tree, live = self._single_items(paths, counted, size, ledger.budget / self._depth)
        contexts = np.zeros(1, np.int64)
        for length in range(1, self._depth):
            if not len(live.label):
                break
            contexts = tree.add(contexts[live.at], live.label)
            height = self._heights(tree, contexts, live, length)
            share = paths.left(live.nodes) / height
            cutoff = self._cutoff(share, size)
            counted = counted.move(live.at, live.label).count(NextSymbol(size))
            passed = self._followers(paths, counted, live.nodes, height, share, cutoff)
            self._make_consistent(tree, contexts, passed)
            # an n-gram that passed is expanded while its branch has budget left
            on = (passed.codes < size) & (height[passed.at] > 1)
            nodes, at, label, noisy = (part[on] for part in passed)
            live = _LiveGrams(nodes, at, label, noisy, cutoff[at])
        return tree

    def _single_items(
        self, paths: PathBudget, counted: Counts, size: int, spend: Fraction
    ) -> tuple[ExplorationTree, _LiveGrams]:
        """Ask for every item, whether it occurs or not; all of them are kept.

        The end is not an n-gram by itself: it would be one more token of every sequence.
        """
        exact = np.zeros(size, np.int64)
        exact[counted.codes] = counted.counts
        under = np.repeat(paths.root, size)
        nodes, noisy = paths.ask(exact, Laplace(l1=1), under=under, spend=spend, label="n-grams")
        cutoff = self._cutoff(Shares.spread(spend, size), size)
        label = np.flatnonzero(noisy >= cutoff)
        at = np.zeros(len(label), np.int64)
        live = _LiveGrams(nodes[label], at, label, noisy[label], cutoff[label])
        return ExplorationTree(np.maximum(noisy, 0).astype(np.float64)), live

    def _followers(
        self,
        paths: PathBudget,
        counted: Counts,
        nodes: Integers,
        height: Integers,
        share: Shares,
        cutoff: Integers,
    ) -> SurvivingNodes:
        """Ask for every continuation of contexts (an item or the end), and get those that reach the cutoff.

        Without `leaf_threshold`, all continuations at the last level of a branch are returned.
        """
        whole = (height == 1) & (not self.leaf_threshold)
        tested, every = np.flatnonzero(~whole), np.flatnonzero(whole)
        place = np.full(len(nodes), -1)
        place[tested] = np.arange(len(tested))
        with_cutoff = ~whole[counted.cells]
        labels = counted.size
        passed = paths.survivors(
            place[counted.cells[with_cutoff]],
            counted.codes[with_cutoff],
            counted.counts[with_cutoff],
            Laplace(l1=1),
            under=nodes[tested],
            candidates=labels,
            cutoff=cutoff[tested],
            spend=share[tested],
            label="n-grams",
        )
        passed = passed._replace(at=tested[passed.at])
        if not len(every):
            return passed
        exact = np.zeros((len(nodes), labels), np.int64)
        exact[counted.cells, counted.codes] = counted.counts
        at, codes = np.divmod(np.arange(len(every) * labels), labels)
        cells, noisy = paths.ask(
            exact[every].ravel(),
            Laplace(l1=1),
            under=nodes[every][at],
            spend=share[every[at]],
            label="n-grams",
        )
        more = SurvivingNodes(cells, every[at], codes, noisy)
        return SurvivingNodes(*map(np.concatenate, zip(passed, more, strict=True)))

    def _make_consistent(self, tree: ExplorationTree, contexts: Integers, passed: SurvivingNodes) -> None:
        """Set the counts of all continuations of contexts, so that they add up."""
        counts = np.zeros((len(contexts), tree.size + 1))
        known = np.zeros(counts.shape, np.bool_)
        counts[passed.at, passed.codes], known[passed.at, passed.codes] = passed.noisy, True
        fill_missing(tree, contexts, counts, known, self.fill)

    def _heights(self, tree: ExplorationTree, contexts: Integers, live: _LiveGrams, length: int) -> Integers:
        """The expected number of levels below each context, at least one.

        If the likeliest item follows with probability `p` at every level, a count of `A` falls to the threshold after
        `log(threshold / A) / log p` levels.
        """
        most = self._depth - length
        if not self.adaptive:
            return np.full(len(contexts), most)
        follow = tree.counts[tree.nearest_known(contexts)]
        likely = follow.max(axis=1) / follow.sum(axis=1)
        height = np.where(likely < 1, 1, most)
        some = (likely < 1) & (live.noisy > live.cutoff)
        levels = np.log(live.cutoff[some] / live.noisy[some]) / np.log(likely[some])
        height[some] = np.clip(np.ceil(on_count_grid(levels)), 1, most)
        return height

    @property
    def _depth(self) -> int:
        """The length of the longest n-grams; the end of a truncated sequence carries no information."""
        return min(self.n_max, self.l_max)

    def _require_little_noise(self, size: int, epsilon: float) -> None:
        """Refuse settings with which noise alone could produce too many items."""
        noise = size * self.l_max * self._depth / epsilon
        require_little_noise(noise, "items", "take a larger epsilon, a smaller l_max or n_max, or fewer items")

    def _cutoff(self, share: Shares, size: int) -> Integers:
        """The least count that passes: about one empty continuation per context does in expectation."""
        rate = share.floats() / self.l_max
        least = np.log(max(size, _LEAST) / (1 + np.exp(-rate))) / rate
        return np.maximum(1, np.ceil(on_grid(least))).astype(np.int64)


# What is published: sequences, and the noisy counts of n-grams.


def join_grams(tree: ExplorationTree, longest: int, domain: Domain) -> Sequences:
    """Join the n-grams of a tree to longer ones, and generate sequences of up to `longest` items from their counts."""
    grams = extend(integer_grams(tree), tree.size, longest)
    sequences = extract_sequences(grams, tree.size)
    row = np.repeat(np.arange(len(sequences)), [len(sequence) for sequence, _ in sequences])
    item = np.array([code for sequence, _ in sequences for code in sequence], np.int64)
    counts = np.array([copies for _, copies in sequences], np.int64)
    return Sequences.from_columns(row=row, item=item, counts=counts, domain=domain)


def gram_table(tree: ExplorationTree, domain: Domain) -> NGrams:
    """All n-grams whose count is at least a half, with rounded counts."""
    counts = np.floor(on_count_grid(tree.counts) + 0.5).astype(np.int64)
    context, label = np.nonzero(counts)
    lengths = tree.level[context] + 1
    row = np.repeat(np.arange(len(context)), lengths)
    back = lengths[row] - 1 - number_within_groups(row)
    item, at = np.repeat(label, lengths), np.repeat(context, lengths)
    for _ in range(int(tree.level.max(initial=0))):
        further = back > 0
        item[further] = tree.label[at[further]]
        at[further] = tree.parent[at[further]]
        back[further] -= 1
    return NGrams.from_columns(row=row, item=item, counts=counts[context, label], domain=domain)

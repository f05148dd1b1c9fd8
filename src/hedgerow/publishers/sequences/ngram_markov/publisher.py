"""Variable-length n-grams, and a Markov chain of variable order that writes sequences like them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Sequences
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.sequences.ngram.exploration import Exploration
from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree
from hedgerow.publishers.sequences.ngram.gram_table import gram_table
from hedgerow.publishers.sequences.ngram_markov.chain_states import forward_chain
from hedgerow.publishers.sequences.ngram_markov.flow_balance import balanced_chain, sequence_count
from hedgerow.publishers.sequences.ngram_markov.markov_chain import MarkovChain, correct_lengths, sample_sequences

__all__ = ["NGramMarkov"]

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class NGramMarkov(Publisher[Sequences]):
    r"""Publish sequences by a Markov chain over noisy grams of up to `n_max` items, and the grams themselves.

    The exploration of `ngram` [1]_; two things are ours. Grams below the threshold share what is left over, by the
    ratios of a shorter context (back-off). Sequences are written by a Markov chain of variable order whose flows agree
    with the counts of grams on both sides: what goes into a context comes out of it. That keeps the number and lengths
    of sequences where there are enough of them; joining grams, as in the paper, cuts them to pieces.

    Privacy
    -------
    grams: every position of a sequence, cut to its first `l_max` items, is a token (`l_max` tokens, L1 = 1 each). A
    token starts one gram of each length, so it walks down one path: at the root it is in the cell of its item, below
    that in the cell of what follows. A context with $e$ of the budget left on its path and a height of $h \ge 1$
    spends $e / h$, so no path spends more than the budget. Heights, thresholds, filling, the chain and what it writes
    depend on noisy answers only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["home", "search", "shop"])
    >>> clicks = [["home", "search", "shop"]] * 4000 + [["home"]] * 2000
    >>> data = Sequences.from_records(clicks, domain=domain)
    >>> release = NGramMarkov(l_max=3, n_max=3).publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.distinct_records() if n > 200]
    [(('home',), 2000), (('home', 'search', 'shop'), 4000)]

    References
    ----------
    .. [1] R. Chen, G. Acs, C. Castelluccia. "Differentially private sequential data publication via variable-length
       n-grams". CCS 2012; the exploration is theirs, the chain is ours.
    """

    name: ClassVar[str] = "ngram-markov"
    kinds: ClassVar = (Sequences,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "person")
    recommended: ClassVar[str] = "many sequences over few items, such as pages of a site"

    l_max: int = param(20, "items of a sequence that are used, the first", ge=1, le=1_000)
    n_max: int = param(5, "items of the longest gram", ge=1, le=100)
    budget: str = param("adaptive", "a level's share by expected height, or even", choices=("adaptive", "uniform"))
    balance: bool = param(True, "make flows agree with the counts on both sides, and not only forwards")

    def run(self, data: Sequences, ledger: Ledger) -> Mapping[str, Dataset]:
        """Grow the exploration tree, and write sequences by a Markov chain over its contexts."""
        exploration = Exploration(self.l_max, self.n_max, self.budget == "adaptive", fill="backoff")
        tree = exploration.explore(data, ledger)
        row, item = self.write(tree, ledger.coins())
        released = Sequences.from_columns(row=row, item=item, domain=data.domain)
        return {"": released, "ngrams": gram_table(tree, data.domain)}

    def write(self, tree: ExplorationTree, coins: np.random.Generator) -> tuple[Integers, Integers]:
        """Write sequences like the counts of a tree: the sequence of each item, and the item."""
        if tree.counts[0].sum() == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        chain, number = self._chain(tree)
        return sample_sequences(chain, math.floor(number + 0.5), self.l_max, coins)

    def _chain(self, tree: ExplorationTree) -> tuple[MarkovChain, float]:
        """The chain over the contexts, and how many sequences there are."""
        number = sequence_count(tree, self.l_max)
        if not self.balance:
            chain, ends = forward_chain(tree)
            return chain, ends or number  # where no end was counted, the items say how many there are
        mean = float(tree.counts[0].sum()) / number
        return correct_lengths(balanced_chain(tree, self.l_max), self.l_max, mean), number

    @property
    def workload(self) -> Mapping[str, int]:
        """The first `l_max` items of a sequence are used."""
        return {"longest": self.l_max}

"""Variable-length n-grams: count what follows what, as deep as the counts carry, and join the grams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.data import Dataset, Domain, Sequences
from hedgerow.privacy import Ledger, PureDP
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.sequences.ngram.exploration import Exploration
from hedgerow.publishers.sequences.ngram.exploration_tree import ExplorationTree
from hedgerow.publishers.sequences.ngram.gram_table import gram_table
from hedgerow.publishers.sequences.ngram.joining import extend, peel, whole_grams
from hedgerow.publishers.sequences.ngram.missing_counts import FILLS

__all__ = ["NGram", "join_grams"]


@dataclass(frozen=True, kw_only=True)
class NGram(Publisher[Sequences]):
    r"""Publish sequences by joining noisy grams of up to `n_max` items, and the grams themselves.

    Grams are counted level by level. One whose noisy count reaches a threshold is continued by every item and by the
    end of a sequence; the others get what shorter grams let expect. A branch that will soon end spends more of the
    budget on fewer levels. Grams that overlap are joined to longer ones, and sequences are peeled off the counts,
    longest first [1]_.

    Corrected: the height a branch is expected to have is rounded up and is at least one, or a node could spend 2.32
    times the budget; the end of a sequence is no gram by itself, or every sequence had one token more; noise is whole
    numbers, exactly drawn; a sequence is published as often as all its parts allow, or the counts would get negative.
    The printed `fill` is unbounded where what passed is rare in a shorter context: `backoff` shares what is left over.
    Joining keeps counts of grams, but cuts sequences to pieces.

    Privacy
    -------
    grams: every position of a sequence, cut to its first `l_max` items, is a token (`l_max` tokens, L1 = 1 each). A
    token starts one gram of each length, so it walks down one path: at the root it is in the cell of its item, below
    that in the cell of what follows. A context with $e$ of the budget left on its path and a height of $h \ge 1$
    spends $e / h$, so no path spends more than the budget. Heights, thresholds, filling and joining depend on noisy
    answers only.

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
    kinds: ClassVar = (Sequences,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "person")

    l_max: int = param(20, "items of a sequence that are used, the first", ge=1, le=1_000)
    n_max: int = param(5, "items of the longest gram", ge=1, le=100)
    budget: str = param("adaptive", "a level's share by expected height, or even", choices=("adaptive", "uniform"))
    fill: str = param("markov", "what grams below the threshold get", choices=FILLS)
    leaf_threshold: bool = param(True, "test the last level of a branch, too")

    def run(self, data: Sequences, ledger: Ledger) -> Mapping[str, Dataset]:
        """Grow the exploration tree, join its grams to longer ones, and peel sequences off."""
        adaptive = self.budget == "adaptive"
        exploration = Exploration(self.l_max, self.n_max, adaptive, self.fill, self.leaf_threshold)
        tree = exploration.explore(data, ledger)
        return {"": join_grams(tree, self.l_max, data.domain), "ngrams": gram_table(tree, data.domain)}

    @property
    def workload(self) -> Mapping[str, int]:
        """The first `l_max` items of a sequence are used."""
        return {"longest": self.l_max}


def join_grams(tree: ExplorationTree, longest: int, domain: Domain) -> Sequences:
    """Join the grams of a tree to longer ones, and peel sequences of up to `longest` items off their counts."""
    grams = extend(whole_grams(tree), tree.size, longest)
    sequences = peel(grams, tree.size)
    row = np.repeat(np.arange(len(sequences)), [len(sequence) for sequence, _ in sequences])
    item = np.array([code for sequence, _ in sequences for code in sequence], np.int64)
    counts = np.array([copies for _, copies in sequences], np.int64)
    return Sequences.from_columns(row=row, item=item, counts=counts, domain=domain)

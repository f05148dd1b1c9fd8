"""Variable-length n-grams: noisy counts of n-grams, as long as they reach a threshold, joined to sequences."""

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
from hedgerow.publishers.sequences.ngram.joining import extend, extract_sequences, integer_grams
from hedgerow.publishers.sequences.ngram.missing_counts import FILLS

__all__ = ["NGram", "join_grams"]


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
    kinds: ClassVar = (Sequences,)
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


def join_grams(tree: ExplorationTree, longest: int, domain: Domain) -> Sequences:
    """Join the n-grams of a tree to longer ones, and generate sequences of up to `longest` items from their counts."""
    grams = extend(integer_grams(tree), tree.size, longest)
    sequences = extract_sequences(grams, tree.size)
    row = np.repeat(np.arange(len(sequences)), [len(sequence) for sequence, _ in sequences])
    item = np.array([code for sequence, _ in sequences for code in sequence], np.int64)
    counts = np.array([copies for _, copies in sequences], np.int64)
    return Sequences.from_columns(row=row, item=item, counts=counts, domain=domain)

"""Variable-length n-grams: count what follows what, as deep as the counts carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Sequences
from hedgerow.privacy import Laplace, Ledger, PureDP, Shares
from hedgerow.publishers.base import Publisher, param
from hedgerow.steps.balance import balanced, sequence_count
from hedgerow.steps.chain import lengthened, written
from hedgerow.steps.contexts import Contexts
from hedgerow.steps.filling import fill

__all__ = ["NGram"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class NGram(Publisher[Sequences]):
    """Publish sequences."""

    name: ClassVar[str] = "ngram"
    kinds: ClassVar = (Sequences,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "person")

    l_max: int = param(20, "items of a sequence that are used, the first", ge=1)
    n_max: int = param(5, "items of the longest gram", ge=1)
    budget: str = param(
        "adaptive", "a level's share by predicted height, or even", choices=("adaptive", "uniform")
    )
    fill: str = param(
        "backoff", "what grams below the threshold get", choices=("backoff", "paper", "nothing")
    )
    leaf_threshold: bool = param(True, "test the last level of a branch, too")

    def run(self, data: Sequences, ledger: Ledger) -> Sequences:
        """Count grams level by level below what passed, and write sequences like them."""
        tree = self.explore(data, ledger)
        nothing = np.zeros(0, np.int64)
        if tree.counts[0].sum() == 0:
            return Sequences.from_columns(row=nothing, item=nothing, domain=data.domain)
        number = math.floor(sequence_count(tree, self.l_max) + 0.5)
        chain = lengthened(balanced(tree, self.l_max), self.l_max)
        row, item = written(chain, number, self.l_max, ledger.coins())
        return Sequences.from_columns(row=row, item=item, domain=data.domain)

    def explore(self, data: Sequences, ledger: Ledger) -> Contexts:
        """Ask for the counts of grams, level by level, below those that passed."""
        size = data.domain.size("item")
        paths = ledger.paths(spend=ledger.budget, touches=self.l_max, label="grams")
        counted = data.positions(self.l_max).count(1)
        # the end marker is no gram by itself: it would be one more token of every sequence
        exact = np.zeros(size, np.int64)
        exact[counted.codes] = counted.counts
        share = Shares.spread(ledger.budget / self.n_max, size)
        nodes, noisy = paths.ask(
            exact, Laplace(l1=1), under=np.repeat(paths.root, size), spend=share, label="grams"
        )
        tree = Contexts(np.maximum(noisy, 0).astype(np.float64))
        cutoff = self._cutoff(share, size)
        label = np.flatnonzero(noisy >= cutoff)
        parent, at = np.zeros(len(label), np.int64), np.zeros(len(label), np.int64)
        nodes, noisy, cutoff = nodes[label], noisy[label], cutoff[label]
        for length in range(1, self.n_max):
            if not len(label):
                break
            contexts = tree.add(parent, label)
            height = self._heights(tree, contexts, noisy, cutoff, length)
            share = paths.left(nodes) / height
            cutoff = self._cutoff(share, size)
            counted = counted.move(at, label).count(len(contexts))
            grown = paths.survivors(
                counted.at,
                counted.codes,
                counted.counts,
                Laplace(l1=1),
                under=nodes,
                candidates=size + 1,
                cutoff=cutoff,
                spend=share,
                label="grams",
            )
            dense = np.zeros((len(contexts), size + 1))
            dense[grown.at, grown.codes] = grown.noisy
            passed = np.zeros(dense.shape, np.bool_)
            passed[grown.at, grown.codes] = True
            fill(tree, contexts, dense, passed, self.fill)
            on = (grown.codes < size) & (height[grown.at] > 1)
            nodes, noisy = grown.nodes[on], grown.noisy[on]
            at, label = grown.at[on], grown.codes[on]
            parent, cutoff = contexts[at], cutoff[at]
        return tree

    def _heights(
        self, tree: Contexts, contexts: Integers, noisy: Integers, cutoff: Integers, length: int
    ) -> Integers:
        """How many levels below each context are expected to pass: at least one, or it is E1."""
        most = self.n_max - length
        if self.budget == "uniform":
            return np.full(len(contexts), most)
        follow = tree.counts[tree.nearest_known(contexts)]
        total = follow.sum(axis=1)
        likely = np.divide(follow.max(axis=1), total, out=np.zeros_like(total), where=total > 0)
        height = np.ones(len(contexts), np.int64)
        height[likely >= 1] = most
        some = (likely > 0) & (likely < 1) & (noisy > cutoff)
        ratio = np.log(cutoff[some] / noisy[some]) / np.log(likely[some])
        height[some] = np.clip(np.ceil(ratio - 1e-9), 1, most)
        return np.minimum(height, most)

    def _cutoff(self, share: Shares, size: int) -> Integers:
        """The least count that passes: about one empty gram of a context does."""
        rate = share.floats() / self.l_max
        least = np.log(max(size, 3) / (1 + np.exp(-rate))) / rate
        return np.maximum(1, np.ceil(least)).astype(np.int64)

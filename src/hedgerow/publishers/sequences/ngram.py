"""Variable-length n-grams: count what follows what, as deep as the counts carry."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Dataset, Sequences
from hedgerow.errors import ParameterError
from hedgerow.frontiers import Counts, NextSymbol
from hedgerow.privacy import Grown, Laplace, Ledger, Paths, PureDP, Shares
from hedgerow.publishers.base import Publisher, param
from hedgerow.publishers.sequences.writing import grams_as_data, write_sequences
from hedgerow.steps.contexts import Contexts
from hedgerow.steps.filling import fill

__all__ = ["NGram"]

Integers: TypeAlias = NDArray[np.int64]

#: a universe is taken to have at least so many items: the logarithm of one or two is no threshold
_LEAST = 3
#: what floating-point errors may add to a whole number
_SPARE = 1e-9
#: items that noise may make
_MOST = 300_000_000


@dataclass(frozen=True, kw_only=True)
class NGram(Publisher[Sequences]):
    r"""Publish sequences by the counts of grams of up to `n_max` items, and the grams themselves.

    Grams are counted level by level. One whose noisy count reaches a threshold is continued by
    every item and by the end of a sequence; the others get what shorter grams let expect. A branch
    that will soon end spends more of the budget on fewer levels [1]_.

    Corrected: the height a branch is expected to have is rounded up and is at least one, or a node
    could spend 2.32 times the budget; the end of a sequence is no gram by itself, or every
    sequence had one token more; noise is whole numbers, exactly drawn. Ours: grams below the
    threshold share what is left over (`fill`), and sequences are written by a chain whose
    flows agree with the counts of grams on both sides (`generator` flow), which keeps their number
    and lengths where there are enough of them; joining grams (`join`, the paper's) cuts them to
    pieces.

    Privacy
    -------
    grams: every position of a sequence, cut to its first `l_max` items, is a token (`l_max` tokens,
    L1 = 1 each). A token starts one gram of each length, so it walks down one path: at the root it
    is in the cell of its item, below that in the cell of what follows. A context with $e$ of the
    budget left on its path and a height of $h \ge 1$ spends $e / h$, so no path spends more than
    the budget. Heights, thresholds, filling and writing depend on noisy answers only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["home", "search", "shop"])
    >>> clicks = [["home", "search", "shop"]] * 4000 + [["home"]] * 2000
    >>> data = Sequences.from_records(clicks, domain=domain)
    >>> release = NGram(l_max=3, n_max=3).publish(data, PureDP(epsilon=1, unit="sequence"), seed=3)
    >>> [(path, round(n, -2)) for path, n in release.data.named() if n > 200]
    [(('home',), 2000), (('home', 'search', 'shop'), 4000)]

    References
    ----------
    .. [1] R. Chen, G. Acs, C. Castelluccia. "Differentially private sequential data publication via
       variable-length n-grams". CCS 2012.
    """

    name: ClassVar[str] = "ngram"
    kinds: ClassVar = (Sequences,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("sequence", "person")

    l_max: int = param(20, "items of a sequence that are used, the first", ge=1, le=1_000)
    n_max: int = param(5, "items of the longest gram", ge=1, le=100)
    budget: str = param("adaptive", "a level's share by expected height, or even", choices=("adaptive", "uniform"))
    fill: str = param("backoff", "what grams below the threshold get", choices=("backoff", "paper", "nothing"))
    leaf_threshold: bool = param(True, "test the last level of a branch, too")
    generator: str = param("flow", "how sequences are written", choices=("flow", "markov", "join"))
    publish_rule: str = param("clip", "how join takes grams off", choices=("clip", "skip", "literal"))

    @property
    def workload(self) -> Mapping[str, int]:
        """The first items of a sequence are used."""
        return {"longest": self.l_max}

    def run(self, data: Sequences, ledger: Ledger) -> Mapping[str, Dataset]:
        """Count grams level by level below what passed, and write sequences like them."""
        if self.n_max > self.l_max + 1:
            warnings.warn("no gram is longer than l_max and an end: n_max is too large", stacklevel=4)
        self._require_few(data.domain.size("item"), float(ledger.budget))
        tree = self.explore(data, ledger)
        row, item, counts = write_sequences(tree, self.l_max, self.generator, self.publish_rule, ledger.coins())
        domain = data.domain
        sequences = Sequences.from_columns(row=row, item=item, counts=counts, domain=domain)
        return {"": sequences, "ngrams": grams_as_data(tree, domain)}

    def explore(self, data: Sequences, ledger: Ledger) -> Contexts:
        """Ask for the counts of grams, level by level, below those that passed."""
        size = data.domain.size("item")
        paths = ledger.paths(spend=ledger.budget, touches=self.l_max, label="grams")
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
            found = self._followers(paths, counted, live.nodes, height, share, cutoff)
            counts = np.zeros((len(contexts), size + 1))
            passed = np.zeros(counts.shape, np.bool_)
            counts[found.at, found.codes], passed[found.at, found.codes] = found.noisy, True
            fill(tree, contexts, counts, passed, self.fill)
            # a branch goes on below what passed, while it has something to spend
            on = (found.codes < size) & (height[found.at] > 1)
            nodes, at, label, noisy = (part[on] for part in found)
            live = _Live(nodes, at, label, noisy, cutoff[at])
        return tree

    def _single_items(self, paths: Paths, counted: Counts, size: int, spend: Fraction) -> tuple[Contexts, _Live]:
        """Ask for every item, occurring or not; all of them are kept.

        The end is no gram by itself: it would be one more token of every sequence.
        """
        exact = np.zeros(size, np.int64)
        exact[counted.codes] = counted.counts
        under = np.repeat(paths.root, size)
        nodes, noisy = paths.ask(exact, Laplace(l1=1), under=under, spend=spend, label="grams")
        cutoff = self._cutoff(Shares.spread(spend, size), size)
        label = np.flatnonzero(noisy >= cutoff)
        at = np.zeros(len(label), np.int64)
        live = _Live(nodes[label], at, label, noisy[label], cutoff[label])
        return Contexts(np.maximum(noisy, 0).astype(np.float64)), live

    def _followers(
        self,
        paths: Paths,
        counted: Counts,
        nodes: Integers,
        height: Integers,
        share: Shares,
        cutoff: Integers,
    ) -> Grown:
        """Ask what follows contexts, any item or the end, and get what reaches the cutoff.

        Without `leaf_threshold`, the last level of a branch is asked for every cell.
        """
        whole = (height == 1) & (not self.leaf_threshold)
        tested, every = np.flatnonzero(~whole), np.flatnonzero(whole)
        place = np.full(len(nodes), -1)
        place[tested] = np.arange(len(tested))
        there = ~whole[counted.cells]
        labels = counted.size
        found = paths.survivors(
            place[counted.cells[there]],
            counted.codes[there],
            counted.counts[there],
            Laplace(l1=1),
            under=nodes[tested],
            candidates=labels,
            cutoff=cutoff[tested],
            spend=share[tested],
            label="grams",
        )
        found = found._replace(at=tested[found.at])
        if not len(every):
            return found
        exact = np.zeros((len(nodes), labels), np.int64)
        exact[counted.cells, counted.codes] = counted.counts
        at, codes = np.divmod(np.arange(len(every) * labels), labels)
        cells, noisy = paths.ask(
            exact[every].ravel(),
            Laplace(l1=1),
            under=nodes[every][at],
            spend=share[every[at]],
            label="grams",
        )
        more = Grown(cells, every[at], codes, noisy)
        return Grown(*map(np.concatenate, zip(found, more, strict=True)))

    def _heights(self, tree: Contexts, contexts: Integers, live: _Live, length: int) -> Integers:
        """How many levels below each context are expected to pass: one at least.

        A context that occurs `A` times, followed by its likeliest item with chance `p` again and
        again, falls to the threshold after `log(threshold / A) / log p` levels.
        """
        most = self._depth - length
        if self.budget == "uniform":
            return np.full(len(contexts), most)
        follow = tree.counts[tree.nearest_known(contexts)]
        likely = follow.max(axis=1) / follow.sum(axis=1)
        height = np.where(likely < 1, 1, most)
        some = (likely < 1) & (live.noisy > live.cutoff)
        levels = np.log(live.cutoff[some] / live.noisy[some]) / np.log(likely[some])
        height[some] = np.clip(np.ceil(levels - _SPARE), 1, most)
        return height

    @property
    def _depth(self) -> int:
        """The longest gram that can occur; where a sequence is cut its end says nothing."""
        return min(self.n_max, self.l_max)

    def _require_few(self, size: int, epsilon: float) -> None:
        """Refuse settings whose noise alone would make more items than anybody wants to write."""
        noise = size * self.l_max * self._depth / epsilon
        if noise > _MOST:
            msg = (
                f"the noise of {size:,} items would be about {noise:.1g} items in all; take a "
                "larger epsilon, a smaller l_max or n_max, or fewer items"
            )
            raise ParameterError(msg)

    def _cutoff(self, share: Shares, size: int) -> Integers:
        """The least count that passes: about one empty continuation of a context does."""
        rate = share.floats() / self.l_max
        least = np.log(max(size, _LEAST) / (1 + np.exp(-rate))) / rate
        return np.maximum(1, np.ceil(least)).astype(np.int64)


class _Live(NamedTuple):
    """Grams that passed and go on: node, parent, last item, noisy count, and what they passed."""

    nodes: Integers
    at: Integers
    label: Integers
    noisy: Integers
    cutoff: Integers

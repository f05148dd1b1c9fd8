"""DiffPart: partition records top-down along a taxonomy, and count what is left at the items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain, Sets, Taxonomy
from hedgerow.errors import ParameterError
from hedgerow.privacy import Grown, Laplace, Ledger, Paths, PureDP, Shares
from hedgerow.publishers.base import Publisher, param
from hedgerow.steps.consistency import round_together, share_out
from hedgerow.steps.cuts import Cuts, Families
from hedgerow.steps.raking import rake, spare_cutoff

__all__ = ["DiffPart"]

Integers: TypeAlias = NDArray[np.int64]

#: from this height of the taxonomy on, an empty partition can have empty descendants
_BREEDING = 2

#: up to this many items every itemset can be looked at
_AT_ONCE = 20
_FANOUT = 10


@dataclass(frozen=True, kw_only=True)
class DiffPart(Publisher[Sets]):
    r"""Publish sets by splitting them along a taxonomy, one inner node at a time.

    A partition is a *cut* of the taxonomy: its records have items below every node of the cut and
    below no other. Splitting node $u$ with $l$ children gives $2^l - 1$ sub-partitions. Those
    whose noisy count reaches a threshold live on, the empty ones as well as any; where every node
    of a cut is an item, the noisy count is published [1]_.

    Corrected: the printed example tests leaves with $\alpha$ *and* counts them with all that is
    left, which costs up to $3 \varepsilon / 2$; here leaves are counted at once with all that is
    left (`merged`, as in the example's budgets), or tested and counted with what is then left
    (`two-stage`, as in the pseudo-code). There are $2^l - 1$ sub-partitions, not $2^l$. A bound on
    spurious sub-partitions keeps empty partitions from breeding, nodes with one child are left out,
    the order of partitions is not published, and a universe of one item works. Ours: no record has
    more than `longest` items, which bounds the splits to come far better than the taxonomy does,
    and the noisy counts of splits, which the paper throws away, correct what thresholds lose
    (`consistent`). Where all items hang below one node, no split is to be paid for: every itemset
    is a leaf of the whole, counted with the whole budget, and the kept ones are raked to the
    noisy counts of single items, pairs and triples.

    Privacy
    -------
    partitions: a record walks down one path of partitions (L1 = 1, one token), since at every
    split it is in exactly one sub-partition. Half of the budget is for splits: a partition with
    $e$ of it left and at most $n$ splits to come spends $e / n$; a leaf spends the rest of its
    path, so every path spends at most the budget. Counted at once, a record is in exactly one
    itemset (L1 = 1), and all are asked for once with the whole budget. leaf counts: in two stages
    a leaf that passed its test is asked for again with the rest of its path. Which partitions
    live, what they spend, cutoffs and raking depend on noisy answers only.

    Examples
    --------
    >>> from hedgerow import Domain
    >>> domain = Domain.declare(item=["bread", "butter", "milk", "tea"])
    >>> baskets = [["bread", "butter"]] * 400 + [["tea"]] * 250 + [["bread", "milk"]]
    >>> data = Sets.from_records(baskets, domain=domain)
    >>> release = DiffPart(fanout=2).publish(data, PureDP(epsilon=1, unit="record"), seed=7)
    >>> release.data.itemsets()
    [(('tea',), 248), (('bread', 'butter'), 401)]

    References
    ----------
    .. [1] R. Chen, N. Mohammed, B. C. M. Fung, B. C. Desai, L. Xiong. "Publishing set-valued data
       via differential privacy". PVLDB 4(11), 2011.
    """

    name: ClassVar[str] = "diffpart"
    kinds: ClassVar = (Sets,)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")

    fanout: int = param(
        0,
        "children a node of the taxonomy has at most; 0: 10, or all of up to 20 items at once",
        ge=0,
        le=30,
    )
    longest: int = param(20, "items of a record that are used; the first in the domain's order", ge=1)
    taxonomy: str = param(
        "fan-out",
        "cut the items by fan-out, or use the declared paths",
        choices=("fan-out", "declared"),
    )
    leaf_mode: str = param("merged", "count leaves at once, or test them first", choices=("merged", "two-stage"))
    c1: float = param(2.0, "noise standard deviations a leaf must reach", ge=0)
    c2: float = param(1.0, "noise standard deviations a split must reach, a level", ge=0)
    tau_split: float = param(
        0.5,
        "spurious parts a split may be expected to give (at once: a 100th of all); 0: no bound",
        ge=0,
        le=1,
    )
    consistent: bool = param(True, "share out what a partition holds among its kept parts")
    most: int = param(2_000_000, "live partitions before the run is given up", ge=1)
    force: bool = param(False, "run even if spurious partitions are expected to breed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fanout == 1:
            msg = "DiffPart.fanout must be 0 or at least 2; got 1"
            raise ParameterError(msg)

    @property
    def workload(self) -> Mapping[str, int]:
        """The first items of a record are used."""
        return {"longest": self.longest}

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Split every live partition, level by level, until only leaves are left."""
        tree = self._tree(data.domain)
        if tree.leaves == 1 or self._is_one_split(tree):
            return self._publish_at_once(data, ledger)
        cuts, partitions = Cuts.whole(tree), data.truncated(self.longest).partitions()
        paths = ledger.paths(spend=ledger.budget, label="partitions")
        nodes, mass, spread = paths.root, np.zeros(1), np.full(1, np.inf)  # the whole is unknown
        published = [_Leaves.none()]
        while len(cuts):
            left = paths.left(nodes)
            alpha = (left - ledger.budget / 2) / cuts.splits_left(self.longest)
            families = Families.of(cuts)
            counted = partitions.count(tree.by_children(cuts.split))
            at, codes = families.locate(counted.cells, counted.codes)
            tested = ~families.leaf | (self.leaf_mode == "two-stage")
            share = Shares.where(tested, alpha[families.owner], left[families.owner])
            grown = paths.survivors(
                at,
                codes,
                counted.counts,
                Laplace(l1=1),
                under=nodes[families.owner],
                candidates=families.candidates,
                cutoff=np.where(tested, self._split_cutoff(families, share), self._cutoff(share)),
                spend=share,
                label="partitions",
            )
            owner, masks = families.owner[grown.at], families.masks(grown.at, grown.codes)
            leaf = families.leaf[grown.at]
            # a cut of more nodes than a record has items is nobody's: a spurious survivor
            kept = cuts.size_after(owner, masks) <= self.longest
            noisy, noise = grown.noisy, 2 / share.floats()[grown.at] ** 2
            if self.leaf_mode == "two-stage":
                noise[leaf] = 2 / paths.left(grown.nodes[leaf]).floats() ** 2
                exact = counted.find(owner[leaf], masks[leaf])
                noisy, passed = self._count_leaves(paths, grown, leaf, exact)
                kept &= passed
            leaf, owner, masks = leaf[kept], owner[kept], masks[kept]
            held, noise = noisy[kept], noise[kept]
            if self.consistent:
                held = share_out(mass, spread, owner, held, noise)
            published.append(_Leaves(cuts.grow(owner[leaf], masks[leaf]), held[leaf]))
            cuts = self._bounded(cuts.grow(owner[~leaf], masks[~leaf]))
            partitions = counted.move(owner[~leaf], masks[~leaf])
            nodes, mass, spread = grown.nodes[kept][~leaf], held[~leaf].astype(float), noise[~leaf]
        return _gather(published, data.domain)

    def _count_leaves(
        self, paths: Paths, grown: Grown, leaf: NDArray[np.bool_], exact: Integers
    ) -> tuple[Integers, NDArray[np.bool_]]:
        """Count the leaves that passed the test with all that is left; say which are published."""
        nodes = grown.nodes[leaf]
        share = paths.left(nodes)
        _, counts = paths.ask(exact, Laplace(l1=1), under=nodes, spend=share, label="leaf counts")
        noisy, kept = grown.noisy.copy(), np.ones(len(leaf), np.bool_)
        noisy[leaf], kept[leaf] = counts, counts >= self._cutoff(share)
        return noisy, kept

    @property
    def _may_rake(self) -> bool:
        return self.consistent and self.leaf_mode == "merged"

    def _is_one_split(self, tree: Taxonomy) -> bool:
        """Whether all itemsets are leaves of one split, and few enough to look at each."""
        return self._may_rake and tree.inner == 1 and tree.leaves <= _AT_ONCE

    def _publish_at_once(self, data: Sets, ledger: Ledger) -> Sets:
        """Count every itemset with the whole budget, and rake the kept ones to small queries."""
        kept = data.truncated(self.longest)
        masks, counts = kept.histogram()  # L1 = 1: a record is one itemset
        exact = np.zeros(2 ** data.domain.size("item"), np.int64)
        exact[masks] = counts
        noisy = np.zeros_like(exact)
        # mask 0, no item at all, is no record
        noisy[1:] = ledger.ask(exact[1:], Laplace(l1=1), spend=ledger.budget, label="partitions")
        # a set of more items than a record has is nobody's
        possible = np.bitwise_count(np.arange(len(noisy))) <= self.longest
        noisy[~possible] = 0
        cells, spend = int(possible.sum()) - 1, float(ledger.budget)
        cutoff = int(self._cutoff(Shares.of([ledger.budget]))[0])
        if self.tau_split > 0 and cells > 1:
            cutoff = max(cutoff, spare_cutoff(noisy, cells, spend))
        masks, held = rake(noisy, cells, cutoff, spend)
        counts = round_together(held)
        return Sets.from_masks(masks[counts > 0], counts[counts > 0], data.domain)

    def _cutoff(self, share: Shares) -> Integers:
        """The least count that is published: `c1` noise standard deviations, and at least 1."""
        return _whole(math.sqrt(2) * self.c1 / share.floats())

    def _split_cutoff(self, families: Families, share: Shares) -> Integers:
        """The least count that lives on: `c2` deviations a level, and few spurious ones."""
        split = families.cuts.split[families.owner]
        tree = families.cuts.tree
        spend = share.floats()
        scales = math.sqrt(2) * self.c2 * tree.height[split]
        if self.tau_split > 0:
            # an empty one reaches t with chance a**t / (1 + a): at most tau in all of them
            siblings = np.exp2(tree.width[split]) - 1
            scales = np.maximum(scales, np.log(siblings / (self.tau_split * (1 + np.exp(-spend)))))
        return _whole(scales / spend)

    def _tree(self, domain: Domain) -> Taxonomy:
        """Build the taxonomy, and refuse settings whose spurious partitions breed."""
        declared = self.taxonomy == "declared"
        small = self._may_rake and domain.size("item") <= _AT_ONCE and not declared
        fanout = self.fanout or (_AT_ONCE if small else _FANOUT)
        tree = domain.taxonomy("item", fanout, declared=declared)
        widest = int(tree.width.max(initial=0))
        if self.force or self.tau_split > 0 or int(tree.height[tree.root]) < _BREEDING:
            return tree
        least = math.log((2**widest - 1) / 2) / math.sqrt(2)
        if self.c2 < least:
            msg = (
                f"DiffPart.c2 = {self.c2:g} lets empty partitions of {widest} children breed; "
                f"take at least {least:.3g}, or tau_split > 0, or force=True"
            )
            raise ParameterError(msg)
        return tree

    def _bounded(self, cuts: Cuts) -> Cuts:
        if len(cuts) > self.most:
            msg = f"more than {self.most:,} partitions are alive (DiffPart.most); raise c2, or set tau_split"
            raise ParameterError(msg)
        return cuts


class _Leaves(NamedTuple):
    """Cuts of which every node is an item, and how many records they stand for."""

    cuts: Cuts
    held: NDArray[Any]

    @classmethod
    def none(cls) -> _Leaves:
        nothing = np.zeros(0, np.int64)
        return cls(Cuts(Taxonomy(1, ()), nothing, np.zeros(1, np.int64)), np.zeros(0))


def _gather(published: list[_Leaves], domain: Domain) -> Sets:
    sizes = np.concatenate([np.diff(leaves.cuts.starts) for leaves in published])
    counts = round_together(np.concatenate([leaves.held for leaves in published]))
    row = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    item = np.concatenate([leaves.cuts.nodes for leaves in published])
    some = counts[row] > 0
    return Sets.from_counts(row=row[some], item=item[some], counts=counts, domain=domain)


def _whole(threshold: NDArray[np.float64]) -> Integers:
    return np.maximum(1, np.ceil(threshold)).astype(np.int64)

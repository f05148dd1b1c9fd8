"""DiffPart: partition records top-down along a context-free taxonomy, and count the leaf partitions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.data import Domain, Taxonomy
from hedgerow.errors import ParameterError
from hedgerow.frontiers import Children, Counts
from hedgerow.kinds.sets.data import Sets
from hedgerow.kinds.sets.methods.diffpart.model import HierarchyCuts, KeptPartitions, SubPartitions, count_leaves
from hedgerow.numerics.arrays import Floats, Integers
from hedgerow.numerics.rounding import on_grid
from hedgerow.privacy import Laplace, Ledger, PathBudget, PureDP, Shares
from hedgerow.publisher import SCALES, Publisher, param, require_little_noise

#: from this height of the taxonomy on, an empty partition can have empty sub-partitions that survive
_MULTIPLYING_HEIGHT = 2
#: a run with more live partitions is stopped
_MOST_PARTITIONS = 2_000_000


@dataclass(frozen=True, kw_only=True)
class DiffPart(Publisher[Sets]):
    r"""Publish sets by partitioning the records top-down along a taxonomy of the items.

    A partition is given by a *hierarchy cut* of the taxonomy: its records have items below every node of the cut and
    below no other node. Expanding a node with $l$ children splits a partition into $2^l - 1$ sub-partitions, empty
    ones included. Those whose noisy count reaches a threshold are split further. If all nodes of the cut are items,
    the partition is a leaf, and its noisy count is published [1]_.

    Corrected: the printed example tests leaves with $\alpha$ *and* counts them with all of the remaining budget,
    which costs up to $3 \varepsilon / 2$; here a leaf is counted once with all of the remaining budget, as in the
    budgets of the example. There are $2^l - 1$ sub-partitions, not $2^l$. A bound on the expected number of spurious
    sub-partitions keeps empty partitions from multiplying (`tau_split`); nodes with one child are skipped; the order
    of partitions is not published; a universe of one item works. The threshold biases published counts; the noisy
    counts of splits, which the paper discards, correct this (`consistent`). No record has more than `longest`
    items, which bounds the number of remaining splits much better than the taxonomy does.

    Privacy
    -------
    partitions: a record follows one path of partitions (L1 = 1, one token), since at every split it is in exactly one
    sub-partition. Half of the budget is for splits: a partition with $e$ of it left and at most $n$ remaining splits
    spends $\alpha = e / n$; a leaf spends all that is left on its path, so every path spends at most the budget. Which
    partitions are split, what they spend, their thresholds and the published counts depend on noisy answers only.

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
    kinds: ClassVar = ("sets",)
    keeps: ClassVar = (PureDP,)
    units: ClassVar = ("record", "person")
    # not `recommended`: raked-histogram is better for few items, pairwise-marginals for many (docs/results); only on
    # 10,000 records of 17 items it kept frequent itemsets best, with constants that were chosen on the same data

    fanout: int = param(10, "most children of a node of the taxonomy", ge=2, le=30)
    longest: int = param(20, "how many items of a record are used: the first in the domain's order", ge=1)
    taxonomy: str = param(
        "fan-out",
        "group the items by fan-out, or use the declared paths",
        choices=("fan-out", "declared"),
    )
    c1: float = param(2.0, "standard deviations of the noise that the count of a leaf must reach", ge=0)
    c2: float = param(
        1.0, "the same for a sub-partition that is split further, per level of the taxonomy below it", ge=0
    )
    tau_split: float = param(0.5, "most spurious sub-partitions expected per split; 0: no bound", ge=0, le=1)
    consistent: bool = param(True, "scale the sub-partitions that are kept towards the noisy count of their partition")

    @property
    def workload(self) -> Mapping[str, int]:
        """How many items of a record are used."""
        return {"longest": self.longest}

    def run(self, data: Sets, ledger: Ledger) -> Sets:
        """Split every live partition, level by level, until only leaves are left."""
        tree = self._taxonomy(data.domain)
        # a leaf is counted with half of the budget at least
        most = SCALES * 2 / float(ledger.budget) * min(tree.leaves, self.longest)
        require_little_noise(most, "items", "take a larger epsilon, or a smaller longest")
        if tree.leaves == 1:
            return self._count_the_only_item(data, ledger)
        cuts, partitions = HierarchyCuts.whole(tree), data.truncated(self.longest).partitions()
        paths = ledger.paths(spend=ledger.budget, label="partitions")
        nodes, levels = paths.root, list[KeptPartitions]()
        while len(cuts):
            left_for_splits = paths.left(nodes) - ledger.budget / 2
            alpha = left_for_splits / cuts.splits_left(self.longest)
            counted = partitions.count(children_of(tree, cuts.split))
            kept = self._keep(paths, nodes, SubPartitions.of(cuts), counted, alpha)
            # no record has items below more than `longest` nodes: such a cut is spurious
            levels.append(kept.only(cuts.size_after(kept.parent, kept.masks) <= self.longest))
            split = levels[-1].only(~levels[-1].leaf)
            cuts, nodes = _require_few(split.grow()), split.nodes
            partitions = counted.move(split.parent, split.masks)
        row, item, counts = count_leaves(levels, consistent=self.consistent)
        return Sets.from_counts(row=row, item=item, counts=counts, domain=data.domain)

    def _keep(
        self, paths: PathBudget, nodes: Integers, candidates: SubPartitions, counted: Counts, alpha: Shares
    ) -> KeptPartitions:
        """Ask for the noisy count of every sub-partition, and keep those that reach their threshold.

        A leaf is counted with all that is left on its path; the others are tested with alpha.
        """
        family, codes = candidates.locate(counted.cells, counted.codes)
        parent, tested = candidates.parent, ~candidates.leaf
        share = Shares.where(tested, alpha[parent], paths.left(nodes)[parent])
        grown = paths.survivors(
            family,
            codes,
            counted.counts,
            Laplace(l1=1),
            under=nodes[parent],
            candidates=candidates.candidates,
            cutoff=np.where(tested, self._split_threshold(candidates, share), self._leaf_threshold(share)),
            spend=share,
            label="partitions",
        )
        masks, leaf = candidates.masks(grown.at, grown.codes), candidates.leaf[grown.at]
        noise = 2 / share.floats()[grown.at] ** 2
        return KeptPartitions(candidates.cuts, grown.nodes, parent[grown.at], masks, leaf, grown.noisy, noise)

    def _leaf_threshold(self, share: Shares) -> Integers:
        """The least noisy count that is published: `c1` standard deviations of the noise, and at least 1."""
        return _at_least_one(math.sqrt(2) * self.c1 / share.floats())

    def _split_threshold(self, candidates: SubPartitions, share: Shares) -> Integers:
        """The least noisy count that is split further: `c2` standard deviations per level, and few spurious ones."""
        split = candidates.cuts.split[candidates.parent]
        tree = candidates.cuts.tree
        spend = share.floats()
        scales = math.sqrt(2) * self.c2 * tree.height[split]
        if self.tau_split > 0:
            # an empty one reaches t with probability a**t / (1 + a): at most tau in expectation over all siblings
            siblings = np.exp2(tree.width[split]) - 1
            scales = np.maximum(scales, np.log(siblings / (self.tau_split * (1 + np.exp(-spend)))))
        return _at_least_one(scales / spend)

    def _count_the_only_item(self, data: Sets, ledger: Ledger) -> Sets:
        """A universe of one item has nothing to split: all records are one leaf."""
        exact = data.count_items(most=1)  # L1 = 1: a record is the item
        noisy = ledger.ask(exact, Laplace(l1=1), spend=ledger.budget, label="partitions")
        kept = np.flatnonzero(noisy >= self._leaf_threshold(Shares.of([ledger.budget])))
        return Sets.from_counts(row=kept, item=kept, counts=noisy, domain=data.domain)

    def _taxonomy(self, domain: Domain) -> Taxonomy:
        """Build the taxonomy, and refuse settings with which empty partitions multiply."""
        tree = domain.taxonomy("item", self.fanout, declared=self.taxonomy == "declared")
        if self.tau_split > 0 or int(tree.height[tree.root]) < _MULTIPLYING_HEIGHT:
            return tree
        widest = int(tree.width.max(initial=0))
        least = math.log((2**widest - 1) / 2) / math.sqrt(2)
        if self.c2 < least:
            msg = (
                f"DiffPart.c2 = {self.c2:g} lets empty partitions of {widest} children multiply; "
                f"take at least {least:.3g}, or tau_split > 0"
            )
            raise ParameterError(msg)
        return tree


def _require_few(cuts: HierarchyCuts) -> HierarchyCuts:
    """Stop if partitions multiply nevertheless; their number depends on noisy answers only."""
    if len(cuts) > _MOST_PARTITIONS:
        msg = f"more than {_MOST_PARTITIONS:,} partitions are alive; raise DiffPart.c2, or set tau_split"
        raise ParameterError(msg)
    return cuts


def _at_least_one(threshold: Floats) -> Integers:
    return np.maximum(1, np.ceil(on_grid(threshold))).astype(np.int64)


def children_of(tree: Taxonomy, nodes: Integers) -> Children:
    """Return the rule that codes a set of leaves by the children it has leaves below, of one node per cell.

    Examples
    --------
    >>> children_of(Taxonomy.by_fanout(5, 2), np.array([8])).size
    4
    """
    return Children(nodes, tree.depth, tree.place_among_siblings, tree.ancestor, int(tree.width.max(initial=1)))

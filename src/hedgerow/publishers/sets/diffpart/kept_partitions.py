"""The sub-partitions that are kept at one level of splits, and the publication of the leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain, Sets
from hedgerow.publishers.sets.diffpart.consistency import scale_to_parents
from hedgerow.publishers.sets.diffpart.hierarchy_cuts import HierarchyCuts
from hedgerow.steps.rounding import round_together

__all__ = ["KeptPartitions", "publish_leaves"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]


class KeptPartitions(NamedTuple):
    """One level of kept sub-partitions: noisy answers and public facts only.

    `parent` is a position among the partitions `cuts` that were split, `masks` are the children of the split
    node that a sub-partition has, `leaf` says whether all its nodes are items, `noise` is the variance of `noisy`.
    """

    cuts: HierarchyCuts
    nodes: Integers
    parent: Integers
    masks: Integers
    leaf: Flags
    noisy: Integers
    noise: Floats

    def only(self, chosen: Flags) -> KeptPartitions:
        """Restrict to some of them."""
        return KeptPartitions(
            self.cuts,
            self.nodes[chosen],
            self.parent[chosen],
            self.masks[chosen],
            self.leaf[chosen],
            self.noisy[chosen],
            self.noise[chosen],
        )

    def grow(self) -> HierarchyCuts:
        """The cuts of these sub-partitions."""
        return self.cuts.grow(self.parent, self.masks)


def publish_leaves(levels: Sequence[KeptPartitions], domain: Domain, *, consistent: bool) -> Sets:
    """Publish the leaves of all levels as itemsets.

    If `consistent`, the counts of each level are first scaled towards those of the partitions that were split, top
    down.
    """
    counts = list(_consistent(levels)) if consistent else [level.noisy.astype(np.float64) for level in levels]
    leaves = [level.only(level.leaf).grow() for level in levels]
    sizes = np.concatenate([np.diff(cuts.starts) for cuts in leaves])
    rounded = round_together(np.concatenate([count[level.leaf] for level, count in zip(levels, counts, strict=True)]))
    row = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    item = np.concatenate([cuts.nodes for cuts in leaves])
    some = rounded[row] > 0
    return Sets.from_counts(row=row[some], item=item[some], counts=rounded, domain=domain)


def _consistent(levels: Sequence[KeptPartitions]) -> Iterator[Floats]:
    """Yield the scaled counts of each level; the root itself is not counted."""
    total, variance = np.zeros(1), np.full(1, np.inf)
    for level in levels:
        scaled = scale_to_parents(total, variance, level.parent, level.noisy, level.noise)
        yield scaled
        total, variance = scaled[~level.leaf], level.noise[~level.leaf]

"""Hierarchy cuts: the nodes of the taxonomy that define each live partition.

Everything here is public or depends on noisy answers only; there is neither a data set nor a ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import concatenate_ranges
from hedgerow.data import Taxonomy

__all__ = ["HierarchyCuts"]

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HierarchyCuts:
    """One cut per partition: nodes of the taxonomy, in the order in which they are split.

    `nodes[starts[p] : starts[p + 1]]` is the cut of partition `p`, highest node first, then by
    number. The first node is the next one to be split; a partition whose first node is an item is
    a leaf.
    """

    tree: Taxonomy
    nodes: Integers
    starts: Integers

    @classmethod
    def whole(cls, tree: Taxonomy) -> HierarchyCuts:
        """The partition of all records: the cut is the root."""
        return cls(tree, np.array([tree.root], np.int64), np.array([0, 1], np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def split(self) -> Integers:
        """The node each partition splits next."""
        return self.nodes[self.starts[:-1]]

    @cached_property
    def inner_left(self) -> Integers:
        """How many inner nodes are at or below the nodes of each cut."""
        inner = self.tree.internal[self.nodes]
        return np.add.reduceat(inner, self.starts[:-1]) if len(self) else inner

    def splits_left(self, longest: int) -> Integers:
        """The largest number of further splits that a record of `longest` items can need.

        It passes at most one node of each height per item. A split always takes one from this
        number: the split node is one of the highest of its cut, of which there are at most
        `longest`, since each has an item of the record below it.
        """
        heights = self.tree.inner_by_height[self.nodes]
        if not len(self):
            return np.zeros(0, np.int64)
        return np.minimum(np.add.reduceat(heights, self.starts[:-1]), longest).sum(axis=1)

    def size_after(self, at: Integers, masks: Integers) -> Integers:
        """How many nodes each cut has after `grow`."""
        return np.diff(self.starts)[at] - 1 + np.bitwise_count(masks)

    def grow(self, at: Integers, masks: Integers) -> HierarchyCuts:
        """Replace the split node of each partition in `at` by the children in its mask."""
        place, of_rest = concatenate_ranges(self.starts[at] + 1, self.starts[at + 1])
        of_child, slot = np.nonzero(_unpack_bits(masks, self._children.shape[1]))
        children = self._children[self.split[at[of_child]] - self.tree.leaves, slot]
        cut = np.concatenate((of_rest, of_child))
        nodes = np.concatenate((self.nodes[place], children))
        order = np.argsort(cut * self.tree.size + self.tree.rank[nodes])
        starts = np.concatenate(([0], np.cumsum(np.bincount(cut, minlength=len(at)))))
        return HierarchyCuts(self.tree, nodes[order], starts)

    @cached_property
    def _children(self) -> Integers:
        """The children of each inner node, padded."""
        width = int(self.tree.width.max(initial=1))
        table = np.full((self.tree.inner, width), -1, np.int64)
        for number, group in enumerate(self.tree.children):
            table[number, : len(group)] = group
        return table


def _unpack_bits(masks: Integers, width: int) -> NDArray[np.bool_]:
    return ((masks[:, None] >> np.arange(width)) & 1).astype(np.bool_)

"""The sub-partitions of each partition, and how they are numbered.

Everything here is public or depends on noisy answers only; there is neither a data set nor a ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Taxonomy
from hedgerow.publishers.sets.diffpart.hierarchy_cuts import HierarchyCuts

__all__ = ["SubPartitions"]

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SubPartitions:
    """The possible sub-partitions of all splits, in families: the leaves and the others of each split.

    A family has a `parent`, the partition that is split. A sub-partition is a leaf if all nodes of its cut are items,
    which is possible only if the split node was the last inner node of the cut. Within a family, sub-partitions are
    numbered from 0 without gaps; the number is the code.
    """

    cuts: HierarchyCuts
    parent: Integers
    leaf: NDArray[np.bool_]

    @classmethod
    def of(cls, cuts: HierarchyCuts) -> SubPartitions:
        """List the families of every partition: one or two per partition."""
        last = cuts.inner_left == cuts.tree.internal[cuts.split]
        items, width = _item_children(cuts.tree)[cuts.split], cuts.tree.width[cuts.split]
        inner = np.flatnonzero(~last | (np.bitwise_count(items) < width))
        leaf = np.flatnonzero(last & (items > 0))
        parent = np.concatenate((inner, leaf))
        return cls(cuts, parent, np.arange(len(parent)) >= len(inner))

    @cached_property
    def _shape(self) -> tuple[Integers, Integers, NDArray[np.bool_]]:
        """Per family: the children that are items, the number of children, and whether the split is the last."""
        split = self.cuts.split[self.parent]
        last = self.cuts.inner_left[self.parent] == self.cuts.tree.internal[split]
        return _item_children(self.cuts.tree)[split], self.cuts.tree.width[split], last

    @cached_property
    def candidates(self) -> Integers:
        """How many sub-partitions each family has: together always 2**width - 1 per split."""
        items, width, last = self._shape
        leaves = np.bitwise_count(items).astype(np.int64)
        all_ = (np.int64(1) << width) - 1
        items_only = (np.int64(1) << leaves) - 1
        return np.where(self.leaf, items_only, np.where(last, all_ - items_only, all_))

    def locate(self, at: Integers, masks: Integers) -> tuple[Integers, Integers]:
        """Turn (partition, mask) into (family, code)."""
        split = self.cuts.split[at]
        items = _item_children(self.cuts.tree)[split]
        last = self.cuts.inner_left[at] == self.cuts.tree.internal[split]
        is_leaf = last & (masks & ~items == 0)
        family = np.full((2, len(self.cuts)), -1, np.int64)
        family[self.leaf.astype(np.int64), self.parent] = np.arange(len(self.parent))
        at_family = family[is_leaf.astype(np.int64), at]
        low = _gather_bits(masks, items)
        high = _gather_bits(masks, ~items)
        mixed = (high - 1) << np.bitwise_count(items).astype(np.int64) | low
        code = np.where(is_leaf, low - 1, np.where(last, mixed, masks - 1))
        return at_family, code

    def masks(self, family: Integers, codes: Integers) -> Integers:
        """Turn (family, code) back into the mask."""
        items, last = self._shape[0][family], self._shape[2][family]
        shift = np.bitwise_count(items).astype(np.int64)
        widest = int(self.cuts.tree.width.max(initial=0))
        high = _scatter_bits((codes >> shift) + 1, ~items, widest)
        mixed = high | _scatter_bits(codes & ((np.int64(1) << shift) - 1), items, widest)
        leaf = _scatter_bits(codes + 1, items, widest)
        return np.where(self.leaf[family], leaf, np.where(last, mixed, codes + 1))


def _item_children(tree: Taxonomy) -> Integers:
    """The children of each node that are items, as a mask."""
    masks = np.zeros(tree.size, np.int64)
    for number, group in enumerate(tree.children):
        masks[tree.leaves + number] = sum(1 << slot for slot, child in enumerate(group) if child < tree.leaves)
    return masks


def _gather_bits(masks: Integers, where: Integers) -> Integers:
    """Pack the bits of `masks` that are set in `where`, lowest first."""
    packed = np.zeros_like(masks)
    place = np.zeros_like(masks)
    for slot in range(int(masks.max(initial=0)).bit_length()):
        chosen = (where >> slot) & 1
        packed |= ((masks >> slot) & chosen) << place
        place += chosen
    return packed


def _scatter_bits(packed: Integers, where: Integers, width: int) -> Integers:
    """Undo `_gather_bits` for masks of `width` bits."""
    masks = np.zeros_like(packed)
    left = packed.copy()
    for slot in range(width):
        chosen = (where >> slot) & 1
        masks |= (left & chosen) << slot
        left >>= chosen
    return masks

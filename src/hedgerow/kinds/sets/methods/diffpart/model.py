"""Partitions as hierarchy cuts, the sub-partitions of each, those that are kept, and their counts made consistent.

Everything here is public or depends on noisy answers only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hedgerow.data.taxonomy import Taxonomy
from hedgerow.numerics.arrays import Flags, Floats, Integers, concatenate_ranges
from hedgerow.numerics.rounding import round_together

#: standard deviations of the noise that a difference must exceed to count as bias
_SURE = 2.0


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


def _unpack_bits(masks: Integers, width: int) -> Flags:
    return ((masks[:, None] >> np.arange(width)) & 1).astype(np.bool_)


@dataclass(frozen=True, eq=False)
class SubPartitions:
    """The possible sub-partitions of all splits, in families: the leaves and the others of each split.

    A family has a `parent`, the partition that is split. A sub-partition is a leaf if all nodes of its cut are items,
    which is possible only if the split node was the last inner node of the cut. Within a family, sub-partitions are
    numbered from 0 without gaps; the number is the code.
    """

    cuts: HierarchyCuts
    parent: Integers
    leaf: Flags

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
    def _shape(self) -> tuple[Integers, Integers, Flags]:
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


# What is published: leaves with their counts, of which children are scaled towards the count of their parent.


def count_leaves(levels: Sequence[KeptPartitions], *, consistent: bool) -> tuple[Integers, Integers, Integers]:
    """The leaves of all levels as itemsets: the itemset of each item, the item, and the count of each itemset.

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
    return row[some], item[some], rounded


def _consistent(levels: Sequence[KeptPartitions]) -> Iterator[Floats]:
    """Yield the scaled counts of each level; the root itself is not counted."""
    total, variance = np.zeros(1), np.full(1, np.inf)
    for level in levels:
        scaled = scale_to_parents(total, variance, level.parent, level.noisy, level.noise)
        yield scaled
        total, variance = scaled[~level.leaf], level.noise[~level.leaf]


def scale_to_parents(total: Floats, variance: Floats, parent: Integers, noisy: Integers, noise: Floats) -> Floats:
    """Scale the noisy counts of the children of each parent towards the count of the parent.

    A child below its threshold is dropped with its records, and a spurious child adds records that do not exist. So
    the sum of the kept children is biased by an unknown amount; the noisy count of the parent is not. The two are
    averaged by their precision (inverse variance), where the squared bias is the excess of their squared difference
    over two standard deviations of the noise. If nothing was dropped, this makes the children slightly noisier; if
    much was, it corrects the bias.

    Parameters
    ----------
    total, variance
        The count of each parent, and its variance; infinite if the parent was not counted.
    parent, noisy, noise
        The parent of each child, its noisy count (at least 1), and the variance of the noise.

    Examples
    --------
    >>> total, variance = np.array([900.0, 900.0, 0.0]), np.array([50.0, 50.0, np.inf])
    >>> parent, noise = np.array([0, 0, 1, 2]), np.array([2.0, 2.0, 2.0, 2.0])
    >>> scale_to_parents(total, variance, parent, np.array([400, 200, 895, 7]), noise).round(1).tolist()
    [599.9, 299.9, 895.2, 7.0]
    """
    kept = np.maximum(np.bincount(parent, noisy, len(total)), 1.0)
    own = np.bincount(parent, noise, len(total))
    known = np.where(np.isinf(variance), 0.0, variance)
    bias = np.maximum(0.0, (total - kept) ** 2 - _SURE**2 * (known + own))
    trust = np.where(np.isinf(variance), 0.0, (own + bias) / np.maximum(known + own + bias, 1e-12))
    target = trust * total + (1 - trust) * kept
    return noisy * (np.maximum(target, 0.0) / kept)[parent]

"""Hierarchy cuts: what each live partition of a taxonomy is made of, and what it can be split into.

All of this is public or made of noisy answers: no data set and no ledger comes in here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Taxonomy

__all__ = ["Cuts", "Families"]

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cuts:
    """One cut a partition: nodes of the taxonomy, those to be split first in front.

    `nodes[starts[p] : starts[p + 1]]` is the cut of partition `p`, highest node first, then by
    number. The first node is the next one to be split; a partition whose first node is a leaf is
    done.
    """

    tree: Taxonomy
    nodes: Integers
    starts: Integers

    @classmethod
    def whole(cls, tree: Taxonomy) -> Cuts:
        """The one partition that holds everything: the root."""
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
        """The largest number of further splits a record of `longest` items can need.

        It passes at most one node of each height an item. A split always takes one from this
        number: the split node is one of the highest of its cut, of which there are at most
        `longest`, since each has an item of the record below it.
        """
        heights = self.tree.inner_by_height[self.nodes]
        if not len(self):
            return np.zeros(0, np.int64)
        return np.minimum(np.add.reduceat(heights, self.starts[:-1]), longest).sum(axis=1)

    def size_after(self, at: Integers, masks: Integers) -> Integers:
        """How many nodes the cuts of `grow` have."""
        return np.diff(self.starts)[at] - 1 + np.bitwise_count(masks)

    def grow(self, at: Integers, masks: Integers) -> Cuts:
        """Replace the split node of each partition in `at` by the children in its mask."""
        sizes = np.diff(self.starts)[at] - 1
        owner = np.repeat(np.arange(len(at)), sizes)
        running = np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner]
        rest = self.nodes[self.starts[at][owner] + 1 + running]
        child, slot = np.nonzero(_unpack(masks, self._table.shape[1]))
        new = self._table[self.split[at[child]] - self.tree.leaves, slot]
        owners = np.concatenate((owner, child))
        nodes = np.concatenate((rest, new))
        order = np.argsort(owners * self.tree.size + self.tree.rank[nodes])
        starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(at)))))
        return Cuts(self.tree, nodes[order], starts)

    def take(self, at: Integers) -> Cuts:
        """The cuts of these partitions."""
        sizes = np.diff(self.starts)[at]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        owner = np.repeat(np.arange(len(at)), sizes)
        nodes = self.nodes[self.starts[at][owner] + np.arange(len(owner)) - starts[owner]]
        return Cuts(self.tree, nodes, starts)

    @cached_property
    def _table(self) -> Integers:
        """The children of each inner node, padded."""
        width = int(self.tree.width.max(initial=1))
        table = np.full((self.tree.inner, width), -1, np.int64)
        for number, group in enumerate(self.tree.children):
            table[number, : len(group)] = group
        return table


@dataclass(frozen=True, eq=False)
class Families:
    """The sub-partitions a split can give, in families of one kind each: leaf or not.

    A split node with children that are leaves (`plain`) and others gives leaf sub-partitions (every
    node an item) only if it was the last inner node of its cut. Within a family, sub-partitions are
    numbered from 0 without a gap, so that their number is their code.
    """

    cuts: Cuts
    owner: Integers
    leaf: NDArray[np.bool_]

    @classmethod
    def of(cls, cuts: Cuts) -> Families:
        """List the families of every partition; a partition has one or two."""
        last = cuts.inner_left == cuts.tree.internal[cuts.split]
        plain, width = _plain(cuts.tree)[cuts.split], cuts.tree.width[cuts.split]
        inner = np.flatnonzero(~last | (np.bitwise_count(plain) < width))
        leaf = np.flatnonzero(last & (plain > 0))
        owner = np.concatenate((inner, leaf))
        return cls(cuts, owner, np.arange(len(owner)) >= len(inner))

    @cached_property
    def _shape(self) -> tuple[Integers, Integers, NDArray[np.bool_]]:
        """Each family's plain children, number of children, and whether its split is last."""
        split = self.cuts.split[self.owner]
        last = self.cuts.inner_left[self.owner] == self.cuts.tree.internal[split]
        return _plain(self.cuts.tree)[split], self.cuts.tree.width[split], last

    @cached_property
    def candidates(self) -> Integers:
        """How many sub-partitions each family has: together always 2**width - 1 a split."""
        plain, width, last = self._shape
        leaves = np.bitwise_count(plain).astype(np.int64)
        all_ = (np.int64(1) << width) - 1
        plain_only = (np.int64(1) << leaves) - 1
        return np.where(self.leaf, plain_only, np.where(last, all_ - plain_only, all_))

    def locate(self, at: Integers, masks: Integers) -> tuple[Integers, Integers]:
        """Turn (partition, mask) into (family, code)."""
        split = self.cuts.split[at]
        plain = _plain(self.cuts.tree)[split]
        last = self.cuts.inner_left[at] == self.cuts.tree.internal[split]
        is_leaf = last & (masks & ~plain == 0)
        family = np.full((2, len(self.cuts)), -1, np.int64)
        family[self.leaf.astype(np.int64), self.owner] = np.arange(len(self.owner))
        at_family = family[is_leaf.astype(np.int64), at]
        low = _gather_bits(masks, plain)
        high = _gather_bits(masks, ~plain)
        mixed = (high - 1) << np.bitwise_count(plain).astype(np.int64) | low
        code = np.where(is_leaf, low - 1, np.where(last, mixed, masks - 1))
        return at_family, code

    def masks(self, family: Integers, codes: Integers) -> Integers:
        """Turn (family, code) back into the mask."""
        plain, last = self._shape[0][family], self._shape[2][family]
        shift = np.bitwise_count(plain).astype(np.int64)
        widest = int(self.cuts.tree.width.max(initial=0))
        high = _scatter_bits((codes >> shift) + 1, ~plain, widest)
        mixed = high | _scatter_bits(codes & ((np.int64(1) << shift) - 1), plain, widest)
        leaf = _scatter_bits(codes + 1, plain, widest)
        return np.where(self.leaf[family], leaf, np.where(last, mixed, codes + 1))


def _plain(tree: Taxonomy) -> Integers:
    """The children of each node that are leaves, as a mask."""
    masks = np.zeros(tree.size, np.int64)
    for number, group in enumerate(tree.children):
        held = sum(1 << slot for slot, child in enumerate(group) if child < tree.leaves)
        masks[tree.leaves + number] = held
    return masks


def _unpack(masks: Integers, width: int) -> NDArray[np.bool_]:
    return ((masks[:, None] >> np.arange(width)) & 1).astype(np.bool_)


def _gather_bits(masks: Integers, where: Integers) -> Integers:
    """Move the bits of `masks` that stand in `where` together, lowest first."""
    packed = np.zeros_like(masks)
    place = np.zeros_like(masks)
    for slot in range(int(masks.max(initial=0)).bit_length()):
        held = (where >> slot) & 1
        packed |= ((masks >> slot) & held) << place
        place += held
    return packed


def _scatter_bits(packed: Integers, where: Integers, width: int) -> Integers:
    """Undo `_gather_bits` for masks of `width` bits."""
    masks = np.zeros_like(packed)
    left = packed.copy()
    for slot in range(width):
        held = (where >> slot) & 1
        masks |= (left & held) << slot
        left >>= held
    return masks

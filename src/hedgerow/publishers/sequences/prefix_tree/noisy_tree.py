"""A noisy prefix tree, level by level: label, parent and noisy count of each node."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["LabelTable", "NoisyTree"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
#: one sequence of labels per row, padded with -1
LabelTable: TypeAlias = NDArray[np.int32 | np.int64]


class NoisyTree:
    """All nodes so far, without the root.

    Node `v` represents the prefix of labels from the first level down to it. `noisy` is its noisy count, `weight` the
    inverse variance of the noise; `expanded` says whether its children were asked for. The label `size` is the end of a
    sequence: such a node represents the sequences that end at its parent. The children of a node are contiguous and
    sorted by label.

    Examples
    --------
    >>> tree = NoisyTree(3)
    >>> first = tree.add(np.array([-1, -1]), np.array([0, 2]), np.array([9.0, 4.0]), np.ones(2))
    >>> below = tree.add(first[[0, 0]], np.array([1, 3]), np.array([5.0, 3.0]), np.ones(2))
    >>> tree.prefixes(3).tolist(), tree.depth_first().tolist()
    ([[0, -1, -1], [2, -1, -1], [0, 1, -1], [0, -1, -1]], [0, 2, 3, 1])
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.parent = np.zeros(0, np.int64)
        self.label = np.zeros(0, np.int64)
        self.level = np.zeros(0, np.int64)
        self.noisy = np.zeros(0)
        self.weight = np.zeros(0)
        self.expanded = np.zeros(0, np.bool_)

    def __len__(self) -> int:
        return len(self.parent)

    def add(self, parent: Integers, label: Integers, noisy: Integers | Floats, weight: Floats) -> Integers:
        """Add a level of nodes, sorted by parent and label; return their numbers."""
        first = len(self)
        above = self.level[parent[parent >= 0]]
        depth = 1 + (int(above[0]) if len(above) else 0)
        self.parent = np.concatenate((self.parent, parent))
        self.label = np.concatenate((self.label, label))
        self.level = np.concatenate((self.level, np.full(len(parent), depth)))
        self.noisy = np.concatenate((self.noisy, noisy.astype(np.float64)))
        self.weight = np.concatenate((self.weight, weight))
        self.expanded = np.concatenate((self.expanded, np.zeros(len(parent), np.bool_)))
        return np.arange(first, len(self))

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Which nodes represent the end of sequences."""
        return self.label == self.size

    def prefixes(self, longest: int) -> LabelTable:
        """The labels of each node from the first level on, padded with -1; without ends."""
        table = np.full((len(self), longest), -1, np.int32 if self.size < 2**31 else np.int64)
        for depth in range(1, int(self.level.max(initial=0)) + 1):
            nodes = np.flatnonzero(self.level == depth)
            if depth > 1:
                table[nodes] = table[self.parent[nodes]]
            items = nodes[~self.ends[nodes]]
            table[items, depth - 1] = self.label[items]
        return table

    def left_over(self, counts: Floats) -> Floats:
        """The count of each node minus the counts of its children."""
        below = np.bincount(self.parent + 1, counts, len(self) + 1)[1:]
        return counts - below

    def depth_first(self) -> Integers:
        """All nodes, each before its children, siblings by label; a subtree is contiguous."""
        sizes = np.ones(len(self), np.int64)
        depths = range(int(self.level.max(initial=0)), 0, -1)
        for depth in depths:
            nodes = np.flatnonzero(self.level == depth)
            if depth > 1:
                np.add.at(sizes, self.parent[nodes], sizes[nodes])
        place = np.zeros(len(self), np.int64)
        for depth in reversed(depths):
            nodes = np.flatnonzero(self.level == depth)
            before = np.cumsum(sizes[nodes]) - sizes[nodes]
            above = self.parent[nodes]
            new = np.ones(len(nodes), np.bool_)
            new[1:] = above[1:] != above[:-1]
            shift = before[np.flatnonzero(new)][np.cumsum(new) - 1]
            top = np.where(above >= 0, place[np.maximum(above, 0)] + 1, 0)
            place[nodes] = top + before - shift
        order = np.empty(len(self), np.int64)
        order[place] = np.arange(len(self))
        return order

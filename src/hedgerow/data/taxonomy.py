"""A taxonomy: a public tree over the values of an axis, from declared paths or split by fan-out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from hedgerow.errors import DomainError
from hedgerow.numerics.arrays import Integers

Rule: TypeAlias = Callable[[Integers], int]
#: a tree being built: a leaf is its code, an inner node the list of its children
Nested: TypeAlias = "int | list[Nested]"


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A rooted tree whose leaves are the codes of an axis; no inner node has one child only.

    Leaves have the numbers 0, 1, ... of their codes; inner nodes follow, the root last.
    A node with a single child would cost a question without splitting anything, so it is left out.

    Parameters
    ----------
    children
        The children of each inner node, from left to right.
    leaves
        How many leaves there are.

    Examples
    --------
    >>> tree = Taxonomy.by_fanout(5, 2)
    >>> tree.inner, int(tree.height[tree.root]), tree.children
    (4, 3, ((0, 1), (2, 3), (5, 6), (7, 4)))
    """

    leaves: int
    children: tuple[tuple[int, ...], ...]

    @classmethod
    def by_fanout(cls, leaves: int, fanout: int) -> Taxonomy:
        """Split each level into consecutive groups of `fanout`; a group of one moves up a level."""
        level = list(range(leaves))
        children: list[tuple[int, ...]] = []
        while len(level) > 1:
            above: list[int] = []
            for start in range(0, len(level), fanout):
                group = tuple(level[start : start + fanout])
                if len(group) == 1:
                    above += group
                    continue
                above.append(leaves + len(children))
                children.append(group)
            level = above
        return cls(leaves, tuple(children))

    @classmethod
    def from_paths(cls, paths: Sequence[Sequence[str]], fanout: int) -> Taxonomy:
        """Build the tree of public paths, one per leaf; wide nodes are split further by fan-out."""
        if not paths:
            msg = "a taxonomy needs at least one path"
            raise DomainError(msg)
        nested = _nest(range(len(paths)), [tuple(path) for path in paths], 0, fanout)
        return cls(len(paths), _numbered(nested, len(paths)))

    @property
    def inner(self) -> int:
        """How many inner nodes there are."""
        return len(self.children)

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self.leaves + self.inner

    @property
    def root(self) -> int:
        """The number of the root."""
        return self.size - 1

    @cached_property
    def height(self) -> Integers:
        """The height of each node: 0 for a leaf, one more than the highest child otherwise."""
        return self._from_children(0, lambda heights: 1 + int(heights.max()))

    @cached_property
    def internal(self) -> Integers:
        """How many inner nodes are in the subtree of each node, itself included."""
        return self._from_children(0, lambda counts: 1 + int(counts.sum()))

    @cached_property
    def inner_by_height(self) -> Integers:
        """How many inner nodes of each height (1, 2, ...) are in the subtree of each node."""
        counts = np.zeros((self.size, int(self.height[self.root])), np.int64)
        for number, group in enumerate(self.children):
            node = self.leaves + number
            counts[node] = counts[list(group)].sum(axis=0)
            counts[node, self.height[node] - 1] += 1
        return counts

    @cached_property
    def width(self) -> Integers:
        """How many children each node has."""
        counts = [len(group) for group in self.children]
        return np.array([0] * self.leaves + counts, np.int64)

    @cached_property
    def rank(self) -> Integers:
        """The place of each node in the order of splitting: highest first, then by number."""
        rank = np.empty(self.size, np.int64)
        rank[np.lexsort((np.arange(self.size), -self.height))] = np.arange(self.size)
        return rank

    @cached_property
    def depth(self) -> Integers:
        """How deep each node is: 0 for the root."""
        depth = np.zeros(self.size, np.int64)
        for number in reversed(range(self.inner)):
            depth[list(self.children[number])] = depth[self.leaves + number] + 1
        return depth

    @cached_property
    def ancestor(self) -> Integers:
        """The node above each leaf at each depth; the leaf itself from its own depth on."""
        parent, rows = np.zeros(self.size, np.int64), [np.arange(self.leaves)]
        for number, group in enumerate(self.children):
            parent[list(group)] = self.leaves + number
        for depth in reversed(range(int(self.depth.max()))):
            rows.append(np.where(self.depth[rows[-1]] > depth, parent[rows[-1]], rows[-1]))
        return np.stack(rows[::-1])

    @cached_property
    def place_among_siblings(self) -> Integers:
        """The place of each node among the children of its parent, from left to right; 0 for the root."""
        place = np.zeros(self.size, np.int64)
        for group in self.children:
            place[list(group)] = np.arange(len(group))
        return place

    @cached_property
    def position(self) -> Integers:
        """The place of each leaf from left to right: a node's leaves are consecutive."""
        order: list[int] = []
        stack = [self.root]
        while stack:
            node = stack.pop()
            if node < self.leaves:
                order.append(node)
            else:
                stack += reversed(self.children[node - self.leaves])
        position = np.empty(self.leaves, np.int64)
        position[order] = np.arange(self.leaves)
        return position

    @cached_property
    def span(self) -> tuple[Integers, Integers]:
        """The first position of each node's leaves, and the one behind the last."""
        count = self._from_children(1, lambda counts: int(counts.sum()))
        first = np.empty(self.size, np.int64)
        first[: self.leaves] = self.position
        for number, group in enumerate(self.children):
            first[self.leaves + number] = first[group[0]]
        return first, first + count

    def _from_children(self, leaf: int, rule: Rule) -> Integers:
        values = np.full(self.size, leaf, np.int64)
        for number, group in enumerate(self.children):
            values[self.leaves + number] = rule(values[list(group)])
        return values


def _nest(leaves: Iterable[int], paths: Sequence[tuple[str, ...]], depth: int, fanout: int) -> Nested:
    """Group leaves by the next step of their path, in order of first appearance."""
    groups: dict[str, list[int]] = {}
    parts: list[Nested] = []
    for leaf in leaves:
        if len(paths[leaf]) <= depth:
            parts.append(leaf)
        else:
            groups.setdefault(paths[leaf][depth], []).append(leaf)
    parts += [_nest(group, paths, depth + 1, fanout) for group in groups.values()]
    while len(parts) > fanout:
        cut = (parts[start : start + fanout] for start in range(0, len(parts), fanout))
        parts = [group[0] if len(group) == 1 else group for group in cut]
    return parts[0] if len(parts) == 1 else parts


def _numbered(nested: Nested, leaves: int) -> tuple[tuple[int, ...], ...]:
    """Number the inner nodes by height, then from left to right, so that the root is last."""
    subtrees: list[tuple[int, int, list[Nested]]] = []

    def height(node: Nested) -> int:
        if isinstance(node, int):
            return 0
        tall = 1 + max(height(child) for child in node)
        subtrees.append((tall, len(subtrees), node))
        return tall

    height(nested)
    order = sorted(subtrees, key=lambda item: item[:2])
    number = {id(node): leaves + place for place, (_, _, node) in enumerate(order)}
    return tuple(
        tuple(child if isinstance(child, int) else number[id(child)] for child in node) for _, _, node in order
    )

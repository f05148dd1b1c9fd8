"""Groups of places: a public tree over the places, and the part of a level's budget for each of its depths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Domain, Labels, Taxonomy
from hedgerow.errors import ParameterError

__all__ = ["GROUPINGS", "PlaceGroups", "place_groups"]

Integers: TypeAlias = NDArray[np.int64]

#: how places may be grouped; see `place_groups`
GROUPINGS = ("auto", "none", "fan-out", "declared")
#: with `auto`, there are groups from this many labels on
_MANY = 2_000
#: the paper's split of a level's budget needs groups of more places than this
_PAIR = 2
#: the largest denominator of the share of groups
_PARTS = 10_000
#: most labels, and most places, so that a label and a node fit in 64 bits
_WORD, _PLACES = 1 << 38, 1 << 20


@dataclass(frozen=True, eq=False)
class PlaceGroups:
    """A public tree over places: at each depth groups are asked for, and at the leaves places.

    `spend[d]` is the part of a level's budget for groups at depth `d + 1`; places get all that is left of it at their
    depth.
    """

    tree: Taxonomy
    labels: Labels
    spend: tuple[Fraction, ...] = ()

    @property
    def places(self) -> int:
        """How many places there are."""
        return self.labels.places

    @property
    def times(self) -> int:
        """How many times there are."""
        return self.labels.times

    @cached_property
    def above(self) -> Integers:
        """The ancestor of each place at each depth; the place itself from its own depth on."""
        first, end = self.tree.span
        by_position = np.argsort(self.tree.position)
        above = np.full((int(self.tree.height[self.tree.root]) + 1, self.places), -1, np.int64)
        above[0] = self.tree.root
        for depth in range(1, len(above)):
            above[depth] = above[depth - 1]
            for node in np.unique(above[depth - 1]).tolist():
                for child in self._children(node):
                    above[depth, by_position[first[child] : end[child]]] = child
        return above

    def _children(self, node: int) -> tuple[int, ...]:
        """The children of a node from left to right."""
        return self.tree.children[node - self.places] if node >= self.places else ()

    @cached_property
    def rank(self) -> Integers:
        """The number of each node among its siblings of the same kind, groups or places."""
        rank = np.zeros(self.tree.size, np.int64)
        for siblings in self.tree.children:
            nodes = np.array(siblings)
            for alike in (nodes[nodes >= self.places], nodes[nodes < self.places]):
                rank[alike] = np.arange(len(alike))
        return rank

    @cached_property
    def many(self) -> Integers:
        """How many groups, and how many places, are children of each node."""
        many = np.zeros((self.tree.size, 2), np.int64)
        for number, siblings in enumerate(self.tree.children):
            places = sum(child < self.places for child in siblings)
            many[self.places + number] = len(siblings) - places, places
        return many

    def child(self, node: Integers, kind: Integers, rank: Integers) -> Integers:
        """The child of each node of a kind, group (0) or place (1), and a rank."""
        starts, children = self._listed
        return children[starts[2 * node + kind] + rank]

    @cached_property
    def _listed(self) -> tuple[Integers, Integers]:
        """Where the children of each parent and kind start, and all children by parent, groups first."""
        ordered = [
            sorted(siblings, key=lambda child: (child < self.places, self.rank[child]))
            for siblings in self.tree.children
        ]
        sizes = self.many.ravel()
        flat = np.array([child for siblings in ordered for child in siblings], np.int64)
        return np.cumsum(sizes) - sizes, flat


def place_groups(domain: Domain, labels: Labels, grouping: str, share: float) -> PlaceGroups:
    """Group the places of a domain, and split the budget of a level between groups and places.

    Parameters
    ----------
    grouping
        `none`: no groups; `fan-out`: groups of about the square root of the number of places; `declared`: the groups in
        the declared paths of the domain; `auto`: fan-out from 2,000 labels on.
    share
        The part of a level's budget for groups; 0 is the split of the paper, two over the size of a group.
    """
    if labels.places > _PLACES or labels.size > _WORD:
        msg = f"{labels.places:,} places at {labels.times:,} times are too many; take a coarser grid or bins"
        raise ParameterError(msg)
    tree = _tree(domain, labels, grouping)
    groups = PlaceGroups(tree, labels)
    levels = len(groups.above) - 1
    if levels == 1:
        return groups
    sizes = [int(np.count_nonzero(np.unique(above) >= tree.leaves)) for above in groups.above]
    parts = [Fraction(_PAIR * many, tree.leaves) for many in sizes[1:levels]]
    if share > 0:
        whole = Fraction(share).limit_denominator(_PARTS)
        parts = [whole / (levels - 1)] * (levels - 1)
    if not 0 < sum(parts) < 1:
        msg = (
            f"group_share = {share:g} leaves nothing for groups or for places (0 is two over the size of a group, "
            "which must be more than two); take 0.5"
        )
        raise ParameterError(msg)
    return PlaceGroups(tree, labels, tuple(parts))


def _tree(domain: Domain, labels: Labels, grouping: str) -> Taxonomy:
    places = labels.places
    flat = Taxonomy(places, (tuple(range(places)),))
    if grouping == "none" or (grouping == "auto" and labels.size < _MANY):
        return flat
    if grouping == "declared":
        tree = domain.taxonomy(labels.axis, max(2, places), declared=True)
    else:
        fanout = math.isqrt(places - 1) + 1
        tree = Taxonomy.from_paths([[str(code // fanout)] for code in range(places)], max(2, places))
    return tree if tree.inner else flat

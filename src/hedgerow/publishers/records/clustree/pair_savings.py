r"""What is saved by making one tree of two: Algorithm 1 for a representative and many records at once.

Suppressing two trees loses all their labels. If two vertices become one, $1 - LM'(g)$ of each pair of labels is saved,
with $g$ their deepest common ancestor, once for every record that the two trees stand for. The sum of what is saved by
matched vertices, the *saving* $S$, therefore does not depend on the weights $w_1$, $w_2$ of the trees, and the cost is
$w_1 |T_1| + w_2 |T_2| - (w_1 + w_2) S$.

Two vertices may be matched if their parents are, and no sensitive value becomes too frequent at the position; a missing
sensitive value matches only missing ones. A pair of vertices also saves `KEEP`, so that a vertex is kept even if all
of its labels are hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import index_ranges
from hedgerow.publishers.records.clustree.forest import KEEP, Forest
from hedgerow.publishers.records.clustree.mapping import MAPPINGS, ChildMapping, SiblingPairs
from hedgerow.publishers.records.clustree.representative import Positions, Representative

__all__ = ["PairSavings"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class PairSavings:
    """The savings of one representative with any record of its forest.

    Parameters
    ----------
    representative
        The first tree of every pair.
    mapping
        How children are matched.
    most
        How often a sensitive value may occur at a position, the joining record included; None for any number.
    weight
        How many records the representative stands for in greedy matching.
    """

    def __init__(self, representative: Representative, mapping: ChildMapping, *, most: int | None, weight: int) -> None:
        self.representative = representative
        self.forest: Forest = representative.forest
        self.mapping = mapping
        self.weight = weight
        self.limits: Mapping[int, Floats] = {}
        self._own = [self._own_savings(number, most) for number in range(len(representative.types))]

    def joinable(self) -> NDArray[np.bool_]:
        """Which records have a root that may be matched."""
        return self._own[0][0, self.forest.types[0].content] > 0

    def of_records(self, records: Integers) -> Floats:
        """The saving of each record; 0 if its root must not be matched."""
        return self._subtrees(0, np.zeros(len(records), np.int64), records)

    def at_most(self, records: Integers, limits: Mapping[int, Floats]) -> Floats:
        """At least the saving of each record, if subtrees of some types save at most what `limits` says.

        A limit has one row per position of the type, and one column per vertex.
        """
        bounded = copy(self)
        bounded.mapping, bounded.limits = MAPPINGS["assignment"], limits
        return bounded.of_records(records)

    def merged(self, record: int) -> Representative:
        """The representative after a record has joined: common ancestors as labels, unmatched vertices suppressed."""
        matched = [(np.zeros(1, np.int64), np.array([record], np.int64))]
        types = [self._joined(0, np.zeros(1, np.int64), *matched[0])]
        for number, above in list(enumerate(self.forest.schema.parents))[1:]:
            first, second, pairs = self._children(number, *matched[above])
            places = self.mapping.matched(pairs)
            parent = np.repeat(np.arange(len(pairs.rows)), pairs.rows * pairs.columns)[places]
            matched.append((first[places], second[places]))
            types.append(self._joined(number, parent, *matched[number]))
        return Representative(self.forest, tuple(types))

    def _own_savings(self, number: int, most: int | None) -> Floats:
        """What each position saves with each distinct content of a vertex, without children; 0 if it must not match."""
        positions, contents = self.representative.types[number], self.forest.types[number].contents
        saving = np.full((len(positions.parent), len(contents)), KEEP)
        attributes = zip(self.forest.losses[number], positions.labels.T, contents.labels.T, strict=True)
        for losses, own, other in attributes:
            saving += losses.kept(own, other)
        saving[~_may_match(self.representative.buckets(number), contents.bucket, most)] = 0
        return saving

    def _subtrees(self, number: int, first: Integers, second: Integers) -> Floats:
        """The saving of pairs of vertices of a type, with everything below them."""
        arrays, own = self.forest.types[number], self._own[number]
        saving = own.ravel()[first * own.shape[1] + arrays.content[second]]
        allowed = np.flatnonzero(saving)
        if number in self.limits:
            saving[allowed] = self.limits[number][first[allowed], second[allowed]]
            return saving
        for child in arrays.children:
            _, _, pairs = self._children(child, first[allowed], second[allowed])
            saving[allowed] += self.mapping.totals(pairs)
        return saving

    def _children(self, number: int, first: Integers, second: Integers) -> tuple[Integers, Integers, SiblingPairs]:
        """All pairs of children of one type of pairs of parents, and their savings."""
        above = self.forest.schema.parents[number]
        own, other = self.representative.children[above][number], self.forest.types[above].children[number]
        rows, columns = own.number[first], other.number[second]
        wide = np.repeat(columns, rows)
        left = np.repeat(index_ranges(own.first[first], rows), wide)
        right = index_ranges(np.repeat(other.first[second], rows), wide)
        saving = self._subtrees(number, left, right)
        pairs = SiblingPairs(rows, columns, saving, saving)
        if self.mapping.ordered:
            pairs = pairs._replace(order=self._costs(number, left, right, pairs))
        return left, right, pairs

    def _costs(self, number: int, left: Integers, right: Integers, pairs: SiblingPairs) -> Floats:
        """The cost of each pair, up to what is the same for all partners of the child that chooses one."""
        rows_choose = np.repeat(pairs.rows <= pairs.columns, pairs.rows * pairs.columns)
        theirs, ours = self.forest.types[number].size[right], self.representative.sizes[number][left]
        return np.where(rows_choose, theirs, self.weight * ours) - (self.weight + 1) * pairs.saving

    def _joined(self, number: int, parent: Integers, first: Integers, second: Integers) -> Positions:
        own = self.representative.types[number]
        labels, other = own.labels[first], self.forest.labels(number, second)
        for attribute, losses in enumerate(self.forest.losses[number]):
            labels[:, attribute] = losses.hierarchy.common_ancestor(labels[:, attribute], other[:, attribute])
        return Positions(parent, labels, np.column_stack([own.vertices[first], second]))


def _may_match(own: Integers, other: Integers, most: int | None) -> NDArray[np.bool_]:
    """Whether a vertex of each bucket may join each position that has these buckets of its members."""
    missing = own[:, :1] < 0
    same = missing == (other < 0)
    if most is None:
        return same
    counts = np.zeros((len(own), max(own.max(initial=-1), other.max(initial=-1)) + 2), np.int64)
    np.add.at(counts, (np.arange(len(own))[:, None], own), 1)
    return same & (missing | (counts[:, other] < most))

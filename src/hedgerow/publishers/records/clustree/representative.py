"""The representative of a class: one tree of generalised labels, with the vertex of every member at each position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import index_ranges
from hedgerow.publishers.records.clustree.forest import KEEP, ChildRanges, Forest

__all__ = ["Positions", "Representative"]

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class Positions(NamedTuple):
    """The positions of one type, sorted by their parents: labels, and the vertex of each member, in member order."""

    parent: Integers
    labels: Integers
    vertices: Integers


@dataclass(frozen=True, eq=False)
class Representative:
    """The tree that all members of a class become."""

    forest: Forest
    types: tuple[Positions, ...]

    @classmethod
    def of_record(cls, forest: Forest, record: int) -> Representative:
        """A class of one record, as it is."""
        vertices: list[Integers] = []
        types: list[Positions] = []
        for number, above in enumerate(forest.schema.parents):
            if above < 0:
                parent, own = np.zeros(1, np.int64), np.array([record], np.int64)
            else:
                ranges = forest.types[above].children[number]
                count = ranges.number[vertices[above]]
                parent = np.repeat(np.arange(len(count)), count)
                own = index_ranges(ranges.first[vertices[above]], count)
            vertices.append(own)
            types.append(Positions(parent, forest.labels(number, own), own[:, None]))
        return cls(forest, tuple(types))

    @property
    def members(self) -> Integers:
        """The records of the class, in the order in which they joined."""
        return self.types[0].vertices[0]

    @cached_property
    def children(self) -> tuple[Mapping[int, ChildRanges], ...]:
        """The children of each position, by type."""
        return tuple(
            {
                child: ChildRanges.of(self.types[child].parent, len(positions.parent))
                for child in self.forest.schema.children(number)
            }
            for number, positions in enumerate(self.types)
        )

    @cached_property
    def sizes(self) -> tuple[Floats, ...]:
        """The labels at and below each position, and every vertex as `KEEP`."""
        sizes = [np.full(len(labels), labels.shape[1] + KEEP) for _, labels, _ in self.types]
        for number in reversed(range(1, len(sizes))):
            np.add.at(sizes[self.forest.schema.parents[number]], self.types[number].parent, sizes[number])
        return tuple(sizes)

    @cached_property
    def kept(self) -> float:
        """The sum over its labels of one minus their loss: what each member keeps of its labels."""
        total = 0.0
        for losses, positions in zip(self.forest.losses, self.types, strict=True):
            for attribute, labels in zip(losses, positions.labels.T, strict=True):
                total += float((1 - attribute.hierarchy.loss[labels]).sum())
        return total

    @property
    def cost(self) -> float:
        """The loss of all members: of generalised labels, and one per suppressed label."""
        return float(self.original_labels - len(self.members) * self.kept)

    @property
    def original_labels(self) -> int:
        """The number of labels that the members have originally."""
        return int(self.forest.labels_per_record[self.members].sum())

    def buckets(self, number: int) -> Integers:
        """The bucket of the sensitive value of each member at each position of a type."""
        arrays = self.forest.types[number]
        return arrays.contents.bucket[arrays.content[self.types[number].vertices]]

"""Records of set-valued data in the partitions of a taxonomy, counted one split at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.taxonomy import Taxonomy
from hedgerow.engines import Engine, Table
from hedgerow.errors import InternalError

__all__ = ["Counted", "Partitions"]

Integers: TypeAlias = NDArray[np.int64]

_KEY_BITS = 62


@dataclass(frozen=True, eq=False, repr=False)
class Partitions:
    """Which partition each record is in.

    `rows` has one line a record or group of equal ones (`row`, `weight`, `home`), `items` one
    line an item (`row`, `leaf` = its place from left to right in the taxonomy, `home`).
    """

    tree: Taxonomy
    rows: Table
    items: Table
    engine: Engine

    def count(self, split: Integers) -> Counted:
        """Count the records of every partition by the children of the node it splits.

        Parameters
        ----------
        split
            The inner node each partition splits. Every record of the partition has an item below
            it.
        """
        first, end = self.tree.span
        slots = _Slots.of(self.tree)
        below = self.engine.keep(
            self.items,
            lambda held: (held["leaf"] >= first[split[held["home"]]]) & (held["leaf"] < end[split[held["home"]]]),
        )
        bits = self.engine.derive(below, "mask", lambda held: slots.bits(split[held["home"]], held["leaf"]))
        masks = self.engine.union(bits, ["row"], "mask")
        rows = self.engine.join(self.rows, masks, "row")
        cells = self.engine.total(rows, ["home", "mask"], "weight")
        found = self.engine.collect(cells, order=["home", "mask"])
        return Counted(self, rows, found["home"], found["mask"], found["weight"])


@dataclass(frozen=True, eq=False, repr=False)
class Counted:
    """The sub-partitions that have records: their partition, children (as a mask) and count."""

    partitions: Partitions
    rows: Table
    at: Integers
    masks: Integers
    counts: Integers

    def find(self, at: Integers, masks: Integers) -> Integers:
        """The counts of these sub-partitions: 0 where there are no records."""
        width = int(self.partitions.tree.width.max(initial=1))
        keys, asked = self.at << width | self.masks, at << width | masks
        place = np.minimum(np.searchsorted(keys, asked), max(0, len(keys) - 1))
        if len(keys) == 0:
            return np.zeros(len(asked), np.int64)
        return np.where(keys[place] == asked, self.counts[place], 0)

    def move(self, at: Integers, masks: Integers) -> Partitions:
        """Keep the records of these sub-partitions; the position in the list is their new home."""
        engine, tree = self.partitions.engine, self.partitions.tree
        width = int(tree.width.max(initial=1))
        if width + int(at.max(initial=0)).bit_length() > _KEY_BITS:
            msg = "partition and mask do not fit one key"
            raise InternalError(msg)
        moved = engine.table({"cell": at << width | masks, "new": np.arange(len(at), dtype=np.int64)})
        keyed = engine.derive(self.rows, "cell", lambda held: held["home"] << width | held["mask"])
        joined = engine.join(keyed, moved, "cell")
        homes = engine.derive(joined, "home", lambda held: held["new"])
        rows = engine.select(homes, ["row", "weight", "home"])
        places = engine.select(homes, ["row", "home"])
        leaves = engine.select(self.partitions.items, ["row", "leaf"])
        return replace(self.partitions, rows=rows, items=engine.join(leaves, places, "row"))


@dataclass(frozen=True, eq=False)
class _Slots:
    """Which child of a node a leaf is below: one search in the starts of all children."""

    starts: Integers
    offsets: Integers
    leaves: int

    @classmethod
    def of(cls, tree: Taxonomy) -> _Slots:
        first, _ = tree.span
        starts = [
            (tree.leaves + number) * tree.leaves + int(first[child])
            for number, group in enumerate(tree.children)
            for child in group
        ]
        ends = np.cumsum([len(group) for group in tree.children])
        offsets = np.zeros(tree.size, np.int64)
        offsets[tree.leaves + 1 :] = ends[:-1]
        return cls(np.array(starts, np.int64), offsets, tree.leaves)

    def bits(self, node: Integers, leaf: NDArray[np.integer]) -> Integers:
        at = np.searchsorted(self.starts, node * self.leaves + leaf, "right") - 1
        return np.int64(1) << (at - self.offsets[node])

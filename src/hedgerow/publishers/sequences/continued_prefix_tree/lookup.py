"""Look up keys in a sorted list, and pairs of an owner and a label in a set."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeyIndex", "PairSet"]

Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

#: if all keys are below this, they are looked up in a table
_TABLE = 1 << 23


class KeyIndex(NamedTuple):
    """The positions of keys in a sorted list; by a table if the keys are small numbers."""

    keys: Integers
    table: NDArray[np.int32] | None

    @classmethod
    def of(cls, keys: Integers) -> KeyIndex:
        """Take distinct keys in ascending order."""
        most = int(keys[-1]) + 1 if len(keys) else 0
        if not 0 < most <= _TABLE:
            return cls(keys, None)
        table = np.full(most + 1, -1, np.int32)
        table[keys] = np.arange(len(keys))
        return cls(keys, table)

    def find(self, wanted: Integers) -> Integers:
        """The position of each key, or -1 if it is not in the list; the key -1 never is."""
        if self.table is not None:
            # keys that are too large, and -1, are looked up in the last cell, which is empty
            last = len(self.table) - 1
            place = np.where((wanted < 0) | (wanted > last), last, wanted)
            return self.table[place].astype(np.int64)
        if not len(self.keys):
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, at, -1)


class PairSet(NamedTuple):
    """A set of pairs of an owner and a label."""

    labels: int
    pairs: KeyIndex

    @classmethod
    def of(cls, owner: Integers, label: Integers, labels: int) -> PairSet:
        """Make the set; labels are below `labels`."""
        return cls(labels, KeyIndex.of(np.unique(owner * labels + label)))

    def contains(self, owner: Integers, label: Integers, rows: Integers | None = None) -> Flags:
        """Whether each pair is in the set; pairs with -1 are not. `rows` selects the owners."""
        owner = owner if rows is None else owner[rows]
        none = (owner < 0) | (label < 0)
        return self.pairs.find(np.where(none, -1, owner * self.labels + label)) >= 0

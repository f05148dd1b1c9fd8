"""What trajectories have in common, whether they consist of exact visits or of coarser labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import numpy as np

from hedgerow.data.axis import Value
from hedgerow.data.dataset import Dataset
from hedgerow.data.owners import require_owners
from hedgerow.errors import DomainError
from hedgerow.numerics.arrays import Flags, Integers
from hedgerow.numerics.sorting import order_of_lists


class VisitRecords(Dataset):
    """Records of entries in order, `starts[r] : starts[r + 1]` for record `r`, with sensitive attributes `traits`."""

    starts: Integers
    traits: Mapping[str, Integers]
    persons: Integers | None

    def __len__(self) -> int:
        """Count the records."""
        return len(self.starts) - 1

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The names of the sensitive attributes."""
        return tuple(self.traits)

    @property
    def axes(self) -> tuple[str, ...]:
        """Times, places and the attributes of records."""
        return ("time", "place", *self.sensitive)

    def is_empty(self) -> bool:
        """Whether no record has anything left: records without visits tell nothing."""
        return int(self.starts[-1]) == int(self.starts[0])

    def records_with(self, traits: Mapping[str, Integers], column: str, value: Value) -> Flags:
        """Return which records have a sensitive value, compared by its text."""
        if column not in traits:
            msg = f"the data has no sensitive column {column!r}; name it as sensitive when reading"
            raise DomainError(msg)
        return traits[column] == self.domain.axis(column).by_text.get(str(value), -2)

    def count_units(self, unit: str) -> int:
        """Count the records, or the persons."""
        self.require_unit(unit)
        return len(np.unique(require_owners(self.persons))) if unit == "person" else len(self)

    def neighbour(self, index: int, *, unit: str) -> Self:
        """Return this data set without one record, or person."""
        return self.without(index, unit=unit)

    def without(self, index: int, *, unit: str) -> Self:
        """Return this data set without its record, or person, number `index`."""
        self.require_unit(unit)
        if unit == "person":
            persons = require_owners(self.persons)
            return self.only(persons != np.unique(persons)[index])
        return self.only(np.arange(len(self)) != index)

    def canonical(self) -> Self:
        """Sort entries and records by their content, renumber records and drop owners."""
        return replace(self.sorted(), persons=None)

    def canonical_owners(self) -> Integers | None:
        """The owner of each record in the order of `canonical`; None if they are not known."""
        return None if self.persons is None else self.sorted().persons

    @abstractmethod
    def sorted(self) -> Self:
        """Sort entries and records by their content; owners stay."""

    @abstractmethod
    def only(self, chosen: Flags | Integers) -> Self:
        """Keep the chosen records, by number or by a flag for each."""


def order_of_records(starts: Integers, entries: Integers, traits: Mapping[str, Integers]) -> Integers:
    """Order records by length, then by their entries, then by their sensitive values."""
    sizes = np.diff(starts)
    order = [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():
        members = np.flatnonzero(sizes == size)
        if traits and len(members) > 1:
            members = members[np.lexsort([codes[members] for codes in reversed(list(traits.values()))])]
        if size:
            members = members[order_of_lists(entries[starts[members][:, None] + np.arange(size)])]
        order.append(members)
    return np.concatenate(order)

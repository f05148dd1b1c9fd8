"""What trajectories have in common, whether they consist of visits or of coarser labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.dataset import Dataset
from hedgerow.data.domain import Value
from hedgerow.errors import DomainError

__all__ = ["VisitRecords"]

Integers: TypeAlias = NDArray[np.int64]


class VisitRecords(Dataset):
    """Records of entries in order, `starts[r] : starts[r + 1]` for record `r`, with sensitive attributes `traits`."""

    starts: Integers
    traits: Mapping[str, Integers]

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

    def records_with(self, traits: Mapping[str, Integers], column: str, value: Value) -> NDArray[np.bool_]:
        """Return which records have a sensitive value, compared by its text."""
        if column not in traits:
            msg = f"the data has no sensitive column {column!r}; name it as sensitive when reading"
            raise DomainError(msg)
        return traits[column] == self.domain.axis(column).by_text.get(str(value), -2)

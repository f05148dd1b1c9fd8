"""The visits of a release, with the codes of the original, so that the two can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Trajectories, Value
from hedgerow.data.subsequences import VisitArrays
from hedgerow.errors import ParameterError

__all__ = ["Visits"]

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Visits:
    """The visits of records, with the codes of the original, by record and by visit.

    `seen` are the distinct pairs of place and time in the original; the code of a pair is its position among them.
    """

    records: int
    pairs: Integers
    seen: Integers
    starts: Integers
    rows: Integers
    firsts: Integers
    emptied: float
    data: Trajectories

    @classmethod
    def of(cls, data: Trajectories, original: Trajectories) -> Visits:
        """Encode the visits of some data by the pairs of the original."""
        starts, pairs, _ = data.arrays()
        size = original.domain.size("place")
        _, seen, _ = original.arrays()
        seen = np.unique(seen)
        time: Integers = _recoded(data, original, "time")[pairs // data.domain.size("place")]
        place: Integers = _recoded(data, original, "place")[pairs % data.domain.size("place")]
        codes = time * size + place
        pairs = np.searchsorted(seen, codes)
        if len(codes) and (codes.min() < 0 or pairs.max() == len(seen) or np.any(seen[pairs] != codes)):
            msg = (
                "the release has visits that are not in the data; "
                "give the same --columns and --read options as for publishing"
            )
            raise ParameterError(msg)
        order = np.argsort(pairs, kind="stable")
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[order]
        firsts = np.searchsorted(pairs[order], np.arange(len(seen) + 1))
        emptied = int(np.count_nonzero(np.diff(starts) == 0)) / max(1, len(starts) - 1)
        return cls(len(starts) - 1, pairs, seen, starts, row, firsts, emptied, data)

    @property
    def size(self) -> int:
        """How many visits there are."""
        return len(self.pairs)

    def as_arrays(self) -> VisitArrays:
        """The same visits as arrays in which subsequences are counted."""
        none = np.zeros((0, self.records), np.bool_)
        return VisitArrays(self.starts, self.pairs, len(self.firsts) - 1, none)

    def marks(self, sensitive: Sequence[tuple[str, Value]]) -> list[NDArray[np.bool_]]:
        """Which records have each sensitive value."""
        _, _, traits = self.data.arrays()
        return [self.data.records_with(traits, column, value) for column, value in sensitive]

    def matching(self, known: Sequence[int]) -> Integers:
        """The records that contain all of these visits."""
        lists = [self.rows[self.firsts[pair] : self.firsts[pair + 1]] for pair in known]
        lists.sort(key=len)
        rows = lists[0]
        for other in lists[1:]:
            rows = np.intersect1d(rows, other, assume_unique=True)
        return rows


def _recoded(data: Trajectories, original: Trajectories, axis: str) -> Integers:
    """The code in the original of each value; far below 0 where there is none."""
    known = original.domain.axis(axis).by_text
    none = -(1 << 40)
    return np.array([known.get(str(value), none) for value in data.domain.values(axis)], np.int64)

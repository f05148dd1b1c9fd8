"""The labels of sequences and trajectories: items, or places at times."""

from __future__ import annotations

from typing import NamedTuple


class Labels(NamedTuple):
    """The public labels that `positions` counts: label `time * places + place`.

    Items of sequences are places at a single time. `axis` is the axis of the places, `gap` the least time between two
    labels of a record.
    """

    axis: str
    places: int
    times: int = 1
    gap: int = 0

    @property
    def size(self) -> int:
        """The number of labels; as a label, this number marks the end of a record."""
        return self.places * self.times

"""What the labels of sequences and of trajectories are: a place, or a place at a time."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Labels"]


class Labels(NamedTuple):
    """The public labels that `positions` counts: `time * places + place`.

    Items of sequences are places at the one time there is. `axis` is the axis of the places, `gap` the least time
    between two labels of a record.
    """

    axis: str
    places: int
    times: int = 1
    gap: int = 0

    @property
    def size(self) -> int:
        """How many labels there are; as a label, this number is the end of a record."""
        return self.places * self.times

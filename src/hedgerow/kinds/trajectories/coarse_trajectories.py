"""Trajectories at coarser places and times: published records of labels, each a region in a bin of time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import msgspec
import numpy as np

from hedgerow.data.axis import Value
from hedgerow.data.owners import renumber_at_random
from hedgerow.errors import ParameterError
from hedgerow.kinds.trajectories.levels import PlaceTimeLevels, RegionLevel
from hedgerow.kinds.trajectories.visit_records import VisitRecords, order_of_records
from hedgerow.numerics.arrays import Flags, Integers, take_lists

#: a label as plain values: the name of the level of places, the region, from when on, and until when
Label: TypeAlias = tuple[str, str, int, int]
#: column names of the tables of labels, not available for attributes
_RESERVED = ("unit", "position", "place_level", "place", "time", "time_to")


@dataclass(frozen=True, eq=False, repr=False)
class CoarseTrajectories(VisitRecords):
    """Published records of labels: each stands for visits to its region in its bin of time.

    A kind of trajectories that is only published. Record `r` has the set of labels `labels[starts[r] : starts[r + 1]]`:
    their order says nothing, and the canonical one is a function of the set. Labels are numbers of `levels`, which are
    made of the public domain. `traits` has a code for each sensitive attribute, -1 if its value is unknown. `persons`
    are the owners; they are never published.

    `one_place` says that the labels are also safe from those who know that nobody is at two places at one time.
    `by_visits` is true only of releases of earlier versions, which wrote labels in the order of the first visits that
    they stand for: that order tells more than the labels, and no promise holds for it.
    """

    kind: ClassVar[str] = "trajectories"
    units: ClassVar[tuple[str, ...]] = ("trajectory", "person")

    levels: PlaceTimeLevels
    starts: Integers
    labels: Integers
    traits: Mapping[str, Integers]
    persons: Integers | None = None
    one_place: bool = False
    by_visits: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, codes in self.traits.items():
            if name in _RESERVED:
                msg = f"an attribute of records cannot be called {name!r}; rename it"
                raise ParameterError(msg)
            codes.flags.writeable = False

    def arrays(self) -> tuple[Integers, Integers, dict[str, Integers]]:
        """Return where the labels of each record start, the labels, and the sensitive codes."""
        return self.starts, self.labels, dict(self.traits)

    def decode(self, labels: Integers) -> list[Label]:
        """Return labels as plain values."""
        places, times = self.levels.places, self.levels.times
        place_level, region, time_level, number = (column.tolist() for column in self.levels.split(labels))
        levels: list[RegionLevel] = [places[level] for level in place_level]
        return [
            (level.name, level.regions[at], *times.interval(width, bin_number))
            for level, at, width, bin_number in zip(levels, region, time_level, number, strict=True)
        ]

    def records(self) -> list[tuple[tuple[Label, ...], tuple[Value | None, ...]]]:
        """List the labels and the sensitive values of every record, in canonical order."""
        ordered = self.canonical()
        labels = ordered.decode(ordered.labels)
        rows = itertools.pairwise(ordered.starts.tolist())
        values: Iterable[tuple[Value | None, ...]] = zip(
            *(_values(self.domain.values(name), codes) for name, codes in ordered.traits.items()), strict=True
        )
        known = list(values) if self.traits else [()] * len(self)
        return [(tuple(labels[start:end]), each) for (start, end), each in zip(rows, known, strict=True)]

    def bounded(self, unit: str) -> CoarseTrajectories:
        """Published data is not bounded again."""
        self.require_unit(unit)
        return self

    def sorted(self) -> CoarseTrajectories:
        """Sort labels within records, and records by their labels and sensitive values; owners stay."""
        row = np.repeat(np.arange(len(self)), np.diff(self.starts))
        labels = self.labels[np.lexsort((*self.levels.sort_key(self.labels), row))]
        return replace(self, labels=labels).only(order_of_records(self.starts, labels, self.traits))

    def narrowed(self) -> CoarseTrajectories:
        """Return the same data: labels need the whole declared domain."""
        return self

    def shuffled(self, order: np.random.Generator) -> CoarseTrajectories:
        """Return the same records in another order, each person under another number."""
        rows = self.only(order.permutation(len(self)))
        persons = None if rows.persons is None else renumber_at_random(rows.persons, order)
        return replace(rows, persons=persons)

    def to_bytes(self) -> bytes:
        """Return the whole content, in order."""
        axes = [(name, axis.to_plain()) for name, axis in self.domain.axes]
        columns = {"start": self.starts, "label": self.labels, **self.traits}
        if self.persons is not None:
            columns["person"] = self.persons
        private = [(name, column.tolist()) for name, column in columns.items()]
        flags = [self.one_place, self.by_visits]
        public = [axes, self.domain.source.value, self.levels.regions_by, self.levels.bins, *flags]
        return msgspec.json.encode([self.kind, *public, private])

    def only(self, chosen: Flags | Integers) -> CoarseTrajectories:
        """Keep the chosen records, by number or by a flag for each."""
        starts, labels = take_lists(self.starts, self.labels, chosen)
        traits = {name: codes[chosen] for name, codes in self.traits.items()}
        persons = None if self.persons is None else self.persons[chosen]
        return replace(self, starts=starts, labels=labels, traits=traits, persons=persons)


def _values(names: Sequence[Value], codes: Integers) -> list[Value | None]:
    """The value of each code; None if it is unknown."""
    return [None if code < 0 else names[code] for code in codes.tolist()]

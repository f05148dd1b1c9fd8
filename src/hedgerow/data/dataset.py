"""What every kind of data set can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from hedgerow.data.domain import Domain
from hedgerow.errors import DomainError, UnsupportedGuarantee
from hedgerow.frontiers import LOCAL, Engine

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(ABC):
    """Private units as columns of numbers, and a public domain; frozen.

    Only `domain` may be read freely. Everything else reaches an output through a ledger, or through
    a criterion that is checked again on the output. `engine` is where the data is counted.
    """

    kind: ClassVar[str]
    units: ClassVar[tuple[str, ...]]

    domain: Domain
    engine: Engine = field(default=LOCAL, kw_only=True)

    def __post_init__(self) -> None:
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    def __repr__(self) -> str:
        """Show what is public, and nothing else: a notebook prints whatever it is given."""
        axes = ", ".join(f"{len(axis)} values of {name}" for name, axis in self.domain.axes)
        return f"<{type(self).__name__}: {axes}, {self.domain.source.value}>"

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the domain that this data stands on; it may have more."""
        return tuple(name for name, _ in self.domain.axes)

    def on(self, engine: Engine) -> Self:
        """Let this data be counted on an engine."""
        return replace(self, engine=engine)

    @abstractmethod
    def count_units(self, unit: str) -> int:
        """Count the units."""

    @abstractmethod
    def neighbour(self, index: int, *, unit: str) -> Self:
        """Return neighbour number `index`: a unit is left out, or changed where a kind's units are always there.

        The other way round it is the same pair: a check tries both directions.
        """

    def count_neighbours(self, unit: str) -> int:
        """Count the neighbours that `neighbour` returns: one per unit, unless a unit can change in several ways."""
        return self.count_units(unit)

    def neighbours(self, unit: str) -> Iterator[Self]:
        """Yield every neighbour."""
        for index in range(self.count_neighbours(unit)):
            yield self.neighbour(index, unit=unit)

    @abstractmethod
    def bounded(self, unit: str) -> Self:
        """Keep at most the declared number of records per unit, by a rule blind to their content."""

    @abstractmethod
    def canonical(self) -> Self:
        """Forget order, row numbers and owners: keep nothing but what is published."""

    def without_attributes(self) -> Self:
        """Leave out what stands beside the records, and every axis the kind itself does not need.

        A differentially private method sees no more: which values stand beside is not public.
        """
        return replace(self, domain=self.domain.only(self.axes))

    @abstractmethod
    def narrowed(self) -> Self:
        """Return the same data over a domain of only what occurs in it."""

    @abstractmethod
    def shuffled(self, order: np.random.Generator) -> Self:
        """Return the same data with rows in another order and owners renamed, for checks."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """All there is, in its order: equal bytes mean equal in all respects."""

    def records_per(self, unit: str) -> int:
        """How many records one unit owns at most: 1, or what the domain declares for a person."""
        self.require_unit(unit)
        if unit != "person":
            return 1
        most = self.domain.records_per_person
        if most is None:
            msg = (
                "unit 'person' needs a declared maximum of records per person; "
                "give the domain records_per_person, or --records-per-person N"
            )
            raise DomainError(msg)
        return most

    def require_unit(self, unit: str) -> None:
        """Refuse a unit this kind does not have."""
        if unit not in self.units:
            msg = f"{self.kind} has no unit {unit!r}; choose from {', '.join(self.units)}"
            raise UnsupportedGuarantee(msg)

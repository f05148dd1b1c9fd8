"""The base class of all kinds of data sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from hedgerow.data.domain import Domain
from hedgerow.errors import DomainError, UnsupportedGuarantee
from hedgerow.frontiers import LOCAL, Engine
from hedgerow.kind_registry import differs_by_change
from hedgerow.numerics.arrays import Integers


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(ABC):
    """Private units as columns of numbers, and a public domain; frozen.

    Only `domain` may be read freely. Everything else reaches an output through a ledger, or under a criterion that is
    verified on the output. `engine` is where the data is counted. `drops_bad` says whether what could not be read was
    declared to be left out, whether or not there was any.
    """

    kind: ClassVar[str]
    units: ClassVar[tuple[str, ...]]
    #: how data gets each feature that not every data set of the kind has, such as weights
    feature_sources: ClassVar[Mapping[str, str]] = {}

    domain: Domain
    engine: Engine = field(default=LOCAL, kw_only=True)
    drops_bad: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    def __repr__(self) -> str:
        """Show public facts only, since notebooks print every value."""
        axes = ", ".join(axis.shown(name) for name, axis in self.domain.axes)
        return f"<{type(self).__name__}: {axes}, {self.domain.source.value}>"

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the domain that this data uses; the domain may have more."""
        return tuple(name for name, _ in self.domain.axes)

    @property
    def declared_axes(self) -> tuple[str, ...]:
        """The axes of the domain that are declared whatever its source is: those that cannot be taken from data."""
        return ()

    @property
    def features(self) -> Mapping[str, str]:
        """What this data has that not every method can use, such as weights, with how to read it without."""
        return {}

    @property
    def comes_in_slices(self) -> bool:
        """Whether this is published data that is made while it is read, once; `canonical` reads it into memory."""
        return False

    def is_empty(self) -> bool:
        """Whether this published data tells nothing at all."""
        return isinstance(self, Sized) and len(self) == 0

    def rests_on_noise(self) -> bool:
        """Whether this published data says itself that it tells nothing: for kinds that publish their precision."""
        return False

    def on(self, engine: Engine) -> Self:
        """Return this data set with another engine to count it."""
        return self if engine is self.engine else replace(self, engine=engine)

    @abstractmethod
    def count_units(self, unit: str) -> int:
        """Count the units."""

    @abstractmethod
    def neighbour(self, index: int, *, unit: str) -> Self:
        """Return neighbour number `index`: one unit is removed, or changed if the units of the kind are always present.

        Adding a unit is the same pair of data sets in the other direction; checks try both.
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
        """Keep at most the declared number of records per unit, by a rule that does not look at their content."""

    @abstractmethod
    def canonical(self) -> Self:
        """Sort and renumber records and drop owners, so that only published content is left."""

    def canonical_owners(self) -> Integers | None:
        """The owner of each record in the order of `canonical`, which drops them; None if they are not known.

        For the owner's own check of a promise about persons: never published.
        """
        return None

    def without_attributes(self) -> Self:
        """Drop the attributes of records, and every axis that the kind itself does not need.

        A differentially private method sees no more than that, since the values of attributes are not public.
        """
        return replace(self, domain=self.domain.only(self.axes))

    @abstractmethod
    def narrowed(self) -> Self:
        """Return the same data over the domain of the values that occur."""

    @abstractmethod
    def shuffled(self, order: np.random.Generator) -> Self:
        """Return the same data with rows in another order and owners renamed, for checks."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Return the whole content in order: data sets with equal bytes are equal in all respects."""

    def records_per(self, unit: str) -> int:
        """The maximum number of records per unit: 1, or what the domain declares for a person."""
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

    def require_all(self, unit: str) -> None:
        """Refuse a unit that is changed and never left out, if what could not be read was declared to be left out.

        How many such units there are, and their order, is public: one that is dropped would be seen, and all after it
        would have other places. This depends on the option alone, not on whether something was dropped.
        """
        if self.drops_bad and differs_by_change(unit):
            msg = (
                f"a {unit} that cannot be read must not be dropped (on_bad=drop): how many there are is public; put a "
                "number in its place with on_bad=NUMBER"
            )
            raise UnsupportedGuarantee(msg)

    def require_unit(self, unit: str) -> None:
        """Refuse a unit that this kind does not have."""
        if unit not in self.units:
            msg = f"{self.kind} have no unit {unit!r}; choose from {', '.join(self.units)}"
            raise UnsupportedGuarantee(msg)

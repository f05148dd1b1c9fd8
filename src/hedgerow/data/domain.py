"""The public domain of a data set: its axes, their source, and the maximum number of records per person."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from hedgerow.data.axis import MOST_VALUES, Axis, Value, plain_values
from hedgerow.data.number_axis import axis_from_plain
from hedgerow.data.taxonomy import Taxonomy
from hedgerow.errors import DomainError, UndeclaredDomain

#: the placeholder value of an axis without values
_PLACEHOLDER: dict[type, tuple[Value, ...]] = {str: ("none",), int: (0,)}


class Source(Enum):
    """Where a domain comes from; differential privacy accepts the first two sources."""

    DECLARED = "declared"
    ASSERTED = "asserted public"
    INFERRED = "inferred from the data"


def _require_few_values(sizes: Iterable[int]) -> None:
    if sum(sizes) > MOST_VALUES:
        msg = f"the axes of a domain may have at most {MOST_VALUES:,} values together; declare fewer"
        raise DomainError(msg)


def _plain(value: Any) -> Any:
    """Convert a NumPy scalar to the Python value."""
    return value.item() if hasattr(value, "item") else value


@dataclass(frozen=True, repr=False)
class Domain:
    """Public facts about a data set.

    Everything here may be read freely; everything else in a data set is private.

    Parameters
    ----------
    axes
        The values of each axis, for instance the items a shop sells, in a public order.
    source
        Where the domain comes from. A domain inferred from the data is itself private, and differentially private
        methods refuse it.
    records_per_person
        The declared maximum number of records per person; required for unit `person`.

    Examples
    --------
    >>> domain = Domain.declare(item=["bread", "milk", "tea"], records_per_person=2)
    >>> domain.size("item"), domain.values("item")[1]
    (3, 'milk')
    """

    axes: tuple[tuple[str, Axis], ...]
    source: Source
    records_per_person: int | None = None

    def __post_init__(self) -> None:
        most = self.records_per_person
        if most is not None and (type(most) is not int or most < 1):
            msg = f"records_per_person must be a whole number of at least 1; got {most!r}"
            raise DomainError(msg)
        if self.source is not Source.INFERRED:
            _require_few_values(len(axis.values) for _, axis in self.axes)

    def __repr__(self) -> str:
        """Show the number of values of each axis, since there may be millions."""
        axes = ", ".join(axis.shown(name) for name, axis in self.axes)
        per_person = f", {self.records_per_person} records per person" if self.records_per_person else ""
        return f"<Domain: {axes}, {self.source.value}{per_person}>"

    @classmethod
    def declare(cls, *, records_per_person: int | None = None, **axes: Iterable[Value] | Axis) -> Domain:
        """Declare a domain from public knowledge, such as a catalogue, a timetable or a code book."""
        for name, values in axes.items():
            if isinstance(values, str):
                msg = f"axis {name!r} must be a collection of values; got one text"
                raise DomainError(msg)
        declared = tuple(
            (name, values if isinstance(values, Axis) else Axis(tuple(map(_plain, values))))
            for name, values in axes.items()
        )
        return cls(declared, Source.DECLARED, _plain(records_per_person))

    def axis(self, name: str) -> Axis:
        """The axis with that name."""
        for own_name, axis in self.axes:
            if own_name == name:
                return axis
        msg = f"the domain has no axis {name!r}; it has {', '.join(own_name for own_name, _ in self.axes)}"
        raise DomainError(msg)

    def size(self, name: str) -> int:
        """How many values the axis has."""
        return len(self.axis(name))

    def values(self, name: str) -> tuple[Value, ...]:
        """The values of the axis; a value's position is its code."""
        return self.axis(name).values

    def taxonomy(self, name: str, fanout: int, *, declared: bool) -> Taxonomy:
        """The public tree over an axis: split by fan-out, or from declared paths."""
        axis = self.axis(name)
        if not declared:
            return Taxonomy.by_fanout(len(axis), fanout)
        if not axis.paths:
            msg = f"axis {name!r} has no declared paths; declare them, or split by fan-out"
            raise DomainError(msg)
        return Taxonomy.from_paths(axis.paths, fanout)

    def with_paths(self, name: str, paths: Iterable[Iterable[str]]) -> Domain:
        """The same domain with a public taxonomy over an axis: the groups that contain each value."""
        return self._with_axis(name, replace(self.axis(name), paths=tuple(tuple(path) for path in paths)))

    def with_coordinates(self, name: str, coordinates: Iterable[Iterable[float]]) -> Domain:
        """The same domain with the longitude and latitude of each value of an axis, in degrees.

        Examples
        --------
        >>> domain = Domain.declare(place=["harbour", "museum"], time=range(24))
        >>> domain.with_coordinates("place", [(103.82, 1.26), (103.85, 1.29)]).axis("place").coordinates[0]
        (103.82, 1.26)
        """
        pairs: Any = tuple(tuple(map(_plain, pair)) for pair in coordinates)
        return self._with_axis(name, replace(self.axis(name), coordinates=pairs))

    def _with_axis(self, name: str, changed: Axis) -> Domain:
        return self.with_axes({name: changed})

    def with_axes(self, changed: Mapping[str, Axis]) -> Domain:
        """The same domain with other axes of these names."""
        return replace(self, axes=tuple((name, changed.get(name, axis)) for name, axis in self.axes))

    def with_records_per_person(self, most: int) -> Domain:
        """The same domain with a declared maximum of records per person."""
        return replace(self, records_per_person=most)

    def to_plain(self) -> dict[str, Any]:
        """Return the public part of the domain as plain data: all of it, unless it was inferred."""
        public = self.source is not Source.INFERRED
        return {
            "source": self.source.value,
            "records_per_person": self.records_per_person,
            "axes": {name: axis.to_plain() for name, axis in self.axes} if public else None,
        }

    @staticmethod
    def count_plain(plain: Mapping[str, Any]) -> int:
        """Count the values of all axes in the plain data of `to_plain`, without making them."""
        axes: Mapping[str, Any] = plain["axes"] or {}
        return sum(len(plain_values(axis)) for axis in axes.values())

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Domain | None:
        """Read the plain data of `to_plain`; None if the domain was not public."""
        if plain["axes"] is None:
            return None
        # before any axis is built, since together they may not fit in memory
        _require_few_values([cls.count_plain(plain)])
        axes = tuple((name, axis_from_plain(axis)) for name, axis in plain["axes"].items())
        return cls(axes, Source(plain["source"]), plain["records_per_person"])

    def narrowed(self, **codes: Iterable[int]) -> Domain:
        """The same domain with only these values of its axes; an axis without values gets a placeholder."""
        axes: list[tuple[str, Axis]] = []
        for name, axis in self.axes:
            kept = [int(code) for code in codes.get(name, range(len(axis)))]
            axes.append((name, axis.take(kept) if kept else Axis(_PLACEHOLDER[type(axis.values[0])])))
        return replace(self, axes=tuple(axes))

    def only(self, names: Collection[str]) -> Domain:
        """The same domain with only these axes."""
        return replace(self, axes=tuple((name, axis) for name, axis in self.axes if name in names))

    def with_source(self, source: Source) -> Domain:
        """The same domain with another source."""
        return replace(self, source=source)

    def require_public(self) -> None:
        """Refuse a domain that was inferred from the data.

        Raises
        ------
        UndeclaredDomain
            With what to do about it.
        """
        if self.source is Source.INFERRED:
            msg = (
                "the domain was inferred from the data, and what was seen in the data is private; "
                "declare it (Domain.declare, --domain FILE) or, if what the data shows is public "
                "knowledge, say so (assert_public_domain=True, --assert-public-domain)"
            )
            raise UndeclaredDomain(msg)

"""The schema of nested records: types of vertices, what is known about a person by them, and what is sensitive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hedgerow.errors import DomainError

#: the most types: a schema may come from anyone, and each type is compared with all others
_MOST_TYPES = 1_000


@dataclass(frozen=True)
class VertexType:
    """A type of vertex: its parent type, its quasi-identifiers, and its sensitive attribute, if it has one.

    Parameters
    ----------
    path
        Where files have vertices of this type, seen from their parents: keys or elements joined by dots, with `[]` at
        the end for a list; or the name of the table of this type.
    numbers
        The attributes whose values files have as numbers.
    key, parent_key
        The columns of its table that identify a vertex, and those that identify its parent.
    named
        Attributes with a name of their own, each with the field that files have it in.

    Examples
    --------
    >>> course = VertexType("course", "student", ("title",), "grade")
    >>> course.axes, course.place
    (('course.title', 'course.grade'), 'course[]')
    """

    name: str
    parent: str | None
    quasi: tuple[str, ...] = ()
    sensitive: str | None = None
    path: str = ""
    numbers: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    parent_key: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()

    @property
    def place(self) -> str:
        """Where files have vertices of this type: by default a list of its name."""
        return self.path or ("" if self.parent is None else f"{self.name}[]")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The quasi-identifiers, then the sensitive attribute."""
        return (*self.quasi, *([self.sensitive] if self.sensitive else []))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of files that have the attributes: by default they have the same names."""
        fields = dict(self.named)
        return tuple(fields.get(attribute, attribute) for attribute in self.attributes)

    @property
    def quasi_axes(self) -> tuple[str, ...]:
        """The axes of the domain of its quasi-identifiers: attributes of different types never mix."""
        return tuple(f"{self.name}.{attribute}" for attribute in self.quasi)

    @property
    def sensitive_axis(self) -> str | None:
        """The axis of the domain of its sensitive attribute."""
        return None if self.sensitive is None else f"{self.name}.{self.sensitive}"

    @property
    def axes(self) -> tuple[str, ...]:
        """All its axes."""
        return (*self.quasi_axes, *([self.sensitive_axis] if self.sensitive_axis else []))


@dataclass(frozen=True)
class RecordSchema:
    """Types of vertices, parents before their children; the first is the root of every record.

    Parameters
    ----------
    record
        Where XML files have records: the names of elements from the root of the document, joined by dots.
    namespace
        The namespace of elements in XML files.

    Examples
    --------
    >>> student, course = VertexType("student", None, ("major",), "gpa"), VertexType("course", "student", ("id",))
    >>> schema = RecordSchema((student, course))
    >>> schema.children(0), schema.axes
    ((1,), ('student.major', 'student.gpa', 'course.id'))
    """

    types: tuple[VertexType, ...]
    record: str = ""
    namespace: str = ""

    def __post_init__(self) -> None:
        if not 1 <= len(self.types) <= _MOST_TYPES:
            msg = f"a schema needs a type for the root of records, and may have {_MOST_TYPES:,} types at most"
            raise DomainError(msg)
        seen: set[str] = set()
        for number, kind in enumerate(self.types):
            if (kind.parent is None) != (number == 0) or (kind.parent is not None and kind.parent not in seen):
                msg = f"type {kind.name!r} must be the root, or come after its parent type; the first type is the root"
                raise DomainError(msg)
            if kind.name in seen or len(set(kind.axes)) < len(kind.axes):
                msg = f"type {kind.name!r} or one of its attributes is named twice"
                raise DomainError(msg)
            if not kind.axes:
                msg = f"type {kind.name!r} needs an attribute: a quasi-identifier or a sensitive one"
                raise DomainError(msg)
            seen.add(kind.name)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the domain that records of this schema use."""
        return tuple(axis for kind in self.types for axis in kind.axes)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each type by its name."""
        return {kind.name: number for number, kind in enumerate(self.types)}

    @property
    def parents(self) -> tuple[int, ...]:
        """The number of the parent type of each type; -1 for the root."""
        return tuple(-1 if kind.parent is None else self.numbers[kind.parent] for kind in self.types)

    def children(self, number: int) -> tuple[int, ...]:
        """The numbers of the types below a type."""
        return tuple(child for child, parent in enumerate(self.parents) if parent == number)

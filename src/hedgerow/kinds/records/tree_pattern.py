"""A query on nested records as a tree pattern: what is asked of vertices, and which of them lie below each other.

All that is asked of one type is about one vertex, which lies below the vertices that are asked for of the types above.
Vertices of types in different branches lie below one vertex of their lowest common ancestor. A *second* vertex of a
type is another vertex than the first. It lies below the second one of a type above if there is one, or else below the
first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

from hedgerow.kinds.records.schema import RecordSchema
from hedgerow.numerics.arrays import Flags

#: the number of a type, and which of the vertices of this type is meant: 1, 2, ...
Named: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of one vertex: which values each of its quasi-identifiers may have, and which its sensitive one.

    Parameters
    ----------
    labels
        By column, whether each value of the axis is asked for: values, not groups of values.
    values
        Whether each sensitive value is asked for; None if anything may be there, also nothing.
    """

    labels: Mapping[int, Flags] = field(default_factory=dict[int, Flags])
    values: Flags | None = None

    def and_also(self, other: Asked) -> Asked:
        """Ask for both of one vertex."""
        labels = dict(self.labels)
        for column, flags in other.labels.items():
            labels[column] = labels[column] & flags if column in labels else flags
        values = self.values
        if values is not None and other.values is not None:
            values = values & other.values
        return Asked(labels, other.values if values is None else values)


#: nothing is asked but that there is a vertex
ANYTHING = Asked()


class PatternNode(NamedTuple):
    """A vertex that is asked for: its type, which node it lies below (-1 for the root), and what is asked of it."""

    type: int
    above: int
    asked: Asked


@dataclass(frozen=True, eq=False)
class Pattern:
    """Nodes of a query, those above first, and which of them is counted: the root stands for the record."""

    nodes: tuple[PatternNode, ...]
    counted: int = 0

    @cached_property
    def by_type(self) -> dict[int, tuple[int, ...]]:
        """The nodes of each type that has some."""
        places: dict[int, tuple[int, ...]] = {}
        for place, node in enumerate(self.nodes):
            places[node.type] = (*places.get(node.type, ()), place)
        return places

    @cached_property
    def path(self) -> dict[int, int]:
        """The node of each type on the way from what is counted to the root."""
        places: dict[int, int] = {}
        place = self.counted
        while place >= 0:
            places[self.nodes[place].type] = place
            place = self.nodes[place].above
        return places

    @property
    def asks_values(self) -> bool:
        """Whether a sensitive value is asked for."""
        return any(node.asked.values is not None for node in self.nodes)


def build_pattern(schema: RecordSchema, named: Mapping[Named, Asked], counted: Named = (0, 1)) -> Pattern:
    """Complete the vertices that are named to a tree.

    Examples
    --------
    >>> from hedgerow.kinds.records.schema import VertexType
    >>> course, book = VertexType("course", "student", ("id",)), VertexType("book", "course", ("title",))
    >>> schema = RecordSchema((VertexType("student", None, ("born",)), course, book))
    >>> pattern = build_pattern(schema, {(2, 1): ANYTHING, (2, 2): ANYTHING})
    >>> [(node.type, node.above) for node in pattern.nodes]
    [(0, -1), (1, 0), (2, 1), (2, 1)]
    """
    asked: dict[Named, Asked] = {(0, 1): ANYTHING, **named}
    asked.setdefault(counted, ANYTHING)
    given = set(asked)
    above: dict[Named, Named] = {}
    for start in given:
        name = start
        while name[0] > 0 and name not in above:
            parent = schema.parents[name[0]]
            above[name] = (parent, name[1] if _has_ancestor(schema, parent, name[1], given) else 1)
            asked.setdefault(above[name], ANYTHING)
            name = above[name]
    order = sorted(asked)
    place = {name: number for number, name in enumerate(order)}
    nodes = tuple(PatternNode(name[0], place[above[name]] if name in above else -1, asked[name]) for name in order)
    return Pattern(nodes, place[counted])


def _has_ancestor(schema: RecordSchema, kind: int, number: int, given: set[Named]) -> bool:
    """Whether a type, or one above it, is named with this number."""
    while kind > 0:
        if (kind, number) in given:
            return True
        kind = schema.parents[kind]
    return False

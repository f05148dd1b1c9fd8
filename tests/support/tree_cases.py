"""Random schemas, hierarchies and records, and the records of the thesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from tree_oracle import Vertex

from hedgerow.data import Domain
from hedgerow.data.axis import Axis
from hedgerow.data.domain import Source
from hedgerow.kinds.records.data import Records, Tree
from hedgerow.kinds.records.methods.clustree.clustering import ClassSearch, HistogramBound, PairSavings
from hedgerow.kinds.records.methods.clustree.representative import MAPPINGS, Forest, Representative, losses_of
from hedgerow.kinds.records.schema import RecordSchema, VertexType


@st.composite
def hierarchies(draw, name: str, leaves: tuple[int, ...]) -> Axis:
    """An axis of values in groups of groups; with 2^i + 1 leaves every loss is an exact binary number."""
    count = draw(st.sampled_from(leaves))
    paths = []
    for _ in range(count):
        depth = draw(st.integers(0, 2))
        group = draw(st.integers(0, 1))
        paths.append((f"{name}g{group}", f"{name}g{group}{draw(st.integers(0, 1))}")[:depth])
    return Axis(tuple(f"{name}v{number}" for number in range(count)), tuple(paths))


@st.composite
def worlds(draw, leaves: tuple[int, ...] = (1, 2, 3, 4, 5)) -> tuple[RecordSchema, Domain]:
    """A schema of up to four types, at most three levels, with its hierarchies."""
    parents = draw(st.sampled_from([(), ("t0",), ("t0", "t0"), ("t0", "t1"), ("t0", "t0", "t1"), ("t0", "t1", "t1")]))
    types, axes = [], []
    for number, parent in enumerate((None, *parents)):
        quasi = tuple(f"q{attribute}" for attribute in range(draw(st.integers(0, 2))))
        sensitive = "s" if not quasi or draw(st.booleans()) else None
        types.append(VertexType(f"t{number}", parent, quasi, sensitive))
        axes += [(axis, draw(hierarchies(axis.replace(".", ""), leaves))) for axis in types[-1].quasi_axes]
        if sensitive:
            values = draw(st.integers(1, 5))
            paths = tuple((f"b{value // 2}",) for value in range(values)) if draw(st.integers(0, 3)) == 0 else ()
            axes.append((f"t{number}.s", Axis(tuple(range(values)), paths)))
    return RecordSchema(tuple(types)), Domain(tuple(axes), Source.DECLARED)


@st.composite
def trees(draw, schema: RecordSchema, domain: Domain, number: int = 0, width: int = 3) -> Tree:
    """A record: values only, sometimes without a sensitive value."""
    kind = schema.types[number]
    labels = [draw(st.sampled_from(domain.values(axis))) for axis in kind.quasi_axes]
    value = None
    if kind.sensitive_axis and draw(st.integers(0, 9)) > 0:
        value = draw(st.sampled_from(domain.values(kind.sensitive_axis)))
    children = [
        draw(trees(schema, domain, child, width))
        for child in schema.children(number)
        for _ in range(draw(st.integers(0, width)))
    ]
    return kind.name, labels, value, children


@st.composite
def record_sets(
    draw, least: int = 2, most: int = 8, leaves: tuple[int, ...] = (1, 2, 3, 4, 5), width: int = 3
) -> Records:
    """A few records of a random schema."""
    schema, domain = draw(worlds(leaves))
    records = draw(st.lists(trees(schema, domain, width=width), min_size=least, max_size=most))
    return Records.from_trees(records, schema, domain)


def forest_of(data: Records) -> Forest:
    """The arrays of records."""
    return Forest.of(data, losses_of(data))


def merge_in_order(
    forest: Forest, records: list[int], *, most: int | None = 1, mapping: str = "assignment"
) -> Representative:
    """The class of these records, in this order; the roots must be allowed to become one."""
    made = Representative.of_record(forest, records[0])
    for record in records[1:]:
        made = savings_of(made, most=most, mapping=mapping).merged(record)
    return made


def savings_of(
    representative: Representative, *, most: int | None = 1, mapping: str = "assignment", weight: int | None = None
) -> PairSavings:
    """The savings of a representative, weighted by its members if not told otherwise."""
    weight = len(representative.members) if weight is None else weight
    return PairSavings(representative, MAPPINGS[mapping], most=most, weight=weight)


def as_vertex(data: Records, made: Representative) -> Vertex:
    """A representative as a tree of the oracle."""
    every: list[list[Vertex]] = []
    for number, positions in enumerate(made.types):
        kind, above = data.schema.types[number], data.schema.parents[number]
        names = [tree.names for tree in data.hierarchies(number)]
        values = data.domain.values(kind.sensitive_axis) if kind.sensitive_axis else ()
        every.append([])
        for parent, labels, rows in zip(*positions, strict=True):
            codes = data.tables[number].sensitive[rows].tolist()
            shown = [values[code] if code >= 0 else None for code in codes]
            vertex = Vertex(kind.name, [name[code] for name, code in zip(names, labels, strict=True)], shown)
            every[number].append(vertex)
            if above >= 0:
                every[above][parent].children.append(vertex)
    return every[0][0]


class _NoBound(HistogramBound):
    """Excludes nothing."""

    def savings(self, representative: Representative) -> NDArray[np.float64]:
        return np.full((1, len(self._forest)), 1e9)


class FullSearch(ClassSearch):
    """Evaluates every record."""

    @property
    def bound(self) -> HistogramBound:
        return _NoBound(self.forest)

    @property
    def child_bounds(self) -> dict[int, HistogramBound]:
        return {}

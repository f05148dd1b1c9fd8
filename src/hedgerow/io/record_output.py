"""Published records as documents in the shape of their input: fields that are hidden or suppressed are absent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hedgerow.data.records import Records
from hedgerow.io.record_hierarchies import MISSING
from hedgerow.io.record_layout import VALUE
from hedgerow.io.record_steps import Step, split_place
from hedgerow.io.record_values import canonical_number

__all__ = ["OutputDocuments"]


@dataclass(frozen=True, eq=False)
class OutputDocuments:
    """Published records, to be written."""

    data: Records

    def documents(self, *, numbers: bool) -> list[Any]:
        """Make a document of each record; without `numbers` all values are texts, and types below are lists."""
        below: list[list[Any]] = []
        for number, table in enumerate(self.data.tables):
            kind, above = self.data.schema.types[number], self.data.schema.parents[number]
            vertices = self._vertices(number, numbers=numbers)
            below.append(vertices)
            if above < 0:
                continue
            *steps, last = split_place(kind.place)
            listed = last if numbers else last._replace(listed=True)
            for parent, vertex in zip(table.parent.tolist(), vertices, strict=True):
                _put(below[above][parent], [*steps, listed], vertex)
        return below[0]

    def fields(self, number: int, *, numbers: bool) -> list[Sequence[Any]]:
        """Return the columns of a type: what is written of each vertex, None for nothing."""
        kind, table = self.data.schema.types[number], self.data.tables[number]
        columns: list[Sequence[Any]] = []
        for position, tree in enumerate(self.data.hierarchies(number)):
            is_number = numbers and kind.quasi[position] in kind.numbers
            texts = [None if name == MISSING else _spell(name, number=is_number) for name in tree.names]
            columns.append([texts[code] for code in table.labels[:, position].tolist()])
        if kind.sensitive_axis is not None:
            is_number = numbers and kind.sensitive in kind.numbers
            values = [_spell(str(value), number=is_number) for value in self.data.domain.values(kind.sensitive_axis)]
            values.append(None)  # the code of a value that is not given is -1
            columns.append([values[code] for code in table.sensitive.tolist()])
        return columns

    def _vertices(self, number: int, *, numbers: bool) -> list[Any]:
        kind = self.data.schema.types[number]
        columns = self.fields(number, numbers=numbers)
        plain = kind.fields == (VALUE,) and not self.data.schema.children(number) and kind.parent is not None
        if plain and not split_place(kind.place)[-1].where:
            return list(columns[0])
        places = [split_place(name) for name in kind.fields]
        vertices: list[Any] = [{} for _ in range(len(self.data.tables[number]))]
        for steps, column in zip(places, columns, strict=True):
            for vertex, value in zip(vertices, column, strict=True):
                if value is not None:
                    _put(vertex, steps, value)
        return vertices


def _spell(text: str, *, number: bool) -> Any:
    return msgspec.Raw(text.encode()) if number and canonical_number(text) == text else text


def _put(vertex: dict[str, Any], steps: list[Step], value: Any) -> None:
    for step in steps[:-1]:
        vertex = step.into(vertex)
    if steps[-1].listed:
        steps[-1].append(value, vertex)
    else:
        vertex[steps[-1].name] = value

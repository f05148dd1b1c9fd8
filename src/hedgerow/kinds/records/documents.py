"""Documents of nested records as columns of texts: each document is read alone, by what the schema declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

import msgspec

from hedgerow import progress
from hedgerow.errors import ReadError
from hedgerow.formats.files import MOST_BYTES
from hedgerow.kinds.records.data import Records
from hedgerow.kinds.records.layout import (
    VALUE,
    Document,
    Object,
    RecordLayout,
    RecordRequest,
    Step,
    canonical_number,
    is_extended,
    split_place,
    text_at,
    text_at_place,
    text_of_field,
)
from hedgerow.kinds.records.schema_file import MISSING

#: how deep documents may be nested, and the most vertices of one type that a vertex may have
DEEPEST, MOST_CHILDREN = 64, 10_000
#: a vertex takes as much memory as this many fields: two bytes of a file can be a vertex with all fields of its type
_FIELDS_PER_VERTEX = 3
_LONGEST_NAME = 80


class BadRecord(Exception):
    """A record that cannot be read; the message says what is wrong, and what to do."""


class VertexRows:
    """The vertices of one type, in the order of the file: parents, fields as texts, and the numbers of their records.

    Types that have files of their own have the name of it in `where`, and the line of each vertex in `lines`.
    """

    def __init__(self, fields: int) -> None:
        self.where = ""
        self.lines: list[int] = []
        #: the fields that another table adds to this one, and where that is
        self.looked_up: dict[str, str] = {}
        self.parent: list[int] = []
        self.record: list[int] = []
        self.fields: list[list[str | None]] = [[] for _ in range(fields)]

    def __len__(self) -> int:
        return len(self.parent)

    def cut(self, length: int) -> None:
        """Remove the last rows."""
        for column in (self.parent, self.record, *self.fields):
            del column[length:]


@dataclass
class _Plan:
    """What the keys of an object mean: fields by position, types below it, what is dropped, and objects within it.

    Steps into a list are keys, too; `lists` has those of each list. `conditions` are keys with a text that tells
    elements of a list apart: the schema has it already.
    """

    fields: dict[str, int] = field(default_factory=dict[str, int])
    types: dict[str, int] = field(default_factory=dict[str, int])
    dropped: set[str] = field(default_factory=set[str])
    inner: dict[str, _Plan] = field(default_factory=dict[str, "_Plan"])
    lists: dict[str, dict[str, Step]] = field(default_factory=dict[str, dict[str, Step]])
    conditions: set[str] = field(default_factory=set[str])

    def at(self, steps: list[Step]) -> _Plan:
        """Return the plan of the object at the end of some steps."""
        plan = self
        for step in steps:
            key = plan.declare(step, inner=True)
            plan = plan.inner.setdefault(key, _Plan())
            plan.tell_apart(step)
        return plan

    def declare(self, step: Step, *, inner: bool = False) -> str:
        """Refuse a step that means two things; return its key."""
        key, listed = str(step), self.lists.get(step.name, {})
        several = key in self.fields or key in self.types or key in self.dropped or (key in self.inner and not inner)
        if step.listed:
            several |= step.name in (*self.fields, *self.types, *self.dropped, *self.inner)
        if several or (listed and not step.listed) or not step.name:
            msg = f"the schema declares {key!r} twice, or within itself; declare it once"
            raise ReadError(msg)
        if step.listed:
            # without a condition, a step means all elements that no other step means
            ordered = sorted({**listed, key: step}.items(), key=lambda each: not each[1].where)
            self.lists[step.name] = dict(ordered)
        return key

    def check_lists(self) -> None:
        """Refuse fields of the elements that no condition means: several may have no condition that they match."""
        for name, steps in self.lists.items():
            rest = f"{name}[]"
            if len(steps) > 1 and (rest in self.fields or rest in self.inner):
                msg = (
                    f"the schema declares fields of {rest!r}, and of some of its elements; give all of them a condition"
                )
                raise ReadError(msg)
        for plan in self.inner.values():
            plan.check_lists()

    def tell_apart(self, step: Step) -> None:
        """Accept the text by which a list has this element."""
        if step.where:
            *above, last = map(Step, step.where)
            self.at(above).conditions.add(last.name)


class RecordRows:
    """Collects documents; at most so many fields, given or not, as a file may have bytes (`most`).

    `elements` is set for XML, where every field is a list of its elements.
    """

    def __init__(self, where: str, request: RecordRequest, *, elements: bool = False, most: int = MOST_BYTES) -> None:
        self.where, self.request, self._elements = where, request, elements
        self._left = most  # fields that may still be read
        self._schema = request.layout.schema
        self.tables = [VertexRows(len(kind.fields)) for kind in self._schema.types]
        self.lines: list[int] = []
        #: records that cannot be read although they are in the tables
        self.bad: list[int] = []
        #: how many fields were not read, as the schema says
        self.ignored = 0
        self._by_key: dict[tuple[str, ...], int] = {}

    @cached_property
    def _plans(self) -> list[_Plan]:
        return _plans(self.request.layout)

    def add(self, line: int, document: Document) -> None:
        """Add the record of a document; one that cannot be read is refused, or dropped as a whole."""
        lengths = [len(table) for table in self.tables]
        try:
            self._vertex(0, len(self.lines), document, "")
            key = self._key(document)
        except BadRecord as bad:
            for table, length in zip(self.tables, lengths, strict=True):
                table.cut(length)
            self.refuse(line, str(bad))
        else:
            self.lines.append(line)
            self._refuse_twins(line, key)

    def _key(self, document: Document) -> tuple[str, ...]:
        """Return what identifies the person, where the schema says; published records have no such field."""
        published = self.request.received or self.request.groups
        names = () if published else self._schema.types[0].key
        texts = [text_at_place(document, name) for name in names]
        for name, text in zip(names, texts, strict=True):
            if text is None:
                _refuse(name, "is the key of the record, and must be a plain value; correct it")
        return tuple(text for text in texts if text is not None)

    def _refuse_twins(self, line: int, key: tuple[str, ...]) -> None:
        """Refuse a second record of a person, or drop both of them."""
        this = len(self.lines) - 1
        if key and (first := self._by_key.setdefault(key, this)) != this:
            self.bad += [first, this]
            if not self.request.drop_bad:
                self.refuse(line, "an earlier record has the same key, and a person has one record; correct it")

    def refuse_vertices(self, table: VertexRows, vertices: Iterable[int], what: str) -> None:
        """Raise an error for the first of some vertices: at its own line, or at the line of its record."""
        if table.lines:
            self.refuse(min(table.lines[vertex] for vertex in vertices), what, where=table.where)
        else:
            self.refuse(self.lines[min(table.record[vertex] for vertex in vertices)], what)

    def refuse(self, line: int, what: str, *, where: str = "") -> None:
        """Raise an error for a record, or count it where bad records are dropped."""
        if not self.request.drop_bad:
            msg = f"{where or self.where}:{line}: {what}, or drop such records with the reading option on_bad=drop"
            raise ReadError(msg)
        progress.count("records dropped", 1)

    def _vertex(self, number: int, parent: int, document: Document, path: str) -> None:
        table = self.tables[number]
        self._left -= len(table.fields) + _FIELDS_PER_VERTEX
        if self._left < 0:
            more = "if that is intended, allow more with the reading option most_bytes"
            msg = f"{self.where} has too many vertices and fields, given or not; {more}"
            raise ReadError(msg)
        row = len(table)
        table.parent.append(parent)
        table.record.append(len(self.lines))
        for column in table.fields:
            column.append(None)
        plan = self._plans[number]
        plain = VALUE in plan.fields and is_extended(document)
        if isinstance(document, dict) and not plain:
            self._object(number, row, plan, document, path)
        elif VALUE in plan.fields:
            self._field(number, row, plan.fields[VALUE], document, path)
        elif document is None and self._elements:
            return  # an element without content
        else:
            _refuse(path or "the record", "must be an object with the fields of its type; correct it")

    def _object(self, number: int, row: int, plan: _Plan, document: Mapping[str, Document], path: str) -> None:
        for name, value in document.items():
            inner = f"{path}.{name}" if path else name
            if name in plan.lists:
                self._list(number, row, plan, name, value, inner)
            elif name in plan.types:
                self._children(row, plan.types[name], value, inner)
            else:
                self._part(number, row, plan, name, value, inner)

    def _part(self, number: int, row: int, plan: _Plan, key: str, value: Document, path: str) -> None:
        """Read what is at a key, or the only element of a list."""
        if key in plan.fields:
            self._field(number, row, plan.fields[key], value, path)
        elif key in plan.inner:
            self._inner(number, row, plan.inner[key], value, path)
        elif key in plan.dropped or (self.request.layout.drop_unlisted and key not in plan.conditions):
            self.ignored += 1
        elif key not in plan.conditions:
            _refuse(path, "is not in the schema; declare it: a hierarchy, 'sensitive' or 'drop'")

    def _list(self, number: int, row: int, plan: _Plan, name: str, value: Document, path: str) -> None:
        """Read the elements of a list, each by the step that it matches."""
        if value is None:
            return
        if not isinstance(value, list):
            _refuse(path, "must be a list")
        seen: set[str] = set()
        for element in _few(value, path):
            key = _match(plan.lists[name], element)
            if key in plan.types:
                self._vertex(plan.types[key], row, element, path)
            elif key in seen and key not in plan.dropped:
                _refuse(path, "has two elements where the schema declares one; declare them as a type, or correct it")
            else:
                self._part(number, row, plan, key, element, path)
            seen.add(key)

    def _inner(self, number: int, row: int, plan: _Plan, value: Document, path: str) -> None:
        value = self._single(value, path)
        if isinstance(value, dict):
            self._object(number, row, plan, value, path)
        elif value is not None:
            _refuse(path, "must be an object, since the schema declares fields within it; correct it")

    def _field(self, number: int, row: int, position: int, value: Document, path: str) -> None:
        value = self._single(value, path)
        column = self.tables[number].fields[position]
        try:
            column[row] = text_of_field(value)
        except TypeError:
            _refuse(
                path, "must be a plain value, not a list or an object; declare what is within it as fields or a type"
            )
        except ValueError:
            _refuse(path, "has a zero byte or half a character; correct it")

    def _single(self, value: Document, path: str) -> Document:
        if not self._elements or not isinstance(value, list):
            return value
        values = value
        if len(values) > 1:
            _refuse(path, "occurs twice; declare it as a type, or correct it")
        return values[0]

    def _children(self, row: int, number: int, value: Document, path: str) -> None:
        """Read a vertex within an object; in XML each element of its name."""
        if value is None:
            return
        if isinstance(value, list) and not self._elements:
            _refuse(path, "must be an object, not a list; declare its path with []")
        for child in _few(value if isinstance(value, list) else [value], path):
            self._vertex(number, row, child, path)


def _match(steps: Mapping[str, Step], element: Document) -> str:
    """The key of the step that means an element; empty if none does."""
    where, text = (), None
    for key, step in steps.items():
        if not step.where:
            return key
        if step.where != where:  # most steps ask for the same field
            where, text = step.where, text_at(element, step.where)
        if text == step.wanted:
            return key
    return ""


def _few(elements: list[Document], path: str) -> list[Document]:
    if len(elements) > MOST_CHILDREN:
        _refuse(path, f"has more than {MOST_CHILDREN:,} entries; split the record")
    return elements


def _refuse(path: str, what: str) -> NoReturn:
    name = path if path == "the record" else f"field {path[:_LONGEST_NAME]!r}"
    msg = f"{name} {what}"
    raise BadRecord(msg) from None


def _plans(layout: RecordLayout) -> list[_Plan]:
    """Arrange what the schema declares by the keys of objects."""
    plans = [_Plan() for _ in layout.schema.types]
    for number, kind in enumerate(layout.schema.types):
        fields = [*enumerate(kind.fields), *((None, name) for name in layout.dropped.get(kind.name, ()))]
        for position, name in fields:
            *steps, last = split_place(name)
            plan = plans[number].at(steps)
            key = plan.declare(last)
            if position is None:
                plan.dropped.add(key)
            else:
                plan.fields[key] = position
    for number, kind in enumerate(layout.schema.types[1:], start=1):
        *steps, last = split_place(kind.place)
        plan = plans[layout.schema.parents[number]].at(steps)
        plan.types[plan.declare(last)] = number
        plans[number].tell_apart(last)
    for plan in plans:
        plan.check_lists()
    return plans


# Published records as documents in the shape of their input: fields that are hidden or suppressed are absent.


@dataclass(frozen=True, eq=False)
class OutputDocuments:
    """Published records, to be written."""

    data: Records

    def documents(self, *, numbers: bool) -> list[Object]:
        """Make a document of each record; without `numbers` all values are texts, and types below are lists."""
        below: list[list[Object]] = []
        for number, table in enumerate(self.data.tables):
            kind, above = self.data.schema.types[number], self.data.schema.parents[number]
            columns = self.fields(number, numbers=numbers)
            objects = [] if self._is_plain(number) else self._objects(number, columns)
            below.append(objects)
            if above < 0:
                continue
            *steps, last = split_place(kind.place)
            listed = last if numbers else last._replace(listed=True)
            vertices = columns[0] if self._is_plain(number) else objects
            parents: list[int] = table.parent.tolist()
            for parent, vertex in zip(parents, vertices, strict=True):
                _put(below[above][parent], [*steps, listed], vertex)
        return below[0]

    def fields(self, number: int, *, numbers: bool) -> list[Sequence[Document]]:
        """Return the columns of a type: what is written of each vertex, None for nothing."""
        kind, table = self.data.schema.types[number], self.data.tables[number]
        columns: list[Sequence[Document]] = []
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

    def _is_plain(self, number: int) -> bool:
        """Whether vertices of a type are written as plain values: they have one field, and nothing below."""
        kind = self.data.schema.types[number]
        if kind.fields != (VALUE,) or self.data.schema.children(number) or kind.parent is None:
            return False
        return not split_place(kind.place)[-1].where

    def _objects(self, number: int, columns: Sequence[Sequence[Document]]) -> list[Object]:
        places = [split_place(name) for name in self.data.schema.types[number].fields]
        vertices: list[Object] = [{} for _ in range(len(self.data.tables[number]))]
        for steps, column in zip(places, columns, strict=True):
            for vertex, value in zip(vertices, column, strict=True):
                if value is not None:
                    _put(vertex, steps, value)
        return vertices


def _spell(text: str, *, number: bool) -> Document:
    return msgspec.Raw(text.encode()) if number and canonical_number(text) == text else text


def _put(vertex: Object, steps: list[Step], value: Document) -> None:
    for step in steps[:-1]:
        vertex = step.into(vertex)
    if steps[-1].listed:
        steps[-1].append(value, vertex)
    else:
        vertex[steps[-1].name] = value

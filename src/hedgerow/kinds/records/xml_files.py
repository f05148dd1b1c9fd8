"""Nested records as XML: one element per record.

A field is named as its place: `@born` for an attribute, `name` for an element with text, `address.city` for one within
another, and `#value` for the text of the element of a vertex itself. Comments and processing instructions are not
looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn

from hedgerow.data import Value
from hedgerow.errors import DomainError, ReadError
from hedgerow.formats.xml_parser import BETWEEN, Attributes, XmlParser, escape, has_only_characters
from hedgerow.kinds.records.documents import DEEPEST, OutputDocuments, RecordRows
from hedgerow.kinds.records.layout import VALUE, Document, Object, RecordRequest, list_at, split_place
from hedgerow.kinds.records.schema import RecordSchema

_NAME = re.compile(r"[^\W\d][\w-]*")


def read(where: str, content: bytes, request: RecordRequest, most: int) -> RecordRows:
    """Read the elements at the path of records."""
    schema = request.layout.schema
    rows = RecordRows(where, request, elements=True, most=most)
    parser = ElementParser(where, _path(schema.record, schema.types[0].name), schema.namespace, rows.add)
    parser.on_bad = rows.refuse
    parser.parse(content)
    return rows


def _path(record: str, root: str) -> list[str]:
    return (record or f"records.{root}").split(".")


def parse_elements(where: str, content: bytes, record: str) -> Iterator[tuple[int, Document, str]]:
    """List the line of each record, its document, and what is wrong with it."""
    listed: list[tuple[int, Document, str]] = []
    parser = ElementParser(where, record.split("."), "", lambda line, document: listed.append((line, document, "")))
    parser.parse(content)
    return iter(listed)


def check(values: Sequence[Value]) -> None:
    """Refuse values with characters that XML does not have."""
    for value in values:
        if isinstance(value, str) and (not has_only_characters(value) or value != value.strip()):
            msg = "values with control characters, or with blanks around them, cannot be written to XML; use JSON lines"
            raise DomainError(msg)


def write(output: OutputDocuments, columns: Mapping[str, str]) -> bytes:
    """Write one element per record, each on a line of its own."""
    del columns
    schema = output.data.schema
    for axis in schema.axes:
        check(output.data.domain.values(axis))
    *above, name = _path(schema.record, schema.types[0].name)
    _check_names([*above, name], schema)
    namespace = f' xmlns="{escape(schema.namespace)}"' if schema.namespace else ""
    heads = [f"<{step}{namespace if place == 0 else ''}>" for place, step in enumerate(above)]
    lines = [_element(name, document) for document in output.documents(numbers=False)]
    feet = [f"</{step}>" for step in reversed(above)]
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return ("\n".join([head, *heads, *lines, *feet]) + "\n").encode()


def _check_names(elements: Sequence[str], schema: RecordSchema) -> None:
    """Refuse fields and types whose names XML cannot have."""
    places = [kind.place for kind in schema.types[1:]]
    fields = [name for kind in schema.types for name in kind.fields if name != VALUE]
    steps = [step for place in (*places, *fields) for step in split_place(place.removesuffix(f".{VALUE}"))]
    names = [name.removeprefix("@") for step in steps for name in (step.name, *step.where)]
    for name in (*elements, *names):
        if not _NAME.fullmatch(name):
            msg = f"{name!r} cannot be the name of an element or attribute of XML; use JSON lines"
            raise DomainError(msg)


def _element(name: str, document: Document) -> str:
    if not isinstance(document, dict):
        return f"<{name}/>" if document is None else f"<{name}>{escape(str(document))}</{name}>"
    fields = document
    attributes = "".join(f' {key[1:]}="{escape(str(value))}"' for key, value in fields.items() if key.startswith("@"))
    inside = "".join(_inside(key, value) for key, value in fields.items() if not key.startswith("@"))
    return f"<{name}{attributes}>{inside}</{name}>" if inside else f"<{name}{attributes}/>"


def _inside(name: str, value: Document) -> str:
    if name == VALUE:
        return escape(str(value))
    values = value if isinstance(value, list) else [value]
    return "".join(_element(name, each) for each in values)


class _Open:
    """An element that is not closed yet."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.fields: Object = {f"@{name}": value for name, value in attributes.items()}
        self.texts: list[str] = []

    def close(self) -> Document:
        """Return what it contains: a text, nothing, or its fields."""
        text = "".join(self.texts).strip(" \t\n\r")
        if not self.fields:
            return text or None
        return {**self.fields, VALUE: text} if text else self.fields


class ElementParser:
    """Calls `add` with the line and the document of each element at a path; `on_bad` with the line of a bad one."""

    def __init__(self, where: str, path: list[str], namespace: str, add: Callable[[int, Document], None]) -> None:
        self._where, self._path, self._add = where, path, add
        self._prefix = namespace + BETWEEN if namespace else ""
        self.on_bad: Callable[[int, str], None] = self._fail_at
        self._parser = XmlParser(where, start=self._start, end=self._end, text=self._data)
        self._depth, self._matching = 0, 0
        self._open: list[tuple[str, _Open]] = []
        self._line = 0
        self._too_deep = False

    def parse(self, content: bytes) -> None:
        """Parse a whole file."""
        self._parser.parse(content)

    def _start(self, name: str, attributes: Attributes) -> None:
        depth = self._depth
        self._depth = depth + 1
        name = self._local(name)
        if depth == 0 and name != self._path[0]:
            named = ".".join(self._path)
            self._parser.fail(
                f"the file has no elements {named}; declare in the schema where its records are, as record = ..."
            )
        if self._open:
            self._nest(name, attributes)
        elif depth == self._matching and depth < len(self._path) and name == self._path[depth]:
            self._matching = depth + 1
            if self._matching == len(self._path):
                self._line, self._too_deep = self._parser.line, False
                self._open.append((name, _Open(self._named(attributes))))

    def _nest(self, name: str, attributes: Attributes) -> None:
        """Open an element within a record; what is nested too deep is not kept."""
        if len(self._open) > DEEPEST:
            self._too_deep = True
            return
        self._open.append((name, _Open(self._named(attributes))))

    def _end(self, name: str) -> None:
        del name
        self._depth -= 1
        if self._open and self._depth == len(self._path) + len(self._open) - 2:
            own, closed = self._open.pop()
            if self._open:
                list_at(self._open[-1][1].fields, own).append(closed.close())
            elif self._too_deep:
                self.on_bad(self._line, f"the record is nested more than {DEEPEST} deep; flatten it")
            else:
                self._add(self._line, closed.close())
        self._matching = min(self._matching, self._depth)

    def _data(self, text: str) -> None:
        if self._open and self._depth == len(self._path) + len(self._open) - 1:
            self._open[-1][1].texts.append(text)

    def _local(self, name: str) -> str:
        if self._prefix and name.startswith(self._prefix):
            return name.removeprefix(self._prefix)
        namespace, _, local = name.rpartition(BETWEEN)
        return f"{{{namespace}}}{local}" if namespace else local

    def _named(self, attributes: Attributes) -> Attributes:
        return {self._local(name): value for name, value in attributes.items()}

    def _fail_at(self, line: int, what: str) -> NoReturn:
        msg = f"{self._where}:{line}: {what}"
        raise ReadError(msg)

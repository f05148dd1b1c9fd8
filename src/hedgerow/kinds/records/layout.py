"""How files have nested records: which field is what; written into releases as one text, for receivers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import msgspec

from hedgerow.data import Axis, Domain
from hedgerow.data.axis import is_text
from hedgerow.errors import DomainError, ReadError
from hedgerow.kinds.records.schema import RecordSchema, VertexType

#: a nested record as a file has it; `Raw` is a number that is written as it is spelled
Document: TypeAlias = bool | int | float | str | msgspec.Raw | list["Document"] | dict[str, "Document"] | None
#: an object of a document
Object: TypeAlias = dict[str, Document]
#: the field of a vertex that is a plain value: the text of an element, or a value within a list
VALUE = "#value"


class SensitiveValues(NamedTuple):
    """How a sensitive attribute is read: its values if they are declared, and the edges of its buckets."""

    values: Axis | None = None
    buckets: tuple[Decimal, ...] = ()


class TableRules(NamedTuple):
    """How the table of a type is read: tables that add columns to its rows, and whether the first row of a key counts.

    Each of `lookups` is the name of a table and the columns by which its rows are looked up.
    """

    lookups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    first_rows: bool = False


@dataclass(frozen=True)
class RecordLayout:
    """What a schema file declares.

    Parameters
    ----------
    hierarchies
        The axis of each quasi-identifier.
    sensitive
        How each sensitive attribute is read, by its axis.
    dropped
        The fields that are not read, by type.
    first
        How many characters of the values of a quasi-identifier are read, by its axis; else all of them.
    tables
        How the table of a type is read, by its name.
    drop_unlisted
        Whether a field that is not declared is dropped instead of being an error.
    """

    schema: RecordSchema
    hierarchies: Mapping[str, Axis] = field(default_factory=dict[str, Axis])
    sensitive: Mapping[str, SensitiveValues] = field(default_factory=dict[str, SensitiveValues])
    dropped: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    first: Mapping[str, int] = field(default_factory=dict[str, int])
    tables: Mapping[str, TableRules] = field(default_factory=dict[str, TableRules])
    drop_unlisted: bool = False


class RecordRequest(NamedTuple):
    """What a format must know to read records.

    `received` is set if the layout comes from a release: a stranger wrote it. `groups` is set if a field may have a
    group of its hierarchy instead of a value.
    """

    layout: RecordLayout
    axes: Domain | None = None
    drop_bad: bool = False
    skip_lines: int = 0
    received: bool = False
    groups: bool = False


class _Type(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    parent: str | None = None
    quasi: tuple[str, ...] = ()
    sensitive: str | None = None
    path: str = ""
    numbers: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    parent_key: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()


class _Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    types: tuple[_Type, ...]
    record: str = ""
    namespace: str = ""


def schema_to_text(schema: RecordSchema) -> str:
    """Write a schema as one text.

    Examples
    --------
    >>> schema_to_text(RecordSchema((VertexType("patient", None, ("born",)),)))
    '{"types":[{"name":"patient","quasi":["born"]}]}'
    """
    types = tuple(_Type(**vars(kind)) for kind in schema.types)
    return msgspec.json.encode(_Schema(types, schema.record, schema.namespace)).decode()


def schema_from_text(text: str) -> RecordSchema:
    """Read the text of a schema, which may come from anyone."""
    try:
        read = msgspec.json.decode(text, type=_Schema)
        types = tuple(VertexType(*(getattr(kind, name) for name in kind.__struct_fields__)) for kind in read.types)
        schema = RecordSchema(types, read.record, read.namespace)
    except (msgspec.MsgspecError, DomainError, RecursionError, UnicodeError):
        raise _damaged() from None
    if schema_to_text(schema) != text:
        raise _damaged()
    return schema


def axes_to_text(domain: Domain) -> str:
    """Write the axes of a domain as one text; all values are listed, so that reading them takes no more memory."""
    axes = {name: [list(axis.values), [list(path) for path in axis.paths]] for name, axis in domain.axes}
    return msgspec.json.encode(axes).decode()


def axes_from_text(text: str) -> Domain:
    """Read the text of axes, which may come from anyone."""
    try:
        lists = msgspec.json.decode(text, type=dict[str, tuple[list[str | int], list[list[str]]]])
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        raise _damaged() from None
    axes = {name: {"values": values, "paths": paths} for name, (values, paths) in lists.items()}
    plain = {"source": "inferred from the data", "records_per_person": None, "axes": axes}
    try:
        domain = Domain.from_plain(plain)  # every value is listed, so that the text bounds their number
    except DomainError:
        raise _damaged() from None
    if domain is None or axes_to_text(domain) != text:
        raise _damaged()
    return domain


def _damaged() -> ReadError:
    return ReadError("the layout of the records is not as Hedgerow writes it; it was changed or damaged")


# Places in documents of nested records: keys joined by dots, some of them lists.
#
# `courses[]` is a list: all of its elements if it is the last step of a type, and else its only element.
# `entry[resource.resourceType=Patient]` are the elements of a list that have this text there, so that one list can have
# vertices of several types; beside it `entry[]` means all other elements.

#: what closes a namespace or a condition, in which dots do not end a step
_CLOSING = {"{": "}", "[": "]"}
_LIST = re.compile(r"(?P<name>[^\[\]]+)\[(?:(?P<where>[^\[\]=]+)=(?P<wanted>[^\[\]]+))?\]")


class Step(NamedTuple):
    """One step of a place: a key, whether it is a list, and the condition of the elements that are meant."""

    name: str
    listed: bool = False
    where: tuple[str, ...] = ()
    wanted: str = ""

    def __str__(self) -> str:
        """The step as a schema file has it."""
        condition = f"{'.'.join(self.where)}={self.wanted}" if self.where else ""
        return f"{self.name}[{condition}]" if self.listed else self.name

    def matches(self, element: Document) -> bool:
        """Whether an element of the list is meant."""
        return not self.where or text_at(element, self.where) == self.wanted

    def into(self, document: Object) -> Object:
        """Return the object at this step of a document, a new one if it has none."""
        if not self.listed:
            return object_at(document, self.name)
        for element in list_at(document, self.name):
            if isinstance(element, dict) and self.matches(element):
                return element
        made: Object = {}
        self.append(made, document)
        return made

    def append(self, element: Document, document: Object) -> None:
        """Add an element to the list of a document; an object gets the text that tells it from others."""
        if self.where and isinstance(element, dict):
            inner = element
            for step in self.where[:-1]:
                inner = object_at(inner, step)
            inner[self.where[-1]] = self.wanted
        list_at(document, self.name).append(element)


def object_at(document: Object, key: str) -> Object:
    """Return the object at a key, a new one if there is none."""
    inner = document.get(key)
    if not isinstance(inner, dict):
        inner = document[key] = {}
    return inner


def list_at(document: Object, key: str) -> list[Document]:
    """Return the list at a key, a new one if there is none."""
    inner = document.get(key)
    if not isinstance(inner, list):
        inner = document[key] = []
    return inner


def text_at(element: Document, keys: Sequence[str]) -> str | None:
    """Return the text at some keys of an element, each within the one before; None if there is none."""
    for key in keys:
        element = _only(element)
        element = element.get(key) if isinstance(element, dict) else None
    try:
        return text_of_field(_only(element))
    except (TypeError, ValueError):
        return None


def text_at_place(document: Document, place: str) -> str | None:
    """Return the text at a place of a document; None if there is none, or if there are several."""
    for step in split_place(place):
        document = _only(document)
        document = document.get(step.name) if isinstance(document, dict) else None
        if step.listed and isinstance(document, list):
            document = list(filter(step.matches, document))
    return text_at(document, ())


def _only(value: Document) -> Document:
    """What a list of one element contains, since every element of XML is a list."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def split_place(place: str) -> list[Step]:
    """Split a place into its steps.

    Examples
    --------
    >>> [str(step) for step in split_place("address.{urn:a.b}city")]
    ['address', '{urn:a.b}city']
    >>> split_place("entry[resource.type=Patient].name[]")[0]
    Step(name='entry', listed=True, where=('resource', 'type'), wanted='Patient')
    """
    starts, inside = [0], ""
    for position, sign in enumerate(place):
        if inside:
            inside = "" if sign == inside else inside
        elif sign == ".":
            starts.append(position + 1)
        else:
            inside = _CLOSING.get(sign, "")
    return [_step(place[start : end - 1]) for start, end in pairwise([*starts, len(place) + 1])]


def _step(text: str) -> Step:
    parsed = _LIST.fullmatch(text)
    if parsed is None:
        return Step(text)  # a key may have any name
    where = tuple(parsed["where"].split(".")) if parsed["where"] else ()
    return Step(parsed["name"], listed=True, where=where, wanted=parsed["wanted"] or "")


# Values of fields of nested records: numbers in one spelling, buckets, and texts of whatever a file has.

_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?")
#: numbers from memory must be smaller than this
_LARGEST = 10**40
#: how MongoDB exports values that JSON has no type for
_EXTENDED = {"$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"}


class Number(str):
    """A number as it is spelled in a file."""

    __slots__ = ()


def canonical_number(text: str) -> str | None:
    """Spell a number in the one way that shows nothing but its value; None if it is not a number.

    Examples
    --------
    >>> [canonical_number(text) for text in ("2.170", "3e2", "-0.0", "1,5", "1e999")]
    ['2.17', '300', '0', None, None]
    """
    if not _NUMBER.fullmatch(text):
        return None
    spelled = f"{Decimal(text):f}"
    if "." in spelled:
        spelled = spelled.rstrip("0").rstrip(".")
    return spelled.removeprefix("-") if not spelled.strip("-0") else spelled.removeprefix("+")


def _extended_number(value: Document) -> Number | None:
    if isinstance(value, dict) and len(value) == 1:
        [(name, number)] = value.items()
        return Number(number) if name in _EXTENDED and isinstance(number, str) else None
    return None


def is_extended(value: Document) -> bool:
    """Whether a value is a number in the extended JSON of MongoDB, such as `{"$numberInt": "7"}`."""
    return _extended_number(value) is not None


def text_of_field(value: Document) -> str | None:
    """Return the text of a plain value: None if there is none.

    Raises
    ------
    TypeError
        If it is a list or an object; `ValueError` if the text cannot be written.
    """
    extended = _extended_number(value)
    value = value if extended is None else extended
    if isinstance(value, (int, float)) and type(value) in {int, float} and abs(value) < _LARGEST:
        value = Number(value)  # from memory; a number that is none is not less
    if value is None or value == "":
        return None
    if isinstance(value, Number):
        return canonical_number(value) or str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        raise TypeError
    if not is_text(value):
        raise ValueError
    return value


def bucket_of(text: str, edges: Sequence[Decimal]) -> str | None:
    """Name the bucket of a number: from an edge, up to but without the next one, except for the last.

    Examples
    --------
    >>> edges = [Decimal(0), Decimal("0.5"), Decimal(1)]
    >>> [bucket_of(text, edges) for text in ("0.49", "0.5", "1", "1.1")]
    ['[0, 0.5)', '[0.5, 1]', '[0.5, 1]', None]
    """
    number = Decimal(text)
    if not edges[0] <= number <= edges[-1]:
        return None
    place = min(bisect_right(edges, number), len(edges) - 1)
    closing = "]" if place == len(edges) - 1 else ")"
    return f"[{edges[place - 1]}, {edges[place]}{closing}"

"""How files have nested records: which field is what; written into releases as one text, for receivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

import msgspec

from hedgerow.data import Axis, Domain
from hedgerow.data.record_schema import RecordSchema, VertexType
from hedgerow.errors import DomainError, ReadError

__all__ = [
    "VALUE",
    "RecordLayout",
    "RecordRequest",
    "SensitiveValues",
    "TableRules",
    "axes_from_text",
    "axes_to_text",
    "schema_from_text",
    "schema_to_text",
]

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

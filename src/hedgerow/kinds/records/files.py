"""How nested records are read and written: JSON, XML, and tables joined by keys, each with a schema file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, cast

import numpy as np

from hedgerow import progress
from hedgerow.data import Axis, Domain, Source
from hedgerow.errors import DomainError, ParameterError, ReadError
from hedgerow.formats import csv_table
from hedgerow.formats.codec import Codec, Format
from hedgerow.formats.options import read_choice, read_whole_number
from hedgerow.kinds.records import joined_tables, json_files, xml_files
from hedgerow.kinds.records.anatomy_words import describe_part
from hedgerow.kinds.records.data import Records, VertexTable
from hedgerow.kinds.records.documents import OutputDocuments, RecordRows, VertexRows
from hedgerow.kinds.records.hierarchy import Hierarchy
from hedgerow.kinds.records.joined_tables import published_keys, table_names
from hedgerow.kinds.records.layout import (
    RecordLayout,
    RecordRequest,
    SensitiveValues,
    axes_from_text,
    axes_to_text,
    bucket_of,
    canonical_number,
    schema_from_text,
    schema_to_text,
)
from hedgerow.kinds.records.schema import RecordSchema, VertexType
from hedgerow.kinds.records.schema_file import MISSING, read_record_schema
from hedgerow.numerics.arrays import Flags, Integers
from hedgerow.statement import File

_OPTIONS = {
    "schema": "the schema file (TOML), also given by --schema: the types of vertices, and what each field is",
    "groups": "whether a field may have a group of its hierarchy instead of a value: no (the default), or yes, for "
    "data that was generalised",
    "layout": "instead of a schema file, the layout that release.json has",
    "axes": "with a layout, the hierarchies that release.json has",
}
_FORMATS = {
    "jsonl": Format(
        endings=("jsonl", "ndjson"),
        layout="one JSON object per line, one per record",
        read=json_files.read_lines,
        write=json_files.write_lines,
    ),
    "json": Format(
        endings=("json",),
        layout="a JSON list with one object per record",
        read=json_files.read_list,
        write=json_files.write_list,
    ),
    "xml": Format(
        endings=("xml",),
        layout="XML with one element per record",
        read=xml_files.read,
        check=xml_files.check,
        write=xml_files.write,
    ),
    "csv": Format(
        endings=("csv",),
        layout="one CSV table per type",
        read=joined_tables.read,
        check=csv_table.check,
        write=joined_tables.write,
        written_as="zip",
    ),
    "zip": Format(
        endings=("zip",),
        layout="an archive with one CSV table per type, joined by numbers",
        read=joined_tables.read,
        check=csv_table.check,
        write=joined_tables.write,
        libraries=("zlib",),
    ),
}


def _request(columns: Mapping[str, str], options: Mapping[str, str]) -> RecordRequest:
    del columns
    drop_bad = read_choice(options, "on_bad", "error", "drop") == "drop"
    skip_lines = read_whole_number(options, "skip_lines", "lines") or 0
    if "layout" in options:
        axes = axes_from_text(options["axes"]) if "axes" in options else None
        layout = RecordLayout(schema_from_text(options["layout"]))
        return RecordRequest(layout, axes, drop_bad, skip_lines, received=True, groups=True)
    if "schema" not in options:
        msg = "records need a schema file; give it with --schema FILE, or draft one: hedgerow schema DATA --out FILE"
        raise ParameterError(msg)
    groups = read_choice(options, "groups", "no", "yes") == "yes"
    return RecordRequest(read_record_schema(options["schema"]), None, drop_bad, skip_lines, groups=groups)


def _expect(options: Mapping[str, str]) -> Records | None:
    """Make records, none of them, of what a schema file declares; of numbers in buckets these are the buckets."""
    if "schema" not in options or "layout" in options:
        return None
    layout = read_record_schema(options["schema"])
    values: dict[str, Axis] = {}
    for name, given in layout.sensitive.items():
        buckets = [str(bucket_of(str(edge), given.buckets)) for edge in given.buckets[:-1]]
        if given.values is not None or buckets:
            values[name] = given.values or Axis(tuple(buckets), tuple((bucket,) for bucket in buckets))
    tables = [
        VertexTable(np.zeros(0, np.int64), np.zeros((0, len(kind.quasi)), np.int64), np.zeros(0, np.int64))
        for kind in layout.schema.types
    ]
    domain = Domain((*layout.hierarchies.items(), *values.items()), Source.DECLARED)
    return Records(domain, layout.schema, tuple(tables))


def _from_memory(source: Any, request: RecordRequest) -> RecordRows | None:
    """Take a list of records as nested dictionaries."""
    if not isinstance(source, (list, tuple)):
        return None
    rows = RecordRows("the list", request)
    for number, document in enumerate(cast("list[Any]", source), start=1):
        rows.add(number, document)
    return rows


def _make(rows: RecordRows, domain: Domain | None, source: Source, options: Mapping[str, str]) -> Records:
    """Look fields up on their axes; records with a value outside them are refused, or dropped."""
    del options
    if domain is not None and not rows.request.received:
        _require_declared(rows.request.layout, domain)
    return _Encoder(rows, domain or rows.request.axes, source).records()


def _require_declared(layout: RecordLayout, domain: Domain) -> None:
    """Refuse a domain with other hierarchies or buckets than the schema file: they decide what counts as equal."""
    expected = dict(layout.hierarchies)
    for name, given in layout.sensitive.items():
        values = domain.values(name)
        paths = tuple((str(bucket_of(str(value), given.buckets)),) for value in values) if given.buckets else ()
        expected[name] = given.values or Axis(values, paths)
    for name, axis in expected.items():
        if (tuple(domain.axis(name).values), domain.axis(name).paths) != (tuple(axis.values), axis.paths):
            msg = f"{name!r} has other values, groups or buckets in the domain than in the schema file; omit the domain"
            raise DomainError(msg)


class _Encoder:
    """Turns columns of texts into codes, and remembers which records cannot be."""

    def __init__(self, rows: RecordRows, domain: Domain | None, source: Source) -> None:
        self._rows, self._domain, self._source = rows, domain, source
        self._layout = rows.request.layout
        self._bad = np.zeros(len(rows.lines), np.bool_)
        self._bad[rows.bad] = True
        self._axes: dict[str, Axis] = {}

    def records(self) -> Records:
        """Make the records."""
        schema = self._layout.schema
        labels = [self._labels(kind, table) for kind, table in zip(schema.types, self._rows.tables, strict=True)]
        texts = [
            self._sensitive_texts(kind, table) for kind, table in zip(schema.types, self._rows.tables, strict=True)
        ]
        declared = all(given.values is not None for given in self._layout.sensitive.values())
        tables: list[VertexTable] = []
        for kind, table, own, values in zip(schema.types, self._rows.tables, labels, texts, strict=True):
            parent = np.array(table.parent, np.int64)
            tables.append(VertexTable(parent, own, self._sensitive(kind, table, values)))
        axes = tuple((name, self._axes[name]) for name in schema.axes)
        source = Source.DECLARED if declared else self._source
        domain = Domain(axes, source) if self._domain is None else self._domain
        progress.count("records dropped", int(self._bad.sum()))
        progress.count("values that the schema drops", self._rows.ignored)
        return Records(domain, schema, tuple(tables)).only(~self._bad)

    def _axis(self, name: str) -> Axis:
        axis = self._layout.hierarchies[name] if self._domain is None else self._domain.axis(name)
        self._axes[name] = axis
        return axis

    def _labels(self, kind: VertexType, table: VertexRows) -> Integers:
        labels = np.zeros((len(table), len(kind.quasi)), np.int64)
        for position, name in enumerate(kind.quasi_axes):
            axis = self._axis(name)
            known: dict[str | None, int] = {**axis.by_text}
            if self._rows.request.groups:
                known = {label: code for code, label in enumerate(Hierarchy.from_axis(axis).names)}
            known[None] = known.pop(MISSING, -1)
            column = table.fields[position]
            short = self._layout.first.get(name)
            labels[:, position] = [known.get(text if text in known else text and text[:short], -1) for text in column]
            empty = np.array([text is None for text in column], np.bool_)
            field = _field(kind, table, kind.quasi[position])
            unknown = labels[:, position] < 0
            what = f"{field} is missing; fill it in, or declare it with missing = true"
            self._refuse(table, unknown & empty, what)
            self._refuse_groups(table, unknown, column, axis, field)
            self._refuse(table, unknown, f"{field} has a value outside its hierarchy; declare the value")
        return labels

    def _refuse_groups(
        self, table: VertexRows, unknown: Flags, column: list[str | None], axis: Axis, field: str
    ) -> None:
        """Refuse a group of the hierarchy where values are read: this is generalised data."""
        if unknown.any() and not self._rows.request.groups:
            groups = {*Hierarchy.from_axis(axis).names} - {MISSING}
            what = f"{field} has a group of values; read generalised data with the reading option groups=yes"
            self._refuse(table, unknown & np.array([text in groups for text in column], np.bool_), what)

    def _sensitive_texts(self, kind: VertexType, table: VertexRows) -> list[str | None]:
        """Return the sensitive values; numbers in one spelling, texts without blanks around them.

        Otherwise two spellings of one value would count as two values.
        """
        if kind.sensitive is None:
            return []
        column = [text and (text.strip() or None) for text in table.fields[len(kind.quasi)]]
        if kind.sensitive not in kind.numbers:
            return column
        numbers = [None if text is None else canonical_number(text) for text in column]
        pairs = zip(column, numbers, strict=True)
        bad = np.array([text is not None and number is None for text, number in pairs], np.bool_)
        self._refuse(table, bad, f"{_field(kind, table, kind.sensitive)} is not a number; correct it")
        return numbers

    def _sensitive(self, kind: VertexType, table: VertexRows, texts: list[str | None]) -> Integers:
        name = kind.sensitive_axis
        if name is None:
            return np.full(len(table), -1, np.int64)
        if self._domain is None:
            given = self._layout.sensitive[name]
            self._axes[name] = axis = given.values or self._infer(kind, table, texts, given)
        else:
            axis = self._axis(name)
        codes = np.array([-1 if text is None else axis.by_text.get(text, -1) for text in texts], np.int64)
        bad = (codes < 0) & np.array([text is not None for text in texts], np.bool_)
        self._refuse(table, bad, f"{_field(kind, table, kind.sensitive)} has a value that is not declared; declare it")
        return codes

    def _infer(self, kind: VertexType, table: VertexRows, texts: list[str | None], given: SensitiveValues) -> Axis:
        """List the sensitive values that occur in records that are kept, with their buckets."""
        buckets = {text: bucket_of(text, given.buckets) for text in {*texts} if text} if given.buckets else {}
        outside = np.array([text is not None and buckets.get(text, "") is None for text in texts], np.bool_)
        self._refuse(table, outside, f"{_field(kind, table, kind.sensitive)} is outside of all buckets; add a bucket")
        dropped: list[bool] = self._bad[np.array(table.record, np.int64)].tolist()
        kept = {text for text, gone in zip(texts, dropped, strict=True) if text is not None and not gone}
        values = sorted(kept, key=Decimal) if kind.sensitive in kind.numbers else sorted(kept)
        paths = tuple((str(buckets[value]),) for value in values) if given.buckets else ()
        return Axis(tuple(values) or ("none",), paths)

    def _refuse(self, table: VertexRows, bad: Flags, what: str) -> None:
        """Refuse the first such vertex, or drop all records with one."""
        if not bad.any():
            return
        if not self._rows.request.drop_bad:
            self._rows.refuse_vertices(table, np.flatnonzero(bad).tolist(), what)
        self._bad[np.array(table.record, np.int64)[bad]] = True


def _field(kind: VertexType, table: VertexRows, name: str | None) -> str:
    """A field, for messages; the line is that of the row, also if another table adds the field to it."""
    place = table.looked_up.get(name or "")
    return f"field {name!r} of {kind.name!r}" + (f" (looked up in {place})" if place else "")


def _reread_options(data: Records, form: str) -> dict[str, str]:
    """The layout and, if the domain is not public by itself, the hierarchies and the values that are published."""
    del form
    layout = {"layout": schema_to_text(data.schema)}
    return layout if data.domain.source is not Source.INFERRED else {**layout, "axes": axes_to_text(data.domain)}


def _accepts_reread(options: Mapping[str, str]) -> bool:
    """Whether `_reread_options` can return these options."""
    try:
        if "layout" in options:
            schema_from_text(options["layout"])
        if "axes" in options:
            axes_from_text(options["axes"])
    except ReadError:
        return False
    return set(options) <= {"layout", "axes"}


def _explain(file: File) -> str:
    """Describe the layout of the records for a receiver."""
    schema = schema_from_text(file.options["layout"])
    places = _places_in_tables(schema) if file.format == "zip" else [_place_of(kind) for kind in schema.types]
    part = describe_part(file.data, schema)
    parts = [f"{_FORMATS[file.format].layout}. Siblings have no order.", *([part.note] if part else [])]
    for kind, place in zip(schema.types, places, strict=True):
        fields = [f"`{name}`" for name in kind.fields]
        numbers = part.numbers(kind) if part else 0
        labels, added = fields[: len(kind.quasi) - numbers], fields[len(kind.quasi) - numbers : len(kind.quasi)]
        own = f"quasi-identifiers {_listed(labels)}, {'as they were' if part else 'each a value or a group of values'}"
        numbered = f"with {_listed(added)}" if added else ""
        sensitive = f"{fields[-1]} is sensitive and as it was" if kind.sensitive else ""
        described = "; ".join(part for part in (own if labels else "", numbered, sensitive) if part)
        parts.append(f"{_article(kind.name).capitalize()} `{kind.name}` is {place}: {described}.")
    return " ".join(parts)


def _place_of(kind: VertexType) -> str:
    return f"at `{kind.place}` of {_article(kind.parent)} {kind.parent}" if kind.parent else "the record itself"


def _article(name: str) -> str:
    return "an" if name[:1].lower() in "aeio" else "a"


def _places_in_tables(schema: RecordSchema) -> list[str]:
    """The table of each type, and the columns that join it."""
    schema = published_keys(schema)
    return [_row_of(kind, name) for kind, name in zip(schema.types, table_names(schema), strict=True)]


def _row_of(kind: VertexType, table: str) -> str:
    parts = [f"a row of `{table}`"]
    parts += [f"with the number `{name}`" for name in kind.key]
    parts += [f"of the {kind.parent} with the number `{name}`" for name in kind.parent_key]
    return ", ".join(parts)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


CODEC = Codec(
    kind="records",
    columns={},
    written=(),
    options=_OPTIONS,
    formats=_FORMATS,
    request=_request,
    from_memory=_from_memory,
    make=_make,
    lay_out=OutputDocuments,
    explain=_explain,
    order="Records, and siblings within them, are sorted by their published content.",
    reread_options=_reread_options,
    accepts_reread=_accepts_reread,
    expect=_expect,
)

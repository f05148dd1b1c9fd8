"""Nested records as CSV tables, one per type, joined by keys: files in one folder, or members of one zip archive.

The schema names the table of each type, its key and the key of its parent. Published tables have new numbers as keys.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from hedgerow import progress
from hedgerow.errors import DomainError, ReadError
from hedgerow.formats import csv_table
from hedgerow.formats.csv_table import CellTable, read_cells
from hedgerow.formats.files import GZIP_LEVEL
from hedgerow.formats.long_table import ReadRequest
from hedgerow.formats.referenced_files import read_named
from hedgerow.kinds.records.documents import MOST_CHILDREN, OutputDocuments, RecordRows, VertexRows
from hedgerow.kinds.records.layout import RecordRequest, TableRules
from hedgerow.kinds.records.schema import RecordSchema, VertexType
from hedgerow.numerics.arrays import Integers

Key: TypeAlias = tuple[str | None, ...]
Reader: TypeAlias = Callable[[str], bytes]
_ZIP = b"PK"
_TIME = (1980, 1, 1, 0, 0, 0)
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


def read(where: str, content: bytes, request: RecordRequest, most: int) -> RecordRows:
    """Read the table of the root, and the tables of the types below it."""
    schema = request.layout.schema
    if content.startswith(_ZIP):
        names = table_names(schema)
        added = {table for rules in request.layout.tables.values() for table, _ in rules.lookups}
        members = _unpack(where, content, [*names, *sorted(added.difference(names))], most)
        places = {name: str(Path(where, name)) for name in members}
        return _Join(places, request, names, members.__getitem__).rows()
    if request.received:
        msg = f"{where} is not an archive of tables as Hedgerow writes it; it was changed or damaged"
        raise ReadError(msg)
    folder = Path(where).parent

    def fetch(name: str) -> bytes:
        return content if name == Path(where).name else read_named(folder, name, "the schema", most=most)[1]

    names = [Path(where).name, *(kind.path or f"{kind.name}.csv" for kind in schema.types[1:])]
    places = {name: str(Path(folder, name)) for name in names[1:]} | {names[0]: where}
    return _Join(places, request, names, fetch).rows()


def write(output: OutputDocuments, columns: Mapping[str, str]) -> bytes:
    """Write an archive of tables; vertices have numbers, and name the number of their parent."""
    del columns
    schema = published_keys(output.data.schema)
    names = table_names(schema)
    if len(set(names)) < len(names):
        msg = "two types have tables of one name; give each type a table of its own"
        raise DomainError(msg)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, (name, kind) in enumerate(zip(names, schema.types, strict=True)):
            table = output.data.tables[number]
            for axis in kind.axes:
                csv_table.check(output.data.domain.values(axis))
            cells: dict[str, Any] = {key: np.arange(1, len(table) + 1) for key in kind.key}
            cells |= dict.fromkeys(kind.parent_key, table.parent + 1)
            fields = zip(kind.fields, output.fields(number, numbers=False), strict=True)
            cells |= {field: pl.Series(column, dtype=pl.String) for field, column in fields}
            info, text = zipfile.ZipInfo(name, _TIME), pl.DataFrame(cells).write_csv()
            packed.writestr(info, text, zipfile.ZIP_DEFLATED, GZIP_LEVEL)
    return archive.getvalue()


def table_names(schema: RecordSchema) -> list[str]:
    """The file names of published tables: as they were, unless one table has vertices of two types."""
    names = [_table_name(kind) for kind in schema.types]
    return [
        name if names.count(name) == 1 else f"{kind.name}.csv" for name, kind in zip(names, schema.types, strict=True)
    ]


def _table_name(kind: VertexType) -> str:
    name = kind.path.removesuffix(".gz").removesuffix(".zst")
    return Path(name).name if name.endswith(".csv") else f"{kind.name}.csv"


def published_keys(schema: RecordSchema) -> RecordSchema:
    """Return the schema of published tables: one column per key, that no attribute has."""
    keys: dict[str | None, str] = {}
    types: list[VertexType] = []
    for number, kind in enumerate(schema.types):
        key = _free(kind.key, kind.fields, f"{kind.name}_id")
        keys[kind.name] = key
        above = ()
        if kind.parent is not None:
            above = (_free(kind.parent_key, (*kind.fields, key), f"{keys[kind.parent]}_of_{kind.parent}"),)
        types.append(replace(kind, key=(key,) if schema.children(number) else (), parent_key=above))
    return replace(schema, types=tuple(types))


def _free(names: Sequence[str], taken: Sequence[str], name: str) -> str:
    """Return the first of the names that is not taken, or a new one."""
    free = next((each for each in names if each not in taken), name)
    while free in taken:
        free += "_"
    return free


def _unpack(where: str, content: bytes, names: list[str], most: int) -> dict[str, bytes]:
    """Unpack the tables of an archive, at most so many bytes together."""
    tables: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.namelist()
            for name in names if sorted(members) == sorted(names) else ():
                with archive.open(name) as member:
                    tables[name] = member.read(most + 1)
                most -= len(tables[name])
                if most < 0:
                    break
    except _DAMAGED:
        msg = f"{where} is not a zip archive of tables, or it is damaged"
        raise ReadError(msg) from None
    if most < 0:
        more = "if that is intended, allow more with the reading option most_bytes"
        msg = f"{where} holds too many bytes when decompressed; {more}"
        raise ReadError(msg)
    if len(tables) < len(names):
        msg = f"{where} must have the tables of the schema and nothing else: {', '.join(names)}"
        raise ReadError(msg)
    return tables


class _Join:
    """Reads the tables of a schema, parents first, and joins them by keys."""

    def __init__(self, places: Mapping[str, str], request: RecordRequest, names: Sequence[str], fetch: Reader) -> None:
        # where each table is, for messages: in the folder of the data, or in an archive
        self._places, self._request, self._names, self._fetch = places, request, names, fetch
        self._rows = RecordRows(places[names[0]], request)
        layout = request.layout
        self._schema = published_keys(layout.schema) if request.received else layout.schema
        self._dropped = layout.dropped
        self._keys: list[dict[Key, int]] = []

    def rows(self) -> RecordRows:
        """Read all tables."""
        for number, kind in enumerate(self._schema.types):
            where = self._places[self._names[number]]
            table = self._read(where, kind, self._fetch(self._names[number]))
            if number == 0:
                parent = np.arange(len(table.frame))
                self._rows.lines = table.line.tolist()
            else:
                table, parent = self._join(where, number, table)
            self._add(number, where, table, parent)
            self._keys.append(self._index(where, number, table))
        return self._rows

    def _read(self, where: str, kind: VertexType, content: bytes) -> CellTable:
        request, rules = self._request, self._request.layout.tables.get(kind.name, TableRules())
        lines = ReadRequest("records", None, (), (), {}, drop_bad=request.drop_bad, skip_lines=request.skip_lines)
        table = read_cells(where, content, lines)
        for name, key in rules.lookups:
            before, table = table, self._look_up(where, table, name, key)
            added = set(table.frame.columns).difference(before.frame.columns)
            own = self._rows.tables[self._schema.types.index(kind)]
            own.looked_up |= dict.fromkeys(added, self._place(where, name))
        if rules.first_rows and set(kind.key) <= set(table.frame.columns):
            table = _first_rows(table, kind)
        needed = (*kind.fields, *kind.key, *kind.parent_key)
        for name in needed:
            if name not in table.frame.columns:
                msg = f"{where} has no column {name!r}, which the schema declares for {kind.name!r}"
                raise ReadError(msg)
        known = {*needed, *self._dropped.get(kind.name, ())}
        for name in table.frame.columns:
            if name not in known and not request.layout.drop_unlisted:
                msg = f"{where}: column {name!r} is not in the schema; declare it: a hierarchy, 'sensitive' or 'drop'"
                raise ReadError(msg)
        self._rows.ignored += len(table.frame) * len(set(table.frame.columns) - set(needed))
        return table

    def _place(self, where: str, name: str) -> str:
        """Where a table is that another one looks up, for messages."""
        return self._places.get(name, str(Path(where).parent / name))

    def _look_up(self, where: str, table: CellTable, name: str, key: Sequence[str]) -> CellTable:
        """Add the columns of a table that says more about what a column names, such as a list of courses."""
        other = read_cells(self._place(where, name), self._fetch(name), ReadRequest("records", None, (), (), {})).frame
        if any(column not in frame.columns for column in key for frame in (table.frame, other)):
            msg = f"{where}: a lookup needs the columns {', '.join(key)} here and in {name}"
            raise ReadError(msg)
        several = [column for column in other.columns if column not in key and column in table.frame.columns]
        if several or other.select(key).is_duplicated().any():
            what = f"column {several[0]!r} is also in {name}" if several else f"{name} has a key twice"
            msg = f"{where}: a lookup must add new columns, one row per key; {what}"
            raise ReadError(msg)
        return CellTable(table.frame.join(other, on=list(key), how="left", maintain_order="left"), table.line)

    def _join(self, where: str, number: int, table: CellTable) -> tuple[CellTable, Integers]:
        """Find the parents of the vertices of a table, and sort them by their parents."""
        kind, above = self._schema.types[number], self._schema.parents[number]
        key = self._schema.types[above].key
        if not key or len(kind.parent_key) != len(key):
            msg = f"the schema must declare the key of {kind.parent!r}, and a parent_key of {kind.name!r} like it"
            raise ReadError(msg)
        known = self._keys[above]
        parent = np.array([known.get(key, -1) for key in _key_cells(table.frame, kind.parent_key)], np.int64)
        orphans = parent < 0
        if orphans.any():
            if not self._request.drop_bad:
                line = int(table.line[np.argmax(orphans)])
                what = f"the row belongs to no row of {kind.parent!r}; correct it, or drop such rows with on_bad=drop"
                msg = f"{where}:{line}: {what}"
                raise ReadError(msg)
            progress.count("rows without a parent", int(orphans.sum()))
        order = np.flatnonzero(~orphans)
        order = order[np.argsort(parent[order], kind="stable")]
        return CellTable(table.frame[order], table.line[order]), parent[order]

    def _add(self, number: int, where: str, table: CellTable, parent: Integers) -> None:
        kind, own = self._schema.types[number], self._rows.tables[number]
        own.where, own.lines = where, table.line.tolist()
        above = self._schema.parents[number]
        own.parent = parent.tolist()
        record = parent if above < 0 else np.array(self._rows.tables[above].record, np.int64)[parent]
        own.record = record.tolist()
        own.fields = [[cell or None for cell in table.frame[name].to_list()] for name in kind.fields]
        if above >= 0:
            crowded = np.bincount(parent, minlength=1)[parent] > MOST_CHILDREN
            what = f"there are more than {MOST_CHILDREN:,} rows of {kind.name!r}; split the record"
            self._refuse(own, np.flatnonzero(crowded).tolist(), what)

    def _index(self, where: str, number: int, table: CellTable) -> dict[Key, int]:
        """Number the rows of a table by their keys; records with a key twice, or without one, are bad.

        A key of two records cannot be dropped with either of them: the rows below it may belong to the other.
        """
        kind, index = self._schema.types[number], dict[Key, int]()
        if not kind.key:
            return index
        own = self._rows.tables[number]
        record = own.record
        bad: list[int] = []
        for row, key in enumerate(_key_cells(table.frame, kind.key)):
            if None in key:
                bad.append(row)
                continue
            first = index.setdefault(key, row)
            if first != row:
                bad += [row, first]
                if number and record[row] != record[first]:
                    msg = f"{where}:{table.line[row]}: another record has a {kind.name!r} with the same key; correct it"
                    raise ReadError(msg)
        self._refuse(own, bad, f"two rows of {kind.name!r} have the same key, or one has none; correct it")
        return index

    def _refuse(self, table: VertexRows, vertices: list[int], what: str) -> None:
        """Refuse the first of some vertices, or drop their records."""
        if not vertices:
            return
        if not self._request.drop_bad:
            self._rows.refuse_vertices(table, vertices, what)
        self._rows.bad += [table.record[vertex] for vertex in vertices]


def _first_rows(table: CellTable, kind: VertexType) -> CellTable:
    """Keep the first row of each key; rows without a key are kept, to be refused."""
    gaps = pl.any_horizontal(pl.col(name).is_null() | (pl.col(name) == "") for name in kind.key)
    kept = np.flatnonzero(table.frame.select(pl.struct(*kind.key).is_first_distinct() | gaps).to_series().to_numpy())
    named = [name for name in {*kind.key, *kind.fields} if name in table.frame.columns]
    differing = table.frame.select(named).n_unique() - table.frame.select(kind.key).n_unique()
    progress.count(f"values of {kind.name!r} that differ in later rows, and are not read", differing)
    return CellTable(table.frame[kept], table.line[kept])


def _key_cells(frame: pl.DataFrame, names: Sequence[str]) -> list[Key]:
    return list(zip(*(frame[name].replace("", None).to_list() for name in names), strict=True))

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
from hedgerow.data import Value
from hedgerow.data.record_schema import RecordSchema, VertexType
from hedgerow.errors import DomainError, ReadError
from hedgerow.io import delimited
from hedgerow.io.delimited import CellTable, read_cells
from hedgerow.io.files import read_bytes
from hedgerow.io.long_table import Integers, ReadRequest
from hedgerow.io.record_layout import RecordRequest
from hedgerow.io.record_output import OutputDocuments
from hedgerow.io.record_rows import MOST_CHILDREN, RecordRows

__all__ = ["check", "published_keys", "read", "table_name", "write"]

Key: TypeAlias = tuple[str | None, ...]
Reader: TypeAlias = Callable[[str], bytes]

_ZIP = b"PK"
_TIME = (1980, 1, 1, 0, 0, 0)
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


def read(where: str, content: bytes, request: RecordRequest, most: int) -> RecordRows:
    """Read the table of the root, and the tables of the types below it."""
    schema = request.layout.schema
    if content.startswith(_ZIP):
        members = _unpack(where, content, [table_name(kind) for kind in schema.types], most)
        return _Join(where, request, members.__getitem__).rows()
    if request.received:
        msg = f"{where} is not an archive of tables as Hedgerow writes it; it was changed or damaged"
        raise ReadError(msg)
    folder = Path(where).parent
    first = schema.types[0].name

    def fetch(name: str) -> bytes:
        own = next(kind for kind in schema.types if table_name(kind) == name)
        return content if own.name == first else read_bytes(folder / own.path, most=most)

    return _Join(where, request, fetch).rows()


def check(values: Sequence[Value]) -> None:
    """Refuse values with line breaks."""
    delimited.check(values)


def write(output: OutputDocuments, columns: Mapping[str, str]) -> bytes:
    """Write an archive of tables; vertices have numbers, and name the number of their parent."""
    del columns
    schema = published_keys(output.data.schema)
    if len({table_name(kind) for kind in schema.types}) < len(schema.types):
        msg = "two types have tables of one name; give each type a table of its own"
        raise DomainError(msg)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, kind in enumerate(schema.types):
            table = output.data.tables[number]
            for axis in kind.axes:
                check(output.data.domain.values(axis))
            cells: dict[str, Any] = {name: np.arange(1, len(table) + 1) for name in kind.key}
            cells |= dict.fromkeys(kind.parent_key, table.parent + 1)
            fields = zip(kind.attributes, output.fields(number, numbers=False), strict=True)
            cells |= {name: pl.Series(column, dtype=pl.String) for name, column in fields}
            packed.writestr(
                zipfile.ZipInfo(table_name(kind), _TIME), pl.DataFrame(cells).write_csv(), zipfile.ZIP_DEFLATED
            )
    return archive.getvalue()


def table_name(kind: VertexType) -> str:
    """The file name of the published table of a type."""
    name = kind.path.removesuffix(".gz").removesuffix(".zst")
    return Path(name).name if name.endswith(".csv") else f"{kind.name}.csv"


def published_keys(schema: RecordSchema) -> RecordSchema:
    """Return the schema of published tables: one column per key, that no attribute has."""
    keys: dict[str | None, str] = {}
    types: list[VertexType] = []
    for number, kind in enumerate(schema.types):
        key = _free(kind.key, kind.attributes, f"{kind.name}_id")
        keys[kind.name] = key
        above = ()
        if kind.parent is not None:
            above = (_free(kind.parent_key, (*kind.attributes, key), f"{keys[kind.parent]}_of_{kind.parent}"),)
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

    def __init__(self, where: str, request: RecordRequest, fetch: Reader) -> None:
        self._where, self._request, self._fetch = where, request, fetch
        self._rows = RecordRows(where, request)
        layout = request.layout
        self._schema = published_keys(layout.schema) if request.received else layout.schema
        self._dropped = layout.dropped
        self._keys: list[dict[Key, int]] = []

    def rows(self) -> RecordRows:
        """Read all tables."""
        for number, kind in enumerate(self._schema.types):
            name = table_name(kind)
            where = self._where if number == 0 else str(Path(self._where).parent / name)
            table = self._read(where, kind, self._fetch(name))
            if number == 0:
                parent = np.arange(len(table.frame))
                self._rows.lines = table.line.tolist()
            else:
                table, parent = self._join(where, number, table)
            self._add(number, table, parent)
            self._keys.append(self._index(where, number, table))
        return self._rows

    def _read(self, where: str, kind: VertexType, content: bytes) -> CellTable:
        request = self._request
        lines = ReadRequest("records", None, (), (), {}, drop_bad=request.drop_bad, skip_lines=request.skip_lines)
        table = read_cells(where, content, lines)
        needed = (*kind.attributes, *kind.key, *kind.parent_key)
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

    def _add(self, number: int, table: CellTable, parent: Integers) -> None:
        kind, own = self._schema.types[number], self._rows.tables[number]
        above = self._schema.parents[number]
        own.parent = parent.tolist()
        record = parent if above < 0 else np.array(self._rows.tables[above].record, np.int64)[parent]
        own.record = record.tolist()
        own.fields = [[cell or None for cell in table.frame[name].to_list()] for name in kind.attributes]
        if above >= 0:
            crowded = np.bincount(parent, minlength=1)[parent] > MOST_CHILDREN
            self._refuse(
                record[crowded], f"there are more than {MOST_CHILDREN:,} rows of {kind.name!r}; split the record"
            )

    def _index(self, where: str, number: int, table: CellTable) -> dict[Key, int]:
        """Number the rows of a table by their keys; records with a key twice, or without one, are bad.

        A key of two records cannot be dropped with either of them: the rows below it may belong to the other.
        """
        kind, index = self._schema.types[number], dict[Key, int]()
        if not kind.key:
            return index
        record = self._rows.tables[number].record
        bad: list[int] = []
        for row, key in enumerate(_key_cells(table.frame, kind.key)):
            if None in key:
                bad.append(record[row])
                continue
            first = index.setdefault(key, row)
            if first != row:
                bad += [record[row], record[first]]
                if number and record[row] != record[first]:
                    msg = f"{where}:{table.line[row]}: another record has a {kind.name!r} with the same key; correct it"
                    raise ReadError(msg)
        self._refuse(
            np.array(bad, np.int64), f"two rows of {kind.name!r} have the same key, or one has none; correct it"
        )
        return index

    def _refuse(self, records: Integers, what: str) -> None:
        if not len(records):
            return
        if not self._request.drop_bad:
            self._rows.refuse(self._rows.lines[int(records.min())], what)
        self._rows.bad += records.tolist()


def _key_cells(frame: pl.DataFrame, names: Sequence[str]) -> list[Key]:
    return list(zip(*(frame[name].replace("", None).to_list() for name in names), strict=True))

"""Draft the schema file of nested records from the fields that occur, for its owner to decide their roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from hedgerow.errors import ParameterError, ReadError
from hedgerow.io import json_list_records, json_records
from hedgerow.io.delimited import read_cells
from hedgerow.io.files import MOST_BYTES, ending_of, read_bytes
from hedgerow.io.long_table import ReadRequest
from hedgerow.io.record_layout import VALUE
from hedgerow.io.record_schema_file import UNDECIDED
from hedgerow.io.record_values import Number, is_extended
from hedgerow.io.records import CODEC
from hedgerow.io.toml import toml_key, toml_value
from hedgerow.io.xml_records import parse_elements

__all__ = ["Draft", "draft_record_schema"]

_HEAD = (
    '# A draft. Every field needs a role instead of "?": "drop", "sensitive" (one field per type), or the hierarchy\n'
    '# of a quasi-identifier, such as { file = "major.csv" }, { low = 1900, high = 2010, widths = [5, 10] },\n'
    '# { values = ["a", "b"] } or { values = ["94110"], prefix = [2, 4] }, each with missing = true if it may be\n'
    "# missing. A sensitive number may have buckets: { sensitive = true, buckets = [0, 0.5, 1] }.\n"
)


class Draft(NamedTuple):
    """The text of a draft, and how many types and fields it has."""

    text: str
    types: int
    fields: int


class _Field(NamedTuple):
    """Whether all values of a field are numbers, and how many vertices have it."""

    numbers: bool
    times: int


class _Type:
    """The fields of a type, and its vertices."""

    def __init__(self) -> None:
        self.fields: dict[str, _Field] = {}
        self.vertices = 0

    def add(self, name: str, value: Any) -> None:
        known = self.fields.get(name, _Field(numbers=True, times=0))
        number = isinstance(value, Number) or is_extended(value)
        self.fields[name] = _Field(known.numbers and number, known.times + 1)


def draft_record_schema(path: str | Path, *, form: str | None = None, record: str | None = None) -> Draft:
    """List the types and fields of a file, with undecided roles."""
    path = Path(path)
    name = CODEC.format_name(form, ending_of(path))
    if name in {"csv", "zip"}:
        return _draft_tables(path, name)
    if (name == "xml") != bool(record):
        msg = "where records are must be given for XML, and for nothing else; for example --record people.person"
        raise ParameterError(msg)
    types: dict[str, _Type] = {"": _Type()}
    documents = _documents(path, name, record or "")
    repeated = _repeated(documents) if name == "xml" else None
    for document in documents:
        _visit(types, "", "", document, repeated)
    head = f"record = {toml_value(record)}\n" if record else ""
    return _write(types, head)


def _documents(path: Path, form: str, record: str) -> list[Any]:
    content, where = read_bytes(path, most=MOST_BYTES), str(path)
    if form == "xml":
        read = parse_elements(where, content, record)
    elif form == "json":
        read = json_list_records.documents(where, content)
    else:
        read = json_records.documents(where, content)
    return list(_checked(where, read))


def _checked(where: str, read: Iterable[tuple[int, Any, str]]) -> Iterator[Any]:
    for line, document, wrong in read:
        if wrong or not isinstance(document, dict):
            msg = f"{where}:{line}: {wrong or 'a record must be an object; correct it'}"
            raise ReadError(msg)
        yield cast("Any", document)


def _visit(types: dict[str, _Type], at: str, inside: str, document: Any, repeated: set[str] | None) -> None:
    """Collect the fields of a vertex; objects within it are part of it, and lists are types of their own."""
    own = types[at]
    own.vertices += not inside
    if not isinstance(document, dict) or is_extended(document):
        own.add(f"{inside}.{VALUE}" if inside else VALUE, document)
        return
    for key, value in cast("dict[str, Any]", document).items():
        name = f"{inside}.{key}" if inside else key
        path = f"{at}.{name}" if at else name
        if isinstance(value, list):
            values = cast("list[Any]", value)
            if repeated is None or path in repeated:
                path += "[]" if repeated is None else ""
                types.setdefault(path, _Type())
                for each in values:
                    _visit(types, path, "", each, repeated)
                continue
            _visit_field(types, at, name, values[0], repeated)
        else:
            _visit_field(types, at, name, value, repeated)


def _visit_field(types: dict[str, _Type], at: str, name: str, value: Any, repeated: set[str] | None) -> None:
    if isinstance(value, dict) and not is_extended(value):
        _visit(types, at, name, value, repeated)
    elif value is not None:
        types[at].add(name, value)


def _repeated(documents: Iterable[Any], at: str = "") -> set[str]:
    """List the elements that occur twice within one element."""
    several: set[str] = set()
    for document in documents:
        for key, value in cast("dict[str, Any]", document).items() if isinstance(document, dict) else ():
            if isinstance(value, list):
                path, values = f"{at}.{key}" if at else key, cast("list[Any]", value)
                several |= {path} if len(values) > 1 else set()
                several |= _repeated(values, path)
    return several


def _draft_tables(path: Path, form: str) -> Draft:
    if form == "zip":
        msg = "a schema is drafted from the table of the root, not from an archive; unpack it"
        raise ParameterError(msg)
    table = read_cells(str(path), read_bytes(path, most=MOST_BYTES), ReadRequest("records", None, (), (), {}))
    own = _Type()
    own.vertices = len(table.frame)
    for name in table.frame.columns:
        own.fields[name] = _Field(numbers=False, times=len(table.frame) - table.frame[name].null_count())
    head = (
        '# For each further table write a section as this one, with table = "courses.csv", parent = "record", and\n'
        "# parent_key = [...], the columns that name a row of the parent; key = [...] are the same columns there.\n"
    )
    return _write({"": own}, head)


def _write(types: dict[str, _Type], head: str) -> Draft:
    parts = [_HEAD + head]
    names: set[str] = set()
    for path, own in types.items():
        name = _name(path, names)
        names.add(name)
        lines = [f"[types.{toml_key(name)}]", f"path = {toml_value(path)}", "", f"[types.{toml_key(name)}.fields]"]
        for field, seen in own.fields.items():
            remark = "number" if seen.numbers else "text"
            remark += ", sometimes missing" if seen.times < own.vertices else ""
            lines.append(f"{toml_value(field)} = {toml_value(UNDECIDED)}  # {remark}")
        parts.append("\n".join(lines) + "\n")
    return Draft("\n".join(parts), len(types), sum(len(own.fields) for own in types.values()))


def _name(path: str, taken: set[str]) -> str:
    """Name a type by the last step of its path."""
    last = path.removesuffix("[]").rpartition(".")[2] or "record"
    name = "".join(sign if sign.isalnum() else "-" for sign in last)[:50]
    number = 1
    while (free := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return free

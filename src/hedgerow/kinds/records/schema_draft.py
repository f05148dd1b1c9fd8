"""Draft the schema file of nested records from the fields that occur, for its owner to decide their roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hedgerow.errors import ParameterError, ReadError
from hedgerow.formats.csv_table import read_cells
from hedgerow.formats.files import MOST_BYTES, ending_of, read_bytes
from hedgerow.formats.long_table import ReadRequest
from hedgerow.formats.toml import toml_key, toml_value
from hedgerow.kinds.records import json_files
from hedgerow.kinds.records.files import CODEC
from hedgerow.kinds.records.layout import VALUE, Document, Number, is_extended, split_place, text_at
from hedgerow.kinds.records.schema_file import UNDECIDED
from hedgerow.kinds.records.xml_files import parse_elements

_HEAD = (
    '# A draft. Every field needs a role instead of "?": "drop", "sensitive" (one field per type), or the hierarchy\n'
    '# of a quasi-identifier, such as { file = "major.csv" }, { low = 1900, high = 2010, widths = [5, 10] },\n'
    '# { values = ["a", "b"] } or { values = ["94110"], prefix = [2, 4] }, each with missing = true if it may be\n'
    "# missing. A sensitive number may have buckets: { sensitive = true, buckets = [0, 0.5, 1] }.\n"
    '# One line drops all that is below a name: "address" = "drop" instead of its fields and the types within it.\n'
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
    """The fields of a type, its vertices, and whether a list has two of them somewhere."""

    def __init__(self) -> None:
        self.fields: dict[str, _Field] = {}
        self.vertices = 0
        self.several = False

    def add(self, name: str, value: Document) -> None:
        known = self.fields.get(name, _Field(numbers=True, times=0))
        number = isinstance(value, Number) or is_extended(value)
        self.fields[name] = _Field(known.numbers and number, known.times + 1)


def draft_record_schema(
    path: str | Path,
    *,
    form: str | None = None,
    record: str | None = None,
    split: Mapping[str, str] | None = None,
    flat: bool = False,
) -> Draft:
    """List the types and fields of a file, with undecided roles.

    Parameters
    ----------
    record
        Where records are in XML.
    split
        Lists whose elements are of several types, and where each of their elements has the name of its type.
    flat
        Whether lists that never have two elements are fields of the type above, as in XML; else all lists are types.
    """
    path = Path(path)
    name = CODEC.format_name(form, ending_of(path))
    if name in {"csv", "zip"}:
        return _draft_tables(path, name)
    if (name == "xml") != bool(record):
        msg = "where records are must be given for XML, and for nothing else; for example --record people.person"
        raise ParameterError(msg)
    documents = _documents(path, name, record or "")
    lists = _Lists(None, split or {}, "" if name == "xml" else "[]")
    types = _collect(documents, lists)
    if flat or name == "xml":
        several = {path for path, own in types.items() if own.several}
        types = _collect(documents, lists._replace(several=several))
    head = f"record = {toml_value(record)}\n" if record else ""
    return _write(types, head)


def _documents(path: Path, form: str, record: str) -> list[Document]:
    content, where = read_bytes(path, most=MOST_BYTES), str(path)
    if form == "xml":
        read = parse_elements(where, content, record)
    elif form == "json":
        read = json_files.documents_in_list(where, content)
    else:
        read = json_files.documents_in_lines(where, content)
    return list(_checked(where, read))


def _checked(where: str, read: Iterable[tuple[int, Document, str]]) -> Iterator[Document]:
    for line, document, wrong in read:
        if wrong or not isinstance(document, dict):
            msg = f"{where}:{line}: {wrong or 'a record must be an object; correct it'}"
            raise ReadError(msg)
        yield document


class _Lists(NamedTuple):
    """Which lists are types: those with several elements, or all (None); and how a path says that it is a list.

    The elements of some lists have a text that names their type.
    """

    several: set[str] | None
    split: Mapping[str, str]
    sign: str

    def step(self, path: str, element: Document) -> str:
        """Return the path of an element of a list."""
        if path not in self.split:
            return path + self.sign
        value = text_at(element, self.split[path].split("."))
        if value is None or set("[]") & set(value):
            msg = f"an element of {path!r} has no plain text at {self.split[path]!r} that could name its type"
            raise ParameterError(msg)
        return f"{path}[{self.split[path]}={value}]"

    def tells(self, path: str, value: Document) -> bool:
        """Whether a field is the text that names the type of its element, and so is in the path already."""
        return any(path.endswith(f"[{field}={value}].{field}") for field in self.split.values())


def _collect(documents: Iterable[Document], lists: _Lists) -> dict[str, _Type]:
    types: dict[str, _Type] = {"": _Type()}
    for document in documents:
        _visit(types, "", "", document, lists)
    return types


def _visit(types: dict[str, _Type], at: str, inside: str, document: Document, lists: _Lists) -> None:
    """Collect the fields of a vertex; objects within it are part of it, and lists are types of their own."""
    own = types[at]
    own.vertices += not inside
    if not isinstance(document, dict) or is_extended(document):
        own.add(inside or VALUE, document)
        return
    for key, value in document.items():
        name = f"{inside}.{key}" if inside else key
        values = value if isinstance(value, list) else None
        if values is None:
            _visit_field(types, at, name, value, lists)
            continue
        path = f"{at}.{name}" if at else name
        steps = [lists.step(path, each) for each in values]
        times = Counter(steps)
        for step, each in zip(steps, values, strict=True):
            if lists.several is None or step in lists.several:
                types.setdefault(step, _Type()).several |= times[step] > 1
                _visit(types, step, "", each, lists)
            else:
                _visit_field(types, at, step.removeprefix(f"{at}."), each, lists)


def _visit_field(types: dict[str, _Type], at: str, name: str, value: Document, lists: _Lists) -> None:
    if isinstance(value, dict) and not is_extended(value):
        _visit(types, at, name, value, lists)
    elif value is not None and not lists.tells(f"{at}.{name}", value):
        types[at].add(name, value)


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
    last = split_place(path)[-1]
    last = last.wanted or last.name or "record"
    name = "".join(sign if sign.isalnum() else "-" for sign in last)[:50]
    number = 1
    while (free := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return free

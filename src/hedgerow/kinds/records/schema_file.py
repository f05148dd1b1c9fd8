"""Schema files of nested records (TOML): types of vertices, and what each of their fields is.

There is one section per type, `[types.NAME]`, with the `path` of its vertices from the root of a record (`""`), and one
line per field in `[types.NAME.fields]`: `"drop"`, `"sensitive"`, or the hierarchy of a quasi-identifier, such as
`{ file = "major.csv" }` or `{ low = 1900, high = 2010, widths = [5, 10] }`. Every field must be listed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

from hedgerow.data import Axis, Value
from hedgerow.data.axis import MOST_VALUES
from hedgerow.errors import DomainError
from hedgerow.formats.referenced_files import read_named
from hedgerow.formats.toml import read_toml
from hedgerow.kinds.records.hierarchy import ROOT, Hierarchy
from hedgerow.kinds.records.layout import RecordLayout, SensitiveValues, TableRules, canonical_number, split_place
from hedgerow.kinds.records.schema import RecordSchema, VertexType

#: the role of a field in a draft, until its owner decides
UNDECIDED = "?"
_TOP_KEYS = {"types", "record", "namespace", "unlisted"}
_TYPE_KEYS = {"path", "parent", "fields", "table", "key", "parent_key", "lookup", "rows"}
_SENSITIVE_KEYS = {"sensitive", "buckets", "values", "numbers", "name"}
_NAME = re.compile(r"[\w-]{1,60}")


class _Sensitive(NamedTuple):
    name: str
    values: SensitiveValues


def read_record_schema(path: str | Path) -> RecordLayout:
    """Read a schema file."""
    path = Path(path)
    top = read_toml(path, DomainError)
    _refuse_unknown(str(path), top, _TOP_KEYS)
    sections = top.get("types")
    if not isinstance(sections, dict) or not sections:
        msg = f"{path} declares no type of vertices; write a section [types.NAME] with the fields of the root"
        raise DomainError(msg)
    unlisted = top.get("unlisted", "error")
    if unlisted not in {"error", "drop"}:
        msg = f"{path}: unlisted must be 'error' or 'drop'; got {unlisted!r}"
        raise DomainError(msg)
    types = [_TypeSection(path, name, section) for name, section in cast("dict[str, Any]", sections).items()]
    schema = RecordSchema(tuple(_in_order(path, types)), _text(path, top, "record"), _text(path, top, "namespace"))
    axes = {f"{each.name}.{name}": axis for each in types for name, axis in each.quasi.items()}
    sensitive = {f"{each.name}.{each.sensitive.name}": each.sensitive.values for each in types if each.sensitive}
    dropped = {each.name: each.dropped for each in types}
    first = {f"{each.name}.{name}": length for each in types for name, length in each.first.items()}
    tables = {each.name: each.rules for each in types}
    return RecordLayout(schema, axes, sensitive, dropped, first, tables, drop_unlisted=unlisted == "drop")


class _TypeSection:
    """One section of a schema file."""

    def __init__(self, path: Path, name: str, section: Any) -> None:
        self.name, self._where = name, f"{path}: [types.{name}]"
        if not isinstance(section, dict) or not _NAME.fullmatch(name):
            msg = f"{self._where} must be a section, named by letters, digits, - and _"
            raise DomainError(msg)
        fields = cast("dict[str, Any]", section)
        _refuse_unknown(self._where, fields, _TYPE_KEYS)
        self.table = _text(path, fields, "table")
        self.steps = _steps(self._where, fields.get("path", ""))
        self.parent: str | None = fields.get("parent")
        self.key, self.parent_key = (self._columns(fields, name) for name in ("key", "parent_key"))
        self.rules = self._read_rules(fields)
        self.quasi: dict[str, Axis] = {}
        self.first: dict[str, int] = {}
        self.named: dict[str, str] = {}
        self.sensitive: _Sensitive | None = None
        self.dropped: tuple[str, ...] = ()
        self.numbers: list[str] = []
        self._read_fields(path, fields.get("fields"))

    def vertex_type(self, parent: _TypeSection | None) -> VertexType:
        steps = self.steps[len(parent.steps) :] if parent else ()
        sensitive = self.sensitive.name if self.sensitive else None
        return VertexType(
            self.name,
            parent.name if parent else None,
            tuple(self.quasi),
            sensitive,
            self.table or ".".join(steps),
            tuple(self.numbers),
            self.key,
            self.parent_key,
            tuple(self.named.items()),
        )

    def _columns(self, section: Mapping[str, Any], name: str) -> tuple[str, ...]:
        given = section.get(name, [])
        columns = [given] if isinstance(given, str) else given
        if not isinstance(columns, list) or not all(isinstance(each, str) for each in cast("list[Any]", columns)):
            msg = f"{self._where}: {name} must be the name of a column, or a list of names"
            raise DomainError(msg)
        return tuple(cast("list[str]", columns))

    def _read_rules(self, section: Mapping[str, Any]) -> TableRules:
        listed, rows = section.get("lookup", []), section.get("rows", "all")
        lookups: list[tuple[str, tuple[str, ...]]] = []
        for each in cast("list[Any]", listed) if isinstance(listed, list) else [listed]:
            entry = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
            table, key = entry.get("table"), self._columns(entry, "key")
            if not isinstance(table, str) or not key or len(entry) > 2:  # noqa: PLR2004
                msg = f'{self._where}: lookup must be {{ table = "courses.csv", key = "course" }}, or a list of such'
                raise DomainError(msg)
            lookups.append((table, key))
        if rows not in {"all", "first"} or (rows == "first" and not self.key):
            msg = f"{self._where}: rows must be 'all', or with a key 'first': one vertex per key, as its first row says"
            raise DomainError(msg)
        return TableRules(tuple(lookups), rows == "first")

    def _read_fields(self, path: Path, section: Any) -> None:
        if not isinstance(section, dict):
            msg = f"{self._where} needs its fields: a section [types.{self.name}.fields] with one line per field"
            raise DomainError(msg)
        dropped: list[str] = []
        for field, role in cast("dict[str, Any]", section).items():
            where = f"{path}: field {field!r} of {self.name!r}"
            if role == UNDECIDED:
                msg = f"{where} has no role yet; write 'drop', 'sensitive', or its hierarchy instead of '{UNDECIDED}'"
                raise DomainError(msg)
            if role == "drop":
                dropped.append(field)
                continue
            details = {"sensitive": True} if role == "sensitive" else role
            if not isinstance(details, dict):
                msg = f"{where} must be 'drop', 'sensitive', or a hierarchy such as {{ file = \"{self.name}.csv\" }}"
                raise DomainError(msg)
            self._read_attribute(path, where, field, cast("dict[str, Any]", details))
        self.dropped = tuple(dropped)

    def _read_attribute(self, path: Path, where: str, field: str, section: Mapping[str, Any]) -> None:
        name = section.get("name", field)
        if not isinstance(name, str) or not name or name in {*self.quasi, self.sensitive and self.sensitive.name}:
            msg = f"{where}: name must be a text that no other field of the type has"
            raise DomainError(msg)
        if name != field:
            self.named[name] = field
        if "sensitive" in section:
            self._read_sensitive(where, name, section)
        else:
            self._read_quasi(path, where, name, section)

    def _read_quasi(self, path: Path, where: str, name: str, section: Mapping[str, Any]) -> None:
        self.quasi[name] = read_hierarchy(section, path.parent, where)
        if "first" in section:
            if type(section["first"]) is not int or section["first"] < 1:
                msg = f"{where}: first must be the number of characters that are read, such as 4 for the year of a date"
                raise DomainError(msg)
            self.first[name] = section["first"]
        values = section.get("values", [section.get("low")])
        whole = all(type(value) is int for value in values) and "first" not in section
        if section.get("numbers") is True or whole:
            self.numbers.append(name)

    def _read_sensitive(self, where: str, name: str, section: Mapping[str, Any]) -> None:
        _refuse_unknown(where, section, _SENSITIVE_KEYS)
        if self.sensitive is not None:
            msg = f"{where}: {self.sensitive.name!r} is sensitive already; a type has one such field, drop the other"
            raise DomainError(msg)
        buckets = _buckets(where, section.get("buckets", []))
        values, numbers = section.get("values"), bool(buckets) or section.get("numbers") is True
        axis = None
        if values is not None:
            axis = _declared(where, values, numbers=numbers)
            if buckets:
                msg = f"{where}: give either values or buckets"
                raise DomainError(msg)
        self.sensitive = _Sensitive(name, SensitiveValues(axis, buckets))
        if numbers or (axis is not None and isinstance(axis.values[0], int)):
            self.numbers.append(name)


def _declared(where: str, values: Any, *, numbers: bool) -> Axis:
    listed = cast("list[Value | float]", values) if isinstance(values, list) else []
    texts = [canonical_number(str(value)) if numbers else value for value in listed]
    if not listed or None in texts or not all(type(value) in {str, int} for value in texts):
        msg = f"{where}: values must be a list of texts or whole numbers, or with numbers = true of numbers"
        raise DomainError(msg)
    return Axis(tuple(cast("list[Value]", texts)))


def _buckets(where: str, edges: Any) -> tuple[Decimal, ...]:
    listed = cast("list[Any]", edges) if isinstance(edges, list) else [None]
    numbers = [Decimal(str(edge)) for edge in listed if type(edge) in {int, float}]
    finite = len(numbers) == len(listed) and all(number.is_finite() for number in numbers)
    if not finite or len(numbers) == 1 or sorted(set(numbers)) != numbers:
        msg = f"{where}: buckets must be a list of growing numbers, such as [0, 0.5, 1]"
        raise DomainError(msg)
    return tuple(numbers)


def _in_order(path: Path, types: list[_TypeSection]) -> list[VertexType]:
    """Find the parent of each type, and sort parents before their children."""
    roots = [each for each in types if not each.steps and not each.parent]
    if len(roots) != 1:
        msg = f'{path}: one type must be the root of records, with path = "" and no parent; there are {len(roots)}'
        raise DomainError(msg)
    parents = {each.name: _parent_of(path, each, types) for each in types if each is not roots[0]}
    made, names = [roots[0].vertex_type(None)], {roots[0].name}
    rest = [each for each in types if each is not roots[0]]
    while rest:
        ready = [each for each in rest if parents[each.name].name in names]
        if not ready:
            msg = f"{path}: type {rest[0].name!r} is not below the root; its parents form a circle"
            raise DomainError(msg)
        made += [each.vertex_type(parents[each.name]) for each in ready]
        names |= {each.name for each in ready}
        rest = [each for each in rest if each.name not in names]
    return made


def _parent_of(path: Path, own: _TypeSection, types: list[_TypeSection]) -> _TypeSection:
    if own.parent is not None:
        for each in types:
            if each.name == own.parent:
                return each
        msg = f"{path}: the parent {own.parent!r} of type {own.name!r} is not a type"
        raise DomainError(msg)
    above = [each for each in types if each is not own and each.steps == own.steps[: len(each.steps)]]
    parent = max(above, key=lambda each: len(each.steps))
    if parent.steps == own.steps:
        msg = f"{path}: types {parent.name!r} and {own.name!r} have the same path; give another path, or the parent"
        raise DomainError(msg)
    return parent


def _steps(where: str, path: Any) -> tuple[str, ...]:
    """Split a path such as `courses[].books[]`."""
    steps = split_place(path) if isinstance(path, str) and path else []
    if not isinstance(path, str) or any(not step.name or set("[]") & set(step.name) for step in steps):
        msg = (
            f'{where}: path must be names joined by dots, with [] after a list, such as "courses[].books[]", or with '
            'the elements of a list that are meant, such as "entry[resource.type=visit]"'
        )
        raise DomainError(msg)
    return tuple(map(str, steps))


def _text(path: Path, section: Mapping[str, Any], name: str) -> str:
    value = section.get(name, "")
    if not isinstance(value, str):
        msg = f"{path}: {name} must be a text; got {value!r}"
        raise DomainError(msg)
    return value


def _refuse_unknown(where: str, section: Mapping[str, Any], known: set[str]) -> None:
    for name in section:
        if name not in known:
            msg = f"{where} has an unknown entry {name!r}; it may have: {', '.join(sorted(known))}"
            raise DomainError(msg)


# The hierarchy of a quasi-identifier, as a schema file declares it: a file, a list, ranges of numbers or dates.

#: the leaf of a value that is not given; it is never written, and no cell of a file means it
MISSING = "(missing)"
HIERARCHY_KEYS = {"file", "values", "paths", "prefix", "low", "high", "widths", "missing", "numbers", "first", "name"}
_SOURCES = ("file", "values", "low")
_WHOLE = re.compile(r"-?[1-9][0-9]{0,17}|0")
_DATES = {"month": "%Y-%m", "year": "%Y", "decade": ""}


def read_hierarchy(section: Mapping[str, Any], folder: Path, where: str) -> Axis:
    """Build the axis of a quasi-identifier.

    Parameters
    ----------
    folder
        Where the files that the section names are.
    where
        The file and the field, for messages.

    Examples
    --------
    >>> read_hierarchy({"low": 1998, "high": 2001, "widths": [2, 10]}, Path(), "born").paths[2:]
    (('2000-2001',), ('2000-2001',))
    >>> read_hierarchy({"values": ["94110", "94117"], "prefix": [2, 4]}, Path(), "zip").paths
    (('94***', '9411*'), ('94***', '9411*'))
    """
    unknown = [key for key in section if key not in HIERARCHY_KEYS]
    if unknown or sum(key in section for key in _SOURCES) != 1:
        what = f"has an unknown entry {unknown[0]!r}; it " if unknown else ""
        msg = f"{where} {what}needs one of file, values, or low and high"
        raise DomainError(msg)
    if "low" in section:
        axis = _range(section, where)
    elif "file" in section:
        axis = _from_file(*read_named(folder, section["file"], where), where)
    else:
        axis = _listed(section, where)
    if "prefix" in section:
        axis = Axis(axis.values, tuple(_prefixes(str(value), section["prefix"], where) for value in axis.values))
    if section.get("missing") is True:
        axis = Axis((*map(str, axis.values), MISSING), (*(axis.paths or [()] * len(axis)), ()))
    _check(axis, where)
    return axis


def _check(axis: Axis, where: str) -> None:
    try:
        Hierarchy.from_axis(axis)
    except DomainError as error:
        msg = f"{where}: {error}"
        raise DomainError(msg) from None


def _listed(section: Mapping[str, Any], where: str) -> Axis:
    values, paths = section["values"], section.get("paths", [])
    if not _is_list(values) or not _is_list(paths) or not all(isinstance(path, str) for path in paths):
        msg = f"{where}: values must be a list, and paths a list of texts such as 'Science/Physics'"
        raise DomainError(msg)
    return Axis(tuple(cast("list[Value]", values)), tuple(tuple(text.split("/")) if text else () for text in paths))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _from_file(path: Path, content: bytes, where: str) -> Axis:
    """Read one value per line with its groups, the narrowest first: `CS301;CS3**;CS;*`, also with commas or tabs.

    Values are taken exactly, since those of the data are; blanks around groups are nobody's.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        msg = f"{path} is not UTF-8 text"
        raise DomainError(msg) from None
    first = text.partition("\n")[0]
    sign = next((sign for sign in ";\t" if sign in first), ",")
    above: dict[str, tuple[str, ...]] = {}
    values: dict[str, tuple[str, ...]] = {}
    rows = _split(text, sign, path)
    numbers = all(_WHOLE.fullmatch(row[0].strip()) for row in rows if row)
    for line, row in enumerate(rows, start=1):
        if not row:
            continue
        if not row[0].strip():
            msg = f"{path}:{line}: the line has no value; remove it ({where})"
            raise DomainError(msg)
        if numbers and row[0] != row[0].strip():
            msg = f"{path}:{line}: there are blanks around the number; remove them ({where})"
            raise DomainError(msg)
        value, groups = row[0], [cell.strip() for cell in row[1:]]
        path_of_value = _climb(value, groups)
        if value in values:
            msg = f"{path}:{line}: the value of this line is listed twice; list it once ({where})"
            raise DomainError(msg)
        for depth, group in enumerate(path_of_value):
            if above.setdefault(group, path_of_value[:depth]) != path_of_value[:depth]:
                msg = f"{path}:{line}: a group of this line is also within another group; rename one of them ({where})"
                raise DomainError(msg)
        values[value] = path_of_value
    if not values:
        msg = f"{path} is empty; list one value per line, with its groups ({where})"
        raise DomainError(msg)
    return Axis(tuple(values), tuple(values.values()) if any(values.values()) else ())


def _split(text: str, sign: str, path: Path) -> list[list[str]]:
    """Split a text into lines, at line breaks only, and each line into cells."""
    try:
        return list(csv.reader(text.replace("\r\n", "\n").split("\n"), delimiter=sign))
    except csv.Error:
        msg = f"{path} is not a table of values and groups: a cell is too long, or a line break stands within a line"
        raise DomainError(msg) from None


def _climb(value: str, groups: Sequence[str]) -> tuple[str, ...]:
    """Return the groups of a value, the widest first, without the root and without repetitions."""
    path: list[str] = []
    for group in groups:
        if group and group not in {ROOT, value, *path[-1:]}:
            path.append(group)
    return tuple(reversed(path))


def _prefixes(text: str, lengths: Any, where: str) -> tuple[str, ...]:
    whole = _is_list(lengths) and all(type(length) is int and length > 0 for length in lengths)
    if not whole or sorted(set(lengths)) != lengths:
        msg = f"{where}: prefix must be a list of lengths, the shortest first, such as [2, 4]"
        raise DomainError(msg)
    return tuple(text[:length] + "*" * (len(text) - length) for length in lengths if length < len(text))


def _range(section: Mapping[str, Any], where: str) -> Axis:
    low, high, widths = section["low"], section.get("high"), section.get("widths", [])
    if isinstance(low, (str, date)) or isinstance(high, (str, date)):
        return _dates(str(low), str(high), widths, where)
    if type(low) is not int or type(high) is not int or not 0 <= high - low < MOST_VALUES:
        msg = f"{where}: low and high must be whole numbers, or dates such as '2001-12-31', with values between them"
        raise DomainError(msg)
    whole = _is_list(widths) and all(type(width) is int and width > 1 for width in widths)
    if not whole or any(wide % narrow for narrow, wide in pairwise(widths)):
        msg = f"{where}: widths must be whole numbers, each a multiple of the one before, such as [5, 10]"
        raise DomainError(msg)
    values = range(low, high + 1)
    return Axis(tuple(values), tuple(_intervals(value, low, high, widths) for value in values) if widths else ())


def _intervals(value: int, low: int, high: int, widths: Iterable[int]) -> tuple[str, ...]:
    """Return the intervals that contain a number, the widest first; one with a single number, or all, is none."""
    path: list[str] = []
    for width in widths:
        start = value // width * width
        first, last = max(low, start), min(high, start + width - 1)
        if first < last and (first, last) != (low, high) and f"{first}-{last}" not in path:
            path.append(f"{first}-{last}")
    return tuple(reversed(path))


def _dates(low: str, high: str, widths: Any, where: str) -> Axis:
    """List the days between two dates, in months, years and decades."""
    try:
        first, last = date.fromisoformat(low), date.fromisoformat(high)
    except ValueError:
        msg = f"{where}: low and high must both be dates such as '2001-12-31', or both whole numbers"
        raise DomainError(msg) from None
    if not _is_list(widths) or [name for name in _DATES if name in widths] != widths or last < first:
        msg = f"{where}: widths of dates must be some of 'month', 'year', 'decade', in this order, and low before high"
        raise DomainError(msg)
    days = [first + timedelta(days=day) for day in range((last - first).days + 1)]
    paths = (tuple(f"{day.year // 10}0s" if w == "decade" else day.strftime(_DATES[w]) for w in widths) for day in days)
    return Axis(tuple(map(str, days)), tuple(tuple(reversed(path)) for path in paths) if widths else ())

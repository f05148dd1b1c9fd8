"""The cases of the reading law for nested records: every format, with hostile fields, elements and rows."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from reading_law import Case
from reading_units import TEXTS

from hedgerow.reading import read

__all__ = ["RECORD_CASES"]

SCHEMA = """
record = "students.student"
unlisted = "{unlisted}"
[types.student]
path = ""
{key}
[types.student.fields]
"{at}unit" = "drop"
"{at}major" = {{ values = ["CS", "EE", "01"], paths = ["Eng", "Eng", ""], missing = true }}
"{at}born" = {{ low = 1990, high = 1999, widths = [5] }}
gpa = {{ sensitive = true, buckets = [0, 2, 4] }}
[types.course]
{course}
[types.course.fields]
"{at}code" = {{ values = ["a", "b", "1"] }}
"{at}grade" = "sensitive"
"""
BUNDLE = """
[types.student]
path = ""
[types.student.fields]
"entry[a.type=student].unit" = "drop"
"entry[a.type=student].major" = { values = ["CS", "EE", "01"], missing = true }
"entry[a.type=student].born" = { name = "year", low = 1990, high = 1999, widths = [5], first = 4, missing = true }
"entry[a.type=student].gpa" = { sensitive = true, buckets = [0, 2, 4] }
"entry[a.type=student].courses" = "drop"
[types.course]
path = "entry[a.type=course]"
[types.course.fields]
"code" = { values = ["a", "b", "1"] }
"grade" = "sensitive"
"""
JOIN = 'table = "courses.csv"\nparent = "student"\nparent_key = "unit"'
LOOKUP = '\nlookup = { table = "levels.csv", key = "code" }'
#: plain values, and whatever else may be in their place
WILD: list[Any] = [
    *TEXTS,
    *(None, True, 1, 1.5, 1990, [], {}, ["a"], {"a": 1}, [{"code": "a"}], 10**30, -1, 1e300, {"$numberInt": "1"}),
    *({"$numberInt": 1}, {"$oid": "a"}, "\ud800", "a\0", float("nan"), {"#value": 1}),
]
#: whole lines that are not records, and torn ones
LINES = [
    b"",
    b"  ",
    b"7",
    b"[]",
    b"{}",
    b"{",
    b"\xff",
    b"\0",
    b'{"unit":1}x',
    b'{"born":1990,"born":1991}',
    b"[" * 9999,
]
#: elements that are well-formed, since a file that is not cannot be read at all
ELEMENTS = [
    *("<student/>", "<student>a</student>", "<other/>", "<student unit='1'><student born='1990'/></student>", "a"),
    *("<student born='1990' major='CS'>&lt;</student>", "<student born='1990'><gpa/></student>", "<!-- <student/> -->"),
    *("<student born='1990' x='1'/>", "<student born='1990'><gpa>1</gpa><gpa>2</gpa></student>", "<?student a?>"),
    *("<student born='1990'><course/></student>", "<student xmlns='urn:x' born='1990'/>", "<other><student/></other>"),
    *("<student born='1990'><![CDATA[<gpa>]]></student>", "<student>" + "<a>" * 70 + "</a>" * 70 + "</student>"),
]


@dataclass(frozen=True)
class RecordCase(Case):
    """A case with a schema file; sensitive values are those that occur, unless the domain is declared."""

    schema: str = ""

    def read(self, rows: list[Any], folder: Path) -> Counter[Any]:
        schema = folder / "schema.toml"
        schema.write_text(self.schema)
        options = {"on_bad": "drop", "schema": str(schema), **self.options}
        data = read(self.build(rows, folder), kind=self.kind, options=options)
        return Counter(map(repr, data.canonical().trees()))


def student(chance: random.Random, number: int) -> dict[str, Any]:
    """A student as it should be, and sometimes with a field that is not."""
    courses = [{"code": chance.choice("ab1"), "grade": chance.choice("AB")} for _ in range(chance.randrange(3))]
    made: dict[str, Any] = {"unit": number, "major": chance.choice(["CS", "01"]), "born": 1990 + chance.randrange(9)}
    made |= {"gpa": chance.choice([1.5, "3.20", 4]), "courses": courses}
    if chance.random() < 0.4:
        where = chance.choice([made, *courses])
        where[chance.choice([*where, "more"])] = chance.choice(WILD)
    if chance.random() < 0.1:
        del made[chance.choice(list(made))]
    return made


def line_unit(chance: random.Random, number: int) -> list[bytes]:
    if chance.random() < 0.2:
        return [chance.choice(LINES)]
    return [json.dumps(student(chance, number)).encode()]


def keyed_unit(chance: random.Random, number: int) -> list[bytes]:
    """One record of a person, or two of them, which are both dropped."""
    lines = [{**student(chance, number), "unit": number} for _ in range(chance.choice([1, 1, 1, 2]))]
    return [json.dumps(line).encode() for line in lines]


def json_lines(rows: list[bytes], folder: Path) -> Path:
    (folder / "a.jsonl").write_bytes(b"\n".join(rows))
    return folder / "a.jsonl"


def bundle_unit(chance: random.Random, number: int) -> list[dict[str, Any]]:
    """A student as a list of elements that say their types, some of them wrongly."""
    made = student(chance, number)
    courses = made.get("courses")
    parts = [("student", made), *(("course", each) for each in (courses if isinstance(courses, list) else []))]
    entries = [{"a": {"type": name}, **part} for name, part in parts if isinstance(part, dict)]
    if chance.random() < 0.3:
        chance.choice(entries)["a"] = chance.choice([*WILD, {"type": chance.choice(["student", "course", "other"])}])
    chance.shuffle(entries)
    return [{"entry": entries}]


def json_list(rows: list[dict[str, Any]], folder: Path) -> Path:
    (folder / "a.json").write_text("[" + ",\n".join(map(json.dumps, rows)) + "]")
    return folder / "a.json"


def element_unit(chance: random.Random, number: int) -> list[str]:
    if chance.random() < 0.4:
        return [chance.choice(ELEMENTS)]
    made = student(chance, number)
    courses = made.pop("courses", [])
    gpa = made.pop("gpa", "")
    head = " ".join(f"{name}={_quoted(value)}" for name, value in made.items())
    inside = [
        f"<course {' '.join(f'{name}={_quoted(value)}' for name, value in course.items())}/>"
        for course in (courses if isinstance(courses, list) else [])
        if isinstance(course, dict)
    ]
    return [f"<student {head}><gpa> {_quoted(gpa)[1:-1]}</gpa>{''.join(inside)}</student>"]


def _quoted(value: Any) -> str:
    text = "".join(sign for sign in str(value) if sign >= " " and sign.isprintable())
    return '"' + escape(text, {'"': "&quot;"}) + '"'


def xml_file(rows: list[str], folder: Path) -> Path:
    (folder / "a.xml").write_text("<students>" + "\n".join(rows) + "</students>")
    return folder / "a.xml"


def row_unit(chance: random.Random, number: int) -> list[tuple[str, str]]:
    """Rows of both tables; a row may be torn, or belong to nobody."""
    cells = [text for text in TEXTS if "\n" not in text]
    root = [str(number), "CS", str(1990 + chance.randrange(9)), "1.5"]
    rows = [("a.csv", root)] * chance.choice([1, 1, 1, 1, 2])
    rows += [("courses.csv", [str(number), chance.choice("ab1"), "A"]) for _ in range(chance.randrange(3))]
    if chance.random() < 0.4:
        table, row = chance.choice(rows)
        place = chance.randrange(1, len(row))
        rows[rows.index((table, row))] = (table, [*row[:place], chance.choice(cells), *row[place + 1 :]])
    if chance.random() < 0.1:
        rows.append(("courses.csv", ["nobody", "a", "B"]))
    return [(table, ",".join(row)) for table, row in rows]


def csv_tables(rows: list[tuple[str, str]], folder: Path) -> Path:
    (folder / "levels.csv").write_text("code,level\na,low\nb,high\n1,low\n")
    heads = {"a.csv": "unit,major,born,gpa", "courses.csv": "unit,code,grade"}
    for name, head in heads.items():
        lines = [head, *(line for table, line in rows if table == name)]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder / "a.csv"


_case = partial(RecordCase, "records")
KEY = 'key = "unit"'
LISTED = SCHEMA.format(at="", key="", course='path = "courses[]"', unlisted="error")
LOOSE = SCHEMA.format(at="", key="", course='path = "courses[]"', unlisted="drop")
KEYED = SCHEMA.format(at="", key=KEY, course='path = "courses[]"', unlisted="error")

RECORD_CASES: dict[str, Case] = {
    "JSON records": _case(line_unit, json_lines, schema=LISTED),
    "JSON records, loosely": _case(line_unit, json_lines, {"groups": "yes"}, schema=LOOSE),
    "JSON records with keys": _case(keyed_unit, json_lines, schema=KEYED),
    "JSON list of records": _case(lambda chance, number: [student(chance, number)], json_list, schema=LISTED),
    "records in memory": _case(lambda chance, number: [student(chance, number)], lambda rows, _: rows, schema=LISTED),
    "XML records": _case(
        element_unit, xml_file, schema=SCHEMA.format(at="@", key="", course='path = "course"', unlisted="error")
    ),
    "bundles of records": _case(bundle_unit, json_list, schema=BUNDLE),
    "joined tables": _case(row_unit, csv_tables, schema=SCHEMA.format(at="", key=KEY, course=JOIN, unlisted="error")),
    "joined tables, first rows and a lookup": _case(
        row_unit,
        csv_tables,
        schema=SCHEMA.format(at="", key=KEY, course=JOIN + LOOKUP, unlisted="error").replace(
            'key = "unit"', 'key = "unit"\nrows = "first"', 1
        )
        + 'level = { values = ["low", "high"], missing = true }\n',
    ),
}
